/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of otelcol.exporter.otlphttp and otelcol.exporter.otlp, and how they become options of agent/push. */
#ifndef XAGENT_AGENT_COMPONENT_RECEIVERS_OTLP_ARGS_H
#define XAGENT_AGENT_COMPONENT_RECEIVERS_OTLP_ARGS_H

#include "agent/component/http/http_client_args.h"
#include "agent/component/receivers/spool_args.h"
#include "agent/push/options.h"
#include "river-config/river.h"

struct otlp_tls_args {
	struct tls_args files;
	bool insecure; /* no TLS at all, where the endpoint does not say it */
};

struct otlp_client_args {
	const char *endpoint, *compression;
	const char *authority; /* of otelcol.exporter.otlp; "" or NULL: the host of the endpoint */
	int64_t timeout_ns;
	struct river_string_map headers;
	struct otlp_tls_args tls;
	void *auth; /* struct otlp_auth (otlp_auth.h), which says who we are; or NULL */
	struct http_client_args client; /* who we are, and which proxy */
};

struct otlp_retry_args {
	bool enabled;
	int64_t initial_ns, max_interval_ns, max_elapsed_ns;
};

struct otlp_queue_args {
	bool enabled;
	int64_t n_consumers, size;
};

struct otlp_args {
	const char *encoding;
	int64_t timeout_ns; /* of otelcol.exporter.otlp, where it is no argument of the client; 0: it is */
	struct otlp_client_args client;
	struct otlp_retry_args retry;
	struct otlp_queue_args queue;
	struct spool_args spool;
};

extern const struct river_schema otlphttp_schema, otlpgrpc_schema;
/* Blocks of theirs that other components of the collector have: struct otlp_tls_args, and one without effect. */
extern const struct river_schema otlp_tls_schema, otlp_debug_metrics_schema;

struct http_tls_options otlp_tls_options(const struct tls_args *args);

bool otlp_args_compress(const struct otlp_args *args);
/* The address of a server of gRPC has no scheme: http or https, as the arguments of TLS say. NULL: no memory. */
const char *otlp_args_grpc_url(const struct otlp_args *args, struct river_arena *arena);
/* With an endpoint. Pointers into the arguments and `arena`; 0 or -ENOMEM. */
int otlp_args_endpoint(const struct otlp_args *args, struct river_arena *arena,
		       struct push_endpoint_options *ret_options);

#endif
