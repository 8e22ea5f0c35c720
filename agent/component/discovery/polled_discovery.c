/* SPDX-License-Identifier: Apache-2.0 */
/* What discoveries have in common that ask one server for its list again and again. */
#include "agent/component/discovery/polled_discovery.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/target_maps.h"
#include "agent/http/url.h"
#include "agent/util/log.h"
#include "agent/version.h"

#define USER_AGENT "xagent/" XAGENT_VERSION " (linux)"
#define OPTIONS_ARENA_BYTES ((size_t)16 << 20)

struct polled {
	struct component *c;
	const struct polled_ops *ops;
	const struct polled_args *args;
	void *engine;
	struct river_arena options; /* what the engine borrows */
	bool running;
};

const char *polled_args_validate(const void *self, struct river_arena *arena)
{
	const struct polled_args *a = self;
	struct url url;
	enum url_problem problem = url_parse(str_from(a->url), &url);

	(void)arena;
	if (problem != URL_OK)
		return url_problem_text(problem);
	if (a->refresh_interval_ns <= 0)
		return "refresh_interval must be greater than 0";
	return http_client_args_check(&a->client);
}

static int request_of(const struct polled_args *args, struct river_arena *arena,
		      struct polled_request *ret_request)
{
	struct http_client_options client;
	int r = http_client_args_options(&args->client, arena, &client);

	if (r < 0)
		return r;
	*ret_request = (struct polled_request){
		.request = {
			.url = args->url,
			.headers = client.headers,
			.n_headers = client.n_headers,
			.user_agent = USER_AGENT,
			.follow_redirects = args->client.follow_redirects,
			.enable_http2 = args->client.enable_http2,
			.tls = client.tls,
			.proxy = client.proxy,
		},
		.credentials = client.credentials,
		.oauth2 = client.oauth2,
	};
	return 0;
}

/* A line in the log when it is another problem than the last. */
static void tell_problem(struct polled *p, const char *problem)
{
	_cleanup_buf_ struct buf text = BUF_INIT(COMPONENT_MESSAGE_MAX);
	const struct health *last = &p->c->reported;
	bool known;

	(void)buf_printf(&text, "%.100s: %.400s", p->args->url, problem);
	known = last->state == HEALTH_UNHEALTHY && strcmp(last->message, buf_str(&text)) == 0;
	component_set_health(p->c, HEALTH_UNHEALTHY, buf_str(&text));
	if (!known)
		log_warn(p->ops->trouble, LOG_STR("component_id", p->c->id),
			 LOG_STR("url", p->args->url), LOG_STR("reason", problem));
}

static void on_answer(bool changed, const char *problem, void *data)
{
	struct polled *p = data;
	_cleanup_buf_ struct buf text = BUF_INIT(COMPONENT_MESSAGE_MAX);

	if (problem) {
		tell_problem(p, problem);
		return;
	}
	if (p->c->reported.state == HEALTH_UNHEALTHY)
		log_info(p->ops->over, LOG_STR("component_id", p->c->id));
	(void)buf_printf(&text, "%zu targets", p->ops->targets(p->engine)->n);
	component_set_health(p->c, HEALTH_HEALTHY, buf_str(&text));
	if (changed)
		component_exports_changed(p->c);
}

/* An engine for other arguments, which has found what the one before it has. */
static int open_engine(struct polled *p, const struct polled_args *args)
{
	struct polled_request request;
	_cleanup_(river_arena_fini) struct river_arena arena;
	void *engine = NULL;

	river_arena_init(&arena, OPTIONS_ARENA_BYTES);
	int r = request_of(args, &arena, &request);
	if (r < 0)
		return r;
	r = p->ops->open(p->c->env, args, &request, on_answer, p, &engine);
	if (r < 0)
		return r;
	if (p->engine)
		p->ops->inherit(engine, p->engine);
	p->ops->free(p->engine);
	river_arena_fini(&p->options);
	p->engine = engine;
	p->options = arena;
	arena = (struct river_arena){ 0 };
	p->args = args;
	return 0;
}

int polled_build(struct component *c, const void *args, const struct polled_ops *ops)
{
	struct polled *p = calloc(1, sizeof(*p));

	assert(!c->state);
	if (!p)
		return -ENOMEM;
	c->state = p;
	p->c = c;
	p->ops = ops;
	river_arena_init(&p->options, OPTIONS_ARENA_BYTES);
	return open_engine(p, args);
}

int polled_run(struct component *c, struct buf *why)
{
	struct polled *p = c->state;

	assert(p->engine && !p->running);
	(void)why;
	p->running = true;
	component_set_health(c, HEALTH_UNKNOWN, "waiting for the first answer");
	p->ops->start(p->engine);
	return 0;
}

int polled_update(struct component *c, const void *args, struct buf *why)
{
	struct polled *p = c->state;
	int r = open_engine(p, args);

	(void)why;
	if (r < 0)
		return r;
	if (p->running)
		p->ops->start(p->engine);
	return 0;
}

void polled_stop(struct component *c)
{
	struct polled *p = c->state;

	if (!p)
		return;
	p->ops->free(p->engine);
	river_arena_fini(&p->options);
	free(p);
	c->state = NULL;
}

int polled_exports(struct component *c, struct river_arena *arena,
		   const struct river_value **ret_exports)
{
	const struct polled *p = c->state;
	const struct target_list *list = p->ops->targets(p->engine);

	return target_maps_export(arena, list->items, list->n, ret_exports);
}

int polled_debug_info(struct component *c, struct river_arena *arena,
		      const struct river_value **ret_info)
{
	const struct polled *p = c->state;

	if (!p)
		return 0;
	struct river_member members[] = {
		{ "url", river_value_string(arena, p->args->url, strlen(p->args->url)) },
		{ "targets", river_value_uint(arena, p->ops->targets(p->engine)->n) },
	};
	*ret_info =
		members[0].value && members[1].value ? river_value_object(arena, members, 2) : NULL;
	return *ret_info ? 0 : -ENOMEM;
}
