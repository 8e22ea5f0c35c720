/* SPDX-License-Identifier: Apache-2.0 */
/* pyroscope.write: sends profiles to Pyroscope servers. */
#include "agent/component/kinds.h"

#include <errno.h>

#include "agent/component/receivers/external_labels.h"
#include "agent/component/receivers/push_component.h"
#include "agent/component/receivers/write_args.h"

static int plan_endpoints(const struct component *c, const struct write_args *args,
			  struct river_arena *arena, struct push_plan *plan)
{
	const struct endpoint_args *items = args->endpoints.items;
	struct push_endpoint_options *endpoints =
		river_arena_alloc(arena, (args->endpoints.n_items + 1) * sizeof(*endpoints));
	size_t n = 0;

	if (!endpoints)
		return -ENOMEM;
	for (size_t i = 0; i < args->endpoints.n_items; i++) {
		if (!*items[i].url)
			continue;
		int r = write_args_endpoint(&items[i], arena, &endpoints[n]);
		if (r == 0)
			r = spool_args_place(&items[i].spool, c, NULL, arena, &endpoints[n++]);
		if (r < 0)
			return r;
	}
	plan->n_without_url = args->endpoints.n_items - n;
	plan->options.endpoints = endpoints;
	plan->options.n_endpoints = n;
	return 0;
}

static int plan(struct component *c, const void *given, struct river_arena *arena,
		struct push_plan *ret_plan)
{
	const struct write_args *args = given;
	struct push_label *external =
		river_arena_alloc(arena, (args->external_labels.n_items + 1) * sizeof(*external));
	int r = external ? plan_endpoints(c, args, arena, ret_plan) : -ENOMEM;

	if (r < 0)
		return r;
	ret_plan->form = FORM_PPROF;
	ret_plan->options.external_labels = external;
	r = external_labels_clean(&args->external_labels, c->id, arena, external,
				  &ret_plan->options.n_external_labels);
	ret_plan->changes_labels = ret_plan->options.n_external_labels > 0;
	return r;
}

static const struct push_component write_component = { .plan = plan };

static int write_build(struct component *c, const void *args, struct buf *why)
{
	(void)why;
	return push_component_build(c, &write_component, args);
}

const struct component_kind pyroscope_write_kind = {
	.name = "pyroscope.write",
	.schema = &write_schema,
	.wants_label = true,
	.build = write_build,
	.run = push_component_run,
	.update = push_component_update,
	.stop = push_component_stop,
	.exports = push_component_exports,
	.check = push_component_check,
};
