/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of the http block. */
#include "agent/component/http/http_args.h"

#include <string.h>

#include "agent/component/file/file_text.h"
#include "agent/component/http/tls_version.h"
#include "agent/util/macro.h"

static const char *const auth_types[] = {
	[HTTP_CLIENT_AUTH_NONE] = "NoClientCert",
	[HTTP_CLIENT_AUTH_REQUEST] = "RequestClientCert",
	[HTTP_CLIENT_AUTH_REQUIRE_ANY] = "RequireAnyClientCert",
	[HTTP_CLIENT_AUTH_VERIFY_IF_GIVEN] = "VerifyClientCertIfGiven",
	[HTTP_CLIENT_AUTH_REQUIRE_AND_VERIFY] = "RequireAndVerifyClientCert",
};

static int auth_type_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(auth_types); i++)
		if (strcmp(auth_types[i], name) == 0)
			return (int)i;
	return -1;
}

static const char *complain(struct river_arena *arena, const char *what, const char *name)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	(void)buf_printf(&text, "%s \"%s\"", what, name);
	const char *copy = river_arena_strndup(arena, buf_str(&text), text.len);
	return copy ? copy : what;
}

static const char *validate_auth_type(const void *field, struct river_arena *arena)
{
	const char *name = *(const char *const *)field;

	return auth_type_find(name) < 0 ? complain(arena, "unknown client auth type", name) : NULL;
}

static const char *validate_suites(const void *field, struct river_arena *arena)
{
	const struct river_strings *names = field;

	for (size_t i = 0; i < names->n_items; i++)
		if (!http_server_knows_suite(names->items[i]))
			return complain(arena, "unknown cipher", names->items[i]);
	return NULL;
}

static const char *validate_curves(const void *field, struct river_arena *arena)
{
	const struct river_strings *names = field;

	for (size_t i = 0; i < names->n_items; i++)
		if (!http_server_knows_curve(names->items[i]))
			return complain(arena, "unknown TLS curve", names->items[i]);
	return NULL;
}

#define B struct http_basic_args
static const struct river_field basic_fields[] = {
	RIVER_FIELD_STRING(B, username, "username", .flags = RIVER_REQUIRED),
	RIVER_FIELD_SECRET(B, password, "password", .flags = RIVER_REQUIRED),
};
static const struct river_schema basic_schema = RIVER_SCHEMA(B, "basic", basic_fields);
#undef B

#define F struct http_filter_args
static const struct river_field filter_fields[] = {
	RIVER_FIELD_STRING_LIST(F, paths, "paths"),
	RIVER_FIELD_BOOL(F, authenticate_matching_paths, "authenticate_matching_paths",
			 .def = "true"),
};
static const struct river_schema filter_schema = RIVER_SCHEMA(F, "filter", filter_fields);
#undef F

#define A struct http_auth_args
static const struct river_field auth_fields[] = {
	RIVER_FIELD_BLOCK_PTR(A, basic, "basic", &basic_schema),
	RIVER_FIELD_BLOCK(A, filter, "filter", &filter_schema),
};
static const struct river_schema auth_schema = RIVER_SCHEMA(A, "auth", auth_fields);
#undef A

static bool given(const char *text)
{
	return *text != '\0';
}

static const char *validate_tls(const void *self, struct river_arena *arena)
{
	const struct http_tls_args *a = self;

	(void)arena;
	if (given(a->cert_pem) && given(a->cert_file))
		return "cert_file and cert_pem are mutually exclusive";
	if (given(a->key_pem) && given(a->key_file))
		return "key_file and key_pem are mutually exclusive";
	if (given(a->client_ca_pem) && given(a->client_ca_file))
		return "client_ca_file and client_ca_pem are mutually exclusive";
	if (!given(a->cert_pem) && !given(a->cert_file))
		return "missing one of cert_pem or cert_file";
	if (!given(a->key_pem) && !given(a->key_file))
		return "missing one of key_pem or key_file";
	if ((given(a->client_ca_pem) || given(a->client_ca_file)) &&
	    auth_type_find(a->client_auth_type) == HTTP_CLIENT_AUTH_NONE)
		return "client CAs have been configured without a client auth policy";
	return NULL;
}

#define T struct http_tls_args
static const struct river_field tls_fields[] = {
	RIVER_FIELD_STRING(T, cert_pem, "cert_pem"),
	RIVER_FIELD_STRING(T, cert_file, "cert_file"),
	RIVER_FIELD_SECRET(T, key_pem, "key_pem"),
	RIVER_FIELD_STRING(T, key_file, "key_file"),
	RIVER_FIELD_STRING(T, client_auth_type, "client_auth_type", .def = "NoClientCert",
			   .flags = RIVER_OF_VALUE, .validate = validate_auth_type),
	RIVER_FIELD_STRING(T, client_ca_pem, "client_ca_pem"),
	RIVER_FIELD_STRING(T, client_ca_file, "client_ca_file"),
	RIVER_FIELD_STRING_LIST(T, cipher_suites, "cipher_suites", .validate = validate_suites),
	RIVER_FIELD_STRING_LIST(T, curve_preferences, "curve_preferences",
				.validate = validate_curves),
	RIVER_FIELD_STRING(T, min_version, "min_version", .validate = tls_version_validate_min),
	RIVER_FIELD_STRING(T, max_version, "max_version", .validate = tls_version_validate_max),
};
const struct river_schema http_tls_schema =
	RIVER_SCHEMA(T, "tls", tls_fields, .validate = validate_tls);
#undef T

static const char *validate_auth_type_if_given(const void *field, struct river_arena *arena)
{
	return given(*(const char *const *)field) ? validate_auth_type(field, arena) : NULL;
}

/* There a client has to show a certificate where one that signs them is given. */
#define T struct http_tls_args
static const struct river_field collector_tls_fields[] = {
	RIVER_FIELD_STRING(T, cert_pem, "cert_pem"),
	RIVER_FIELD_STRING(T, cert_file, "cert_file"),
	RIVER_FIELD_SECRET(T, key_pem, "key_pem"),
	RIVER_FIELD_STRING(T, key_file, "key_file"),
	RIVER_FIELD_STRING(T, client_auth_type, "client_auth_type",
			   .validate = validate_auth_type_if_given),
	RIVER_FIELD_STRING(T, client_ca_pem, "client_ca_pem"),
	RIVER_FIELD_STRING(T, client_ca_file, "client_ca_file"),
	RIVER_FIELD_STRING_LIST(T, cipher_suites, "cipher_suites", .validate = validate_suites),
	RIVER_FIELD_STRING_LIST(T, curve_preferences, "curve_preferences",
				.validate = validate_curves),
	RIVER_FIELD_STRING(T, min_version, "min_version", .validate = tls_version_validate_any),
	RIVER_FIELD_STRING(T, max_version, "max_version", .validate = tls_version_validate_any),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "ca_pem", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "ca_file", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "include_system_ca_certs_pool", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_DURATION, "reload_interval", 0),
};
const struct river_schema http_tls_collector_schema =
	RIVER_SCHEMA(T, "tls", collector_tls_fields, .validate = validate_tls);
#undef T

static const struct river_field http_fields[] = {
	RIVER_FIELD_BLOCK_PTR(struct http_args, auth, "auth", &auth_schema),
	RIVER_FIELD_BLOCK_PTR(struct http_args, tls, "tls", &http_tls_schema),
};

const struct river_schema http_schema = RIVER_SCHEMA(struct http_args, "http", http_fields);

void http_tls_texts_fini(struct http_tls_texts *texts)
{
	buf_fini(&texts->cert);
	buf_fini(&texts->key);
	buf_fini(&texts->client_ca);
}

/* The text itself, or the file's. NULL when neither is given. */
static int text_of(const char *pem, const char *file, struct buf *memory, struct buf *why,
		   const char **ret_text)
{
	int r = given(file) ? file_text_read(file, memory, why) : 0;

	if (r < 0)
		return r;
	*ret_text = given(pem) ? pem : given(file) ? buf_str(memory) : NULL;
	return 0;
}

static enum http_client_auth client_auth_of(const char *name, bool has_ca)
{
	if (given(name))
		return (enum http_client_auth)auth_type_find(name);
	return has_ca ? HTTP_CLIENT_AUTH_REQUIRE_AND_VERIFY : HTTP_CLIENT_AUTH_NONE;
}

int http_args_tls(const struct http_tls_args *args, struct http_tls_texts *texts,
		  struct http_server_tls *ret_options, struct buf *why)
{
	struct http_server_tls o = {
		.min_version = tls_version_of(args->min_version),
		.max_version = tls_version_of(args->max_version),
		.cipher_suites = args->cipher_suites.items,
		.n_cipher_suites = args->cipher_suites.n_items,
		.curves = args->curve_preferences.items,
		.n_curves = args->curve_preferences.n_items,
	};
	int r = text_of(args->cert_pem, args->cert_file, &texts->cert, why, &o.cert_pem);

	if (r < 0)
		return r;
	r = text_of(args->key_pem, args->key_file, &texts->key, why, &o.key_pem);
	if (r < 0)
		return r;
	r = text_of(args->client_ca_pem, args->client_ca_file, &texts->client_ca, why,
		    &o.client_ca_pem);
	if (r < 0)
		return r;
	o.client_auth = client_auth_of(args->client_auth_type, o.client_ca_pem != NULL);
	*ret_options = o;
	return 0;
}
