/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of components of otelcol.auth, named as in OpenTelemetry's collector, and what they come to. */
#include "agent/component/receivers/otlp_auth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/component/receivers/otlp_args.h"
#include "agent/component/receivers/push_component.h"
#include "agent/http/url.h"
#include "agent/util/buf.h"
#include "agent/util/macro.h"

#define MAX_HEADER_BYTES (64 << 10)
/* Certificates with their authorities are the largest. */
#define ARENA_BYTES ((size_t)16 << 20)

#define DEBUG_METRICS                                                                      \
	{                                                                                  \
		.kind = RIVER_KIND_BLOCK, .name = "debug_metrics", .flags = RIVER_IGNORED, \
		.schema = &otlp_debug_metrics_schema                                       \
	}

static bool given(const char *text)
{
	return text && *text;
}

static const char *unless_empty(const char *text)
{
	return given(text) ? text : NULL;
}

/* ---- its life ---- */

int otlp_auth_new(otlp_auth_of_fn of, const void *args, struct otlp_auth **ret_auth)
{
	struct otlp_auth *auth = calloc(1, sizeof(*auth));

	if (!auth)
		return -ENOMEM;
	auth->n_refs = 1;
	river_arena_init(&auth->arena, ARENA_BYTES);
	int r = of(args, auth);
	if (r < 0)
		otlp_auth_unref(auth);
	else
		*ret_auth = auth;
	return r;
}

struct otlp_auth *otlp_auth_ref(struct otlp_auth *auth)
{
	if (auth)
		auth->n_refs++;
	return auth;
}

void otlp_auth_unref(struct otlp_auth *auth)
{
	if (!auth || --auth->n_refs > 0)
		return;
	river_arena_fini(&auth->arena);
	free(auth);
}

/* Its own copies of texts that are the arguments'. 0 or -ENOMEM. */
static int keep(struct otlp_auth *auth, const char **const *texts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!*texts[i])
			continue;
		*texts[i] = river_arena_strndup(&auth->arena, *texts[i], strlen(*texts[i]));
		if (!*texts[i])
			return -ENOMEM;
	}
	return 0;
}

/* ---- otelcol.auth.basic ---- */

struct client_auth_args {
	const char *username, *password;
};

/* The first two are the older way. */
struct basic_args {
	const char *username, *password;
	struct client_auth_args *client_auth;
};

#define C struct client_auth_args
static const struct river_field client_auth_fields[] = {
	RIVER_FIELD_STRING(C, username, "username", .flags = RIVER_REQUIRED),
	RIVER_FIELD_SECRET(C, password, "password", .flags = RIVER_REQUIRED),
};
static const struct river_schema client_auth_schema =
	RIVER_SCHEMA(C, "client_auth", client_auth_fields);
#undef C

struct htpasswd_args {
	char unused;
};

static const struct river_field htpasswd_fields[] = {
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "file", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "inline", 0),
};
static const struct river_schema htpasswd_schema =
	RIVER_SCHEMA(struct htpasswd_args, "htpasswd", htpasswd_fields);

#define B struct basic_args
static const struct river_field basic_fields[] = {
	RIVER_FIELD_STRING(B, username, "username"),
	RIVER_FIELD_SECRET(B, password, "password"),
	RIVER_FIELD_BLOCK_PTR(B, client_auth, "client_auth", &client_auth_schema),
	{ .kind = RIVER_KIND_BLOCK,
	  .name = "htpasswd",
	  .flags = RIVER_IGNORED,
	  .schema = &htpasswd_schema },
	DEBUG_METRICS,
};
const struct river_schema otlp_auth_basic_schema =
	RIVER_SCHEMA(B, "otelcol.auth.basic", basic_fields);
#undef B

int otlp_auth_of_basic(const void *self, struct otlp_auth *auth)
{
	const struct basic_args *args = self;
	const struct client_auth_args *client = args->client_auth;
	const char **const texts[] = { &auth->credentials.basic_username,
				       &auth->credentials.basic_password, &auth->access.username,
				       &auth->access.password };

	auth->credentials.basic_username = client ? client->username : args->username;
	auth->credentials.basic_password = unless_empty(client ? client->password : args->password);
	/* A client's own block is not what a server asks for. */
	if (given(args->username) && given(args->password)) {
		auth->access.username = args->username;
		auth->access.password = args->password;
	}
	if (!given(auth->credentials.basic_username))
		auth->empty = "username";
	else if (!auth->credentials.basic_password)
		auth->empty = "password";
	return keep(auth, texts, ARRAY_SIZE(texts));
}

/* ---- otelcol.auth.bearer ---- */

struct bearer_args {
	const char *scheme, *token, *header;
};

#define B struct bearer_args
static const struct river_field bearer_fields[] = {
	RIVER_FIELD_STRING(B, scheme, "scheme", .def = "Bearer"),
	RIVER_FIELD_SECRET(B, token, "token", .flags = RIVER_REQUIRED),
	RIVER_FIELD_STRING(B, header, "header", .def = "Authorization"),
	DEBUG_METRICS,
};
const struct river_schema otlp_auth_bearer_schema =
	RIVER_SCHEMA(B, "otelcol.auth.bearer", bearer_fields);
#undef B

/* One that is called otherwise, or has no scheme, is a header as any other. */
static int bearer_header(const struct bearer_args *args, struct otlp_auth *auth)
{
	_cleanup_buf_ struct buf text = BUF_INIT(MAX_HEADER_BYTES);
	struct otlp_auth_header *header = river_arena_alloc(&auth->arena, sizeof(*header));

	(void)buf_printf(&text, "%s%s%s", args->scheme, *args->scheme ? " " : "", args->token);
	if (!header || text.failed)
		return -ENOMEM;
	*header = (struct otlp_auth_header){
		.action = OTLP_AUTH_UPSERT,
		.name = *args->header ? args->header : "Authorization",
		.value = buf_str(&text),
	};
	const char **const texts[] = { &header->name, &header->value };
	auth->headers = header;
	auth->n_headers = 1;
	return keep(auth, texts, ARRAY_SIZE(texts));
}

static int ask_for_token(const struct bearer_args *args, struct otlp_auth *auth)
{
	_cleanup_buf_ struct buf text = BUF_INIT(MAX_HEADER_BYTES);
	const char **const whole = &auth->access.authorization;

	(void)buf_printf(&text, "%s%s%s", args->scheme, *args->scheme ? " " : "", args->token);
	if (text.failed)
		return -ENOMEM;
	auth->access.authorization = buf_str(&text);
	return keep(auth, &whole, 1);
}

int otlp_auth_of_bearer(const void *self, struct otlp_auth *auth)
{
	const struct bearer_args *args = self;
	const char **const texts[] = { &auth->credentials.authorization_type,
				       &auth->credentials.authorization_credentials };

	bool is_usual = strcasecmp(args->header, "Authorization") == 0;
	int r = is_usual && *args->token ? ask_for_token(args, auth) : 0;

	if (r < 0)
		return r;
	auth->empty = *args->token ? NULL : "token";
	if (!*args->scheme || !is_usual)
		return bearer_header(args, auth);
	auth->credentials.authorization_type = args->scheme;
	auth->credentials.authorization_credentials = args->token;
	return keep(auth, texts, ARRAY_SIZE(texts));
}

/* ---- otelcol.auth.headers ---- */

struct header_args {
	const char *key, *action, *from_context, *from_attribute;
	struct river_secret value;
};

struct headers_args {
	struct river_blocks headers; /* struct header_args */
};

static const char *const action_names[] = {
#define ACTION_NAME(name, text) [OTLP_AUTH_##name] = text,
	OTLP_AUTH_ACTIONS(ACTION_NAME)
#undef ACTION_NAME
};

static enum otlp_auth_action action_of(const char *name)
{
	enum otlp_auth_action action = 0;

	while (action < OTLP_AUTH_MAX && strcasecmp(action_names[action], name) != 0)
		action++;
	return action;
}

static const char *validate_action(const void *field, struct river_arena *arena)
{
	(void)arena;
	return action_of(*(const char *const *)field) < OTLP_AUTH_MAX
		       ? NULL
		       : "action must be insert, update, upsert or delete";
}

static const char *validate_header(const void *self, struct river_arena *arena)
{
	const struct header_args *args = self;

	(void)arena;
	if (!*args->key)
		return "key must not be empty";
	if (given(args->from_context) || given(args->from_attribute))
		return "from_context and from_attribute take what came with a request that is "
		       "passed on, and profiles come with none: value must be configured";
	return given(args->value.text) || action_of(args->action) == OTLP_AUTH_DELETE
		       ? NULL
		       : "value must be configured";
}

#define H struct header_args
static const struct river_field header_fields[] = {
	RIVER_FIELD_STRING(H, key, "key", .flags = RIVER_REQUIRED),
	RIVER_FIELD_OPTIONAL_SECRET(H, value, "value"),
	RIVER_FIELD_STRING(H, action, "action", .def = "upsert", .validate = validate_action),
	RIVER_FIELD_STRING(H, from_context, "from_context"),
	RIVER_FIELD_STRING(H, from_attribute, "from_attribute"),
};
static const struct river_schema header_schema =
	RIVER_SCHEMA(H, "header", header_fields, .validate = validate_header);
#undef H

static const struct river_field headers_fields[] = {
	RIVER_FIELD_BLOCKS(struct headers_args, headers, "header", &header_schema),
	DEBUG_METRICS,
};
const struct river_schema otlp_auth_headers_schema =
	RIVER_SCHEMA(struct headers_args, "otelcol.auth.headers", headers_fields);

int otlp_auth_of_headers(const void *self, struct otlp_auth *auth)
{
	const struct headers_args *args = self;
	const struct header_args *from = args->headers.items;
	size_t n = args->headers.n_items;
	struct otlp_auth_header *headers =
		river_arena_alloc(&auth->arena, (n + 1) * sizeof(*headers));
	int r = 0;

	if (!headers)
		return -ENOMEM;
	for (size_t i = 0; i < n && r == 0; i++) {
		const char **const texts[] = { &headers[i].name, &headers[i].value };

		headers[i] = (struct otlp_auth_header){ action_of(from[i].action), from[i].key,
							from[i].value.text };
		r = keep(auth, texts, ARRAY_SIZE(texts));
	}
	auth->headers = headers;
	auth->n_headers = n;
	return r;
}

/* ---- otelcol.auth.oauth2 ---- */

struct token_args {
	const char *client_id, *client_secret, *client_secret_file, *token_url;
	struct river_list_map endpoint_params;
	struct river_strings scopes;
	int64_t timeout_ns;
	struct otlp_tls_args tls;
};

static const char *validate_oauth2(const void *self, struct river_arena *arena)
{
	const struct token_args *args = self;
	struct url url;

	(void)arena;
	if (args->timeout_ns < 0)
		return "timeout must not be negative";
	return url_parse(str_from(args->token_url), &url) == URL_OK
		       ? NULL
		       : "token_url must be an http or https URL";
}

#define T struct token_args
static const struct river_field oauth2_fields[] = {
	RIVER_FIELD_STRING(T, client_id, "client_id", .flags = RIVER_REQUIRED),
	RIVER_FIELD_SECRET(T, client_secret, "client_secret"),
	RIVER_FIELD_STRING(T, client_secret_file, "client_secret_file"),
	RIVER_FIELD_STRING(T, token_url, "token_url", .flags = RIVER_REQUIRED),
	RIVER_FIELD_SECRET_LIST_MAP(T, endpoint_params, "endpoint_params"),
	RIVER_FIELD_STRING_LIST(T, scopes, "scopes"),
	RIVER_FIELD_DURATION(T, timeout_ns, "timeout", .def = "0s"),
	RIVER_FIELD_BLOCK(T, tls, "tls", &otlp_tls_schema),
	DEBUG_METRICS,
};
const struct river_schema otlp_auth_oauth2_schema =
	RIVER_SCHEMA(T, "otelcol.auth.oauth2", oauth2_fields, .validate = validate_oauth2);
#undef T

static int keep_list(struct otlp_auth *auth, const struct river_strings *from,
		     struct http_oauth2_options *o)
{
	const char **items = river_arena_alloc(&auth->arena, (from->n_items + 1) * sizeof(*items));
	int r = items ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < from->n_items; i++) {
		const char **const text = &items[i];

		items[i] = from->items[i];
		r = keep(auth, &text, 1);
	}
	o->scopes = items;
	o->n_scopes = from->n_items;
	return r;
}

static int keep_params(struct otlp_auth *auth, const struct river_list_map *from,
		       struct http_oauth2_options *o)
{
	const struct http_header *given_params;
	int r = http_client_list_headers(from, &auth->arena, &given_params, &o->n_params);
	/* Of the arena, and nobody else's. */
	struct http_header *params = r == 0 ? (struct http_header *)given_params : NULL;

	for (size_t i = 0; r == 0 && i < o->n_params; i++) {
		const char **const texts[] = { &params[i].name, &params[i].value };

		r = keep(auth, texts, ARRAY_SIZE(texts));
	}
	o->params = params;
	return r;
}

static int keep_texts(struct otlp_auth *auth, struct http_oauth2_options *o)
{
	const char **const texts[] = {
		&o->client_id,	 &o->client_secret, &o->client_secret_file, &o->token_url,
		&o->tls.ca_pem,	 &o->tls.ca_file,   &o->tls.cert_pem,	    &o->tls.cert_file,
		&o->tls.key_pem, &o->tls.key_file,  &o->tls.server_name,
	};

	return keep(auth, texts, ARRAY_SIZE(texts));
}

int otlp_auth_of_oauth2(const void *self, struct otlp_auth *auth)
{
	const struct token_args *args = self;
	struct http_oauth2_options *o = river_arena_alloc(&auth->arena, sizeof(*o));
	/* Where both are given the file is meant. */
	bool has_file = given(args->client_secret_file);

	if (!o)
		return -ENOMEM;
	*o = (struct http_oauth2_options){
		.client_id = args->client_id,
		.client_secret = has_file ? NULL : unless_empty(args->client_secret),
		.client_secret_file = has_file ? args->client_secret_file : NULL,
		.token_url = args->token_url,
		.timeout_ns = (uint64_t)args->timeout_ns,
		.tls = otlp_tls_options(&args->tls.files),
	};
	auth->oauth2 = o;
	if (!given(args->client_id))
		auth->empty = "client_id";
	else if (!has_file && !given(args->client_secret))
		auth->empty = "client_secret";
	int r = keep_texts(auth, o);
	r = r == 0 ? keep_list(auth, &args->scopes, o) : r;
	return r == 0 ? keep_params(auth, &args->endpoint_params, o) : r;
}

bool otlp_auth_asks(const struct otlp_auth *auth)
{
	return auth->access.username || auth->access.authorization;
}

/* ---- a client's ---- */

static void apply_header(const struct otlp_auth_header *h, struct http_header *headers, size_t *n)
{
	size_t kept = 0;
	bool found = false;

	for (size_t i = 0; i < *n; i++) {
		bool same = strcasecmp(headers[i].name, h->name) == 0;

		found |= same;
		if (!same || h->action == OTLP_AUTH_INSERT)
			headers[kept++] = headers[i];
	}
	if (h->action == OTLP_AUTH_UPSERT || (h->action == OTLP_AUTH_UPDATE && found) ||
	    (h->action == OTLP_AUTH_INSERT && !found))
		headers[kept++] = (struct http_header){ h->name, h->value };
	*n = kept;
}

static int apply_headers(const struct otlp_auth *auth, struct river_arena *arena,
			 struct push_endpoint_options *o)
{
	size_t n = o->n_headers;
	struct http_header *headers =
		river_arena_alloc(arena, (n + auth->n_headers + 1) * sizeof(*headers));

	if (!headers)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		headers[i] = o->headers[i];
	for (size_t i = 0; i < auth->n_headers; i++)
		apply_header(&auth->headers[i], headers, &n);
	o->headers = headers;
	o->n_headers = n;
	return 0;
}

int otlp_auth_take(const struct otlp_auth *auth, struct river_arena *arena,
		   struct push_endpoint_options *o)
{
	push_component_take_credentials(&auth->credentials, o);
	o->oauth2 = auth->oauth2;
	return apply_headers(auth, arena, o);
}
