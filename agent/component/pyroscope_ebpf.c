/* SPDX-License-Identifier: Apache-2.0 */
/* pyroscope.ebpf: samples this host and forwards one profile a series and interval. */
#include "agent/component/kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/ebpf_args.h"
#include "agent/component/ebpf_debug.h"
#include "agent/component/ebpf_flow.h"
#include "agent/component/ebpf_metrics.h"
#include "agent/component/graph.h"
#include "agent/component/host_report.h"
#include "agent/component/receiver.h"
#include "agent/component/target_maps.h"
#include "agent/profile/session.h"
#include "agent/target/container_age.h"
#include "agent/target/target.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"

/* How long a container may stay unknown to those who tell of containers: a kubelet reports what it has started within seconds, and the API
 * passes it on. Its samples are kept meanwhile. */
#define YOUNG_NS (30 * NS_PER_S)

struct ebpf {
	const struct ebpf_args *args;
	struct target_set *targets;
	struct session *session;
	struct ebpf_metrics *metrics;
	struct host_view view;
	struct ebpf_flow flow;
	uint64_t last_sent_profiles;
	uint64_t last_lost_profiles;
	uint64_t n_rejected; /* targets of the present set that select nothing */
	bool kernel_hidden_said;
	struct container_ages ages;
	bool closing; /* the session is asking us: it must not be changed now */
};

static int make_targets(struct component *c, const struct ebpf_args *args,
			struct target_set **ret_set)
{
	_cleanup_(labels_unrefp) struct labels *default_target = NULL;
	struct river_string_maps list =
		ebpf_args_have_targets(args) ? args->targets : (struct river_string_maps){ 0 };
	struct labels **targets = NULL;
	uint64_t rejected = telemetry_get(c->env->telemetry, TELEMETRY_targets_rejected);
	struct ebpf *e = c->state;
	int r = labels_of_maps(&list, &targets);

	if (r == 0 && args->default_target.n_items > 0)
		r = labels_of_map(&args->default_target, &default_target);
	if (r == 0)
		r = target_set_new(
			&(struct target_set_options){
				.targets = targets,
				.n_targets = list.n_items,
				.have_targets = ebpf_args_have_targets(args),
				.targets_only = args->targets_only,
				.default_target = default_target,
				.host = c->env->hostname,
				.telemetry = c->env->telemetry,
			},
			ret_set);
	labels_array_free(targets, list.n_items);
	e->n_rejected = telemetry_get(c->env->telemetry, TELEMETRY_targets_rejected) - rejected;
	return r;
}

#define NOTHING_TARGETED \
	"nothing is profiled: targets_only is true and no target names a process or container"

static bool nothing_targeted(const struct ebpf *e)
{
	return ebpf_args_have_targets(e->args) && e->args->targets_only &&
	       target_set_n(e->targets) == 0;
}

/* "Healthy, no data" is the commonest complaint about profilers: where nothing can come, or less than all, health says so. */
static void tell_health(struct component *c)
{
	struct ebpf *e = c->state;
	_cleanup_buf_ struct buf text = BUF_INIT(2 * COMPONENT_MESSAGE_MAX);

	if (nothing_targeted(e))
		(void)buf_append_str(&text, NOTHING_TARGETED);
	else if (ebpf_flow_nothing_matches(&e->flow))
		ebpf_flow_explain(&e->flow, target_set_n(e->targets), &text);
	else
		(void)buf_append_str(&text, "profiling");
	if (host_view_worst(&e->view) != HOST_FINDING_MAX)
		(void)buf_append_str(&text, "; ");
	host_report_health(&e->view, &text);
	component_set_health(c, HEALTH_HEALTHY, buf_str(&text));
}

static void tell_targets(struct component *c)
{
	struct ebpf *e = c->state;

	ebpf_flow_reset(&e->flow);
	ebpf_metrics_targets(e->metrics, target_set_n(e->targets));
	tell_health(c);
	if (nothing_targeted(e))
		log_warn(NOTHING_TARGETED, LOG_STR("component_id", c->id),
			 LOG_UINT("targets", e->args->targets.n_items));
	if (e->n_rejected)
		log_warn("targets without a process or container id that can be used are ignored",
			 LOG_STR("component_id", c->id), LOG_UINT("ignored", e->n_rejected),
			 LOG_UINT("targets", e->args->targets.n_items));
}

/* Nobody's samples: those that came here, and those that the kernel half left out. */
static uint64_t n_unmatched(const struct component *c)
{
	const struct ebpf *e = c->state;
	struct wire_counters counters = { 0 };

	(void)sampler_counters(session_sampler(e->session), &counters);
	return telemetry_get(c->env->telemetry, TELEMETRY_samples_dropped_no_target) +
	       counters.filtered;
}

static void tell_flow(struct component *c, uint64_t n_matched)
{
	struct ebpf *e = c->state;
	bool said = ebpf_flow_nothing_matches(&e->flow);

	if (!ebpf_flow_interval(&e->flow, n_matched, n_unmatched(c)))
		return;
	tell_health(c);
	if (!said && ebpf_flow_nothing_matches(&e->flow))
		log_warn("nothing is profiled: samples are seen, but no target selects their "
			 "processes",
			 LOG_STR("component_id", c->id), LOG_UINT("samples", e->flow.n_unmatched),
			 LOG_UINT("targets", target_set_n(e->targets)),
			 LOG_STR("example", e->flow.example));
}

/* A container that nobody has told of yet, while there is somebody who may. */
static bool is_young(struct ebpf *e, struct component *c, const struct process_identity *id)
{
	return id->cgroup.container_id[0] && graph_finds_containers(c->graph) &&
	       container_age_ns(&e->ages, id->cgroup.container_id, clock_mono_ns()) < YOUNG_NS;
}

static int match(struct process_table *processes, struct process *p, void *data,
		 struct labels **ret_labels)
{
	struct component *c = data;
	struct ebpf *e = c->state;
	int r = target_set_match(e->targets, processes, p, ret_labels);

	if (r < 0 || r == TARGET_FOUND)
		return r;
	if (graph_process_seen(c->graph, processes, p) ||
	    is_young(e, c, process_identity(processes, p)))
		return SESSION_LATER;
	if (r == TARGET_NONE && ebpf_flow_wants_example(&e->flow))
		ebpf_flow_example(&e->flow, p->pid, process_identity(processes, p));
	return r == TARGET_NONE ? SESSION_SKIP : 0;
}

/* Discovery knows of new processes that are not in our targets yet. */
static void before_close(void *data)
{
	struct component *c = data;
	struct ebpf *e = c->state;

	e->closing = true;
	graph_settle_for(c);
	e->closing = false;
}

static void on_exit_event(uint32_t pid, void *data)
{
	struct component *c = data;

	graph_process_gone(c->graph, pid);
}

static void forward(struct component *c, const struct built *built)
{
	struct ebpf *e = c->state;
	struct receiver_profile profile = {
		.labels = built->labels,
		.bytes = built->bytes,
		.n_bytes = built->n_bytes,
		.n_samples = built->n_samples,
		.time_ns = built->time_ns,
	};

	for (size_t i = 0; i < e->args->forward_to.n_items; i++) {
		struct receiver *r = e->args->forward_to.items[i];

		if (r)
			r->receive(r, &profile);
	}
	ebpf_metrics_pprof(e->metrics, built);
}

static struct receiver_stats sum_receivers(const struct ebpf *e)
{
	struct receiver_stats sum = { 0 };

	for (size_t i = 0; i < e->args->forward_to.n_items; i++) {
		const struct receiver *r = e->args->forward_to.items[i];
		struct receiver_stats s = { 0 };

		if (!r)
			continue;
		r->stats(r, &s);
		sum.sent_profiles += s.sent_profiles;
		sum.dropped_profiles += s.dropped_profiles;
		sum.waiting_profiles += s.waiting_profiles;
	}
	return sum;
}

static void log_interval(struct component *c, const struct build *build, size_t n_profiles,
			 size_t n_bytes)
{
	struct ebpf *e = c->state;
	struct receiver_stats stats = sum_receivers(e);

	/* `pushed` is what servers accepted since the line before; what was just made is usually in `waiting`. */
	log_info_always("interval profiled", LOG_UINT("services", build->summary.n_series),
			LOG_UINT("samples", build->summary.n_samples),
			LOG_UINT("profiles", n_profiles), LOG_UINT("bytes", n_bytes),
			LOG_UINT("pushed", stats.sent_profiles - e->last_sent_profiles),
			LOG_UINT("waiting", stats.waiting_profiles),
			LOG_UINT("lost", stats.dropped_profiles - e->last_lost_profiles),
			LOG_STR("hottest_service", build->summary.hottest_service),
			LOG_UINT("hottest_samples", build->summary.hottest_service_samples),
			LOG_STR("hottest_function", build->summary.hottest_function));
	e->last_sent_profiles = stats.sent_profiles;
	e->last_lost_profiles = stats.dropped_profiles;
}

static void say_kernel_hidden(struct ebpf *e, const struct build *build)
{
	if (!build->summary.kernel_hidden || e->kernel_hidden_said)
		return;
	e->kernel_hidden_said = true;
	log_warn("kernel function names are hidden, kernel stacks are shown as [kernel]",
		 LOG_STR("fix", "grant CAP_SYSLOG, or set kernel.kptr_restrict to 0 or 1"));
}

static void on_interval(const struct interval *interval, struct build *build, void *data)
{
	struct component *c = data;
	struct ebpf *e = c->state;
	size_t n_profiles = 0;
	size_t n_bytes = 0;

	(void)interval;
	for (const struct built *b = build->first; b; b = b->next) {
		forward(c, b);
		n_profiles++;
		n_bytes += b->n_bytes;
	}
	ebpf_metrics_session(e->metrics);
	say_kernel_hidden(e, build);
	tell_flow(c, build->summary.n_samples);
	log_interval(c, build, n_profiles, n_bytes);
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
	e->args = args;
	return make_targets(c, args, &e->targets);
}

static int start_session(struct component *c, const struct ebpf_args *args, struct buf *why)
{
	struct ebpf *e = c->state;
	struct session_options o = {
		.sampler = SAMPLER_OPTIONS_INIT,
		.interval_ns = (uint64_t)args->collect_interval_ns,
		.demangle = ebpf_args_demangle(args),
		.lines = args->lines,
		.inlines = args->inlines,
		.debuginfod = { .urls = args->debuginfod_urls.items,
				.n_urls = args->debuginfod_urls.n_items,
				.cache_dir = args->debuginfod_cache_path },
		.memory_limit_bytes = ebpf_args_memory_limit_bytes(args),
		.build = build_pprof,
		.hooks = { .match = match,
			   .before_close = before_close,
			   .on_interval = on_interval,
			   .on_exit = on_exit_event,
			   .data = c },
		.loop = c->env->loop,
		.worker = c->env->worker,
		.telemetry = c->env->telemetry,
	};

	o.sampler.hz = (unsigned int)args->sample_rate_hz;
	o.sampler.no_kernel = !ebpf_args_kernel(args);
	o.sampler.no_user = !args->collect_user_profile;
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
	tell_targets(c);
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
	       ebpf_args_memory_limit_bytes(a) != ebpf_args_memory_limit_bytes(b);
}

/* Which halves of a stack are sampled, how it is named, and how memory is shared out, is fixed when the program is loaded: a new session takes over before
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
	session_rematch(e->session);
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
		e->last_sent_profiles = sum_receivers(e).sent_profiles;
	e->last_lost_profiles = sum_receivers(e).dropped_profiles;
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
	if (e->session)
		tell_targets(c);
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
	.update = ebpf_update,
	.stop = ebpf_stop,
	.debug_info = ebpf_debug,
};
