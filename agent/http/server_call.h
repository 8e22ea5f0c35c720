/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the server, and what its requests become; for the files of this folder. */
#ifndef XAGENT_AGENT_HTTP_SERVER_CALL_H
#define XAGENT_AGENT_HTTP_SERVER_CALL_H

#include "agent/http/access.h"
#include "agent/http/daemon.h"
#include "agent/http/route.h"

struct http_server {
	struct loop *loop;
	struct http_server_options options; /* of which `listen` is not kept */
	int fd;				    /* listening; every daemon has a copy of it */
	char *prefix;			    /* without a '/' at its end; "": none */
	uint16_t port;
	bool loopback; /* only this host can reach it */
	struct http_daemon *daemon;
	struct list retired; /* daemons */
	struct access access;
	struct route_table routes;
};

/* Callbacks of libmicrohttpd; `data` is the daemon. */
enum MHD_Result server_on_request(void *data, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *n_upload, void **call_data);
void server_on_completed(void *data, struct MHD_Connection *connection, void **call_data,
			 enum MHD_RequestTerminationCode why);

#endif
