/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of pyroscope.write. */
#include "agent/component/write_args.h"

#include <errno.h>
#include <string.h>

#include "agent/util/macro.h"

static const struct {
	const char *name;
	enum http_tls_version version;
} tls_versions[] = {
	{ "", HTTP_TLS_DEFAULT }, { "TLS10", HTTP_TLS10 }, { "TLS11", HTTP_TLS11 },
	{ "TLS12", HTTP_TLS12 },  { "TLS13", HTTP_TLS13 },
};

static const char *validate_tls_version(const void *field, struct river_arena *arena)
{
	(void)arena;
	for (size_t i = 0; i < ARRAY_SIZE(tls_versions); i++)
		if (strcmp(*(const char *const *)field, tls_versions[i].name) == 0)
			return NULL;
	return "min_version must be one of TLS10, TLS11, TLS12, TLS13";
}

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

static bool is_list_of_texts(const struct river_value *list)
{
	if (river_value_type(list) != RIVER_TYPE_ARRAY)
		return false;
	for (size_t i = 0; i < river_value_len(list); i++)
		if (!river_value_get_secret_text(river_value_item(list, i), NULL))
			return false;
	return true;
}

/* A map of lists of strings or secrets. */
static const char *validate_header_lists(const void *field, struct river_arena *arena)
{
	const struct river_value *map = *(const struct river_value *const *)field;
	bool right = river_value_is_null(map) || river_value_type(map) == RIVER_TYPE_OBJECT;

	(void)arena;
	for (size_t i = 0; right && i < river_value_len(map); i++)
		right = is_list_of_texts(river_value_member(map, i));
	return right ? NULL
		     : "headers must be a map of lists of strings, such as { \"X-Scope-OrgID\" = "
		       "[\"a\"] }";
}

#define B struct basic_auth_args
static const struct river_field basic_auth_fields[] = {
	RIVER_FIELD_STRING(B, username, "username"),
	RIVER_FIELD_SECRET(B, password, "password"),
	RIVER_FIELD_STRING(B, password_file, "password_file"),
};
static const struct river_schema basic_auth_schema =
	RIVER_SCHEMA(B, "basic_auth", basic_auth_fields);
#undef B

#define A struct authorization_args
static const struct river_field authorization_fields[] = {
	RIVER_FIELD_STRING(A, type, "type", .def = "Bearer"),
	RIVER_FIELD_SECRET(A, credentials, "credentials"),
	RIVER_FIELD_STRING(A, credentials_file, "credentials_file"),
};
static const struct river_schema authorization_schema =
	RIVER_SCHEMA(A, "authorization", authorization_fields);
#undef A

#define T struct tls_args
static const struct river_field tls_fields[] = {
	RIVER_FIELD_STRING(T, ca_pem, "ca_pem"),
	RIVER_FIELD_STRING(T, ca_file, "ca_file"),
	RIVER_FIELD_STRING(T, cert_pem, "cert_pem"),
	RIVER_FIELD_STRING(T, cert_file, "cert_file"),
	RIVER_FIELD_SECRET(T, key_pem, "key_pem"),
	RIVER_FIELD_STRING(T, key_file, "key_file"),
	RIVER_FIELD_STRING(T, server_name, "server_name"),
	RIVER_FIELD_BOOL(T, insecure_skip_verify, "insecure_skip_verify", .def = "false"),
	RIVER_FIELD_STRING(T, min_version, "min_version", .validate = validate_tls_version),
};
static const struct river_schema tls_schema = RIVER_SCHEMA(T, "tls_config", tls_fields);

#undef T

/* Known, so that a file with it gets a clear answer and not "unrecognized block". */
#define O struct oauth2_args
static const struct river_field oauth2_fields[] = {
	RIVER_FIELD_STRING(O, client_id, "client_id"),
	RIVER_FIELD_IGNORED(RIVER_KIND_SECRET, "client_secret", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "client_secret_file", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING_LIST, "scopes", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "token_url", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING_MAP, "endpoint_params", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "proxy_url", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "no_proxy", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "proxy_from_environment", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_VALUE, "proxy_connect_header", 0),
	{ .kind = RIVER_KIND_BLOCK,
	  .name = "tls_config",
	  .flags = RIVER_IGNORED,
	  .schema = &tls_schema },
};
static const struct river_schema oauth2_schema = RIVER_SCHEMA(O, "oauth2", oauth2_fields);
#undef O

static const char *validate_endpoint(const void *self, struct river_arena *arena)
{
	const struct endpoint_args *args = self;
	struct push_endpoint_options options;

	if (args->oauth2)
		return "oauth2 is not supported; use basic_auth, authorization or bearer_token";
	if (write_args_endpoint(args, arena, &options) < 0)
		return "not enough memory";
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
	RIVER_FIELD_VALUE(E, http_headers, "http_headers", .validate = validate_header_lists),
	RIVER_FIELD_SECRET(E, bearer_token, "bearer_token"),
	RIVER_FIELD_STRING(E, bearer_token_file, "bearer_token_file"),
	RIVER_FIELD_BOOL(E, follow_redirects, "follow_redirects", .def = "true"),
	RIVER_FIELD_BOOL(E, enable_http2, "enable_http2", .def = "true"),
	RIVER_FIELD_STRING(E, proxy_url, "proxy_url"),
	RIVER_FIELD_STRING(E, no_proxy, "no_proxy"),
	RIVER_FIELD_BOOL(E, proxy_from_environment, "proxy_from_environment", .def = "false"),
	RIVER_FIELD_VALUE(E, proxy_connect_header, "proxy_connect_header",
			  .validate = validate_header_lists),
	RIVER_FIELD_IGNORED(RIVER_KIND_DURATION, "debug_info_upload_timeout", 0),
	RIVER_FIELD_BLOCK_PTR(E, basic_auth, "basic_auth", &basic_auth_schema),
	RIVER_FIELD_BLOCK_PTR(E, authorization, "authorization", &authorization_schema),
	RIVER_FIELD_BLOCK_PTR(E, oauth2, "oauth2", &oauth2_schema),
	RIVER_FIELD_BLOCK_PTR(E, tls_config, "tls_config", &tls_schema),
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

static int headers_of_map(const struct river_string_map *map, struct river_arena *arena,
			  const struct http_header **ret_headers)
{
	struct http_header *headers =
		river_arena_alloc(arena, (map->n_items + 1) * sizeof(*headers));

	if (!headers)
		return -ENOMEM;
	for (size_t i = 0; i < map->n_items; i++)
		headers[i] = (struct http_header){ map->keys[i], map->values[i] };
	*ret_headers = headers;
	return 0;
}

static size_t count_lists(const struct river_value *map)
{
	size_t n = 0;

	for (size_t i = 0; i < river_value_len(map); i++)
		n += river_value_len(river_value_member(map, i));
	return n;
}

/* A header of several values is several headers. */
static int headers_of_lists(const struct river_value *map, struct river_arena *arena,
			    const struct http_header **ret_headers, size_t *ret_n)
{
	size_t n = count_lists(map);
	struct http_header *headers = river_arena_alloc(arena, (n + 1) * sizeof(*headers));
	size_t at = 0;

	if (!headers)
		return -ENOMEM;
	for (size_t i = 0; i < river_value_len(map); i++) {
		const struct river_value *list = river_value_member(map, i);

		for (size_t k = 0; k < river_value_len(list); k++) {
			const char *text =
				river_value_get_secret_text(river_value_item(list, k), NULL);

			if (text)
				headers[at++] =
					(struct http_header){ river_value_key(map, i), text };
		}
	}
	*ret_headers = headers;
	*ret_n = at;
	return 0;
}

static const char *unless_empty(const char *s)
{
	return s && *s ? s : NULL;
}

static struct http_tls_options tls_of(const struct tls_args *args)
{
	struct http_tls_options tls = { 0 };

	if (!args)
		return tls;
	tls = (struct http_tls_options){
		.ca_pem = unless_empty(args->ca_pem),
		.ca_file = unless_empty(args->ca_file),
		.cert_pem = unless_empty(args->cert_pem),
		.cert_file = unless_empty(args->cert_file),
		.key_pem = unless_empty(args->key_pem),
		.key_file = unless_empty(args->key_file),
		.server_name = unless_empty(args->server_name),
		.insecure_skip_verify = args->insecure_skip_verify,
	};
	for (size_t i = 0; i < ARRAY_SIZE(tls_versions); i++)
		if (args->min_version && strcmp(args->min_version, tls_versions[i].name) == 0)
			tls.min_version = tls_versions[i].version;
	return tls;
}

static void auth_of(const struct endpoint_args *args, struct push_endpoint_options *o)
{
	o->bearer_token = unless_empty(args->bearer_token);
	o->bearer_token_file = unless_empty(args->bearer_token_file);
	if (args->basic_auth) {
		o->basic_auth_username =
			args->basic_auth->username ? args->basic_auth->username : "";
		o->basic_auth_password = unless_empty(args->basic_auth->password);
		o->basic_auth_password_file = unless_empty(args->basic_auth->password_file);
	}
	if (args->authorization) {
		o->authorization_type = unless_empty(args->authorization->type);
		o->authorization_credentials = unless_empty(args->authorization->credentials);
		o->authorization_credentials_file =
			unless_empty(args->authorization->credentials_file);
	}
}

int write_args_endpoint(const struct endpoint_args *args, struct river_arena *arena,
			struct push_endpoint_options *ret_options)
{
	struct push_endpoint_options o = PUSH_ENDPOINT_OPTIONS_INIT;
	int r = headers_of_map(&args->headers, arena, &o.headers);

	if (r == 0)
		r = headers_of_lists(args->http_headers, arena, &o.http_headers, &o.n_http_headers);
	if (r == 0)
		r = headers_of_lists(args->proxy_connect_header, arena, &o.proxy.connect_headers,
				     &o.proxy.n_connect_headers);
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
	o.follow_redirects = args->follow_redirects;
	o.enable_http2 = args->enable_http2;
	o.proxy.url = unless_empty(args->proxy_url);
	o.proxy.no_proxy = unless_empty(args->no_proxy);
	o.proxy.from_environment = args->proxy_from_environment;
	o.tls = tls_of(args->tls_config);
	auth_of(args, &o);
	*ret_options = o;
	return 0;
}
