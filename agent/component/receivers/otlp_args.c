/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of exporters of OTLP, named as in OpenTelemetry's collector. */
#include "agent/component/receivers/otlp_args.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "agent/component/http/tls_version.h"
#include "agent/component/receivers/otlp_auth.h"
#include "agent/component/receivers/push_component.h"
#include "agent/http/url.h"
#include "agent/util/macro.h"

#define N_CONSUMERS_MAX 64
#define QUEUE_SIZE_MAX 1000000
#define ANY_ENDPOINT "http://unset"

#define T struct otlp_tls_args
static const struct river_field tls_fields[] = {
	RIVER_FIELD_BOOL(T, insecure, "insecure", .def = "false"),
	RIVER_FIELD_BOOL(T, files.insecure_skip_verify, "insecure_skip_verify", .def = "false"),
	RIVER_FIELD_STRING(T, files.ca_pem, "ca_pem"),
	RIVER_FIELD_STRING(T, files.ca_file, "ca_file"),
	RIVER_FIELD_STRING(T, files.cert_pem, "cert_pem"),
	RIVER_FIELD_STRING(T, files.cert_file, "cert_file"),
	RIVER_FIELD_SECRET(T, files.key_pem, "key_pem"),
	RIVER_FIELD_STRING(T, files.key_file, "key_file"),
	RIVER_FIELD_STRING(T, files.server_name, "server_name"),
	RIVER_FIELD_STRING(T, files.min_version, "min_version",
			   .validate = tls_version_validate_number),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "max_version", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING_LIST, "cipher_suites", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING_LIST, "curve_preferences", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_DURATION, "reload_interval", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "include_system_ca_certs_pool", 0),
};
const struct river_schema otlp_tls_schema = RIVER_SCHEMA(T, "tls", tls_fields);
#undef T

static const char *validate_timeout(const void *field, struct river_arena *arena)
{
	(void)arena;
	return *(const int64_t *)field > 0 ? NULL : "timeout must be greater than 0s";
}

static const char *validate_compression(const void *field, struct river_arena *arena)
{
	const char *name = *(const char *const *)field;

	(void)arena;
	return !*name || strcmp(name, "gzip") == 0 || strcmp(name, "none") == 0
		       ? NULL
		       : "compression must be gzip or none";
}

/* A block of arguments that have no effect. */
struct ignored_args {
	char unused;
};

#define IGNORED_BLOCK(block_name, block_schema)                                       \
	{                                                                             \
		.kind = RIVER_KIND_BLOCK, .name = block_name, .flags = RIVER_IGNORED, \
		.schema = (block_schema)                                              \
	}

static const struct river_field cookies_fields[] = {
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "enabled", 0),
};
static const struct river_schema cookies_schema =
	RIVER_SCHEMA(struct ignored_args, "cookies", cookies_fields);

static const struct river_field compression_fields[] = {
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "level", 0),
};
static const struct river_schema compression_schema =
	RIVER_SCHEMA(struct ignored_args, "compression_params", compression_fields);

#define C struct otlp_client_args
static const struct river_field http_client_block_fields[] = {
	RIVER_FIELD_STRING(C, endpoint, "endpoint", .flags = RIVER_REQUIRED),
	RIVER_FIELD_STRING(C, compression, "compression", .def = "gzip",
			   .validate = validate_compression),
	RIVER_FIELD_DURATION(C, timeout_ns, "timeout", .def = "30s", .validate = validate_timeout),
	RIVER_FIELD_STRING_MAP(C, headers, "headers"),
	RIVER_FIELD_BLOCK(C, tls, "tls", &otlp_tls_schema),
	RIVER_FIELD_CAPSULE(C, auth, "auth", OTLP_AUTH_CAPSULE),
	HTTP_CLIENT_FIELDS(C, client),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "read_buffer_size", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "write_buffer_size", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "max_idle_conns", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "max_idle_conns_per_host", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "max_conns_per_host", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_DURATION, "idle_conn_timeout", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "disable_keep_alives", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_DURATION, "http2_read_idle_timeout", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_DURATION, "http2_ping_timeout", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "force_attempt_http2", 0),
	IGNORED_BLOCK("cookies", &cookies_schema),
	IGNORED_BLOCK("compression_params", &compression_schema),
};
static const struct river_schema http_client_block_schema =
	RIVER_SCHEMA(C, "client", http_client_block_fields);

static const struct river_field keepalive_fields[] = {
	RIVER_FIELD_IGNORED(RIVER_KIND_DURATION, "ping_wait", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_DURATION, "ping_response_timeout", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "ping_without_stream", 0),
};
static const struct river_schema keepalive_schema =
	RIVER_SCHEMA(struct ignored_args, "keepalive", keepalive_fields);

static const struct river_field grpc_client_block_fields[] = {
	RIVER_FIELD_STRING(C, endpoint, "endpoint", .flags = RIVER_REQUIRED),
	RIVER_FIELD_STRING(C, compression, "compression", .def = "gzip",
			   .validate = validate_compression),
	RIVER_FIELD_STRING_MAP(C, headers, "headers"),
	RIVER_FIELD_BLOCK(C, tls, "tls", &otlp_tls_schema),
	RIVER_FIELD_CAPSULE(C, auth, "auth", OTLP_AUTH_CAPSULE),
	HTTP_CLIENT_FIELDS(C, client),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "read_buffer_size", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "write_buffer_size", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "wait_for_ready", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "balancer_name", 0),
	RIVER_FIELD_STRING(C, authority, "authority"),
	IGNORED_BLOCK("keepalive", &keepalive_schema),
};
static const struct river_schema grpc_client_block_schema =
	RIVER_SCHEMA(C, "client", grpc_client_block_fields);
#undef C

static const char *validate_interval(const void *field, struct river_arena *arena)
{
	(void)arena;
	return *(const int64_t *)field > 0 ? NULL : "an interval must be greater than 0s";
}

static const char *validate_elapsed(const void *field, struct river_arena *arena)
{
	(void)arena;
	return *(const int64_t *)field >= 0 ? NULL : "max_elapsed_time must not be negative";
}

#define R struct otlp_retry_args
static const struct river_field retry_fields[] = {
	RIVER_FIELD_BOOL(R, enabled, "enabled", .def = "true"),
	RIVER_FIELD_DURATION(R, initial_ns, "initial_interval", .def = "5s",
			     .validate = validate_interval),
	RIVER_FIELD_DURATION(R, max_interval_ns, "max_interval", .def = "30s",
			     .validate = validate_interval),
	RIVER_FIELD_DURATION(R, max_elapsed_ns, "max_elapsed_time", .def = "0s",
			     .validate = validate_elapsed),
	RIVER_FIELD_IGNORED(RIVER_KIND_FLOAT, "randomization_factor", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_FLOAT, "multiplier", 0),
};
static const struct river_schema retry_schema = RIVER_SCHEMA(R, "retry_on_failure", retry_fields);
#undef R

static const char *validate_consumers(const void *field, struct river_arena *arena)
{
	int64_t n = *(const int64_t *)field;

	(void)arena;
	return n >= 1 && n <= N_CONSUMERS_MAX ? NULL : "num_consumers must be between 1 and 64";
}

static const char *validate_size(const void *field, struct river_arena *arena)
{
	int64_t n = *(const int64_t *)field;

	(void)arena;
	return n >= 1 && n <= QUEUE_SIZE_MAX ? NULL : "queue_size must be between 1 and 1000000";
}

static const struct river_field batch_fields[] = {
	RIVER_FIELD_IGNORED(RIVER_KIND_DURATION, "flush_timeout", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "min_size", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "max_size", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "sizer", 0),
};
static const struct river_schema batch_schema =
	RIVER_SCHEMA(struct ignored_args, "batch", batch_fields);

#define Q struct otlp_queue_args
static const struct river_field queue_fields[] = {
	RIVER_FIELD_BOOL(Q, enabled, "enabled", .def = "true"),
	RIVER_FIELD_INT(Q, n_consumers, "num_consumers", .def = "10",
			.validate = validate_consumers),
	RIVER_FIELD_INT(Q, size, "queue_size", .def = "10000", .validate = validate_size),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "sizer", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "block_on_overflow", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "blocking", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "wait_for_result", 0),
	IGNORED_BLOCK("batch", &batch_schema),
};
static const struct river_schema queue_schema = RIVER_SCHEMA(Q, "sending_queue", queue_fields);
#undef Q

static const struct river_field debug_metrics_fields[] = {
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "disable_high_cardinality_metrics", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "level", 0),
};
const struct river_schema otlp_debug_metrics_schema =
	RIVER_SCHEMA(struct ignored_args, "debug_metrics", debug_metrics_fields);

static const char *validate_encoding(const void *field, struct river_arena *arena)
{
	(void)arena;
	return strcmp(*(const char *const *)field, "proto") == 0
		       ? NULL
		       : "encoding must be proto: profiles are not sent as JSON";
}

static bool says_who_it_is(const struct http_client_args *a)
{
	return a->basic_auth || a->authorization || a->oauth2 ||
	       (a->bearer_token && *a->bearer_token) ||
	       (a->bearer_token_file && *a->bearer_token_file);
}

static const char *check_auth(const struct otlp_client_args *args)
{
	if (args->auth && says_who_it_is(&args->client))
		return "at most one of auth, basic_auth, authorization, oauth2, bearer_token & "
		       "bearer_token_file must be configured";
	return http_client_args_check(&args->client);
}

static const char *check_args(const struct otlp_args *args, struct river_arena *arena)
{
	const char *problem = check_auth(&args->client);
	struct push_endpoint_options options;
	struct otlp_args other = *args;

	if (problem)
		return problem;
	if (args->retry.max_interval_ns < args->retry.initial_ns)
		return "max_interval must not be less than initial_interval";
	if (!*other.client.endpoint)
		other.client.endpoint = ANY_ENDPOINT;
	if (otlp_args_endpoint(&other, arena, &options) < 0)
		return "not enough memory";
	return push_endpoint_options_check(&options);
}

static const char *validate_otlphttp(const void *self, struct river_arena *arena)
{
	return check_args(self, arena);
}

static const char *validate_otlpgrpc(const void *self, struct river_arena *arena)
{
	struct otlp_args args = *(const struct otlp_args *)self;

	args.client.endpoint = otlp_args_grpc_url(self, arena);
	return args.client.endpoint ? check_args(&args, arena) : "not enough memory";
}

#define A struct otlp_args
static const struct river_field otlphttp_fields[] = {
	RIVER_FIELD_STRING(A, encoding, "encoding", .def = "proto", .validate = validate_encoding),
	RIVER_FIELD_BLOCK(A, client, "client", &http_client_block_schema, .flags = RIVER_REQUIRED),
	RIVER_FIELD_BLOCK(A, retry, "retry_on_failure", &retry_schema),
	RIVER_FIELD_BLOCK(A, queue, "sending_queue", &queue_schema),
	RIVER_FIELD_BLOCK(A, spool, "spool", &spool_schema),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "traces_endpoint", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "metrics_endpoint", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "logs_endpoint", 0),
	IGNORED_BLOCK("debug_metrics", &otlp_debug_metrics_schema),
};

static const struct river_field otlpgrpc_fields[] = {
	RIVER_FIELD_DURATION(A, timeout_ns, "timeout", .def = "5s", .validate = validate_timeout),
	RIVER_FIELD_BLOCK(A, client, "client", &grpc_client_block_schema, .flags = RIVER_REQUIRED),
	RIVER_FIELD_BLOCK(A, retry, "retry_on_failure", &retry_schema),
	RIVER_FIELD_BLOCK(A, queue, "sending_queue", &queue_schema),
	RIVER_FIELD_BLOCK(A, spool, "spool", &spool_schema),
	IGNORED_BLOCK("debug_metrics", &otlp_debug_metrics_schema),
};
#undef A

const struct river_schema otlpgrpc_schema = RIVER_SCHEMA(
	struct otlp_args, "otelcol.exporter.otlp", otlpgrpc_fields, .validate = validate_otlpgrpc);

const struct river_schema otlphttp_schema =
	RIVER_SCHEMA(struct otlp_args, "otelcol.exporter.otlphttp", otlphttp_fields,
		     .validate = validate_otlphttp);

bool otlp_args_compress(const struct otlp_args *args)
{
	return strcmp(args->client.compression, "gzip") == 0;
}

const char *otlp_args_grpc_url(const struct otlp_args *args, struct river_arena *arena)
{
	_cleanup_buf_ struct buf url = BUF_INIT(URL_MAX_BYTES + sizeof("https://"));
	const char *endpoint = args->client.endpoint;

	if (!*endpoint || strstr(endpoint, "://"))
		return endpoint;
	(void)buf_printf(&url, "%s://%s", args->client.tls.insecure ? "http" : "https", endpoint);
	/* One that is longer is refused as it is. */
	return url.failed ? endpoint : river_arena_strndup(arena, url.data, url.len);
}

static const char *unless_empty(const char *s)
{
	return s && *s ? s : NULL;
}

struct http_tls_options otlp_tls_options(const struct tls_args *a)
{
	return (struct http_tls_options){
		.ca_pem = unless_empty(a->ca_pem),
		.ca_file = unless_empty(a->ca_file),
		.cert_pem = unless_empty(a->cert_pem),
		.cert_file = unless_empty(a->cert_file),
		.key_pem = unless_empty(a->key_pem),
		.key_file = unless_empty(a->key_file),
		.server_name = unless_empty(a->server_name),
		.insecure_skip_verify = a->insecure_skip_verify,
		.min_version = tls_version_of(a->min_version ? a->min_version : ""),
	};
}

/* Headers, and of HTTP/2 what says whom the request is for. */
static int put_headers(const struct otlp_client_args *args, struct river_arena *arena,
		       struct push_endpoint_options *o)
{
	size_t n = args->headers.n_items;
	bool for_another = args->authority && *args->authority;
	struct http_header *headers = river_arena_alloc(arena, (n + 1) * sizeof(*headers));

	if (!headers)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		headers[i] = (struct http_header){ args->headers.keys[i], args->headers.values[i] };
		for_another &= strcasecmp(headers[i].name, "Host") != 0;
	}
	if (for_another)
		headers[n++] = (struct http_header){ "Host", args->authority };
	o->headers = headers;
	o->n_headers = n;
	return 0;
}

int otlp_args_endpoint(const struct otlp_args *args, struct river_arena *arena,
		       struct push_endpoint_options *ret_options)
{
	struct push_endpoint_options o = PUSH_ENDPOINT_OPTIONS_INIT;
	struct http_client_options client;
	int r = put_headers(&args->client, arena, &o);

	if (r == 0)
		r = http_client_args_options(&args->client.client, arena, &client);
	if (r < 0)
		return r;
	o.url = args->client.endpoint;
	o.remote_timeout_ns =
		(uint64_t)(args->timeout_ns ? args->timeout_ns : args->client.timeout_ns);
	o.backoff.min_ns = (uint64_t)args->retry.initial_ns;
	o.backoff.max_ns = (uint64_t)args->retry.max_interval_ns;
	o.backoff.max_attempts = args->retry.enabled ? 0 : 1;
	spool_args_take(&args->spool, &o);
	push_component_take_client(&args->client.client, &client, &o);
	if (!args->client.client.tls_config)
		o.tls = otlp_tls_options(&args->client.tls.files);
	if (args->client.auth)
		r = otlp_auth_take(args->client.auth, arena, &o);
	*ret_options = o;
	return r;
}
