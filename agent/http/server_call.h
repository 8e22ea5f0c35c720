/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the server, and what its requests become; for the files of this folder. */
#ifndef XAGENT_AGENT_HTTP_SERVER_CALL_H
#define XAGENT_AGENT_HTTP_SERVER_CALL_H

#include "agent/http/access.h"
#include "agent/http/budget.h"
#include "agent/http/daemon.h"
#include "agent/http/guard.h"
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
	struct connections connections; /* of all daemons */
	struct http_budget bodies, answers;
	struct http_counts counts;
	struct guard guard;
	struct access access;
	struct route_table routes;
};

/* From its headers to the end of its answer. */
struct server_request {
	struct http_daemon *daemon;
	struct MHD_Connection *connection;
	struct connection *link;
	struct buf body;
	size_t n_body; /* of the budget */
	struct daemon_wait wait;
	struct http_later *later; /* somebody owes an answer; NULL: nobody */
	struct MHD_Response *response; /* NULL: none yet, or there was no memory for it */
	unsigned int status;
	size_t n_answer; /* of the budget */
	bool authenticated;
	bool taken;	 /* it is answered later, or was */
	bool answered;	 /* and the answer has come */
};

/* Runs the handler, and sends what it answered at once. */
enum MHD_Result server_request_call(struct server_request *request, const struct http_route *route,
				    const char *method, const char *path);
/* Sends the answer that came later. */
enum MHD_Result server_request_send(struct server_request *request);
/* It has ended: nobody waits for its answer any more. */
void server_request_forget(struct server_request *request);

/* Callbacks of libmicrohttpd; `data` is the daemon. */
enum MHD_Result server_on_request(void *data, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *n_upload, void **call_data);
void server_on_completed(void *data, struct MHD_Connection *connection, void **call_data,
			 enum MHD_RequestTerminationCode why);

#endif
