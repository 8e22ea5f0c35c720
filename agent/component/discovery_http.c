/* SPDX-License-Identifier: Apache-2.0 */
/* discovery.http: targets that a server lists. */
#include "agent/component/kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/http_client_args.h"
#include "agent/component/target_maps.h"
#include "agent/discovery/http_targets.h"
#include "agent/http/url.h"
#include "agent/util/log.h"
#include "agent/version.h"

#define USER_AGENT "xagent/" XAGENT_VERSION " (linux)"
#define OPTIONS_ARENA_BYTES ((size_t)16 << 20)

struct http_discovery_args {
	const char *url;
	int64_t refresh_interval_ns;
	struct http_client_args client;
};

struct http_discovery {
	struct component *c;
	const struct http_discovery_args *args;
	struct http_targets *engine;
	struct river_arena options; /* what the engine borrows */
	bool running;
};

static const char *validate(const void *self, struct river_arena *arena)
{
	const struct http_discovery_args *a = self;
	struct url url;
	enum url_problem problem = url_parse(str_from(a->url), &url);

	(void)arena;
	if (problem != URL_OK)
		return url_problem_text(problem);
	if (a->refresh_interval_ns <= 0)
		return "refresh_interval must be greater than 0";
	return http_client_args_check(&a->client);
}

#define A struct http_discovery_args
static const struct river_field http_discovery_fields[] = {
	RIVER_FIELD_STRING(A, url, "url", .flags = RIVER_REQUIRED),
	RIVER_FIELD_DURATION(A, refresh_interval_ns, "refresh_interval", .def = "60s"),
	HTTP_CLIENT_FIELDS(A, client),
};
static const struct river_schema http_discovery_schema =
	RIVER_SCHEMA(A, "discovery.http", http_discovery_fields, .validate = validate);
#undef A

static int options_of(const struct http_discovery_args *args, struct river_arena *arena,
		      struct http_targets_options *ret_options)
{
	struct http_client_options client;
	int r = http_client_args_options(&args->client, arena, &client);

	if (r < 0)
		return r;
	*ret_options = (struct http_targets_options){
		.refresh_interval_ns = (uint64_t)args->refresh_interval_ns,
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

static void tell_problem(struct http_discovery *d, const char *problem)
{
	_cleanup_buf_ struct buf text = BUF_INIT(COMPONENT_MESSAGE_MAX);
	bool known;

	(void)buf_printf(&text, "%.100s: %.300s", d->args->url, problem);
	known = d->c->reported.state == HEALTH_UNHEALTHY &&
		strcmp(d->c->reported.message, buf_str(&text)) == 0;
	component_set_health(d->c, HEALTH_UNHEALTHY, buf_str(&text));
	if (!known)
		log_warn("cannot take targets from the server, its last ones stay",
			 LOG_STR("component_id", d->c->id), LOG_STR("url", d->args->url),
			 LOG_STR("reason", problem));
}

static void on_answer(bool changed, const char *problem, void *data)
{
	struct http_discovery *d = data;
	_cleanup_buf_ struct buf text = BUF_INIT(COMPONENT_MESSAGE_MAX);

	if (problem) {
		tell_problem(d, problem);
		return;
	}
	(void)buf_printf(&text, "%zu targets", http_targets_get(d->engine)->n);
	component_set_health(d->c, HEALTH_HEALTHY, buf_str(&text));
	if (changed)
		component_exports_changed(d->c);
}

/* An engine for other arguments, which has found what the one before it has. */
static int open_engine(struct http_discovery *d, const struct http_discovery_args *args)
{
	_cleanup_(http_targets_freep) struct http_targets *engine = NULL;
	struct http_targets_options options;
	struct river_arena arena;

	river_arena_init(&arena, OPTIONS_ARENA_BYTES);
	int r = options_of(args, &arena, &options);
	if (r == 0)
		r = http_targets_new(d->c->env->loop, d->c->env->http, &options, on_answer, d,
				     &engine);
	if (r < 0) {
		river_arena_fini(&arena);
		return r;
	}
	if (d->engine)
		http_targets_inherit(engine, d->engine);
	http_targets_free(d->engine);
	river_arena_fini(&d->options);
	d->engine = TAKE_PTR(engine);
	d->options = arena;
	d->args = args;
	return 0;
}

static int http_discovery_build(struct component *c, const void *args, struct buf *why)
{
	struct http_discovery *d = calloc(1, sizeof(*d));

	(void)why;
	if (!d)
		return -ENOMEM;
	c->state = d;
	d->c = c;
	river_arena_init(&d->options, OPTIONS_ARENA_BYTES);
	return open_engine(d, args);
}

static int http_discovery_run(struct component *c, struct buf *why)
{
	struct http_discovery *d = c->state;

	(void)why;
	d->running = true;
	component_set_health(c, HEALTH_UNKNOWN, "waiting for the first answer");
	http_targets_start(d->engine);
	return 0;
}

static int http_discovery_update(struct component *c, const void *args, struct buf *why)
{
	struct http_discovery *d = c->state;
	int r = open_engine(d, args);

	(void)why;
	if (r == 0 && d->running)
		http_targets_start(d->engine);
	return r;
}

static void http_discovery_stop(struct component *c)
{
	struct http_discovery *d = c->state;

	if (!d)
		return;
	http_targets_free(d->engine);
	river_arena_fini(&d->options);
	free(d);
	c->state = NULL;
}

static int http_discovery_exports(struct component *c, struct river_arena *arena,
				  const struct river_value **ret_exports)
{
	const struct http_discovery *d = c->state;
	const struct target_list *list = http_targets_get(d->engine);

	return target_maps_export(arena, list->items, list->n, ret_exports);
}

static int http_discovery_debug(struct component *c, struct river_arena *arena,
				const struct river_value **ret_info)
{
	const struct http_discovery *d = c->state;
	struct river_member members[] = {
		{ "url", d ? river_value_string(arena, d->args->url, strlen(d->args->url)) : NULL },
		{ "targets", d ? river_value_uint(arena, http_targets_get(d->engine)->n) : NULL },
	};

	if (!d)
		return 0;
	*ret_info =
		members[0].value && members[1].value ? river_value_object(arena, members, 2) : NULL;
	return *ret_info ? 0 : -ENOMEM;
}

const struct component_kind discovery_http_kind = {
	.name = "discovery.http",
	.schema = &http_discovery_schema,
	.wants_label = true,
	.finds_containers = true,
	.build = http_discovery_build,
	.run = http_discovery_run,
	.update = http_discovery_update,
	.stop = http_discovery_stop,
	.exports = http_discovery_exports,
	.debug_info = http_discovery_debug,
};
