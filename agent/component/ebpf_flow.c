/* SPDX-License-Identifier: Apache-2.0 */
/* Whether samples come, and whether their processes match targets. */
#include "agent/component/ebpf_flow.h"

#include <inttypes.h>

#include "agent/util/str.h"

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
