/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that can be set for one endpoint: the arguments of an `endpoint` block of
 * pyroscope.write, as plain C. */
#ifndef XAGENT_AGENT_PUSH_OPTIONS_H
#define XAGENT_AGENT_PUSH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/http/client.h"
#include "agent/http/oauth2.h"
#include "agent/push/backoff.h"

/* Of the user's, for each endpoint. */
#define PUSH_MAX_HEADERS 64

/* NULL: not set. */
struct push_endpoint_options {
	const char *url;
	const char *name;	    /* for the log */
	uint64_t remote_timeout_ns; /* of each attempt */
	const struct http_header *headers;
	size_t n_headers;
	const struct http_header
		*http_headers; /* the same, from the newer argument with several values a name */
	size_t n_http_headers;
	struct backoff_options backoff;
	bool retry_on_http_429;
	bool follow_redirects;
	bool enable_http2;
	/* Files are read again for each request, so that a rotated secret is used at once. */
	const char *basic_auth_username, *basic_auth_password, *basic_auth_password_file;
	const char *bearer_token, *bearer_token_file;
	const char *authorization_type; /* NULL: Bearer */
	const char *authorization_credentials, *authorization_credentials_file;
	const struct http_oauth2_options *oauth2; /* a copy has none: see the next */
	struct http_oauth2 *token_source;	  /* the endpoint's own; not copied, not freed */
	/* Where profiles wait on disk that the server did not take. NULL: in memory alone. */
	const char *spool_path;
	uint64_t spool_max_bytes;
	uint64_t spool_max_age_ns;
	struct http_tls_options tls;
	struct http_proxy_options proxy;
};

#define PUSH_ENDPOINT_OPTIONS_INIT                                                \
	((struct push_endpoint_options){ .remote_timeout_ns = 10ULL * 1000000000, \
					 .backoff = BACKOFF_OPTIONS_INIT,         \
					 .retry_on_http_429 = true,               \
					 .follow_redirects = true,                \
					 .enable_http2 = true })

/* What is wrong with them, as a sentence for the user (static), or NULL. */
const char *push_endpoint_options_check(const struct push_endpoint_options *options);

/* A copy that owns every string. 0 or -ENOMEM. */
int push_endpoint_options_copy(const struct push_endpoint_options *options,
			       struct push_endpoint_options *ret_copy);
/* Of a copy. */
void push_endpoint_options_fini(struct push_endpoint_options *copy);

#endif
