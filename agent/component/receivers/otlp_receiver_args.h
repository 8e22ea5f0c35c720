/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of otelcol.receiver.otlp, named as in OpenTelemetry's collector. */
#ifndef XAGENT_AGENT_COMPONENT_RECEIVERS_OTLP_RECEIVER_ARGS_H
#define XAGENT_AGENT_COMPONENT_RECEIVERS_OTLP_RECEIVER_ARGS_H

#include "agent/component/http/http_args.h"
#include "agent/http/grpc/grpc_server.h"
#include "river-config/river.h"

struct otlp_receiver_http_args {
	const char *endpoint, *max_request_body_size;
	struct http_tls_args *tls;
	void *auth; /* struct otlp_auth (otlp_auth.h); NULL: everybody may send */
};

/* Of server_parameters. */
struct otlp_receiver_keepalive_args {
	int64_t max_idle_ns, max_age_ns, age_grace_ns; /* 0: any */
	int64_t ping_ns, pong_ns;
};

struct otlp_receiver_keepalive_block {
	struct otlp_receiver_keepalive_args *server_parameters; /* NULL: as without */
};

struct otlp_receiver_grpc_args {
	const char *endpoint, *transport, *max_recv_msg_size;
	int64_t max_concurrent_streams;
	struct otlp_receiver_keepalive_block keepalive;
	struct http_tls_args *tls;
	void *auth; /* likewise */
};

struct otlp_receiver_output_args {
	struct river_capsules profiles;
};

struct otlp_receiver_args {
	struct otlp_receiver_http_args *http; /* NULL: none; one of both is there */
	struct otlp_receiver_grpc_args *grpc;
	struct otlp_receiver_output_args output;
};

extern const struct river_schema otlp_receiver_schema;
extern const struct river_schema otlp_receiver_output_schema; /* of all receivers */

size_t otlp_receiver_http_bytes(const struct otlp_receiver_http_args *args);
/* Limits and times as the server of gRPC has them. */
struct grpc_server_options otlp_receiver_grpc_options(const struct otlp_receiver_grpc_args *args);

#endif
