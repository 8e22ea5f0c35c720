/* SPDX-License-Identifier: Apache-2.0 */
/* pyroscope.ebpf: samples this host and forwards one profile a series and interval. */
#include "agent/component/kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/ebpf/ebpf_private.h"
#include "agent/component/ebpf/host_report.h"
#include "agent/component/target_maps.h"
#include "agent/sample/tracepoint.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"

static int make_targets(struct component *c, const struct ebpf_args *args,
			struct target_set **ret_set)
{
	_cleanup_(labels_unrefp) struct labels *default_target = NULL;
	const struct river_foreigns *list = &args->targets;
	_cleanup_free_ struct labels **targets = NULL;
	uint64_t rejected = telemetry_get(c->env->telemetry, TELEMETRY_targets_rejected);
	struct ebpf *e = c->state;
	int r = labels_of_targets(list, &targets);

	if (r == 0 && args->default_target.n_items > 0)
		r = labels_of_map(&args->default_target, &default_target);
	if (r == 0)
		r = target_set_new(
			&(struct target_set_options){
				.targets = targets,
				.n_targets = list->n_items,
				.have_targets = ebpf_args_have_targets(args),
				.targets_only = args->targets_only,
				.default_target = default_target,
				.host = c->env->hostname,
				.metadata = e->metadata,
				.script_names = args->script_names,
				.notes = &e->notes,
				.previous = e->targets,
				.telemetry = c->env->telemetry,
			},
			ret_set);
	e->n_rejected = telemetry_get(c->env->telemetry, TELEMETRY_targets_rejected) - rejected;
	return r;
}

static void warn_unsupported(const char *argument, void *data)
{
	const struct component *c = data;

	log_warn("argument has no effect", LOG_STR("component_id", c->id),
		 LOG_STR("argument", argument));
}

static int ebpf_build(struct component *c, const void *args, struct buf *why)
{
	struct ebpf *e = calloc(1, sizeof(*e));

	(void)why;
	if (!e)
		return -ENOMEM;
	c->state = e;
	container_ages_init(&e->ages);
	ebpf_series_init(&e->series);
	e->args = args;
	int r = container_metadata_new("", &e->metadata);
	return r < 0 ? r : make_targets(c, args, &e->targets);
}

static uint32_t runtimes_off(const struct ebpf_args *args)
{
	return (args->python ? 0 : SESSION_RUNTIME(RUNTIME_PYTHON)) |
	       (args->v8 ? 0 : SESSION_RUNTIME(RUNTIME_V8)) |
	       (args->hotspot ? 0 : SESSION_RUNTIME(RUNTIME_HOTSPOT));
}

/* Of waits and ticks; waits that nobody has asked for are in no other profile. */
static void want_wall(const struct ebpf_args *args, struct session_options *o)
{
	unsigned int hz = events_args_hz(&args->events, EVENT_WALL);

	o->wall = hz > 0;
	if (!o->wall || o->sampler.off_cpu_hz)
		return;
	o->sampler.off_cpu_hz = hz;
	o->wall_alone = SESSION_EVENT(EVENT_OFF_CPU);
}

static int start_session(struct component *c, const struct ebpf_args *args, struct buf *why)
{
	struct ebpf *e = c->state;
	struct events_tracepoints tracepoints;
	struct session_options o = {
		.sampler = SAMPLER_OPTIONS_INIT,
		.interval_ns = (uint64_t)args->collect_interval_ns,
		.demangle = ebpf_args_demangle(args),
		.lines = args->lines,
		.columns = args->columns,
		.inlines = args->inlines,
		.runtimes_off = runtimes_off(args),
		.tagging = ebpf_args_tagging(args),
		.debuginfod = { .urls = args->debuginfod_urls.items,
				.n_urls = args->debuginfod_urls.n_items,
				.cache_dir = args->debuginfod_cache_path },
		.memory_limit_bytes = ebpf_args_memory_limit_bytes(args),
		.build = build_profiles,
		.hooks = { .match = ebpf_match,
			   .before_close = ebpf_before_close,
			   .on_settled = ebpf_on_settled,
			   .wants = ebpf_wants,
			   .on_interval = ebpf_on_interval,
			   .on_exit = ebpf_on_exit,
			   .data = c },
		.loop = c->env->loop,
		.worker = c->env->worker,
		.telemetry = c->env->telemetry,
	};

	o.sampler.hz = (unsigned int)args->sample_rate_hz;
	o.sampler.no_kernel = !ebpf_args_kernel(args);
	o.sampler.no_user = !args->collect_user_profile;
	o.sampler.interpreter_frames = args->interpreter_frames;
	o.sampler.async_frames = args->async_frames;
	o.sampler.hotspot_arguments = args->hotspot_arguments;
	o.sampler.hotspot_tiers = args->hotspot_tiers;
	o.sampler.thread_names = args->thread_names;
	events_args_tracepoints(&args->events, &tracepoints);
	o.sampler.tracepoints = tracepoints.names;
	o.sampler.tracepoint_hz = tracepoints.hz;
	o.sampler.n_tracepoints = tracepoints.n;
	o.sampler.off_cpu_hz = ebpf_args_off_cpu_hz(args);
	o.sampler.event_cpu_limit = args->event_cpu_limit;
	want_wall(args, &o);
	for (enum event i = 0; i < EVENT_MAX; i++)
		o.sampler.event_hz[i] = event_is_plain(i) ? events_args_hz(&args->events, i) : 0;
	o.sampler.off_cpu_reasons = o.tagging.reason != REASON_NONE;
	o.sampler.off_cpu_wakers = args->off_cpu_waker;
	return session_new(&o, why, &e->session);
}

static int ebpf_run(struct component *c, struct buf *why)
{
	struct ebpf *e = c->state;
	uint64_t begin_ns = clock_mono_ns();
	int r = ebpf_metrics_new(c, &e->metrics);

	/* First: it may be the reason why nothing starts. */
	host_report_read(&e->view);
	host_report_log(&e->view, c->id);
	if (r == 0)
		r = start_session(c, e->args, why);
	if (r < 0) {
		ebpf_metrics_free(e->metrics);
		e->metrics = NULL;
		return r;
	}
	ebpf_metrics_attach(e->metrics, e->session);
	host_report_metrics(&e->view, c->env->telemetry, c->path, c->local_id);
	ebpf_args_unsupported(e->args, warn_unsupported, c);
	ebpf_tell_targets(c);
	log_info_always("profiling this host", LOG_STR("component_id", c->id),
			LOG_UINT("sample_rate", (uint64_t)e->args->sample_rate_hz),
			LOG_FLOAT("collect_interval_s", (double)e->args->collect_interval_ns / 1e9),
			LOG_FLOAT("attached_after_s", (double)(clock_mono_ns() - begin_ns) / 1e9));
	return 0;
}

static bool needs_restart(const struct ebpf_args *a, const struct ebpf_args *b)
{
	return ebpf_args_kernel(a) != ebpf_args_kernel(b) ||
	       a->collect_user_profile != b->collect_user_profile || !ebpf_args_same_names(a, b) ||
	       !events_args_equal(&a->events, &b->events) ||
	       ebpf_args_off_cpu_hz(a) != ebpf_args_off_cpu_hz(b) ||
	       a->event_cpu_limit > b->event_cpu_limit || a->event_cpu_limit < b->event_cpu_limit ||
	       strcmp(a->off_cpu_reason, b->off_cpu_reason) != 0 ||
	       a->off_cpu_waker != b->off_cpu_waker ||
	       a->thread_names != b->thread_names || a->hotspot_tiers != b->hotspot_tiers ||
	       ebpf_args_memory_limit_bytes(a) != ebpf_args_memory_limit_bytes(b);
}

/* Which events and which halves of a stack are sampled, how it is named, and how memory is shared out, is fixed when the program is loaded: a new session takes over before
 * the old one ends. */
static int restart_session(struct component *c, const struct ebpf_args *args, struct buf *why)
{
	struct ebpf *e = c->state;
	struct session *old = e->session;
	int r = start_session(c, args, why);

	if (r < 0)
		return r;
	/* What it counts while it stops is to be in the sums. */
	session_stop(old);
	ebpf_metrics_attach(e->metrics, e->session);
	session_free(old);
	return 0;
}

static int change_session(struct ebpf *e, const struct ebpf_args *args)
{
	int r = session_set_hz(e->session, (unsigned int)args->sample_rate_hz);

	if (r < 0)
		return r;
	session_set_interval(e->session, (uint64_t)args->collect_interval_ns);
	session_set_demangle(e->session, ebpf_args_demangle(args));
	session_set_tagging(e->session, ebpf_args_tagging(args));
	return 0;
}

/* Setting another rate closes the interval, which is being closed when the session asks. */
static bool only_rematches(const struct ebpf_args *a, const struct ebpf_args *b)
{
	return !needs_restart(a, b) && a->sample_rate_hz == b->sample_rate_hz;
}

/* Other receivers have sent other sums. */
static void take_args(struct ebpf *e, const struct ebpf_args *args)
{
	const struct river_capsules *old = &e->args->forward_to;
	const struct river_capsules *new = &args->forward_to;
	bool same = old->n_items == new->n_items &&
		    (new->n_items == 0 ||
		     memcmp(old->items, new->items, new->n_items * sizeof(new->items[0])) == 0);

	e->args = args;
	if (!same)
		e->last_sent_profiles = ebpf_sum_receivers(e).sent_profiles;
	e->last_lost_profiles = ebpf_sum_receivers(e).dropped_profiles;
}

/* What only a running session would find out, and would make every later change fail with it. */
static int ebpf_accepts(struct component *c, const void *new_args, struct buf *why)
{
	const struct ebpf_args *args = new_args;
	const struct ebpf *e = c->state;
	struct events_tracepoints tracepoints;

	if (c->env->offline || events_args_equal(&e->args->events, &args->events))
		return 0;
	events_args_tracepoints(&args->events, &tracepoints);
	return tracepoint_check(tracepoints.names, tracepoints.n, why);
}

static int ebpf_update(struct component *c, const void *new_args, struct buf *why)
{
	struct ebpf *e = c->state;
	const struct ebpf_args *args = new_args;
	struct target_set *targets = NULL;
	int r;

	if (e->closing && !only_rematches(e->args, args))
		return COMPONENT_LATER;
	r = make_targets(c, args, &targets);
	if (r < 0)
		return r;
	if (e->session && needs_restart(e->args, args))
		r = restart_session(c, args, why);
	else if (e->session)
		r = change_session(e, args);
	if (r < 0) {
		target_set_free(targets);
		return r;
	}
	target_set_free(e->targets);
	e->targets = targets;
	take_args(e, args);
	if (!e->session)
		return 0;
	session_rematch(e->session);
	ebpf_tell_targets(c);
	return 0;
}

static void ebpf_stop(struct component *c)
{
	struct ebpf *e = c->state;

	if (!e)
		return;
	/* Hands over what was sampled last; receivers end after us, because we depend on them. */
	if (e->session)
		session_stop(e->session);
	ebpf_metrics_free(e->metrics);
	session_free(e->session);
	target_set_free(e->targets);
	ebpf_cap_fini(&e->cap);
	ebpf_series_fini(&e->series);
	container_metadata_free(e->metadata);
	label_sanitizer_notes_fini(&e->notes);
	container_ages_fini(&e->ages);
	free(e);
	c->state = NULL;
}

static int ebpf_debug(struct component *c, struct river_arena *arena,
		      const struct river_value **ret_info)
{
	struct ebpf *e = c->state;

	return e ? ebpf_debug_info(arena, e->args, e->session, &e->view, ret_info) : 0;
}

const struct component_kind pyroscope_ebpf_kind = {
	.name = "pyroscope.ebpf",
	.schema = &ebpf_schema,
	.wants_label = true,
	.build = ebpf_build,
	.run = ebpf_run,
	.accepts = ebpf_accepts,
	.update = ebpf_update,
	.stop = ebpf_stop,
	.debug_info = ebpf_debug,
};
