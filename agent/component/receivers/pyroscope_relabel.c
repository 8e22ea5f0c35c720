/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pyroscope.relabel: profiles with other labels, or without some of them, between who makes them and who sends them.
 *
 * A profile that keeps its labels is handed on as it is; another shares tables and bytes with the one that came.
 */
#include "agent/component/kinds.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "agent/component/discovery/relabel_args.h"
#include "agent/component/receivers/fan_out.h"
#include "agent/target/relabel.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"

struct relabel_args {
	struct river_capsules forward_to;
	struct river_blocks rules; /* struct relabel_rule_args */
};

struct relabel {
	struct receiver receiver; /* what is exported: stays where it is through updates */
	struct component *c;
	const struct relabel_args *args;
	struct relabel_export export;
	struct relabel_pass pass; /* of a second */
	uint64_t pass_ns;
	struct metric *processed, *written, *dropped;
	uint64_t n_written, n_dropped, n_failed;
	bool warned;
};

#define ARGS struct relabel_args
static const struct river_field relabel_fields[] = {
	RIVER_FIELD_CAPSULE_LIST(ARGS, forward_to, "forward_to", RECEIVER_CAPSULE,
				 .flags = RIVER_REQUIRED),
	RIVER_FIELD_BLOCKS(ARGS, rules, "rule", &relabel_rule_schema,
			   .validate = relabel_rules_validate),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "max_cache_size", 0),
};
#undef ARGS

static const struct river_schema relabel_schema =
	RIVER_SCHEMA(struct relabel_args, "pyroscope.relabel", relabel_fields);

#define FAMILY(variable, name, text)                                             \
	static const struct metric_family variable = {                           \
		name, text, METRIC_COUNTER, { "component_path", "component_id" } \
	}
FAMILY(processed_family, "pyroscope_relabel_profiles_processed", "Profiles that came.");
FAMILY(written_family, "pyroscope_relabel_profiles_written", "Profiles that were handed on.");
FAMILY(dropped_family, "pyroscope_relabel_profiles_dropped",
       "Profiles that a rule has dropped, or that found no memory.");
#undef FAMILY

/* Rules take less than half a second of each. */
static struct relabel_pass *pass_of(struct relabel *d)
{
	uint64_t now_ns = clock_mono_ns();

	if (d->pass_ns == 0 || now_ns - d->pass_ns >= NS_PER_S) {
		d->pass = RELABEL_PASS_INIT;
		d->pass_ns = now_ns;
	}
	return &d->pass;
}

/* 0 or -errno; *ret_profile is NULL where a rule drops it. */
static int relabel(struct relabel *d, struct profile *profile, struct profile **ret_profile)
{
	_cleanup_(labels_unrefp) struct labels *labels = NULL;
	int r = relabel_rules_apply(d->export.rules, profile->labels, pass_of(d), &labels);

	*ret_profile = NULL;
	if (r != RELABEL_KEPT || labels->n == 0)
		return r < 0 ? r : 0;
	if (labels != profile->labels)
		return profile_relabelled(profile, labels, ret_profile);
	*ret_profile = profile_ref(profile);
	return 0;
}

static void failed(struct relabel *d, int r)
{
	d->n_failed++;
	if (!d->warned)
		log_warn("cannot relabel a profile, it is dropped",
			 LOG_STR("component_id", d->c->id), LOG_ERR(r));
	d->warned = true;
}

static void receive(struct receiver *receiver, struct profile *profile, uint64_t deadline_ns)
{
	struct relabel *d = CONTAINER_OF(receiver, struct relabel, receiver);
	_cleanup_(profile_unrefp) struct profile *changed = NULL;
	int r = relabel(d, profile, &changed);

	metric_add(d->processed, 1);
	if (r < 0)
		failed(d, r);
	if (!changed) {
		d->n_dropped++;
		metric_add(d->dropped, 1);
		return;
	}
	d->n_written++;
	metric_add(d->written, 1);
	fan_out(&d->args->forward_to, changed, deadline_ns);
}

static unsigned int wants(const struct receiver *receiver)
{
	const struct relabel *d =
		CONTAINER_OF((struct receiver *)receiver, struct relabel, receiver);

	unsigned int wants = fan_out_wants(&d->args->forward_to);

	/* What rules make equal. */
	return wants ? wants | PROFILE_WANT_APART : 0;
}

static void stats(const struct receiver *receiver, struct receiver_stats *ret_stats)
{
	const struct relabel *d =
		CONTAINER_OF((struct receiver *)receiver, struct relabel, receiver);

	*ret_stats = fan_out_stats(&d->args->forward_to);
	ret_stats->dropped_profiles += d->n_failed;
}

static bool has_room(const struct receiver *receiver, size_t n_bytes)
{
	const struct relabel *d =
		CONTAINER_OF((struct receiver *)receiver, struct relabel, receiver);

	return fan_out_has_room(&d->args->forward_to, n_bytes);
}

static int relabel_build(struct component *c, const void *args, struct buf *why)
{
	struct relabel *d = calloc(1, sizeof(*d));
	const char *const labels[] = { c->path, c->local_id };

	(void)why;
	if (!d)
		return -ENOMEM;
	c->state = d;
	d->c = c;
	d->args = args;
	d->receiver = (struct receiver){
		.receive = receive, .ask_wants = wants, .stats = stats, .has_room = has_room
	};
	d->processed = telemetry_series(c->env->telemetry, &processed_family, labels);
	d->written = telemetry_series(c->env->telemetry, &written_family, labels);
	d->dropped = telemetry_series(c->env->telemetry, &dropped_family, labels);
	return relabel_rules_of_args(&d->args->rules, &d->export.rules);
}

static void relabel_check(struct component *c)
{
	const struct relabel *d = c->state;
	_cleanup_buf_ struct buf text = BUF_INIT(COMPONENT_MESSAGE_MAX);

	(void)buf_printf(&text, "%" PRIu64 " profiles handed on, %" PRIu64 " dropped", d->n_written,
			 d->n_dropped);
	if (d->pass.n_given_up)
		(void)buf_append_str(&text, "; a regex took too long and counted as no match");
	if (d->n_failed)
		(void)buf_printf(&text, "; of these %" PRIu64 " as they could not be relabelled",
				 d->n_failed);
	component_set_health(c,
			     d->n_failed || d->pass.n_given_up ? HEALTH_UNHEALTHY : HEALTH_HEALTHY,
			     buf_str(&text));
}

static int relabel_run(struct component *c, struct buf *why)
{
	(void)why;
	relabel_check(c);
	return 0;
}

static int relabel_update(struct component *c, const void *args, struct buf *why)
{
	struct relabel *d = c->state;
	struct relabel_rules *rules = NULL;
	int r = relabel_rules_of_args(&((const struct relabel_args *)args)->rules, &rules);

	(void)why;
	if (r < 0)
		return r;
	relabel_rules_free(d->export.rules);
	d->export.rules = rules;
	d->args = args;
	return 0;
}

static void relabel_stop(struct component *c)
{
	struct relabel *d = c->state;

	if (!d)
		return;
	relabel_rules_free(d->export.rules);
	free(d);
	c->state = NULL;
}

static int relabel_exports(struct component *c, struct river_arena *arena,
			   const struct river_value **ret_exports)
{
	struct relabel *d = c->state;
	const struct river_member members[] = {
		{ .key = "receiver",
		  .value = river_value_capsule(arena, RECEIVER_CAPSULE, &d->receiver) },
		{ .key = "rules",
		  .value = river_value_capsule(arena, RELABEL_RULES_CAPSULE, &d->export) },
	};

	if (!members[0].value || !members[1].value)
		return -ENOMEM;
	*ret_exports = river_value_object(arena, members, ARRAY_SIZE(members));
	return *ret_exports ? 0 : -ENOMEM;
}

const struct component_kind pyroscope_relabel_kind = {
	.name = "pyroscope.relabel",
	.schema = &relabel_schema,
	.wants_label = true,
	.build = relabel_build,
	.run = relabel_run,
	.update = relabel_update,
	.stop = relabel_stop,
	.exports = relabel_exports,
	.check = relabel_check,
};
