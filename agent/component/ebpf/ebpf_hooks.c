/* SPDX-License-Identifier: Apache-2.0 */
/* What the session asks of pyroscope.ebpf: which series the samples of a process go to, and the delivery of profiles to its receivers. */
#include "agent/component/ebpf/ebpf_private.h"

#include "agent/component/ebpf/profile_name.h"
#include "agent/component/graph/graph.h"
#include "agent/component/receivers/fan_out.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"

/* How long a container may stay unknown to those who tell of containers: a kubelet reports what it has started within seconds, and the API
 * passes it on. Its samples are kept meanwhile. */
#define YOUNG_NS (30 * NS_PER_S)
/* How long what a runtime writes down of a container may not be found: until its first process has its root, runc runs in its control group. */
#define UNWRITTEN_NS (2 * NS_PER_S)

/* A container that nobody has told of yet, while there is somebody who may. */
static bool is_young(struct ebpf *e, struct component *c, const struct process_identity *id)
{
	return id->cgroup.container_id[0] && graph_finds_containers(c->graph) &&
	       container_age_ns(&e->ages, id->cgroup.container_id, clock_mono_ns()) < YOUNG_NS;
}

/* A container that is sampled moments before it can be told what it is called. */
static bool is_unwritten(struct ebpf *e, const struct process *p, const struct process_identity *id)
{
	uint64_t now_ns = clock_mono_ns();
	const struct container_facts *facts;

	if (!id->cgroup.container_id[0] || container_metadata_due_ns(e->metadata) == UINT64_MAX)
		return false;
	facts = container_metadata_find(e->metadata, &id->cgroup, p->pid, now_ns);
	return !facts->name[0] && !facts->pod[0] &&
	       container_age_ns(&e->ages, id->cgroup.container_id, now_ns) < UNWRITTEN_NS;
}

static void tell_changes(struct component *c)
{
	struct ebpf *e = c->state;
	struct label_sanitizer_change change;

	while (label_sanitizer_notes_next(&e->notes, &change))
		log_warn("label changed before it is sent", LOG_STR("component_id", c->id),
			 LOG_STR("label", change.name),
			 LOG_STR("became", change.became[0] ? change.became : "dropped"),
			 LOG_STR("reason", label_sanitizer_what_text(change.what)));
}

int ebpf_match(struct process_table *processes, struct process *p, void *data,
	       struct labels **ret_labels)
{
	struct component *c = data;
	struct ebpf *e = c->state;
	/* First: the target that selects it may be that of the program which it was before an exec. */
	bool news = graph_process_seen(c->graph, processes, p);
	int r = target_set_match(e->targets, processes, p, ret_labels);

	if (r < 0)
		return r;
	if (news)
		return SESSION_LATER;
	if (r == TARGET_FOUND)
		return r;
	if (is_young(e, c, process_identity(processes, p)) ||
	    (r == TARGET_DEFAULT && is_unwritten(e, p, process_identity(processes, p))))
		return SESSION_LATER;
	if (r == TARGET_NONE && ebpf_flow_wants_example(&e->flow))
		ebpf_flow_example(&e->flow, p->pid, process_identity(processes, p));
	return r == TARGET_NONE ? SESSION_SKIP : 0;
}

/* Discovery knows of new processes that are not in our targets yet. */
void ebpf_before_close(void *data)
{
	struct component *c = data;
	struct ebpf *e = c->state;

	e->closing = true;
	graph_settle_for(c);
	if (container_metadata_refresh(e->metadata, clock_mono_ns()))
		session_rematch(e->session);
	e->closing = false;
	tell_changes(c);
}

void ebpf_on_settled(struct interval *interval, void *data)
{
	_cleanup_(labels_unrefp) struct labels *other = NULL;
	struct component *c = data;
	struct ebpf *e = c->state;

	telemetry_count(c->env->telemetry, TELEMETRY_samples_dropped_memory,
			profile_name_settle(interval));
	if (target_set_series(e->targets, SERIES_CAP_OTHER, &other) == 0)
		ebpf_cap_apply(&e->cap, c, (size_t)e->args->max_series, other, interval,
			       clock_mono_ns());
}

void ebpf_on_exit(uint32_t pid, void *data)
{
	struct component *c = data;

	graph_process_gone(c->graph, pid);
}

static void forward_named(struct component *c, const struct built *built, struct labels *series)
{
	struct ebpf *e = c->state;

	fan_out(&e->args->forward_to, built->profile,
		built->profile->time_ns + RECEIVER_DEADLINE_NS);
	ebpf_metrics_profile(e->metrics, built->profile);
	ebpf_series_add(&e->series, series, built->event, built->profile->labels, built->n_samples);
}

static void forward(struct component *c, const struct built *built)
{
	_cleanup_(labels_unrefp) struct labels *series = labels_ref(built->profile->labels);
	_cleanup_(labels_unrefp) struct labels *labels = NULL;
	const struct ebpf *e = c->state;

	if (profile_name_add(series, built->event,
			     events_args_profile(&e->args->events, built->source), &labels) < 0) {
		telemetry_count(c->env->telemetry, TELEMETRY_samples_dropped_memory,
				built->n_samples - built->n_again);
		return;
	}
	profile_set_labels(built->profile, labels);
	forward_named(c, built, series);
}

unsigned int ebpf_wants(void *data)
{
	const struct component *c = data;
	const struct ebpf *e = c->state;

	return fan_out_wants(&e->args->forward_to);
}

struct receiver_stats ebpf_sum_receivers(const struct ebpf *e)
{
	return fan_out_stats(&e->args->forward_to);
}

static void log_interval(struct component *c, const struct build *build, size_t n_profiles,
			 size_t n_bytes)
{
	struct ebpf *e = c->state;
	struct receiver_stats stats = ebpf_sum_receivers(e);

	/* `pushed` is what servers accepted since the line before; what was just made is usually in `waiting`. */
	log_info_always("interval profiled", LOG_UINT("services", build->summary.n_series),
			LOG_UINT("samples", build->summary.n_samples),
			LOG_UINT("profiles", n_profiles), LOG_UINT("bytes", n_bytes),
			LOG_UINT("pushed", stats.sent_profiles - e->last_sent_profiles),
			LOG_UINT("waiting", stats.waiting_profiles),
			LOG_UINT("lost", stats.dropped_profiles - e->last_lost_profiles),
			LOG_STR("hottest_event", event_type(build->summary.hottest_event)->name),
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

static void say_failed_file(const struct build *build)
{
	if (build->summary.failed_file[0])
		log_warn("debug information could not be read, the file has no lines for a while",
			 LOG_STR("path", build->summary.failed_file),
			 LOG_STR("counters", "xagent_dwarf_helper_*_total"));
}

void ebpf_on_interval(const struct interval *interval, struct build *build, void *data)
{
	struct component *c = data;
	struct ebpf *e = c->state;
	size_t n_profiles = 0;
	size_t n_bytes = 0;

	(void)interval;
	for (const struct built *b = build->first; b; b = b->next) {
		forward(c, b);
		n_profiles++;
		n_bytes += profile_form_bytes(b->profile, FORM_PPROF);
	}
	ebpf_metrics_session(e->metrics);
	say_kernel_hidden(e, build);
	say_failed_file(build);
	ebpf_tell_flow(c, build->summary.n_samples);
	log_interval(c, build, n_profiles, n_bytes);
}
