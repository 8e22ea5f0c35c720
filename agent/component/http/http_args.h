/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of the http block, and how they become options of the HTTP server. */
#ifndef XAGENT_AGENT_COMPONENT_HTTP_HTTP_ARGS_H
#define XAGENT_AGENT_COMPONENT_HTTP_HTTP_ARGS_H

#include "agent/http/server.h"
#include "river-config/river.h"

/* Certificates with their chain are some 10 KiB, bundles of authorities some 200 KiB. */
#define HTTP_ARGS_MAX_PEM_BYTES ((size_t)4 << 20)

struct http_basic_args {
	const char *username, *password;
};

struct http_filter_args {
	struct river_strings paths;
	bool authenticate_matching_paths;
};

struct http_auth_args {
	struct http_basic_args *basic;
	struct http_filter_args filter;
};

struct http_tls_args {
	const char *cert_pem, *cert_file, *key_pem, *key_file, *client_ca_pem, *client_ca_file;
	const char *client_auth_type, *min_version, *max_version;
	struct river_strings cipher_suites, curve_preferences;
};

struct http_args {
	struct http_auth_args *auth;
	struct http_tls_args *tls;
};

extern const struct river_schema http_schema;
/* struct http_tls_args: of every server. */
extern const struct river_schema http_tls_schema;
/* The same with the arguments that OpenTelemetry's collector has. */
extern const struct river_schema http_tls_collector_schema;

/* What was read from files; options point into it. */
struct http_tls_texts {
	struct buf cert, key, client_ca;
};

#define HTTP_TLS_TEXTS_INIT                                                           \
	{                                                                             \
		BUF_INIT(HTTP_ARGS_MAX_PEM_BYTES), BUF_INIT(HTTP_ARGS_MAX_PEM_BYTES), \
			BUF_INIT(HTTP_ARGS_MAX_PEM_BYTES)                             \
	}

/* 0, or -errno with a sentence in `why`. */
int http_args_tls(const struct http_tls_args *args, struct http_tls_texts *texts,
		  struct http_server_tls *ret_options, struct buf *why);
void http_tls_texts_fini(struct http_tls_texts *texts);

#endif
