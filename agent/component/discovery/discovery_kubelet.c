/* SPDX-License-Identifier: Apache-2.0 */
/* discovery.kubelet: the pods of one node, as its kubelet lists them. */
#include "agent/component/kinds.h"

#include "agent/component/discovery/polled_discovery.h"
#include "agent/discovery/kubelet.h"

struct kubelet_args {
	struct polled_args polled;
	struct river_strings namespaces;
};

#define A struct kubelet_args
static const struct river_field fields[] = {
	RIVER_FIELD_STRING(A, polled.url, "url", .def = "https://localhost:10250"),
	RIVER_FIELD_DURATION(A, polled.refresh_interval_ns, "refresh_interval", .def = "5s"),
	RIVER_FIELD_STRING_LIST(A, namespaces, "namespaces"),
	HTTP_CLIENT_FIELDS(A, polled.client),
};
static const struct river_schema schema =
	RIVER_SCHEMA(A, "discovery.kubelet", fields, .validate = polled_args_validate);

static int engine_open(const struct component_env *env, const void *args,
		       const struct polled_request *request, polled_answer_fn fn, void *data,
		       void **ret_engine)
{
	const A *a = args;
	struct kubelet_options o = {
		.refresh_interval_ns = (uint64_t)a->polled.refresh_interval_ns,
		.namespaces = { a->namespaces.items, a->namespaces.n_items },
		.request = request->request,
		.credentials = request->credentials,
		.oauth2 = request->oauth2,
	};
	struct kubelet *engine = NULL;
	int r = kubelet_new(env->loop, env->http, &o, fn, data, &engine);

	*ret_engine = engine;
	return r;
}

static void engine_free(void *engine)
{
	kubelet_free(engine);
}

static void engine_start(void *engine)
{
	kubelet_start(engine);
}

static void engine_inherit(void *engine, void *from)
{
	kubelet_inherit(engine, from);
}

static const struct target_list *engine_targets(const void *engine)
{
	return kubelet_targets(engine);
}

static const struct polled_ops ops = {
	.trouble = "cannot take pods from the kubelet, its last ones stay",
	.over = "the kubelet lists its pods again",
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

const struct component_kind discovery_kubelet_kind = {
	.name = "discovery.kubelet",
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
