/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens of OAuth 2.0 by client credentials (RFC 6749 §4.4): fetched when the first request needs one, kept until shortly before it
 * expires, fetched once for all requests that wait for it.
 *
 * A request names its source (http_request_options.oauth2) and is sent when there is a token. Loop thread only.
 */
#ifndef XAGENT_AGENT_HTTP_OAUTH2_H
#define XAGENT_AGENT_HTTP_OAUTH2_H

#include "agent/http/client.h"

/* Answers of token servers; Go's client reads as much. */
#define OAUTH2_MAX_ANSWER_BYTES (1 << 20)
/* Of a token, and of what becomes a header. */
#define OAUTH2_MAX_TOKEN_BYTES (64 << 10)
/* Of all options together, certificates included. */
#define OAUTH2_MAX_OPTIONS_BYTES ((size_t)16 << 20)
/* So long before its end a token is replaced: it has to arrive while it is good. */
#define OAUTH2_EARLY_NS (10ULL * 1000000000)

/* NULL: not set. Strings and arrays are copied. */
struct http_oauth2_options {
	const char *client_id;
	const char *client_secret, *client_secret_file; /* the file is read for each token */
	const char *const *scopes;
	size_t n_scopes;
	const char *token_url;
	const struct http_header *params; /* further ones of the form */
	size_t n_params;
	const char *user_agent;
	uint64_t timeout_ns; /* 0: 30 s */
	struct http_tls_options tls;
	struct http_proxy_options proxy;
};

struct http_oauth2;

/* 0 or -ENOMEM. Nothing is asked yet. */
int http_oauth2_new(struct loop *loop, struct http_client *client,
		    const struct http_oauth2_options *options, struct http_oauth2 **ret_source);
/* Every request that names it has ended or been cancelled. NULL-safe. */
void http_oauth2_free(struct http_oauth2 *source);
DEFINE_CLEANUP(struct http_oauth2 *, http_oauth2_free);

/* For the client: authorizes and sends the request, at once or when there is a token; or fails it, later. 0 or -errno. */
int http_oauth2_send(struct http_oauth2 *source, struct http_request *request);
/* For the client: the server refused the token, the next request gets a new one. */
void http_oauth2_forget(struct http_oauth2 *source);

#endif
