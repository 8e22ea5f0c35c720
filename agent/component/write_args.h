/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of pyroscope.write, and how they become options of agent/push. */
#ifndef XAGENT_AGENT_COMPONENT_WRITE_ARGS_H
#define XAGENT_AGENT_COMPONENT_WRITE_ARGS_H

#include "agent/push/push.h"
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

struct oauth2_args {
	const char *client_id;
};

struct endpoint_args {
	const char *url, *name;
	int64_t remote_timeout_ns, min_backoff_ns, max_backoff_ns;
	int64_t max_backoff_retries;
	bool retry_on_http_429;
	struct river_string_map headers;
	const struct river_value *http_headers; /* map of lists of secrets */
	const char *bearer_token, *bearer_token_file;
	bool follow_redirects, enable_http2;
	const char *proxy_url, *no_proxy;
	bool proxy_from_environment;
	const struct river_value *proxy_connect_header; /* map of lists of secrets */
	struct basic_auth_args *basic_auth;
	struct authorization_args *authorization;
	struct oauth2_args *oauth2;
	struct tls_args *tls_config;
};

struct write_args {
	struct river_string_map external_labels;
	struct river_blocks endpoints; /* struct endpoint_args */
};

extern const struct river_schema write_schema;

/* Fills *ret_options with pointers into the arguments and into `arena` (0 or -ENOMEM). */
int write_args_endpoint(const struct endpoint_args *args, struct river_arena *arena,
			struct push_endpoint_options *ret_options);

#endif
