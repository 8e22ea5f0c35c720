/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments that every component with an HTTP client has, inline or as a `client` block, and the options they become. */
#ifndef XAGENT_AGENT_COMPONENT_HTTP_HTTP_CLIENT_ARGS_H
#define XAGENT_AGENT_COMPONENT_HTTP_HTTP_CLIENT_ARGS_H

#include "agent/http/client.h"
#include "agent/http/credentials.h"
#include "agent/http/oauth2.h"
#include "river-config/river.h"

struct basic_auth_args {
	const char *username, *password, *password_file;
};

struct authorization_args {
	const char *type, *credentials, *credentials_file;
};

struct tls_args {
	const char *ca_pem, *ca_file, *cert_pem, *cert_file, *key_pem, *key_file, *server_name,
		*min_version;
	bool insecure_skip_verify;
};

struct proxy_args {
	const char *url, *no_proxy;
	bool from_environment;
	struct river_list_map connect_header;
};

struct oauth2_args {
	const char *client_id, *client_secret, *client_secret_file, *token_url;
	struct river_strings scopes;
	struct river_string_map endpoint_params;
	struct proxy_args proxy;
	struct tls_args *tls_config;
};

struct http_client_args {
	const char *bearer_token, *bearer_token_file;
	bool follow_redirects, enable_http2;
	struct river_list_map http_headers;
	struct proxy_args proxy;
	struct basic_auth_args *basic_auth;
	struct authorization_args *authorization;
	struct oauth2_args *oauth2;
	struct tls_args *tls_config;
};

extern const struct river_schema http_client_basic_auth_schema;
extern const struct river_schema http_client_authorization_schema;
extern const struct river_schema http_client_oauth2_schema;
extern const struct river_schema http_client_tls_schema;

/* Rows for a struct that has `struct proxy_args member`. */
#define HTTP_CLIENT_PROXY_FIELDS(type, member)                                            \
	RIVER_FIELD_STRING(type, member.url, "proxy_url"),                                \
		RIVER_FIELD_STRING(type, member.no_proxy, "no_proxy"),                    \
		RIVER_FIELD_BOOL(type, member.from_environment, "proxy_from_environment", \
				 .def = "false"),                                         \
		RIVER_FIELD_SECRET_LIST_MAP(type, member.connect_header, "proxy_connect_header")

/* The struct alone: of a `client` block. */
extern const struct river_schema http_client_schema;

/* Rows for a struct that has `struct http_client_args member`. */
#define HTTP_CLIENT_FIELDS(type, member)                                                          \
	RIVER_FIELD_SECRET(type, member.bearer_token, "bearer_token"),                            \
		RIVER_FIELD_STRING(type, member.bearer_token_file, "bearer_token_file"),          \
		HTTP_CLIENT_PROXY_FIELDS(type, member.proxy),                                     \
		RIVER_FIELD_BOOL(type, member.follow_redirects, "follow_redirects",               \
				 .def = "true"),                                                  \
		RIVER_FIELD_BOOL(type, member.enable_http2, "enable_http2", .def = "true"),       \
		RIVER_FIELD_SECRET_LIST_MAP(type, member.http_headers, "http_headers"),           \
		RIVER_FIELD_BLOCK_PTR(type, member.basic_auth, "basic_auth",                      \
				      &http_client_basic_auth_schema),                            \
		RIVER_FIELD_BLOCK_PTR(type, member.authorization, "authorization",                \
				      &http_client_authorization_schema),                         \
		RIVER_FIELD_BLOCK_PTR(type, member.oauth2, "oauth2", &http_client_oauth2_schema), \
		RIVER_FIELD_BLOCK_PTR(type, member.tls_config, "tls_config",                      \
				      &http_client_tls_schema)

/* What excludes what. A sentence for the user (static), or NULL. */
const char *http_client_args_check(const struct http_client_args *args);

/* As plain C: pointers into the arguments and an arena. */
struct http_client_options {
	struct http_credentials credentials;
	const struct http_header *headers;
	size_t n_headers;
	const struct http_oauth2_options *oauth2; /* NULL: none */
	struct http_tls_options tls;
	struct http_proxy_options proxy;
};

/* 0 or -ENOMEM. */
int http_client_args_options(const struct http_client_args *args, struct river_arena *arena,
			     struct http_client_options *ret_options);

/* Headers of a map of texts. 0 or -ENOMEM. */
int http_client_map_headers(const struct river_string_map *map, struct river_arena *arena,
			    const struct http_header **ret_headers);
/* The same, where one of several values is several headers. */
int http_client_list_headers(const struct river_list_map *map, struct river_arena *arena,
			     const struct http_header **ret_headers, size_t *ret_n);

#endif
