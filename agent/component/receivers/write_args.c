/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of pyroscope.write. */
#include "agent/component/receivers/write_args.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "agent/component/receivers/push_component.h"
#include "agent/util/clock.h"
#include "agent/util/hash.h"
#include "agent/util/macro.h"
#include "agent/util/size.h"

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

/* Less than this is not worth a file; more is a mistake. */
#define SPOOL_ARGS_MIN_BYTES ((uint64_t)1 << 20)
#define SPOOL_ARGS_MAX_BYTES ((uint64_t)64 << 30)
#define SPOOL_ARGS_MIN_AGE_NS ((int64_t)NS_PER_S)
#define SPOOL_ARGS_MAX_AGE_NS ((int64_t)(24 * 3600 * NS_PER_S))

static bool spool_bytes_of(const char *text, uint64_t *ret_bytes)
{
	return size_parse(str_from(text), ret_bytes) == 0 && *ret_bytes >= SPOOL_ARGS_MIN_BYTES &&
	       *ret_bytes <= SPOOL_ARGS_MAX_BYTES;
}

static const char *validate_spool_bytes(const void *field, struct river_arena *arena)
{
	uint64_t bytes;

	(void)arena;
	return spool_bytes_of(*(const char *const *)field, &bytes)
		       ? NULL
		       : "max_bytes must be between 1MiB and 64GiB, for example \"256MiB\"";
}

static const char *validate_spool_age(const void *field, struct river_arena *arena)
{
	int64_t ns = *(const int64_t *)field;

	(void)arena;
	return ns >= SPOOL_ARGS_MIN_AGE_NS && ns <= SPOOL_ARGS_MAX_AGE_NS
		       ? NULL
		       : "max_age must be between 1s and 24h";
}

static const struct river_field spool_fields[] = {
	RIVER_FIELD_BOOL(struct spool_args, enabled, "enabled", .def = "true"),
	RIVER_FIELD_STRING(struct spool_args, max_bytes, "max_bytes", .def = "256MiB",
			   .validate = validate_spool_bytes),
	RIVER_FIELD_DURATION(struct spool_args, max_age_ns, "max_age", .def = "55m",
			     .validate = validate_spool_age),
};
static const struct river_schema spool_schema =
	RIVER_SCHEMA(struct spool_args, "spool", spool_fields);

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
	(void)spool_bytes_of(args->spool.max_bytes, &o.spool_max_bytes);
	o.spool_max_age_ns = (uint64_t)args->spool.max_age_ns;
	push_component_take_client(&args->client, &client, &o);
	*ret_options = o;
	return 0;
}

static const char *tenant_of(const struct http_header *headers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcasecmp(headers[i].name, "X-Scope-OrgID") == 0)
			return headers[i].value;
	return "";
}

static uint64_t hash_text(uint64_t seed, const char *text)
{
	return text ? hash_bytes(text, strlen(text) + 1, seed) : hash_u64(seed);
}

/* What makes two endpoints different ones, without a secret, which changes: the server, the tenant, the name. */
static uint64_t hash_endpoint(const struct push_endpoint_options *o, const char *component_id)
{
	uint64_t h = hash_text(0, component_id);

	h = hash_text(h, o->url);
	h = hash_text(h, o->name);
	h = hash_text(h, o->basic_auth_username);
	h = hash_text(h, tenant_of(o->headers, o->n_headers));
	return hash_text(h, tenant_of(o->http_headers, o->n_http_headers));
}

int write_args_spool_path(const struct push_endpoint_options *options, const char *component_id,
			  const char *storage_path, struct buf *out)
{
	bool below = storage_path && *storage_path;
	bool divided = below && storage_path[strlen(storage_path) - 1] == '/';

	return buf_printf(out, "%s%sspool/%016" PRIx64, below ? storage_path : "",
			  below && !divided ? "/" : "", hash_endpoint(options, component_id));
}
