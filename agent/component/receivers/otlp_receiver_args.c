/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of otelcol.receiver.otlp. */
#include "agent/component/receivers/otlp_receiver_args.h"

#include <string.h>

#include "agent/component/receivers/otlp_auth.h"
#include "agent/component/receiver.h"
#include "agent/component/receivers/receive_component.h"
#include "agent/util/macro.h"
#include "agent/util/size.h"

/* A request takes up to twenty times as much while it is read. */
#define MIN_BODY_BYTES ((uint64_t)1 << 10)
#define MAX_BODY_BYTES ((uint64_t)32 << 20)
#define MAX_STREAMS 1000

static bool bytes_of(const char *text, uint64_t *ret_bytes)
{
	return size_parse(str_from(text), ret_bytes) == 0 && *ret_bytes >= MIN_BODY_BYTES &&
	       *ret_bytes <= MAX_BODY_BYTES;
}

static const char *validate_body_size(const void *field, struct river_arena *arena)
{
	uint64_t bytes;

	(void)arena;
	return bytes_of(*(const char *const *)field, &bytes)
		       ? NULL
		       : "max_request_body_size must be between 1KiB and 32MiB";
}

static const char *validate_message_size(const void *field, struct river_arena *arena)
{
	uint64_t bytes;

	(void)arena;
	return bytes_of(*(const char *const *)field, &bytes)
		       ? NULL
		       : "max_recv_msg_size must be between 1KiB and 32MiB";
}

static const char *validate_endpoint(const void *field, struct river_arena *arena)
{
	const char *endpoint = *(const char *const *)field;

	(void)arena;
	if (strlen(endpoint) >= RECEIVE_LISTEN_BYTES)
		return "the endpoint is too long";
	return strchr(endpoint, ':')
		       ? NULL
		       : "an endpoint is an address and a port, for example \"0.0.0.0:4318\"";
}

/* One that asks for nothing would let everybody in, who is thought to be kept out. */
static const char *validate_auth(const void *field, struct river_arena *arena)
{
	const struct otlp_auth *auth = *(void *const *)field;

	(void)arena;
	return !auth || otlp_auth_asks(auth)
		       ? NULL
		       : "this handler asks nobody who he is: otelcol.auth.basic with username and "
			 "password does, and otelcol.auth.bearer with a token in Authorization";
}

struct ignored_args {
	char unused;
};

static const struct river_field cors_fields[] = {
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING_LIST, "allowed_origins", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING_LIST, "allowed_headers", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "max_age", 0),
};
static const struct river_schema cors_schema =
	RIVER_SCHEMA(struct ignored_args, "cors", cors_fields);

#define H struct otlp_receiver_http_args
static const struct river_field http_fields[] = {
	RIVER_FIELD_STRING(H, endpoint, "endpoint", .def = "0.0.0.0:4318",
			   .validate = validate_endpoint),
	RIVER_FIELD_STRING(H, max_request_body_size, "max_request_body_size", .def = "20MiB",
			   .validate = validate_body_size),
	RIVER_FIELD_BLOCK_PTR(H, tls, "tls", &http_tls_collector_schema),
	RIVER_FIELD_CAPSULE(H, auth, "auth", OTLP_AUTH_CAPSULE, .validate = validate_auth),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "include_metadata", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "traces_url_path", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "metrics_url_path", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "logs_url_path", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING_LIST, "compression_algorithms", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "keep_alives_enabled", 0),
	{ .kind = RIVER_KIND_BLOCK,
	  .name = "cors",
	  .flags = RIVER_IGNORED,
	  .schema = &cors_schema },
};
static const struct river_schema http_schema_of = RIVER_SCHEMA(H, "http", http_fields);
#undef H

static const char *validate_transport(const void *field, struct river_arena *arena)
{
	(void)arena;
	return strcmp(*(const char *const *)field, "tcp") == 0
		       ? NULL
		       : "transport must be tcp: calls are taken from no other kind of socket";
}

static const char *validate_streams(const void *field, struct river_arena *arena)
{
	int64_t n = *(const int64_t *)field;

	(void)arena;
	return n >= 0 && n <= MAX_STREAMS ? NULL
					  : "max_concurrent_streams must be between 0 and 1000";
}

static const char *validate_duration(const void *field, struct river_arena *arena)
{
	(void)arena;
	return *(const int64_t *)field >= 0 ? NULL : "must not be negative";
}

#define K struct otlp_receiver_keepalive_args
static const struct river_field server_parameters_fields[] = {
	RIVER_FIELD_DURATION(K, max_idle_ns, "max_connection_idle", .def = "0s",
			     .validate = validate_duration),
	RIVER_FIELD_DURATION(K, max_age_ns, "max_connection_age", .def = "0s",
			     .validate = validate_duration),
	RIVER_FIELD_DURATION(K, age_grace_ns, "max_connection_age_grace", .def = "0s",
			     .validate = validate_duration),
	RIVER_FIELD_DURATION(K, ping_ns, "time", .def = "2h", .validate = validate_duration),
	RIVER_FIELD_DURATION(K, pong_ns, "timeout", .def = "20s", .validate = validate_duration),
};
static const struct river_schema server_parameters_schema =
	RIVER_SCHEMA(K, "server_parameters", server_parameters_fields);
#undef K

static const struct river_field enforcement_fields[] = {
	RIVER_FIELD_IGNORED(RIVER_KIND_DURATION, "min_time", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "permit_without_stream", 0),
};
static const struct river_schema enforcement_schema =
	RIVER_SCHEMA(struct ignored_args, "enforcement_policy", enforcement_fields);

#define P struct otlp_receiver_keepalive_block
static const struct river_field keepalive_fields[] = {
	RIVER_FIELD_BLOCK_PTR(P, server_parameters, "server_parameters", &server_parameters_schema),
	{ .kind = RIVER_KIND_BLOCK,
	  .name = "enforcement_policy",
	  .flags = RIVER_IGNORED,
	  .schema = &enforcement_schema },
};
static const struct river_schema keepalive_schema = RIVER_SCHEMA(P, "keepalive", keepalive_fields);
#undef P

#define G struct otlp_receiver_grpc_args
static const struct river_field grpc_fields[] = {
	RIVER_FIELD_STRING(G, endpoint, "endpoint", .def = "0.0.0.0:4317",
			   .validate = validate_endpoint),
	RIVER_FIELD_STRING(G, transport, "transport", .def = "tcp", .validate = validate_transport),
	RIVER_FIELD_STRING(G, max_recv_msg_size, "max_recv_msg_size", .def = "4MiB",
			   .validate = validate_message_size),
	RIVER_FIELD_INT(G, max_concurrent_streams, "max_concurrent_streams", .def = "0",
			.validate = validate_streams),
	RIVER_FIELD_BLOCK(G, keepalive, "keepalive", &keepalive_schema),
	RIVER_FIELD_BLOCK_PTR(G, tls, "tls", &http_tls_collector_schema),
	RIVER_FIELD_CAPSULE(G, auth, "auth", OTLP_AUTH_CAPSULE, .validate = validate_auth),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "read_buffer_size", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "write_buffer_size", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "include_metadata", 0),
};
static const struct river_schema grpc_schema = RIVER_SCHEMA(G, "grpc", grpc_fields);
#undef G

#define O struct otlp_receiver_output_args
static const struct river_field output_fields[] = {
	RIVER_FIELD_CAPSULE_LIST(O, profiles, "profiles", RECEIVER_CAPSULE),
};
const struct river_schema otlp_receiver_output_schema = RIVER_SCHEMA(O, "output", output_fields);
#undef O

static const char *validate_args(const void *self, struct river_arena *arena)
{
	const struct otlp_receiver_args *args = self;

	(void)arena;
	return args->http || args->grpc ? NULL : "a block http or grpc is missing";
}

#define A struct otlp_receiver_args
static const struct river_field receiver_fields[] = {
	RIVER_FIELD_BLOCK_PTR(A, http, "http", &http_schema_of),
	RIVER_FIELD_BLOCK_PTR(A, grpc, "grpc", &grpc_schema),
	RIVER_FIELD_BLOCK(A, output, "output", &otlp_receiver_output_schema,
			  .flags = RIVER_REQUIRED),
};
#undef A

const struct river_schema otlp_receiver_schema =
	RIVER_SCHEMA(struct otlp_receiver_args, "otelcol.receiver.otlp", receiver_fields,
		     .validate = validate_args);

size_t otlp_receiver_http_bytes(const struct otlp_receiver_http_args *args)
{
	uint64_t bytes = 0;

	(void)bytes_of(args->max_request_body_size, &bytes);
	return bytes;
}

/* None is any time. */
static uint64_t time_of(int64_t ns)
{
	return ns == 0 ? UINT64_MAX : (uint64_t)ns;
}

static void put_keepalive(const struct otlp_receiver_keepalive_args *args,
			  struct grpc_server_options *o)
{
	o->max_idle_ns = time_of(args->max_idle_ns);
	o->max_age_ns = time_of(args->max_age_ns);
	o->age_grace_ns = time_of(args->age_grace_ns);
	o->ping_ns = args->ping_ns == 0 ? o->ping_ns : (uint64_t)args->ping_ns;
	o->pong_ns = args->pong_ns == 0 ? o->pong_ns : (uint64_t)args->pong_ns;
}

struct grpc_server_options otlp_receiver_grpc_options(const struct otlp_receiver_grpc_args *args)
{
	struct grpc_server_options o = GRPC_SERVER_OPTIONS_INIT;
	uint64_t bytes = 0;

	(void)bytes_of(args->max_recv_msg_size, &bytes);
	o.max_message_bytes = bytes;
	if (args->max_concurrent_streams > 0)
		o.max_streams = (unsigned int)args->max_concurrent_streams;
	if (args->keepalive.server_parameters)
		put_keepalive(args->keepalive.server_parameters, &o);
	return o;
}
