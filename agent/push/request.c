/* SPDX-License-Identifier: Apache-2.0 */
/* One attempt as an HTTP request. */
#include "agent/push/request.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "agent/push/connect_error.h"
#include "agent/util/clock.h"
#include "agent/util/file.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

#define PUSH_OWN_HEADERS 3
/* Ten digits at most, says the Connect protocol. */
#define CONNECT_MAX_TIMEOUT_MS ((uint64_t)9999999999)

/* What is built for one attempt; libcurl copies all of it. */
struct push_attempt {
	struct http_header headers[PUSH_OWN_HEADERS + PUSH_MAX_HEADERS];
	size_t n_headers;
	char timeout_ms[24];
	struct buf password;
	struct buf authorization;
};

static void push_attempt_fini(struct push_attempt *a)
{
	buf_fini(&a->password);
	buf_fini(&a->authorization);
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

/* Appends the secret: the text itself, or the file's content without white space at its ends. */
static int load_secret(const char *text, const char *path, struct buf *out,
		       struct push_reason *reason)
{
	_cleanup_buf_ struct buf content = BUF_INIT(PUSH_MAX_SECRET_BYTES);

	if (text)
		return buf_append_str(out, text);
	if (!path)
		return 0;
	int r = file_read(AT_FDCWD, path, &content);
	if (r < 0) {
		(void)snprintf(reason->text, sizeof(reason->text),
			       "cannot read the secret in %.512s: %s", path, strerrordesc_np(-r));
		return r;
	}
	struct str secret = str_trim((struct str){ buf_str(&content), content.len });
	return buf_append(out, secret.p, secret.n);
}

static int build_secrets(struct push_attempt *a, const struct push_endpoint_options *o,
			 struct push_reason *reason)
{
	const char *credentials = o->bearer_token ? o->bearer_token : o->authorization_credentials;
	const char *file =
		o->bearer_token_file ? o->bearer_token_file : o->authorization_credentials_file;
	int r = load_secret(o->basic_auth_password, o->basic_auth_password_file, &a->password,
			    reason);

	if (r < 0 || (!credentials && !file))
		return r;
	(void)buf_printf(&a->authorization, "%s ",
			 o->authorization_type ? o->authorization_type : "Bearer");
	r = load_secret(credentials, file, &a->authorization, reason);
	return r < 0 ? r : a->authorization.failed ? -ENOBUFS : 0;
}

static bool has_basic_auth(const struct push_endpoint_options *o)
{
	return o->basic_auth_username || o->basic_auth_password || o->basic_auth_password_file;
}

static int start(struct http_client *client, const struct push_endpoint_options *o,
		 const char *target_url, const char *user_agent, const struct push_body *body,
		 const struct push_attempt *a, http_done_fn done, void *data,
		 struct http_request **ret_request)
{
	bool basic = has_basic_auth(o);
	struct http_request_options options = {
		.method = "POST",
		.url = target_url,
		.headers = a->headers,
		.n_headers = a->n_headers,
		.body = body->bytes,
		.n_body = body->n,
		.timeout_ns = o->remote_timeout_ns,
		.max_response_bytes = CONNECT_ERROR_MAX_BYTES,
		.user_agent = user_agent,
		.basic_user = basic ? (o->basic_auth_username ? o->basic_auth_username : "") : NULL,
		.basic_password = basic ? buf_str(&a->password) : NULL,
		.authorization = a->authorization.len > 0 ? buf_str(&a->authorization) : NULL,
		.follow_redirects = o->follow_redirects,
		.enable_http2 = o->enable_http2,
		.tls = o->tls,
		.proxy = o->proxy,
	};

	return http_request_start(client, &options, done, data, ret_request);
}

int push_request_start(struct http_client *client, const struct push_endpoint_options *options,
		       const char *target_url, const char *user_agent, const struct push_body *body,
		       http_done_fn done, void *data, struct http_request **ret_request,
		       struct push_reason *ret_reason)
{
	_cleanup_(push_attempt_fini) struct push_attempt a = {
		.password = BUF_INIT(PUSH_MAX_SECRET_BYTES),
		.authorization = BUF_INIT(2 * PUSH_MAX_SECRET_BYTES),
	};

	ret_reason->text[0] = '\0';
	build_headers(&a, options);
	int r = build_secrets(&a, options, ret_reason);
	if (r == 0)
		r = start(client, options, target_url, user_agent, body, &a, done, data,
			  ret_request);
	if (r < 0 && !ret_reason->text[0])
		(void)snprintf(ret_reason->text, sizeof(ret_reason->text),
			       "cannot make the request: %s", strerrordesc_np(-r));
	return r;
}
