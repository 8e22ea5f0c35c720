/* SPDX-License-Identifier: Apache-2.0 */
/* Whether samples of pyroscope.ebpf come, and whether their processes match targets; its health, and what is logged of it. */
#include "agent/component/ebpf/ebpf_private.h"

#include <errno.h>
#include <inttypes.h>

#include "agent/component/ebpf/host_report.h"
#include "agent/sample/cpu_counters.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "agent/util/str.h"

#define NOTHING_TARGETED \
	"nothing is profiled: targets_only is true and no target names a process or container"

#define STANDS_STILL \
	"nothing is profiled: the kernel's timers have stopped ticking; start xagent again"

static void forget_mismatch(struct ebpf_flow *f)
{
	f->n_unmatched = 0;
	f->n_intervals = 0;
	f->example[0] = '\0';
}

static void take_matches(struct ebpf_flow *f, const struct ebpf_flow_counts *counts)
{
	uint64_t before = f->n_seen_before, ever = counts->n_unmatched_ever;
	/* The kernel half of a new session counts from zero. */
	uint64_t n = ever > before ? ever - before : 0;

	f->n_seen_before = ever;
	if (counts->n_matched > 0) {
		forget_mismatch(f);
	} else if (n > 0) {
		f->n_unmatched += n;
		f->n_intervals++;
	}
}

static void take_ticks(struct ebpf_flow *f, const struct ebpf_flow_counts *counts)
{
	if (counts->n_ticks_ever != f->n_ticks_before || !f->ticked_ns)
		f->ticked_ns = counts->now_ns;
	f->n_ticks_before = counts->n_ticks_ever;
	f->looked_ns = counts->now_ns;
}

bool ebpf_flow_interval(struct ebpf_flow *f, const struct ebpf_flow_counts *counts)
{
	bool before = ebpf_flow_nothing_matches(f) || ebpf_flow_stands_still(f);

	take_matches(f, counts);
	take_ticks(f, counts);
	return before || ebpf_flow_nothing_matches(f) || ebpf_flow_stands_still(f);
}

void ebpf_flow_retarget(struct ebpf_flow *f)
{
	f->example[0] = '\0';
}

bool ebpf_flow_stands_still(const struct ebpf_flow *f)
{
	return f->looked_ns - f->ticked_ns >= EBPF_FLOW_SILENCE_NS;
}

bool ebpf_flow_nothing_matches(const struct ebpf_flow *f)
{
	return f->n_intervals >= EBPF_FLOW_INTERVALS;
}

bool ebpf_flow_wants_example(const struct ebpf_flow *f)
{
	return f->example[0] == '\0';
}

void ebpf_flow_example(struct ebpf_flow *f, uint32_t pid, const struct process_identity *id)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	(void)buf_printf(&text, "%s (__process_pid__ %" PRIu32,
			 id->comm[0] ? id->comm : "a process", pid);
	if (id->cgroup.container_id[0])
		(void)buf_printf(&text, ", __container_id__ %s", id->cgroup.container_id);
	(void)buf_append_char(&text, ')');
	str_copy_utf8(f->example, sizeof(f->example), (struct str){ buf_str(&text), text.len });
}

void ebpf_flow_explain(const struct ebpf_flow *f, size_t n_targets, struct buf *out)
{
	(void)buf_printf(out,
			 "nothing is profiled: none of %" PRIu64
			 " samples in the last %u intervals is of a process that a target selects "
			 "(%zu targets)",
			 f->n_unmatched, f->n_intervals, n_targets);
	if (f->example[0])
		(void)buf_printf(out, "; for example %s matches none", f->example);
	(void)buf_append_str(out, "; compare ids, or write targets_only = false");
}

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
	bool stands_still = ebpf_flow_stands_still(&e->flow);
	bool is_well =
		!stands_still && !nothing_targeted(e) && !ebpf_flow_nothing_matches(&e->flow);

	if (stands_still)
		(void)buf_append_str(&text, STANDS_STILL);
	else if (nothing_targeted(e))
		(void)buf_append_str(&text, NOTHING_TARGETED);
	else if (ebpf_flow_nothing_matches(&e->flow))
		ebpf_flow_explain(&e->flow, target_set_n(e->targets), &text);
	else
		(void)buf_append_str(&text, "profiling");
	if (host_view_worst(&e->view) != HOST_FINDING_MAX)
		(void)buf_append_str(&text, "; ");
	/* One thing at a time: what is worse has the room. */
	host_report_health(&e->view, is_well, &text);
	component_set_health(c, stands_still ? HEALTH_UNHEALTHY : HEALTH_HEALTHY, buf_str(&text));
}

/* Targets change every few seconds; what is wrong with them is said when it begins, and when it is another number. */
static void log_targets(struct component *c)
{
	struct ebpf *e = c->state;
	bool nothing = nothing_targeted(e);

	if (nothing && !e->nothing_said)
		log_warn(NOTHING_TARGETED, LOG_STR("component_id", c->id),
			 LOG_UINT("targets", e->args->targets.n_items));
	if (e->n_rejected && e->n_rejected != e->n_rejected_said)
		log_warn("targets without a process or container id that can be used are ignored",
			 LOG_STR("component_id", c->id), LOG_UINT("ignored", e->n_rejected),
			 LOG_UINT("targets", e->args->targets.n_items));
	e->nothing_said = nothing;
	e->n_rejected_said = e->n_rejected;
}

void ebpf_tell_targets(struct component *c)
{
	struct ebpf *e = c->state;

	ebpf_flow_retarget(&e->flow);
	ebpf_metrics_targets(e->metrics, target_set_n(e->targets));
	tell_health(c);
	log_targets(c);
}

/* Nobody's samples are those that came here, and those that the kernel half left out. */
static struct ebpf_flow_counts flow_counts(const struct component *c, uint64_t n_matched)
{
	const struct ebpf *e = c->state;
	struct wire_counters by_event[EVENT_MAX] = { 0 };
	struct wire_counters counters = { 0 };

	(void)sampler_counters(session_sampler(e->session), by_event);
	for (enum event i = 0; i < EVENT_MAX; i++)
		wire_counters_add(&counters, &by_event[i]);
	return (struct ebpf_flow_counts){
		.n_matched = n_matched,
		.n_unmatched_ever =
			telemetry_get(c->env->telemetry, TELEMETRY_samples_dropped_no_target) +
			counters.refused,
		.n_ticks_ever = counters.ticks,
		.now_ns = clock_mono_ns(),
	};
}

static void log_flow(const struct component *c, bool mismatch, bool silence)
{
	const struct ebpf *e = c->state;

	if (mismatch)
		log_warn("nothing is profiled: samples are seen, but no target selects their "
			 "processes",
			 LOG_STR("component_id", c->id), LOG_UINT("samples", e->flow.n_unmatched),
			 LOG_UINT("targets", target_set_n(e->targets)),
			 LOG_STR("example", e->flow.example));
	if (silence)
		log_error(STANDS_STILL, LOG_STR("component_id", c->id));
}

void ebpf_tell_flow(struct component *c, uint64_t n_matched)
{
	struct ebpf *e = c->state;
	const struct ebpf_flow_counts counts = flow_counts(c, n_matched);
	bool mismatch = ebpf_flow_nothing_matches(&e->flow);
	bool silence = ebpf_flow_stands_still(&e->flow);

	if (!ebpf_flow_interval(&e->flow, &counts))
		return;
	tell_health(c);
	log_flow(c, !mismatch && ebpf_flow_nothing_matches(&e->flow),
		 !silence && ebpf_flow_stands_still(&e->flow));
}
