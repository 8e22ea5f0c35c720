/* SPDX-License-Identifier: Apache-2.0 */
/* Delivers the profiles of pyroscope.ebpf to its receivers, and logs what was delivered. */
#include "agent/component/ebpf_private.h"
#include "agent/component/profile_name.h"
#include "agent/util/log.h"

static void forward_named(struct component *c, const struct built *built, struct labels *series)
{
	struct ebpf *e = c->state;

	for (size_t i = 0; i < e->args->forward_to.n_items; i++) {
		struct receiver *r = e->args->forward_to.items[i];

		if (r)
			r->receive(r, built->profile,
				   built->profile->time_ns + RECEIVER_DEADLINE_NS);
	}
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
				built->n_samples);
		return;
	}
	profile_set_labels(built->profile, labels);
	forward_named(c, built, series);
}

unsigned int ebpf_wants(void *data)
{
	const struct component *c = data;
	const struct ebpf *e = c->state;
	unsigned int wants = 0;

	for (size_t i = 0; i < e->args->forward_to.n_items; i++) {
		const struct receiver *r = e->args->forward_to.items[i];

		wants |= r ? r->wants : 0;
	}
	return wants;
}

struct receiver_stats ebpf_sum_receivers(const struct ebpf *e)
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
	struct receiver_stats stats = ebpf_sum_receivers(e);

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
