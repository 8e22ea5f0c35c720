/* SPDX-License-Identifier: Apache-2.0 */
/* What is sampled, and by which name a process is shown. */
#include "agent/cli/profile/sampling.h"

#include "agent/util/macro.h"

/* Who has no number here is called after what its control group is of. */
static const char *outside_process_name(const struct process_identity *id, bool with_idle)
{
	if (id->kernel_thread)
		return with_idle ? "idle" : "kernel";
	if (*id->cgroup.container_id)
		return id->cgroup.container_id;
	return *id->cgroup.unit ? id->cgroup.unit : id->comm;
}

/* Of the process, as its leader is called; never a thread's name. */
static const char *process_name(struct process_table *processes, struct process *p, bool with_idle)
{
	const struct process_identity *id = process_identity(processes, p);

	if (!p->pid)
		return outside_process_name(id, with_idle);
	return *id->comm ? id->comm : "unknown";
}

int sampling_labels(struct process_table *processes, struct process *p, bool with_idle,
		    struct labels **ret_labels)
{
	const struct label name = { "service_name", process_name(processes, p, with_idle) };

	return labels_new(&name, 1, ret_labels);
}

/* Ticks or waits that were asked for by themselves have their own profile, too. */
void sampling_wall(const struct profile_args *a, struct session_options *o)
{
	static const enum event parts[] = { EVENT_CPU, EVENT_OFF_CPU };

	o->wall = event_list_has(&a->events, EVENT_WALL);
	for (size_t i = 0; o->wall && i < ARRAY_SIZE(parts); i++)
		if (!event_list_has(&a->events, parts[i]))
			o->wall_alone |= SESSION_EVENT(parts[i]);
}

static void want_events(const struct profile_args *a, struct sampler_options *o)
{
	bool is_wall = event_list_has(&a->events, EVENT_WALL);

	o->no_ticks = !event_list_has_ticks(&a->events);
	o->tracepoints = (const char *const *)a->events.sources;
	o->tracepoint_hz = a->tracepoint_hz;
	o->n_tracepoints = a->events.n_sources;
	if (event_list_has(&a->events, EVENT_OFF_CPU))
		o->off_cpu_hz = a->limit_hz;
	else if (is_wall)
		o->off_cpu_hz = SAMPLER_PROBE_HZ;
	for (size_t i = 0; i < a->events.n; i++)
		if (event_is_plain(a->events.items[i].event))
			o->event_hz[a->events.items[i].event] = a->limit_hz;
}

struct sampler_options sampling_options(const struct profile_args *a, uint32_t hz, int cgroup_fd)
{
	struct sampler_options o = SAMPLER_OPTIONS_INIT;

	o.hz = hz;
	want_events(a, &o);
	o.off_cpu_reasons = o.off_cpu_hz > 0 && a->off_cpu_reason != REASON_NONE;
	o.off_cpu_wakers = o.off_cpu_hz > 0 && a->off_cpu_waker;
	o.no_kernel = a->user_only;
	o.no_user = a->kernel_only;
	o.idle = a->idle;
	o.interpreter_frames = a->interpreter_frames;
	o.async_frames = a->async_frames;
	o.hotspot_arguments = a->hotspot_arguments;
	o.hotspot_tiers = a->hotspot_tiers;
	o.thread_names = a->thread_names;
	o.pids = a->pids.ids;
	o.n_pids = a->pids.n;
	o.tids = a->tids.ids;
	o.n_tids = a->tids.n;
	o.cgroup_fd = cgroup_fd;
	o.cpus = a->cpus.n ? &a->cpus : NULL;
	o.verifier_stats = a->verifier_stats;
	return o;
}
