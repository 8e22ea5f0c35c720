/* SPDX-License-Identifier: Apache-2.0 */
/* One attempt as an HTTP request. */
#include "agent/push/request.h"

#include <stdio.h>
#include <string.h>

#include "agent/http/credentials.h"
#include "agent/push/connect_error.h"
#include "agent/util/macro.h"

/* What is built for one attempt; libcurl copies all of it. */
struct push_attempt {
	struct http_header headers[PUSH_PROTOCOL_MAX_HEADERS + PUSH_MAX_HEADERS];
	size_t n_headers;
	struct push_headers own;
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

static void add_user_headers(struct push_attempt *a, const struct push_protocol *protocol,
			     const struct http_header *headers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!push_header_is_ours(protocol, headers[i].name))
			add_header(a, headers[i].name, headers[i].value);
}

static void build_headers(struct push_attempt *a, const struct push_target *target)
{
	const struct push_endpoint_options *o = target->options;

	if (!target->content_type)
		target->protocol->headers(o->remote_timeout_ns, &a->own);
	else if (*target->content_type)
		add_header(a, "Content-Type", target->content_type);
	for (size_t i = 0; i < a->own.n; i++)
		add_header(a, a->own.items[i].name, a->own.items[i].value);
	add_user_headers(a, target->protocol, o->headers, o->n_headers);
	add_user_headers(a, target->protocol, o->http_headers, o->n_http_headers);
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

static struct http_request_options request_of(const struct push_target *target,
					      const struct push_body *body,
					      const struct push_attempt *a)
{
	const struct push_endpoint_options *o = target->options;

	return (struct http_request_options){
		.method = "POST",
		.url = target->url,
		.headers = a->headers,
		.n_headers = a->n_headers,
		.pieces = body->pieces,
		.n_pieces = body->n_pieces,
		.timeout_ns = o->remote_timeout_ns,
		.max_response_bytes = CONNECT_ERROR_MAX_BYTES,
		.user_agent = target->user_agent,
		.oauth2 = o->token_source,
		.follow_redirects = o->follow_redirects,
		.enable_http2 = o->enable_http2,
		.only_http2 = target->protocol->only_http2,
		.tls = o->tls,
		.proxy = o->proxy,
	};
}

int push_request_start(struct http_client *client, const struct push_target *target,
		       const struct push_body *body, http_done_fn done, void *data,
		       struct http_request **ret_request, struct push_reason *ret_reason)
{
	_cleanup_(push_attempt_fini) struct push_attempt a = { .secrets = HTTP_SECRETS_INIT };
	const struct http_credentials credentials = credentials_of(target->options);
	char error[HTTP_MAX_ERROR_BYTES] = "";

	build_headers(&a, target);
	struct http_request_options request = request_of(target, body, &a);
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
