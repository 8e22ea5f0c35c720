/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of pyroscope.receive_http, and how they become options of an HTTP server. */
#ifndef XAGENT_AGENT_COMPONENT_RECEIVERS_RECEIVE_HTTP_ARGS_H
#define XAGENT_AGENT_COMPONENT_RECEIVERS_RECEIVE_HTTP_ARGS_H

#include "agent/component/http/http_args.h"
#include "agent/component/receivers/receive_component.h"
#include "river-config/river.h"

#define RECEIVE_MAX_CONNECTIONS 4096
/* Of all requests that are received or wait. */
#define RECEIVE_MAX_BODIES_BYTES ((size_t)32 << 20)

struct receive_server_args {
	const char *listen_address; /* "": every one of this host */
	int64_t listen_port, conn_limit;
	int64_t read_timeout_ns, write_timeout_ns, idle_timeout_ns;
	struct http_tls_args *tls;
};

struct receive_http_args {
	struct receive_server_args http;
	struct river_capsules forward_to;
};

extern const struct river_schema receive_http_schema;

/* `listen` has RECEIVE_LISTEN_BYTES bytes, and is borrowed by the options. */
struct http_server_options receive_http_server_options(const struct receive_server_args *args,
						       char *listen);

#endif
