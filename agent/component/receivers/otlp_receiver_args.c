/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of otelcol.receiver.otlp. */
#include "agent/component/receivers/otlp_receiver_args.h"

#include <string.h>

#include "agent/component/receiver.h"
#include "agent/component/receivers/receive_component.h"
#include "agent/util/macro.h"
#include "agent/util/size.h"

/* A request takes up to twenty times as much while it is read. */
#define MIN_BODY_BYTES ((uint64_t)1 << 10)
#define MAX_BODY_BYTES ((uint64_t)32 << 20)

static bool bytes_of(const char *text, uint64_t *ret_bytes)
{
	return size_parse(str_from(text), ret_bytes) == 0 && *ret_bytes >= MIN_BODY_BYTES &&
	       *ret_bytes <= MAX_BODY_BYTES;
}

static const char *validate_size(const void *field, struct river_arena *arena)
{
	uint64_t bytes;

	(void)arena;
	return bytes_of(*(const char *const *)field, &bytes)
		       ? NULL
		       : "max_request_body_size must be between 1KiB and 32MiB";
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
			   .validate = validate_size),
	RIVER_FIELD_BLOCK_PTR(H, tls, "tls", &http_tls_schema),
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

/* Of a block that is refused, so that what is said is that and not the name of an argument. */
static const struct river_field grpc_fields[] = {
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "endpoint", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "transport", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "max_recv_msg_size", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "max_concurrent_streams", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "read_buffer_size", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "write_buffer_size", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "include_metadata", 0),
};
static const struct river_schema grpc_schema =
	RIVER_SCHEMA(struct otlp_receiver_grpc_args, "grpc", grpc_fields);

#define O struct otlp_receiver_output_args
static const struct river_field output_fields[] = {
	RIVER_FIELD_CAPSULE_LIST(O, profiles, "profiles", RECEIVER_CAPSULE),
};
static const struct river_schema output_schema = RIVER_SCHEMA(O, "output", output_fields);
#undef O

static const char *validate_args(const void *self, struct river_arena *arena)
{
	const struct otlp_receiver_args *args = self;

	(void)arena;
	if (args->grpc)
		return "profiles are received over HTTP only: use an http block in place of grpc";
	return args->http ? NULL : "an http block is missing";
}

#define A struct otlp_receiver_args
static const struct river_field receiver_fields[] = {
	RIVER_FIELD_BLOCK_PTR(A, http, "http", &http_schema_of),
	{ .kind = RIVER_KIND_BLOCK_PTR,
	  .name = "grpc",
	  .offset = offsetof(A, grpc),
	  .schema = &grpc_schema },
	RIVER_FIELD_BLOCK(A, output, "output", &output_schema, .flags = RIVER_REQUIRED),
};
#undef A

const struct river_schema otlp_receiver_schema =
	RIVER_SCHEMA(struct otlp_receiver_args, "otelcol.receiver.otlp", receiver_fields,
		     .validate = validate_args);

size_t otlp_receiver_max_bytes(const struct otlp_receiver_args *args)
{
	uint64_t bytes = 0;

	(void)bytes_of(args->http->max_request_body_size, &bytes);
	return bytes;
}
