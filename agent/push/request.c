/* SPDX-License-Identifier: Apache-2.0 */
/* One attempt as an HTTP request. */
#include "agent/push/request.h"

#include <inttypes.h>
#include <string.h>

#include "agent/http/credentials.h"
#include "agent/push/connect_error.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

#define PUSH_OWN_HEADERS 3
/* Ten digits at most, says the Connect protocol. */
#define CONNECT_MAX_TIMEOUT_MS ((uint64_t)9999999999)

/* What is built for one attempt; libcurl copies all of it. */
struct push_attempt {
	struct http_header headers[PUSH_OWN_HEADERS + PUSH_MAX_HEADERS];
	size_t n_headers;
	char timeout_ms[24];
	struct http_secrets secrets;
};

static void push_attempt_fini(struct push_attempt *a)
{
	http_secrets_fini(&a->secrets);
}

static void add_header(struct push_attempt *a, const char *name, const char *value)
{
	if (a->n_headers < ARRAY_SIZE(a->headers))
		a->headers[a->n_headers++] = (struct http_header){ name, value };
}

static void add_user_headers(struct push_attempt *a, const struct http_header *headers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!push_header_is_ours(headers[i].name))
			add_header(a, headers[i].name, headers[i].value);
}

static void build_headers(struct push_attempt *a, const struct push_endpoint_options *o)
{
	uint64_t ms = o->remote_timeout_ns / NS_PER_MS;

	(void)snprintf(a->timeout_ms, sizeof(a->timeout_ms), "%" PRIu64,
		       MIN_OF(MAX_OF(ms, (uint64_t)1), CONNECT_MAX_TIMEOUT_MS));
	add_header(a, "Content-Type", "application/proto");
	add_header(a, "Connect-Protocol-Version", "1");
	add_header(a, "Connect-Timeout-Ms", a->timeout_ms);
	add_user_headers(a, o->headers, o->n_headers);
	add_user_headers(a, o->http_headers, o->n_http_headers);
}

static struct http_credentials credentials_of(const struct push_endpoint_options *o)
{
	return (struct http_credentials){
		.basic_username = o->basic_auth_username,
		.basic_password = o->basic_auth_password,
		.basic_password_file = o->basic_auth_password_file,
		.bearer_token = o->bearer_token,
		.bearer_token_file = o->bearer_token_file,
		.authorization_type = o->authorization_type,
		.authorization_credentials = o->authorization_credentials,
		.authorization_credentials_file = o->authorization_credentials_file,
	};
}

static struct http_request_options request_of(const struct push_endpoint_options *o,
					      const char *target_url, const char *user_agent,
					      const struct push_body *body,
					      const struct push_attempt *a)
{
	return (struct http_request_options){
		.method = "POST",
		.url = target_url,
		.headers = a->headers,
		.n_headers = a->n_headers,
		.body = body->bytes,
		.n_body = body->n,
		.timeout_ns = o->remote_timeout_ns,
		.max_response_bytes = CONNECT_ERROR_MAX_BYTES,
		.user_agent = user_agent,
		.oauth2 = o->token_source,
		.follow_redirects = o->follow_redirects,
		.enable_http2 = o->enable_http2,
		.tls = o->tls,
		.proxy = o->proxy,
	};
}

int push_request_start(struct http_client *client, const struct push_endpoint_options *options,
		       const char *target_url, const char *user_agent, const struct push_body *body,
		       http_done_fn done, void *data, struct http_request **ret_request,
		       struct push_reason *ret_reason)
{
	_cleanup_(push_attempt_fini) struct push_attempt a = { .secrets = HTTP_SECRETS_INIT };
	const struct http_credentials credentials = credentials_of(options);
	char error[HTTP_MAX_ERROR_BYTES] = "";

	build_headers(&a, options);
	struct http_request_options request = request_of(options, target_url, user_agent, body, &a);
	int r = http_secrets_read(&credentials, &a.secrets, &request, error);
	if (r == 0)
		r = http_request_start(client, &request, done, data, ret_request);
	ret_reason->text[0] = '\0';
	if (r < 0)
		(void)snprintf(ret_reason->text, sizeof(ret_reason->text), "%s%s",
			       *error ? error : "cannot make the request: ",
			       *error ? "" : strerrordesc_np(-r));
	return r;
}
