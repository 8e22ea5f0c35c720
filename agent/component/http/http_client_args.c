/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments that every component with an HTTP client has. */
#include "agent/component/http/http_client_args.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "agent/component/http/tls_version.h"
#include "agent/http/url.h"
#include "agent/util/macro.h"

#define B struct basic_auth_args
static const struct river_field basic_auth_fields[] = {
	RIVER_FIELD_STRING(B, username, "username"),
	RIVER_FIELD_SECRET(B, password, "password"),
	RIVER_FIELD_STRING(B, password_file, "password_file"),
};
const struct river_schema http_client_basic_auth_schema =
	RIVER_SCHEMA(B, "basic_auth", basic_auth_fields);
#undef B

#define A struct authorization_args
static const struct river_field authorization_fields[] = {
	RIVER_FIELD_STRING(A, type, "type", .def = "Bearer"),
	RIVER_FIELD_SECRET(A, credentials, "credentials"),
	RIVER_FIELD_STRING(A, credentials_file, "credentials_file"),
};
const struct river_schema http_client_authorization_schema =
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
	RIVER_FIELD_STRING(T, min_version, "min_version", .validate = tls_version_validate_min),
};
const struct river_schema http_client_tls_schema = RIVER_SCHEMA(T, "tls_config", tls_fields);
#undef T

#define O struct oauth2_args
static const struct river_field oauth2_fields[] = {
	RIVER_FIELD_STRING(O, client_id, "client_id"),
	RIVER_FIELD_SECRET(O, client_secret, "client_secret"),
	RIVER_FIELD_STRING(O, client_secret_file, "client_secret_file"),
	RIVER_FIELD_STRING_LIST(O, scopes, "scopes"),
	RIVER_FIELD_STRING(O, token_url, "token_url"),
	RIVER_FIELD_STRING_MAP(O, endpoint_params, "endpoint_params"),
	HTTP_CLIENT_PROXY_FIELDS(O, proxy),
	RIVER_FIELD_BLOCK_PTR(O, tls_config, "tls_config", &http_client_tls_schema),
};
const struct river_schema http_client_oauth2_schema = RIVER_SCHEMA(O, "oauth2", oauth2_fields);
#undef O

static bool given(const char *text)
{
	return text && *text;
}

static const char *unless_empty(const char *s)
{
	return given(s) ? s : NULL;
}

static const char *check_tls(const struct tls_args *a)
{
	bool cert = a && (given(a->cert_pem) || given(a->cert_file));
	bool key = a && (given(a->key_pem) || given(a->key_file));

	if (!a)
		return NULL;
	if (given(a->ca_pem) && given(a->ca_file))
		return "at most one of ca_pem and ca_file must be configured";
	if (given(a->cert_pem) && given(a->cert_file))
		return "at most one of cert_pem and cert_file must be configured";
	if (given(a->key_pem) && given(a->key_file))
		return "at most one of key_pem and key_file must be configured";
	if (cert && !key)
		return "exactly one of key_pem or key_file must be configured when a client "
		       "certificate is configured";
	if (key && !cert)
		return "exactly one of cert_pem or cert_file must be configured when a client key "
		       "is configured";
	return NULL;
}

static const char *check_proxy(const struct proxy_args *a)
{
	bool header = a->connect_header.n_items > 0;

	if (header && !a->from_environment && !given(a->url))
		return "if proxy_connect_header is configured, proxy_url or "
		       "proxy_from_environment must also be configured";
	if (a->from_environment && given(a->url))
		return "if proxy_from_environment is configured, proxy_url must not be configured";
	if (a->from_environment && given(a->no_proxy))
		return "if proxy_from_environment is configured, no_proxy must not be configured";
	if (given(a->no_proxy) && !given(a->url))
		return "if no_proxy is configured, proxy_url must also be configured";
	return NULL;
}

static const char *check_oauth2(const struct oauth2_args *a)
{
	struct url url;
	const char *problem;

	if (!a)
		return NULL;
	if (given(a->client_secret) && given(a->client_secret_file))
		return "at most one of oauth2 client_secret & client_secret_file must be "
		       "configured";
	problem = check_proxy(&a->proxy);
	if (!problem)
		problem = check_tls(a->tls_config);
	if (!problem && url_parse(str_from(a->token_url), &url) != URL_OK)
		problem = "oauth2 token_url must be an http or https URL";
	return problem;
}

static const char *check_authorization(const struct authorization_args *a)
{
	struct str type = str_trim(str_from(a ? a->type : ""));

	if (!a)
		return NULL;
	if (given(a->credentials) && given(a->credentials_file))
		return "at most one of authorization credentials & credentials_file must be "
		       "configured";
	if (type.n == 5 && strncasecmp(type.p, "basic", 5) == 0)
		return "authorization type cannot be set to \"basic\", use \"basic_auth\" instead";
	return NULL;
}

static const char *check_auth(const struct http_client_args *a)
{
	int n = (a->basic_auth != NULL) + (a->authorization != NULL) + (a->oauth2 != NULL) +
		given(a->bearer_token) + given(a->bearer_token_file);

	if (n > 1)
		return "at most one of basic_auth, authorization, oauth2, bearer_token & "
		       "bearer_token_file must be configured";
	if (a->basic_auth && given(a->basic_auth->password) && given(a->basic_auth->password_file))
		return "at most one of basic_auth password & password_file must be configured";
	return check_authorization(a->authorization);
}

const char *http_client_args_check(const struct http_client_args *a)
{
	const char *problems[] = {
		check_auth(a),
		check_oauth2(a->oauth2),
		check_tls(a->tls_config),
		check_proxy(&a->proxy),
	};

	for (size_t i = 0; i < ARRAY_SIZE(problems); i++)
		if (problems[i])
			return problems[i];
	return NULL;
}

/* Rows speak of members of members. */
struct client_block {
	struct http_client_args args;
};

static const char *validate_client(const void *self, struct river_arena *arena)
{
	(void)arena;
	return http_client_args_check(&((const struct client_block *)self)->args);
}

static const struct river_field client_fields[] = {
	HTTP_CLIENT_FIELDS(struct client_block, args),
};

const struct river_schema http_client_schema =
	RIVER_SCHEMA(struct client_block, "client", client_fields, .validate = validate_client);

int http_client_map_headers(const struct river_string_map *map, struct river_arena *arena,
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

static size_t count_lists(const struct river_list_map *map)
{
	size_t n = 0;

	for (size_t i = 0; i < map->n_items; i++)
		n += map->lists[i].n_items;
	return n;
}

int http_client_list_headers(const struct river_list_map *map, struct river_arena *arena,
			     const struct http_header **ret_headers, size_t *ret_n)
{
	size_t n = count_lists(map);
	struct http_header *headers = river_arena_alloc(arena, (n + 1) * sizeof(*headers));
	size_t at = 0;

	if (!headers)
		return -ENOMEM;
	for (size_t i = 0; i < map->n_items; i++)
		for (size_t k = 0; k < map->lists[i].n_items; k++)
			headers[at++] =
				(struct http_header){ map->keys[i], map->lists[i].items[k] };
	*ret_headers = headers;
	*ret_n = n;
	return 0;
}

static struct http_tls_options tls_of(const struct tls_args *a)
{
	if (!a)
		return (struct http_tls_options){ 0 };
	return (struct http_tls_options){
		.ca_pem = unless_empty(a->ca_pem),
		.ca_file = unless_empty(a->ca_file),
		.cert_pem = unless_empty(a->cert_pem),
		.cert_file = unless_empty(a->cert_file),
		.key_pem = unless_empty(a->key_pem),
		.key_file = unless_empty(a->key_file),
		.server_name = unless_empty(a->server_name),
		.insecure_skip_verify = a->insecure_skip_verify,
		.min_version = tls_version_of(a->min_version),
	};
}

static int proxy_of(const struct proxy_args *a, struct river_arena *arena,
		    struct http_proxy_options *ret_proxy)
{
	*ret_proxy = (struct http_proxy_options){
		.url = unless_empty(a->url),
		.no_proxy = unless_empty(a->no_proxy),
		.from_environment = a->from_environment,
	};
	return http_client_list_headers(&a->connect_header, arena, &ret_proxy->connect_headers,
					&ret_proxy->n_connect_headers);
}

static int oauth2_of(const struct oauth2_args *a, struct river_arena *arena,
		     const struct http_oauth2_options **ret_oauth2)
{
	struct http_oauth2_options *o = river_arena_alloc(arena, sizeof(*o));

	if (!o)
		return -ENOMEM;
	*o = (struct http_oauth2_options){
		.client_id = a->client_id,
		.client_secret = unless_empty(a->client_secret),
		.client_secret_file = unless_empty(a->client_secret_file),
		.scopes = a->scopes.items,
		.n_scopes = a->scopes.n_items,
		.token_url = a->token_url,
		.n_params = a->endpoint_params.n_items,
		.tls = tls_of(a->tls_config),
	};
	int r = http_client_map_headers(&a->endpoint_params, arena, &o->params);
	if (r < 0)
		return r;
	r = proxy_of(&a->proxy, arena, &o->proxy);
	if (r < 0)
		return r;
	*ret_oauth2 = o;
	return 0;
}

static struct http_credentials credentials_of(const struct http_client_args *a)
{
	struct http_credentials c = {
		.bearer_token = unless_empty(a->bearer_token),
		.bearer_token_file = unless_empty(a->bearer_token_file),
	};

	if (a->basic_auth) {
		c.basic_username = a->basic_auth->username;
		c.basic_password = unless_empty(a->basic_auth->password);
		c.basic_password_file = unless_empty(a->basic_auth->password_file);
	}
	if (a->authorization) {
		c.authorization_type = unless_empty(a->authorization->type);
		c.authorization_credentials = unless_empty(a->authorization->credentials);
		c.authorization_credentials_file = unless_empty(a->authorization->credentials_file);
	}
	return c;
}

int http_client_args_options(const struct http_client_args *a, struct river_arena *arena,
			     struct http_client_options *ret_options)
{
	struct http_client_options o = {
		.credentials = credentials_of(a),
		.tls = tls_of(a->tls_config),
	};
	int r = http_client_list_headers(&a->http_headers, arena, &o.headers, &o.n_headers);

	if (r < 0)
		return r;
	r = proxy_of(&a->proxy, arena, &o.proxy);
	if (r < 0)
		return r;
	if (a->oauth2) {
		r = oauth2_of(a->oauth2, arena, &o.oauth2);
		if (r < 0)
			return r;
	}
	*ret_options = o;
	return 0;
}
