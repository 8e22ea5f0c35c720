/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens of OAuth 2.0.
 *
 * Servers want id and secret in a header or in the form, and none says which. The header is tried first (RFC 6749 §2.3.1); after an
 * answer that is no token, the form; what worked is tried first the next time.
 */
#include "agent/http/oauth2.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/http/credentials.h"
#include "agent/http/oauth2_form.h"
#include "agent/http/request.h"
#include "agent/util/arena.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

#define DEFAULT_TIMEOUT_NS (30 * NS_PER_S)

enum place { PLACE_HEADER, PLACE_FORM };

struct http_oauth2 {
	struct http_client *client;
	struct http_oauth2_options options; /* in the arena */
	struct arena arena;
	struct list waiting;	    /* requests */
	struct http_request *fetch; /* NULL: none is under way */
	struct buf body;	    /* of the fetch */
	enum place place;
	bool place_known;
	bool second_try;
	struct buf authorization; /* empty: no token */
	uint64_t expires_ns;	  /* monotonic */
	struct loop_timer *timer; /* to tell that nothing could be asked */
	char error[HTTP_MAX_ERROR_BYTES];
};

static int start_fetch(struct http_oauth2 *o, char *error);

static bool has_token(const struct http_oauth2 *o)
{
	return o->authorization.len > 0 && clock_mono_ns() < o->expires_ns;
}

/* Those that wait become the caller's: what it tells them may bring new ones, or the end of the source. */
static void take_waiting(struct http_oauth2 *o, struct list *waiting)
{
	list_init(waiting);
	LIST_FOREACH (&o->waiting, at) {
		list_remove(at);
		list_push_back(waiting, at);
	}
}

static void fail_all(struct http_oauth2 *o, const char *error)
{
	struct list waiting;

	take_waiting(o, &waiting);
	while (!list_empty(&waiting))
		request_fail(LIST_ENTRY(waiting.next, struct http_request, node), error);
}

static void send_all(struct http_oauth2 *o)
{
	_cleanup_buf_ struct buf authorization = BUF_INIT(2 * OAUTH2_MAX_TOKEN_BYTES);
	struct list waiting;

	(void)buf_append_str(&authorization, buf_str(&o->authorization));
	take_waiting(o, &waiting);
	while (!list_empty(&waiting)) {
		struct http_request *rq = LIST_ENTRY(waiting.next, struct http_request, node);

		list_remove(&rq->node);
		if (request_send(rq, buf_str(&authorization)) < 0)
			request_fail(rq, "cannot authorize the request: the token is of no use");
	}
}

static void describe(const struct http_oauth2 *o, const struct http_result *result, char *error)
{
	if (result->outcome != HTTP_DONE)
		(void)snprintf(error, HTTP_MAX_ERROR_BYTES, "cannot fetch an OAuth 2.0 token: %s",
			       result->error);
	else
		(void)snprintf(
			error, HTTP_MAX_ERROR_BYTES,
			"cannot fetch an OAuth 2.0 token from %.200s: %s %u", o->options.token_url,
			result->status / 100 == 2 ? "no token in the answer, status" : "status",
			result->status);
}

static bool take_token(struct http_oauth2 *o, const struct http_result *result)
{
	uint64_t now = clock_mono_ns();
	uint64_t expires_s;

	buf_reset(&o->authorization);
	if (result->outcome != HTTP_DONE || result->status / 100 != 2 ||
	    !oauth2_answer_read(result->body, result->n_body, &o->authorization, &expires_s))
		return false;
	o->place_known = true;
	o->expires_ns = UINT64_MAX;
	if (expires_s > 0)
		o->expires_ns = now + expires_s * NS_PER_S - OAUTH2_EARLY_NS;
	return true;
}

static void on_answer(const struct http_result *result, void *data)
{
	struct http_oauth2 *o = data;
	char error[HTTP_MAX_ERROR_BYTES];

	o->fetch = NULL;
	if (take_token(o, result)) {
		send_all(o);
		return;
	}
	buf_reset(&o->authorization);
	describe(o, result, error);
	if (result->outcome == HTTP_DONE && !o->place_known && !o->second_try) {
		o->second_try = true;
		o->place = o->place == PLACE_HEADER ? PLACE_FORM : PLACE_HEADER;
		if (start_fetch(o, error) == 0)
			return;
	}
	o->second_try = false;
	o->place = o->place_known ? o->place : PLACE_HEADER;
	fail_all(o, error);
}

static int read_secret(const struct http_oauth2 *o, struct buf *out, char *error)
{
	const char *text = o->options.client_secret;
	const char *path = o->options.client_secret_file;

	if (text || !path)
		return buf_append_str(out, text ? text : "");
	return http_secret_file_read(path, out, error);
}

static int ask(struct http_oauth2 *o, const char *user, const char *password)
{
	static const struct http_header form = { "Content-Type",
						 "application/x-www-form-urlencoded" };
	bool header = o->place == PLACE_HEADER;
	struct http_request_options options = {
		.method = "POST",
		.url = o->options.token_url,
		.headers = &form,
		.n_headers = 1,
		.body = buf_str(&o->body),
		.n_body = o->body.len,
		.timeout_ns = o->options.timeout_ns,
		.max_response_bytes = OAUTH2_MAX_ANSWER_BYTES,
		.user_agent = o->options.user_agent,
		.basic_user = header ? user : NULL,
		.basic_password = header ? password : NULL,
		.follow_redirects = true,
		.enable_http2 = true,
		.tls = o->options.tls,
		.proxy = o->options.proxy,
	};

	return http_request_start(o->client, &options, on_answer, o, &o->fetch);
}

/* 0, or -errno with a sentence in `error`. */
static int start_fetch(struct http_oauth2 *o, char *error)
{
	_cleanup_buf_ struct buf secret = BUF_INIT(CREDENTIALS_MAX_SECRET_BYTES);
	_cleanup_buf_ struct buf user = BUF_INIT(3 * CREDENTIALS_MAX_SECRET_BYTES);
	_cleanup_buf_ struct buf password = BUF_INIT(3 * CREDENTIALS_MAX_SECRET_BYTES);

	(void)snprintf(error, HTTP_MAX_ERROR_BYTES, "cannot ask for an OAuth 2.0 token");
	buf_reset(&o->body);
	int r = read_secret(o, &secret, error);
	if (r == 0)
		r = oauth2_form_write(&o->options, o->place == PLACE_FORM ? buf_str(&secret) : NULL,
				      &o->body);
	if (r == 0)
		r = oauth2_form_escape(o->options.client_id ? o->options.client_id : "", &user);
	if (r == 0)
		r = oauth2_form_escape(buf_str(&secret), &password);
	return r == 0 ? ask(o, buf_str(&user), buf_str(&password)) : r;
}

int http_oauth2_send(struct http_oauth2 *o, struct http_request *request)
{
	if (has_token(o))
		return request_send(request, buf_str(&o->authorization));
	list_push_back(&o->waiting, &request->node);
	/* Nobody is called back from where a request is started. */
	if (!o->fetch && start_fetch(o, o->error) < 0)
		loop_timer_arm(o->timer, clock_mono_ns());
	return 0;
}

static void on_timer(void *data)
{
	struct http_oauth2 *o = data;
	char error[HTTP_MAX_ERROR_BYTES];

	if (o->fetch)
		return;
	(void)snprintf(error, sizeof(error), "%s", o->error);
	fail_all(o, error);
}

void http_oauth2_forget(struct http_oauth2 *o)
{
	buf_reset(&o->authorization);
}

static void copy_text(struct http_oauth2 *o, const char **text, bool *failed)
{
	if (!*text)
		return;
	*text = arena_strndup(&o->arena, *text, strlen(*text));
	*failed |= !*text;
}

static void copy_pairs(struct http_oauth2 *o, const struct http_header **pairs, size_t n,
		       bool *failed)
{
	struct http_header *copy = arena_alloc(&o->arena, (n + 1) * sizeof(*copy));

	*failed |= !copy;
	for (size_t i = 0; copy && i < n; i++) {
		copy[i] = (*pairs)[i];
		copy_text(o, &copy[i].name, failed);
		copy_text(o, &copy[i].value, failed);
	}
	*pairs = copy;
}

static void copy_scopes(struct http_oauth2 *o, bool *failed)
{
	size_t n = o->options.n_scopes;
	const char **copy = arena_alloc(&o->arena, (n + 1) * sizeof(*copy));

	*failed |= !copy;
	for (size_t i = 0; copy && i < n; i++) {
		copy[i] = o->options.scopes[i];
		copy_text(o, &copy[i], failed);
	}
	o->options.scopes = copy;
}

static int copy_options(struct http_oauth2 *o)
{
	struct http_oauth2_options *to = &o->options;
	const char **texts[] = {
		&to->client_id,	  &to->client_secret,  &to->client_secret_file,
		&to->token_url,	  &to->user_agent,     &to->tls.ca_pem,
		&to->tls.ca_file, &to->tls.cert_pem,   &to->tls.cert_file,
		&to->tls.key_pem, &to->tls.key_file,   &to->tls.server_name,
		&to->proxy.url,	  &to->proxy.no_proxy,
	};
	bool failed = false;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		copy_text(o, texts[i], &failed);
	copy_scopes(o, &failed);
	copy_pairs(o, &to->params, to->n_params, &failed);
	copy_pairs(o, &to->proxy.connect_headers, to->proxy.n_connect_headers, &failed);
	return failed ? -ENOMEM : 0;
}

int http_oauth2_new(struct loop *loop, struct http_client *client,
		    const struct http_oauth2_options *options, struct http_oauth2 **ret_source)
{
	_cleanup_(http_oauth2_freep) struct http_oauth2 *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	list_init(&o->waiting);
	arena_init(&o->arena, OAUTH2_MAX_OPTIONS_BYTES);
	buf_init(&o->body, OAUTH2_MAX_ANSWER_BYTES);
	buf_init(&o->authorization, 2 * OAUTH2_MAX_TOKEN_BYTES);
	o->client = client;
	o->options = *options;
	int r = copy_options(o);
	if (r == 0)
		r = loop_timer_new(loop, on_timer, o, &o->timer);
	if (r < 0)
		return r;
	if (o->options.timeout_ns == 0)
		o->options.timeout_ns = DEFAULT_TIMEOUT_NS;
	*ret_source = TAKE_PTR(o);
	return 0;
}

void http_oauth2_free(struct http_oauth2 *o)
{
	if (!o)
		return;
	assert(list_empty(&o->waiting));
	http_request_cancel(o->fetch);
	loop_timer_free(o->timer);
	buf_fini(&o->body);
	buf_fini(&o->authorization);
	arena_fini(&o->arena);
	free(o);
}
