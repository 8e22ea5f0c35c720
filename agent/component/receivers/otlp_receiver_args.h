/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of otelcol.receiver.otlp, named as in OpenTelemetry's collector. */
#ifndef XAGENT_AGENT_COMPONENT_RECEIVERS_OTLP_RECEIVER_ARGS_H
#define XAGENT_AGENT_COMPONENT_RECEIVERS_OTLP_RECEIVER_ARGS_H

#include "agent/component/http/http_args.h"
#include "river-config/river.h"

struct otlp_receiver_http_args {
	const char *endpoint, *max_request_body_size;
	struct http_tls_args *tls;
};

struct otlp_receiver_grpc_args {
	char unused;
};

struct otlp_receiver_output_args {
	struct river_capsules profiles;
};

struct otlp_receiver_args {
	struct otlp_receiver_http_args *http; /* never NULL in what is valid */
	struct otlp_receiver_grpc_args *grpc; /* always NULL there */
	struct otlp_receiver_output_args output;
};

extern const struct river_schema otlp_receiver_schema;

size_t otlp_receiver_max_bytes(const struct otlp_receiver_args *args);

#endif
