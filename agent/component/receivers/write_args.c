/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of pyroscope.write. */
#include "agent/component/receivers/write_args.h"

#include <errno.h>
#include <string.h>

#include "agent/component/receivers/push_component.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

static bool is_positive(const void *field)
{
	return *(const int64_t *)field > 0;
}

static const char *validate_timeout(const void *field, struct river_arena *arena)
{
	(void)arena;
	return is_positive(field) ? NULL : "remote_timeout must be greater than 0s";
}

static const char *validate_min_backoff(const void *field, struct river_arena *arena)
{
	(void)arena;
	return is_positive(field) ? NULL : "min_backoff_period must be greater than 0s";
}

static const char *validate_max_backoff(const void *field, struct river_arena *arena)
{
	(void)arena;
	return is_positive(field) ? NULL : "max_backoff_period must be greater than 0s";
}

static const char *validate_retries(const void *field, struct river_arena *arena)
{
	(void)arena;
	return *(const int64_t *)field >= 0 ? NULL : "max_backoff_retries must not be negative";
}

/* An address out of an environment that does not have it is no mistake of the file: it is told when the component runs. Anything will do to
 * look at the other arguments. */
#define ANY_URL "http://unset"

static const char *validate_endpoint(const void *self, struct river_arena *arena)
{
	const struct endpoint_args *args = self;
	struct push_endpoint_options options;

	const char *problem = http_client_args_check(&args->client);

	if (problem)
		return problem;
	if (write_args_endpoint(args, arena, &options) < 0)
		return "not enough memory";
	if (!*args->url)
		options.url = ANY_URL;
	return push_endpoint_options_check(&options);
}

#define E struct endpoint_args
static const struct river_field endpoint_fields[] = {
	RIVER_FIELD_STRING(E, url, "url", .flags = RIVER_REQUIRED),
	RIVER_FIELD_STRING(E, name, "name"),
	RIVER_FIELD_DURATION(E, remote_timeout_ns, "remote_timeout", .def = "10s",
			     .validate = validate_timeout),
	RIVER_FIELD_DURATION(E, min_backoff_ns, "min_backoff_period", .def = "500ms",
			     .validate = validate_min_backoff),
	RIVER_FIELD_DURATION(E, max_backoff_ns, "max_backoff_period", .def = "5m",
			     .validate = validate_max_backoff),
	RIVER_FIELD_INT(E, max_backoff_retries, "max_backoff_retries", .def = "10",
			.validate = validate_retries),
	RIVER_FIELD_BOOL(E, retry_on_http_429, "retry_on_http_429", .def = "true"),
	RIVER_FIELD_STRING_MAP(E, headers, "headers"),
	RIVER_FIELD_BLOCK(E, spool, "spool", &spool_schema),
	RIVER_FIELD_IGNORED(RIVER_KIND_DURATION, "debug_info_upload_timeout", 0),
	HTTP_CLIENT_FIELDS(E, client),
};
static const struct river_schema endpoint_schema =
	RIVER_SCHEMA(E, "endpoint", endpoint_fields, .validate = validate_endpoint);
#undef E

struct tracing_args {
	char unused;
};

static const struct river_field tracing_fields[] = {
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "jaeger_propagator", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "trace_context_propagator", 0),
};
static const struct river_schema tracing_schema =
	RIVER_SCHEMA(struct tracing_args, "tracing", tracing_fields);

static const struct river_field write_fields[] = {
	RIVER_FIELD_STRING_MAP(struct write_args, external_labels, "external_labels"),
	RIVER_FIELD_BLOCKS(struct write_args, endpoints, "endpoint", &endpoint_schema),
	{ .kind = RIVER_KIND_BLOCK,
	  .name = "tracing",
	  .flags = RIVER_IGNORED,
	  .schema = &tracing_schema },
};

const struct river_schema write_schema =
	RIVER_SCHEMA(struct write_args, "pyroscope.write", write_fields);

static const char *unless_empty(const char *s)
{
	return *s ? s : NULL;
}

int write_args_endpoint(const struct endpoint_args *args, struct river_arena *arena,
			struct push_endpoint_options *ret_options)
{
	struct push_endpoint_options o = PUSH_ENDPOINT_OPTIONS_INIT;
	struct http_client_options client;
	int r = http_client_map_headers(&args->headers, arena, &o.headers);

	if (r < 0)
		return r;
	r = http_client_args_options(&args->client, arena, &client);
	if (r < 0)
		return r;
	o.url = args->url;
	o.name = unless_empty(args->name);
	o.n_headers = args->headers.n_items;
	o.remote_timeout_ns = (uint64_t)args->remote_timeout_ns;
	o.backoff.min_ns = (uint64_t)args->min_backoff_ns;
	o.backoff.max_ns = (uint64_t)args->max_backoff_ns;
	o.backoff.max_attempts = (unsigned int)MIN_OF(args->max_backoff_retries, (int64_t)1000000);
	o.retry_on_http_429 = args->retry_on_http_429;
	spool_args_take(&args->spool, &o);
	push_component_take_client(&args->client, &client, &o);
	*ret_options = o;
	return 0;
}
