/* SPDX-License-Identifier: Apache-2.0 */
/* discovery.kubelet: the pods of one node, as its kubelet lists them. */
#include "agent/component/kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/http_client_args.h"
#include "agent/component/target_maps.h"
#include "agent/discovery/kubelet.h"
#include "agent/http/url.h"
#include "agent/util/log.h"
#include "agent/version.h"

#define USER_AGENT "xagent/" XAGENT_VERSION " (linux)"
#define OPTIONS_ARENA_BYTES ((size_t)16 << 20)

struct kubelet_args {
	const char *url;
	int64_t refresh_interval_ns;
	struct river_strings namespaces;
	struct http_client_args client;
};

struct kubelet_discovery {
	struct component *c;
	const struct kubelet_args *args;
	struct kubelet *engine;
	struct river_arena options; /* what the engine borrows */
	bool running;
};

static const char *validate(const void *self, struct river_arena *arena)
{
	const struct kubelet_args *a = self;
	struct url url;
	enum url_problem problem = url_parse(str_from(a->url), &url);

	(void)arena;
	if (problem != URL_OK)
		return url_problem_text(problem);
	if (a->refresh_interval_ns <= 0)
		return "refresh_interval must be greater than 0";
	return http_client_args_check(&a->client);
}

#define A struct kubelet_args
static const struct river_field kubelet_fields[] = {
	RIVER_FIELD_STRING(A, url, "url", .def = "https://localhost:10250"),
	RIVER_FIELD_DURATION(A, refresh_interval_ns, "refresh_interval", .def = "5s"),
	RIVER_FIELD_STRING_LIST(A, namespaces, "namespaces"),
	HTTP_CLIENT_FIELDS(A, client),
};
static const struct river_schema kubelet_schema =
	RIVER_SCHEMA(A, "discovery.kubelet", kubelet_fields, .validate = validate);
#undef A

static int options_of(const struct kubelet_args *args, struct river_arena *arena,
		      struct kubelet_options *ret_options)
{
	struct http_client_options client;
	int r = http_client_args_options(&args->client, arena, &client);

	if (r < 0)
		return r;
	*ret_options = (struct kubelet_options){
		.refresh_interval_ns = (uint64_t)args->refresh_interval_ns,
		.namespaces = { args->namespaces.items, args->namespaces.n_items },
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
static void tell_problem(struct kubelet_discovery *d, const char *problem)
{
	_cleanup_buf_ struct buf text = BUF_INIT(COMPONENT_MESSAGE_MAX);
	const struct health *last = &d->c->reported;
	bool known;

	(void)buf_printf(&text, "%.*s", COMPONENT_MESSAGE_MAX - 1, problem);
	known = last->state == HEALTH_UNHEALTHY && strcmp(last->message, buf_str(&text)) == 0;
	component_set_health(d->c, HEALTH_UNHEALTHY, buf_str(&text));
	if (!known)
		log_warn("cannot take pods from the kubelet, its last ones stay",
			 LOG_STR("component_id", d->c->id), LOG_STR("url", d->args->url),
			 LOG_STR("reason", problem));
}

static void on_answer(bool changed, const char *problem, void *data)
{
	struct kubelet_discovery *d = data;
	_cleanup_buf_ struct buf text = BUF_INIT(COMPONENT_MESSAGE_MAX);

	if (problem) {
		tell_problem(d, problem);
		return;
	}
	if (d->c->reported.state == HEALTH_UNHEALTHY)
		log_info("the kubelet lists its pods again", LOG_STR("component_id", d->c->id));
	(void)buf_printf(&text, "%zu targets", kubelet_targets(d->engine)->n);
	component_set_health(d->c, HEALTH_HEALTHY, buf_str(&text));
	if (changed)
		component_exports_changed(d->c);
}

/* An engine for other arguments, which has found what the one before it has. */
static int open_engine(struct kubelet_discovery *d, const struct kubelet_args *args)
{
	_cleanup_(kubelet_freep) struct kubelet *engine = NULL;
	struct kubelet_options options;
	struct river_arena arena;

	river_arena_init(&arena, OPTIONS_ARENA_BYTES);
	int r = options_of(args, &arena, &options);
	if (r == 0)
		r = kubelet_new(d->c->env->loop, d->c->env->http, &options, on_answer, d, &engine);
	if (r < 0) {
		river_arena_fini(&arena);
		return r;
	}
	if (d->engine)
		kubelet_inherit(engine, d->engine);
	kubelet_free(d->engine);
	river_arena_fini(&d->options);
	d->engine = TAKE_PTR(engine);
	d->options = arena;
	d->args = args;
	return 0;
}

static int kubelet_build(struct component *c, const void *args, struct buf *why)
{
	struct kubelet_discovery *d = calloc(1, sizeof(*d));

	(void)why;
	if (!d)
		return -ENOMEM;
	c->state = d;
	d->c = c;
	river_arena_init(&d->options, OPTIONS_ARENA_BYTES);
	return open_engine(d, args);
}

static int kubelet_run(struct component *c, struct buf *why)
{
	struct kubelet_discovery *d = c->state;

	(void)why;
	d->running = true;
	component_set_health(c, HEALTH_UNKNOWN, "waiting for the first answer");
	kubelet_start(d->engine);
	return 0;
}

static int kubelet_update(struct component *c, const void *args, struct buf *why)
{
	struct kubelet_discovery *d = c->state;
	int r = open_engine(d, args);

	(void)why;
	if (r == 0 && d->running)
		kubelet_start(d->engine);
	return r;
}

static void kubelet_stop(struct component *c)
{
	struct kubelet_discovery *d = c->state;

	if (!d)
		return;
	kubelet_free(d->engine);
	river_arena_fini(&d->options);
	free(d);
	c->state = NULL;
}

static int kubelet_exports(struct component *c, struct river_arena *arena,
			   const struct river_value **ret_exports)
{
	const struct kubelet_discovery *d = c->state;
	const struct target_list *list = kubelet_targets(d->engine);

	return target_maps_export(arena, list->items, list->n, ret_exports);
}

const struct component_kind discovery_kubelet_kind = {
	.name = "discovery.kubelet",
	.schema = &kubelet_schema,
	.wants_label = true,
	.finds_containers = true,
	.build = kubelet_build,
	.run = kubelet_run,
	.update = kubelet_update,
	.stop = kubelet_stop,
	.exports = kubelet_exports,
};
