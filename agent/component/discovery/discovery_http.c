/* SPDX-License-Identifier: Apache-2.0 */
/* discovery.http: targets that a server lists. */
#include "agent/component/kinds.h"

#include "agent/component/discovery/polled_discovery.h"
#include "agent/discovery/http_targets.h"

#define A struct polled_args
static const struct river_field fields[] = {
	RIVER_FIELD_STRING(A, url, "url", .flags = RIVER_REQUIRED),
	RIVER_FIELD_DURATION(A, refresh_interval_ns, "refresh_interval", .def = "60s"),
	HTTP_CLIENT_FIELDS(A, client),
};
static const struct river_schema schema =
	RIVER_SCHEMA(A, "discovery.http", fields, .validate = polled_args_validate);

static int engine_open(const struct component_env *env, const void *args,
		       const struct polled_request *request, polled_answer_fn fn, void *data,
		       void **ret_engine)
{
	const A *a = args;
	struct http_targets_options o = {
		.refresh_interval_ns = (uint64_t)a->refresh_interval_ns,
		.request = request->request,
		.credentials = request->credentials,
		.oauth2 = request->oauth2,
	};
	struct http_targets *engine = NULL;
	int r = http_targets_new(env->loop, env->http, &o, fn, data, &engine);

	*ret_engine = engine;
	return r;
}

static void engine_free(void *engine)
{
	http_targets_free(engine);
}

static void engine_start(void *engine)
{
	http_targets_start(engine);
}

static void engine_inherit(void *engine, void *from)
{
	http_targets_inherit(engine, from);
}

static const struct target_list *engine_targets(const void *engine)
{
	return http_targets_get(engine);
}

static const struct polled_ops ops = {
	.trouble = "cannot take targets from the server, its last ones stay",
	.over = "the server lists its targets again",
	.open = engine_open,
	.free = engine_free,
	.start = engine_start,
	.inherit = engine_inherit,
	.targets = engine_targets,
};

static int build(struct component *c, const void *args, struct buf *why)
{
	(void)why;
	return polled_build(c, args, &ops);
}

const struct component_kind discovery_http_kind = {
	.name = "discovery.http",
	.schema = &schema,
	.wants_label = true,
	.finds_containers = true,
	.build = build,
	.run = polled_run,
	.update = polled_update,
	.stop = polled_stop,
	.exports = polled_exports,
	.debug_info = polled_debug_info,
};
