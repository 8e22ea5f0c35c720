/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote.http: what a server answers as a value, asked for again from time to time.
 *
 * The first answer decides whether the component can be built, so it is waited for, in a loop of its own: whatever else the agent's
 * loop has to do must not happen in the middle of a load.
 */
#include "agent/component/kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/http/remote_http_args.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"
#include "agent/version.h"

#define USER_AGENT "xagent/" XAGENT_VERSION " (linux)"
#define STATUS_OK 200
#define OPTIONS_ARENA_BYTES ((size_t)16 << 20)

/* Where answers come from, for one version of the arguments. */
struct source {
	struct http_client *http;
	const struct remote_http_args *args;
	struct http_oauth2 *tokens;
	struct http_request *request; /* NULL: none is under way */
	void (*done)(const struct http_result *result, void *data);
	void *data;
};

struct remote_http {
	struct component *c;
	struct source source;
	struct buf content;
	struct loop_timer *timer;
};

static int source_open(struct source *s, struct loop *loop, struct http_client *http,
		       const struct remote_http_args *args)
{
	struct http_client_options options;
	_cleanup_(river_arena_fini) struct river_arena arena;
	struct http_oauth2_options oauth2;
	int r;

	river_arena_init(&arena, OPTIONS_ARENA_BYTES);
	s->http = http;
	s->args = args;
	if (!args->client || !args->client->oauth2)
		return 0;
	r = http_client_args_options(args->client, &arena, &options);
	if (r < 0)
		return r;
	oauth2 = *options.oauth2;
	oauth2.user_agent = USER_AGENT;
	oauth2.timeout_ns = (uint64_t)args->poll_timeout_ns;
	return http_oauth2_new(loop, http, &oauth2, &s->tokens);
}

static void source_close(struct source *s)
{
	http_request_cancel(TAKE_PTR(s->request));
	http_oauth2_free(TAKE_PTR(s->tokens));
}

static void source_on_done(const struct http_result *result, void *data)
{
	struct source *s = data;

	s->request = NULL;
	s->done(result, s->data);
}

static int source_start(struct source *s, struct http_request_options *o,
			const struct http_credentials *credentials, char *error)
{
	_cleanup_(http_secrets_fini) struct http_secrets secrets = HTTP_SECRETS_INIT;
	int r = http_secrets_read(credentials, &secrets, o, error);

	if (r < 0)
		return r;
	return http_request_start(s->http, o, source_on_done, s, &s->request);
}

/* 0, or -errno with a sentence in `error`. */
static int source_ask(struct source *s, char *error)
{
	struct http_credentials credentials = { 0 };
	struct http_request_options o;
	struct river_arena arena;

	river_arena_init(&arena, OPTIONS_ARENA_BYTES);
	int r = remote_http_args_request(s->args, &arena, &o, &credentials);
	o.user_agent = USER_AGENT;
	o.oauth2 = s->tokens;
	*error = '\0';
	if (r == 0)
		r = source_start(s, &o, &credentials, error);
	if (r < 0 && !*error)
		(void)snprintf(error, HTTP_MAX_ERROR_BYTES, "cannot make the request: %s",
			       strerrordesc_np(-r));
	river_arena_fini(&arena);
	return r;
}

/* What is in the answer, or what is wrong with it: then false. */
static bool take_answer(const struct http_result *result, struct buf *content, struct buf *why)
{
	struct str body = str_trim((struct str){ result->body, result->n_body });

	if (result->outcome != HTTP_DONE) {
		(void)buf_printf(why, "performing request: %s", result->error);
		return false;
	}
	if (result->status != STATUS_OK) {
		(void)buf_printf(why, "unexpected status code %u", result->status);
		return false;
	}
	buf_reset(content);
	return buf_append(content, body.p, body.n) == 0;
}

/* An answer that is waited for. */
struct first {
	struct buf *content, *why;
	bool done, good;
};

static void on_first(const struct http_result *result, void *data)
{
	struct first *f = data;

	f->done = true;
	f->good = take_answer(result, f->content, f->why);
}

/* Ends after poll_timeout at the latest, and after twice as long again where a token is wanted. */
static int wait_for_first(const struct remote_http_args *args, struct loop *loop, struct source *s,
			  struct first *f)
{
	char error[HTTP_MAX_ERROR_BYTES];
	int r = source_open(s, loop, s->http, args);

	if (r < 0)
		return r;
	r = source_ask(s, error);
	if (r < 0)
		(void)buf_append_str(f->why, error);
	while (r == 0 && !f->done)
		r = loop_run_once(loop, -1);
	return r < 0 ? r : f->good ? 0 : -EIO;
}

static int ask_first(const struct remote_http_args *args, struct buf *content, struct buf *why)
{
	_cleanup_(loop_freep) struct loop *loop = NULL;
	_cleanup_(http_client_freep) struct http_client *http = NULL;
	struct first f = { .content = content, .why = why };
	int r = loop_new(&loop);

	if (r < 0)
		return r;
	r = http_client_new(loop, &http);
	if (r < 0)
		return r;
	struct source s = { .http = http, .done = on_first, .data = &f };
	r = wait_for_first(args, loop, &s, &f);
	source_close(&s);
	return r;
}

static void tell_failure(struct remote_http *h, const char *why)
{
	_cleanup_buf_ struct buf text = BUF_INIT(COMPONENT_MESSAGE_MAX);
	bool known = h->c->reported.state == HEALTH_UNHEALTHY;

	(void)buf_printf(&text, "polling failed: %.400s", why);
	component_set_health(h->c, HEALTH_UNHEALTHY, buf_str(&text));
	if (!known)
		log_error("polling failed, the last answer stays",
			  LOG_STR("component_id", h->c->id), LOG_STR("err", why));
}

static void on_answer(const struct http_result *result, void *data)
{
	struct remote_http *h = data;
	_cleanup_buf_ struct buf why = BUF_INIT(HTTP_MAX_ERROR_BYTES + 64);
	_cleanup_buf_ struct buf content = BUF_INIT(h->content.max_bytes);

	if (!take_answer(result, &content, &why)) {
		tell_failure(h, buf_str(&why));
		return;
	}
	component_set_health(h->c, HEALTH_HEALTHY, "polled endpoint");
	if (content.len == h->content.len &&
	    memcmp(buf_str(&content), buf_str(&h->content), content.len) == 0)
		return;
	buf_reset(&h->content);
	if (buf_append(&h->content, buf_str(&content), content.len) == 0)
		component_exports_changed(h->c);
}

static void wait_for_next(struct remote_http *h)
{
	loop_timer_arm(h->timer, clock_mono_ns() + (uint64_t)h->source.args->poll_frequency_ns);
}

/* One that still waits for its answer is not joined by another. */
static void poll_now(struct remote_http *h)
{
	char error[HTTP_MAX_ERROR_BYTES];

	wait_for_next(h);
	if (!h->source.request && source_ask(&h->source, error) < 0)
		tell_failure(h, error);
}

static void on_timer(void *data)
{
	poll_now(data);
}

static int remote_http_build(struct component *c, const void *args, struct buf *why)
{
	struct remote_http *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	c->state = h;
	h->c = c;
	h->source.done = on_answer;
	h->source.data = h;
	buf_init(&h->content, HTTP_DEFAULT_MAX_RESPONSE_BYTES);
	int r = loop_timer_new(c->env->loop, on_timer, h, &h->timer);
	if (r < 0)
		return r;
	r = source_open(&h->source, c->env->loop, c->env->http, args);
	if (r < 0)
		return r;
	return c->env->offline ? COMPONENT_UNKNOWN : ask_first(args, &h->content, why);
}

/* A reload that points to where nobody answers is refused, as a start would be. */
static int remote_http_accepts(struct component *c, const void *args, struct buf *why)
{
	_cleanup_buf_ struct buf content = BUF_INIT(HTTP_DEFAULT_MAX_RESPONSE_BYTES);

	(void)c;
	return ask_first(args, &content, why);
}

static int remote_http_run(struct component *c, struct buf *why)
{
	(void)why;
	component_set_health(c, HEALTH_HEALTHY, "polled endpoint");
	wait_for_next(c->state);
	return 0;
}

/* Whoever asks in the old way is not heard any more; the old content stays until there is an answer. */
static int remote_http_update(struct component *c, const void *args, struct buf *why)
{
	struct remote_http *h = c->state;
	struct source next = { .done = on_answer, .data = h };
	int r = source_open(&next, c->env->loop, c->env->http, args);

	(void)why;
	if (r < 0)
		return r;
	source_close(&h->source);
	h->source = next;
	component_exports_changed(c);
	poll_now(h);
	return 0;
}

static void remote_http_stop(struct component *c)
{
	struct remote_http *h = c->state;

	if (!h)
		return;
	source_close(&h->source);
	loop_timer_free(h->timer);
	buf_fini(&h->content);
	free(h);
	c->state = NULL;
}

static int remote_http_exports(struct component *c, struct river_arena *arena,
			       const struct river_value **ret_exports)
{
	const struct remote_http *h = c->state;
	struct river_member member = {
		.key = "content",
		.value = river_value_optional_secret(arena, buf_str(&h->content), h->content.len,
						     h->source.args->is_secret),
	};

	*ret_exports = member.value ? river_value_object(arena, &member, 1) : NULL;
	return *ret_exports ? 0 : -ENOMEM;
}

const struct component_kind remote_http_kind = {
	.name = "remote.http",
	.schema = &remote_http_schema,
	.wants_label = true,
	.build = remote_http_build,
	.accepts = remote_http_accepts,
	.run = remote_http_run,
	.update = remote_http_update,
	.stop = remote_http_stop,
	.exports = remote_http_exports,
};
