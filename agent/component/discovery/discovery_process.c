/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discovery.process: the processes of this host as targets.
 *
 * Looks at all of them every refresh_interval, and at one process at once when a sample of it matches no target: so a process has
 * its target with its first sample, and processes that are never sampled cost nothing in between.
 */
#include "agent/component/kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/target_maps.h"
#include "agent/discovery/discovery_process.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"

struct discover_args {
	bool cwd, exe, commandline, container_id, username, uid, cgroup_path;
};

struct discovery_args {
	struct river_foreigns join;
	int64_t refresh_interval_ns;
	struct discover_args config;
};

struct discovery {
	const struct discovery_args *args;
	struct process_table *processes;
	struct discovery_process *engine;
	struct loop_timer *timer;
	bool running;
};

/* What starts in between is found by its first sample: who asks for more scans than this would only burn time. */
#define MIN_REFRESH_NS NS_PER_S

static const char *validate_refresh(const void *field, struct river_arena *arena)
{
	(void)arena;
	return *(const int64_t *)field > 0 ? NULL : "refresh_interval must be greater than 0";
}

static const struct river_field discover_fields[] = {
	RIVER_FIELD_BOOL(struct discover_args, cwd, "cwd", .def = "true"),
	RIVER_FIELD_BOOL(struct discover_args, exe, "exe", .def = "true"),
	RIVER_FIELD_BOOL(struct discover_args, commandline, "commandline", .def = "true"),
	RIVER_FIELD_BOOL(struct discover_args, container_id, "container_id", .def = "true"),
	RIVER_FIELD_BOOL(struct discover_args, username, "username", .def = "false"),
	RIVER_FIELD_BOOL(struct discover_args, uid, "uid", .def = "false"),
	RIVER_FIELD_BOOL(struct discover_args, cgroup_path, "cgroup_path", .def = "false"),
};

static const struct river_schema discover_schema =
	RIVER_SCHEMA(struct discover_args, "discover_config", discover_fields);

static const struct river_field discovery_fields[] = {
	TARGETS_FIELD(struct discovery_args, join, "join"),
	RIVER_FIELD_DURATION(struct discovery_args, refresh_interval_ns, "refresh_interval",
			     .def = "60s", .validate = validate_refresh),
	RIVER_FIELD_BLOCK(struct discovery_args, config, "discover_config", &discover_schema),
};

static const struct river_schema discovery_schema =
	RIVER_SCHEMA(struct discovery_args, "discovery.process", discovery_fields);

static struct discover_config config_of(const struct discover_args *args)
{
	return (struct discover_config){
		.cwd = args->cwd,
		.exe = args->exe,
		.commandline = args->commandline,
		.container_id = args->container_id,
		.username = args->username,
		.uid = args->uid,
		.cgroup_path = args->cgroup_path,
	};
}

static int set_join(struct discovery_process *engine, const struct discovery_args *args)
{
	_cleanup_free_ struct labels **join = NULL;
	int r = labels_of_targets(&args->join, &join);

	return r < 0 ? r : discovery_process_set_join(engine, join, args->join.n_items);
}

/* Replaces d->engine by one that looks for what the arguments ask for; it knows no process yet. */
static int open_engine(struct discovery *d, const struct discovery_args *args)
{
	struct discover_config config = config_of(&args->config);
	_cleanup_(discovery_process_freep) struct discovery_process *engine = NULL;
	int r = discovery_process_new(&config, d->processes, &engine);

	if (r < 0)
		return r;
	r = set_join(engine, args);
	if (r < 0)
		return r;
	discovery_process_free(d->engine);
	d->engine = TAKE_PTR(engine);
	d->args = args;
	return 0;
}

static void arm(struct discovery *d)
{
	uint64_t ns = (uint64_t)d->args->refresh_interval_ns;

	loop_timer_arm(d->timer, clock_mono_ns() + MAX_OF(ns, MIN_REFRESH_NS));
}

static void refresh(struct component *c)
{
	struct discovery *d = c->state;
	int r;

	/* Nobody tells this table of exits and execs: what it knows may be of another process by now. */
	process_table_distrust(d->processes);
	r = discovery_process_scan(d->engine);
	if (r < 0) {
		component_set_health(c, HEALTH_UNHEALTHY, "cannot list processes");
		log_error("cannot list processes", LOG_STR("component_id", c->id), LOG_ERR(r));
	} else {
		component_set_health(c, HEALTH_HEALTHY, "processes listed");
	}
	if (r == DISCOVERY_CHANGED)
		component_exports_changed(c);
	arm(d);
}

static void on_timer(void *data)
{
	refresh(data);
}

static int discovery_build(struct component *c, const void *args, struct buf *why)
{
	struct discovery *d = calloc(1, sizeof(*d));
	int r;

	(void)why;
	if (!d)
		return -ENOMEM;
	c->state = d;
	r = process_table_new(&(struct process_table_options){ .no_mappings = true,
							       .telemetry = c->env->telemetry },
			      &d->processes);
	if (r < 0)
		return r;
	r = loop_timer_new(c->env->loop, on_timer, c, &d->timer);
	if (r < 0)
		return r;
	return open_engine(d, args);
}

static int discovery_run(struct component *c, struct buf *why)
{
	struct discovery *d = c->state;

	(void)why;
	d->running = true;
	refresh(c);
	return 0;
}

static bool same_config(const struct discover_args *a, const struct discover_args *b)
{
	return a->cwd == b->cwd && a->exe == b->exe && a->commandline == b->commandline &&
	       a->container_id == b->container_id && a->username == b->username &&
	       a->uid == b->uid && a->cgroup_path == b->cgroup_path;
}

/* Containers come and go all the time: then nothing is read again. */
static int change_join(struct component *c, const struct discovery_args *args)
{
	struct discovery *d = c->state;
	bool other_pace = args->refresh_interval_ns != d->args->refresh_interval_ns;
	int r = set_join(d->engine, args);

	if (r < 0)
		return r;
	d->args = args;
	component_exports_changed(c);
	if (other_pace && d->running)
		arm(d);
	return 0;
}

static int discovery_update(struct component *c, const void *new_args, struct buf *why)
{
	struct discovery *d = c->state;
	const struct discovery_args *args = new_args;
	int r;

	(void)why;
	if (same_config(&d->args->config, &args->config))
		return change_join(c, args);
	r = open_engine(d, args);
	if (r < 0)
		return r;
	if (d->running)
		refresh(c);
	return 0;
}

static void discovery_stop(struct component *c)
{
	struct discovery *d = c->state;

	if (!d)
		return;
	discovery_process_free(d->engine);
	process_table_free(d->processes);
	loop_timer_free(d->timer);
	free(d);
	c->state = NULL;
}

static int discovery_exports(struct component *c, struct river_arena *arena,
			     const struct river_value **ret_exports)
{
	struct discovery *d = c->state;
	struct labels **targets = NULL;
	size_t n = 0;
	int r = discovery_process_targets(d->engine, &targets, &n);

	if (r < 0)
		return r;
	r = target_maps_export(arena, targets, n, ret_exports);
	labels_array_free(targets, n);
	return r;
}

static bool discovery_seen(struct component *c, struct process_table *processes, struct process *p)
{
	struct discovery *d = c->state;

	return discovery_process_on_sample(d->engine, processes, p) == DISCOVERY_CHANGED;
}

/* The list is exported again at the next refresh; a stale target selects nobody, its start time does not match. */
static void discovery_gone(struct component *c, uint32_t pid)
{
	struct discovery *d = c->state;

	discovery_process_on_exit(d->engine, pid);
	process_table_apply(d->processes, &(struct process_event){ .kind = PROCESS_EVENT_EXIT,
								   .pid = pid,
								   .time_ns = clock_mono_ns() });
}

static void discovery_told(struct component *c)
{
	struct discovery *d = c->state;

	discovery_process_told(d->engine);
}

const struct component_kind discovery_process_kind = {
	.name = "discovery.process",
	.schema = &discovery_schema,
	.wants_label = true,
	.build = discovery_build,
	.run = discovery_run,
	.update = discovery_update,
	.stop = discovery_stop,
	.exports = discovery_exports,
	.process_seen = discovery_seen,
	.process_gone = discovery_gone,
	.exports_told = discovery_told,
};
