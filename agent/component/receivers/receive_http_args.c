/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of pyroscope.receive_http. */
#include "agent/component/receivers/receive_http_args.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/component/receiver.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

#define ADDRESS_MAX_BYTES 255

static const char *validate_address(const void *field, struct river_arena *arena)
{
	const char *address = *(const char *const *)field;

	(void)arena;
	return strlen(address) > ADDRESS_MAX_BYTES ? "the address is too long" : NULL;
}

static const char *validate_port(const void *field, struct river_arena *arena)
{
	int64_t port = *(const int64_t *)field;

	(void)arena;
	return port < 0 || port > UINT16_MAX ? "a port is a number from 0 to 65535" : NULL;
}

static const char *validate_limit(const void *field, struct river_arena *arena)
{
	(void)arena;
	return *(const int64_t *)field < 0 ? "must not be below zero" : NULL;
}

static const char *validate_timeout(const void *field, struct river_arena *arena)
{
	(void)arena;
	return *(const int64_t *)field <= 0 ? "must be above zero" : NULL;
}

#define S struct receive_server_args
static const struct river_field server_fields[] = {
	RIVER_FIELD_STRING(S, listen_address, "listen_address", .validate = validate_address),
	RIVER_FIELD_INT(S, listen_port, "listen_port", .def = "8080", .validate = validate_port),
	RIVER_FIELD_INT(S, conn_limit, "conn_limit", .def = "0", .validate = validate_limit),
	RIVER_FIELD_DURATION(S, read_timeout_ns, "server_read_timeout", .def = "30s",
			     .validate = validate_timeout),
	RIVER_FIELD_DURATION(S, write_timeout_ns, "server_write_timeout", .def = "30s",
			     .validate = validate_timeout),
	RIVER_FIELD_DURATION(S, idle_timeout_ns, "server_idle_timeout", .def = "2m",
			     .validate = validate_timeout),
	RIVER_FIELD_BLOCK_PTR(S, tls, "tls", &http_tls_schema),
};
static const struct river_schema server_schema = RIVER_SCHEMA(S, "http", server_fields);
#undef S

#define ARGS struct receive_http_args
static const struct river_field receive_fields[] = {
	RIVER_FIELD_CAPSULE_LIST(ARGS, forward_to, "forward_to", RECEIVER_CAPSULE,
				 .flags = RIVER_REQUIRED),
	RIVER_FIELD_BLOCK(ARGS, http, "http", &server_schema),
};
#undef ARGS

const struct river_schema receive_http_schema =
	RIVER_SCHEMA(struct receive_http_args, "pyroscope.receive_http", receive_fields);

/* One second at least. */
static unsigned int seconds(int64_t ns)
{
	uint64_t s = ((uint64_t)ns + NS_PER_S - 1) / NS_PER_S;

	return (unsigned int)MIN_OF(s, (uint64_t)3600);
}

/* An address of IPv6 stands in brackets before a port. */
static void put_listen(const struct receive_server_args *a, char *listen)
{
	bool bare = strchr(a->listen_address, ':') && a->listen_address[0] != '[';

	(void)snprintf(listen, RECEIVE_LISTEN_BYTES, "%s%s%s:%" PRId64, bare ? "[" : "",
		       a->listen_address, bare ? "]" : "", a->listen_port);
}

struct http_server_options receive_http_server_options(const struct receive_server_args *a,
						       char *listen)
{
	struct http_server_options o = HTTP_SERVER_OPTIONS_INIT;
	int64_t limit = a->conn_limit ? a->conn_limit : RECEIVE_DEFAULT_CONNECTIONS;

	put_listen(a, listen);
	o.listen = listen;
	o.max_connections = (unsigned int)MIN_OF(limit, (int64_t)RECEIVE_MAX_CONNECTIONS);
	o.max_bodies_bytes = RECEIVE_MAX_BODIES_BYTES;
	o.request_timeout_s = seconds(a->read_timeout_ns);
	o.body_timeout_s = seconds(a->read_timeout_ns);
	o.idle_timeout_s = seconds(a->idle_timeout_ns);
	o.any_host = true;
	return o;
}
