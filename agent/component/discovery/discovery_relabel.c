/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discovery.relabel: targets with other labels, or without some of them.
 *
 * Its output is there as soon as it is built, and again with every update of its arguments; nothing else ever changes it.
 */
#include "agent/component/kinds.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "agent/component/discovery/relabel_args.h"
#include "agent/component/target_maps.h"
#include "agent/target/relabel_memo.h"
#include "agent/util/log.h"

struct relabel_args {
	struct river_foreigns targets;
	struct river_blocks rules; /* struct relabel_rule_args */
};

/* The targets that are left; slots for all. */
struct output {
	struct labels **items;
	size_t n;
	size_t n_given;
	size_t n_too_many; /* targets that would have more labels than a target may */
	struct relabel_pass pass;
};

struct relabel {
	const struct relabel_args *args;
	struct relabel_export export;
	struct relabel_memo memo; /* of the rules that are exported */
	struct output output;
	bool warned;
};

static const struct river_field relabel_fields[] = {
	TARGETS_FIELD(struct relabel_args, targets, "targets", .flags = RIVER_REQUIRED),
	RIVER_FIELD_BLOCKS(struct relabel_args, rules, "rule", &relabel_rule_schema,
			   .validate = relabel_rules_validate),
};

static const struct river_schema relabel_schema =
	RIVER_SCHEMA(struct relabel_args, "discovery.relabel", relabel_fields);

static void output_fini(struct output *o)
{
	labels_array_free(o->items, o->n);
	*o = (struct output){ 0 };
}

static int add_target(struct output *o, struct relabel_rules *rules, struct relabel_memo *memo,
		      struct labels *target)
{
	struct labels *changed = NULL;
	int r = relabel_memo_apply(memo, rules, target, &o->pass, &changed);

	if (r == -E2BIG) {
		o->n_too_many++;
		return 0;
	}
	if (r == RELABEL_KEPT)
		o->items[o->n++] = changed;
	return r < 0 ? r : 0;
}

static int apply(const struct relabel_args *args, struct relabel_rules *rules,
		 struct relabel_memo *memo, struct output *o)
{
	*o = (struct output){ .n_given = args->targets.n_items, .pass = RELABEL_PASS_INIT };
	o->items = calloc(o->n_given + 1, sizeof(struct labels *));
	if (!o->items)
		return -ENOMEM;
	relabel_memo_begin(memo);
	for (size_t i = 0; i < o->n_given; i++) {
		int r = add_target(o, rules, memo, target_of(&args->targets, i));

		if (r < 0)
			return r;
	}
	relabel_memo_end(memo);
	return 0;
}

static bool output_equal(const struct output *a, const struct output *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!labels_equal(a->items[i], b->items[i]))
			return false;
	return true;
}

static bool is_lossy(const struct output *o)
{
	return o->pass.n_given_up || o->pass.n_too_long || o->n_too_many;
}

static void tell(struct component *c)
{
	struct relabel *d = c->state;
	const struct output *o = &d->output;
	_cleanup_buf_ struct buf text = BUF_INIT(COMPONENT_MESSAGE_MAX);

	(void)buf_printf(&text, "%zu of %zu targets kept", o->n, o->n_given);
	if (o->pass.n_given_up)
		(void)buf_printf(
			&text, "; a regex took too long %" PRIu64 " times and counted as no match",
			o->pass.n_given_up);
	if (o->pass.n_too_long)
		(void)buf_printf(&text, "; %" PRIu64 " labels left as they were: too long",
				 o->pass.n_too_long);
	if (o->n_too_many)
		(void)buf_printf(&text, "; %zu targets dropped: more than %d labels", o->n_too_many,
				 LABELS_RAW_MAX);
	component_set_health(c, is_lossy(o) ? HEALTH_UNHEALTHY : HEALTH_HEALTHY, buf_str(&text));
	if (is_lossy(o) && !d->warned)
		log_warn("cannot relabel all targets", LOG_STR("component_id", c->id),
			 LOG_STR("reason", buf_str(&text)));
	d->warned = is_lossy(o);
}

static int relabel_build(struct component *c, const void *args, struct buf *why)
{
	struct relabel *d = calloc(1, sizeof(*d));
	int r;

	(void)why;
	if (!d)
		return -ENOMEM;
	c->state = d;
	d->args = args;
	r = relabel_rules_of_args(&d->args->rules, &d->export.rules);
	if (r < 0)
		return r;
	r = apply(d->args, d->export.rules, &d->memo, &d->output);
	if (r < 0)
		return r;
	tell(c);
	return 0;
}

static int relabel_run(struct component *c, struct buf *why)
{
	(void)c;
	(void)why;
	return 0;
}

static void take_output(struct component *c, struct output *o)
{
	struct relabel *d = c->state;
	bool changed = !output_equal(&d->output, o);

	output_fini(&d->output);
	d->output = *o;
	tell(c);
	if (changed)
		component_exports_changed(c);
}

/* New rules go over the targets before they replace the old ones. */
static int change(struct component *c, const struct relabel_args *args, struct relabel_rules *rules,
		  struct relabel_memo *memo)
{
	struct relabel *d = c->state;
	struct output output;
	int r = apply(args, rules, memo, &output);

	if (r < 0) {
		output_fini(&output);
		return r;
	}
	d->args = args;
	take_output(c, &output);
	return 0;
}

/* Other rules: what the old ones have made is no help. */
static int change_rules(struct component *c, const struct relabel_args *args)
{
	_cleanup_(relabel_rules_freep) struct relabel_rules *rules = NULL;
	_cleanup_(relabel_memo_fini) struct relabel_memo memo = { 0 };
	struct relabel *d = c->state;
	int r = relabel_rules_of_args(&args->rules, &rules);

	if (r < 0)
		return r;
	r = change(c, args, rules, &memo);
	if (r < 0)
		return r;
	relabel_memo_fini(&d->memo);
	d->memo = memo;
	memo = (struct relabel_memo){ 0 };
	relabel_rules_free(d->export.rules);
	d->export.rules = TAKE_PTR(rules);
	return 0;
}

static int relabel_update(struct component *c, const void *new_args, struct buf *why)
{
	const struct relabel_args *args = new_args;
	struct relabel *d = c->state;

	(void)why;
	if (relabel_rules_args_equal(&args->rules, &d->args->rules))
		return change(c, args, d->export.rules, &d->memo);
	return change_rules(c, args);
}

static void relabel_stop(struct component *c)
{
	struct relabel *d = c->state;

	if (!d)
		return;
	output_fini(&d->output);
	relabel_memo_fini(&d->memo);
	relabel_rules_free(d->export.rules);
	free(d);
	c->state = NULL;
}

static int relabel_exports(struct component *c, struct river_arena *arena,
			   const struct river_value **ret_exports)
{
	struct relabel *d = c->state;
	struct river_member members[] = {
		{ .key = "output", .value = value_of_labels(arena, d->output.items, d->output.n) },
		{ .key = "rules",
		  .value = river_value_capsule(arena, RELABEL_RULES_CAPSULE, &d->export) },
	};

	if (!members[0].value || !members[1].value)
		return -ENOMEM;
	*ret_exports = river_value_object(arena, members, 2);
	return *ret_exports ? 0 : -ENOMEM;
}

const struct component_kind discovery_relabel_kind = {
	.name = "discovery.relabel",
	.schema = &relabel_schema,
	.wants_label = true,
	.build = relabel_build,
	.run = relabel_run,
	.update = relabel_update,
	.stop = relabel_stop,
	.exports = relabel_exports,
};
