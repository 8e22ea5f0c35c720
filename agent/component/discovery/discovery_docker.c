/* SPDX-License-Identifier: Apache-2.0 */
/* discovery.docker: the containers of a Docker daemon as targets. */
#include "agent/component/kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/component/discovery/docker_args.h"
#include "agent/component/target_maps.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"

#define OPTIONS_ARENA_BYTES ((size_t)16 << 20)

struct docker {
	struct component *c;
	const struct docker_args *args;
	struct docker_watch *watch;
	struct river_arena options; /* what the watch borrows */
	struct http_oauth2 *tokens;
	bool running;
	bool away, refused; /* said already */
};

/* What a person can do about it. A socket is tried once more here, because the answer differs. */
static const char *advice(const struct docker *d)
{
	const char *path = d->args->host + strlen("unix://");

	if (strncmp(d->args->host, "unix://", strlen("unix://")) != 0)
		return "";
	if (access(path, R_OK | W_OK) == 0)
		return "";
	if (errno == ENOENT)
		return "; is Docker running? In a container the socket must be mounted";
	if (errno == EACCES)
		return "; run xagent as root, or in the group that owns the socket";
	return "";
}

static void say_away(struct docker *d, const struct docker_watch_status *s)
{
	_cleanup_buf_ struct buf text = BUF_INIT(COMPONENT_MESSAGE_MAX);

	(void)buf_printf(&text, "%.380s%s", s->why, advice(d));
	component_set_health(d->c, HEALTH_UNHEALTHY, buf_str(&text));
	if (!d->away)
		log_warn("Docker does not answer, its last targets stay",
			 LOG_STR("component_id", d->c->id), LOG_STR("host", d->args->host),
			 LOG_STR("reason", buf_str(&text)));
	d->away = true;
}

static void append_shortages(struct buf *text, const struct docker *d,
			     const struct docker_watch_status *s)
{
	if (s->counts.n_without_network > 0)
		(void)buf_printf(text, ", %zu without a network have none",
				 s->counts.n_without_network);
	if (s->counts.n_cut > 0)
		(void)buf_printf(text, ", %zu labels or targets were too many", s->counts.n_cut);
	if (s->events_refused)
		(void)buf_printf(text, "; changes are seen every %g s only: %.150s",
				 (double)d->args->refresh_interval_ns / NS_PER_S, s->events_why);
	else if (!s->follows_events && !*s->events_why)
		(void)buf_printf(text, "; events are waited for, until then changes are seen late");
	if (*s->networks_why)
		(void)buf_printf(text, "; no labels of networks: %.150s", s->networks_why);
}

static void say_known(struct docker *d, const struct docker_watch_status *s)
{
	_cleanup_buf_ struct buf text = BUF_INIT(COMPONENT_MESSAGE_MAX);

	(void)buf_printf(&text, "%zu targets of %zu containers", docker_watch_targets(d->watch)->n,
			 s->counts.n_containers);
	append_shortages(&text, d, s);
	component_set_health(d->c, HEALTH_HEALTHY, buf_str(&text));
	if (d->away)
		log_info("Docker answers again", LOG_STR("component_id", d->c->id),
			 LOG_UINT("containers", s->counts.n_containers));
	if (s->events_refused && !d->refused)
		log_warn("Docker's events cannot be followed, changes are seen late",
			 LOG_STR("component_id", d->c->id), LOG_STR("reason", s->events_why));
	d->away = false;
	d->refused = s->events_refused;
}

static void on_news(bool other_targets, void *data)
{
	struct docker *d = data;
	const struct docker_watch_status *s = docker_watch_status(d->watch);

	if (s->state == DOCKER_AWAY)
		say_away(d, s);
	else if (s->state == DOCKER_KNOWN)
		say_known(d, s);
	if (other_targets)
		component_exports_changed(d->c);
}

static int new_tokens(struct docker *d, const struct http_oauth2_options *options,
		      const char *user_agent, struct http_oauth2 **ret_tokens)
{
	struct http_oauth2_options o;

	if (!options)
		return 0;
	o = *options;
	o.user_agent = user_agent;
	return http_oauth2_new(d->c->env->loop, d->c->env->http, &o, ret_tokens);
}

/* What the old options had is freed when nobody needs it any more. */
static void go_on(struct docker *d, struct docker_watch_options *o, bool same,
		  struct http_oauth2 *tokens)
{
	o->server.request.oauth2 = same ? d->tokens : tokens;
	if (same) {
		docker_watch_adjust(d->watch, o);
		return;
	}
	docker_watch_open(d->watch, o);
	http_oauth2_free(d->tokens);
	d->tokens = tokens;
}

static int take_args(struct docker *d, const struct docker_args *args, bool same)
{
	const struct http_oauth2_options *oauth2;
	struct http_oauth2 *tokens = NULL;
	struct docker_watch_options o;
	_cleanup_(river_arena_fini) struct river_arena arena;

	river_arena_init(&arena, OPTIONS_ARENA_BYTES);
	int r = docker_args_options(args, &arena, &o, &oauth2);
	if (r < 0)
		return r;
	if (!same) {
		r = new_tokens(d, oauth2, o.server.request.user_agent, &tokens);
		if (r < 0)
			return r;
	}
	go_on(d, &o, same, tokens);
	river_arena_fini(&d->options);
	d->options = arena;
	arena = (struct river_arena){ 0 };
	d->args = args;
	return 0;
}

static int docker_build(struct component *c, const void *args, struct buf *why)
{
	struct docker *d = calloc(1, sizeof(*d));

	(void)why;
	if (!d)
		return -ENOMEM;
	c->state = d;
	d->c = c;
	d->args = args;
	river_arena_init(&d->options, OPTIONS_ARENA_BYTES);
	return docker_watch_new(c->env->loop, c->env->http, on_news, d, &d->watch);
}

static int docker_run(struct component *c, struct buf *why)
{
	struct docker *d = c->state;

	(void)why;
	d->running = true;
	component_set_health(c, HEALTH_UNKNOWN, "waiting for Docker's first answer");
	return take_args(d, d->args, false);
}

static int docker_update(struct component *c, const void *args, struct buf *why)
{
	struct docker *d = c->state;

	(void)why;
	if (d->running)
		return take_args(d, args, docker_args_same_server(d->args, args));
	d->args = args;
	return 0;
}

static void docker_stop(struct component *c)
{
	struct docker *d = c->state;

	if (!d)
		return;
	docker_watch_free(d->watch);
	http_oauth2_free(d->tokens);
	river_arena_fini(&d->options);
	free(d);
	c->state = NULL;
}

static int docker_exports(struct component *c, struct river_arena *arena,
			  const struct river_value **ret_exports)
{
	const struct docker *d = c->state;
	const struct target_list *list = docker_watch_targets(d->watch);

	return target_maps_export(arena, list->items, list->n, ret_exports);
}

static const struct river_value *text_value(struct river_arena *arena, const char *text)
{
	return river_value_string(arena, text, strlen(text));
}

static const char *state_text(enum docker_watch_state state)
{
	switch (state) {
	case DOCKER_ASKING:
		return "asking";
	case DOCKER_KNOWN:
		return "known";
	case DOCKER_AWAY:
		return "away";
	}
	return "";
}

static int docker_debug(struct component *c, struct river_arena *a,
			const struct river_value **ret_info)
{
	const struct docker *d = c->state;
	const struct docker_watch_status *s = docker_watch_status(d->watch);
	const struct river_member members[] = {
		{ "state", text_value(a, state_text(s->state)) },
		{ "last_error", text_value(a, s->why) },
		{ "api_version", text_value(a, *s->version ? s->version + 2 : "") },
		{ "targets", river_value_uint(a, docker_watch_targets(d->watch)->n) },
		{ "containers", river_value_uint(a, s->counts.n_containers) },
		{ "without_network", river_value_uint(a, s->counts.n_without_network) },
		{ "cut", river_value_uint(a, s->counts.n_cut) },
		{ "lists", river_value_uint(a, s->n_lists) },
		{ "events", river_value_uint(a, s->n_events) },
		{ "follows_events", river_value_bool(a, s->follows_events) },
		{ "events_error", text_value(a, s->events_why) },
		{ "networks_error", text_value(a, s->networks_why) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (!members[i].value)
			return -ENOMEM;
	*ret_info = river_value_object(a, members, ARRAY_SIZE(members));
	return *ret_info ? 0 : -ENOMEM;
}

const struct component_kind discovery_docker_kind = {
	.name = "discovery.docker",
	.schema = &docker_schema,
	.wants_label = true,
	.finds_containers = true,
	.build = docker_build,
	.run = docker_run,
	.update = docker_update,
	.stop = docker_stop,
	.exports = docker_exports,
	.debug_info = docker_debug,
};
