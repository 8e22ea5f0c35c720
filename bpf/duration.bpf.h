/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The end of something that lasts: which are samples is decided by how long it was (bpf/weigh.h), within a limit of samples a second.
 *
 * Beyond the limit of a tenth of a second the mean doubles; it is halved again when there are few. What it is was decided by earlier ones, so no sum is
 * biased by it. Each CPU and source for itself.
 */
#ifndef XAGENT_BPF_DURATION_BPF_H
#define XAGENT_BPF_DURATION_BPF_H

#include "bpf/capture.bpf.h"
#include "bpf/weigh.h"

#define DURATION_WINDOW_NS (1000000000ULL / WIRE_THIN_WINDOWS)
#define DURATION_MAX_STEPS 15 /* and a mask */

/* As it is now, WEIGH_MAX_MEAN_NS at most. */
static __always_inline __u64 duration_present_mean(const struct wire_thinning *t, __u64 least_ns)
{
	__u64 mean_ns = least_ns << (t->stride & DURATION_MAX_STEPS);

	return mean_ns < WEIGH_MAX_MEAN_NS ? mean_ns : WEIGH_MAX_MEAN_NS;
}

/* The same, once it has followed what there was of samples. */
static __always_inline __u64 duration_mean(struct wire_thinning *t, __u32 event, __u64 now_ns,
					   __u64 least_ns)
{
	if (now_ns >= t->window_end_ns) {
		thin_take_budget(t, event);
		if (t->stride && t->n_kept < t->budget / 2)
			t->stride--;
		t->n_kept = 0;
		t->window_end_ns = now_ns + DURATION_WINDOW_NS;
	}
	return duration_present_mean(t, least_ns);
}

/*
 * The duration's threshold (bpf/weigh.h); 0: never a sample. Functions of their own for their stack, which is not to lie below that of the
 * walk.
 */
__noinline __u32 duration_threshold(__u32 event, __u32 source, __u64 duration_ns, __u64 least_ns,
				    __u64 now_ns)
{
	struct wire_thinning *limit = bpf_map_lookup_elem(&thinnings, &source);

	return limit ? weigh_threshold(duration_ns,
				       duration_mean(limit, event, now_ns, least_ns))
		     : 0;
}

/* Not of a task that was filtered: what nobody wants to see takes no room from others. */
__noinline int duration_keep(__u32 source)
{
	struct wire_thinning *t = bpf_map_lookup_elem(&thinnings, &source);

	if (t && ++t->n_kept > t->budget && t->stride < DURATION_MAX_STEPS) {
		t->stride++;
		t->n_kept = 0;
	}
	return 0;
}

/* In the context of the task that it was of. `what` has no values yet, and is no pointer: the moment would stay on the stack as a whole. The values are the duration and 1; `least_ns` is the mean, where nothing has raised it. */
static __always_inline void duration_end(struct moment what, __u64 duration_ns, __u64 least_ns)
{
	__u32 threshold = duration_threshold(what.event, what.source, duration_ns, least_ns,
					     bpf_ktime_get_ns());
	struct wire_counters *count = moment_count(what.event);
	__u64 n_filtered;

	if (!count)
		return;
	if (!weigh_is_taken(threshold, bpf_get_prandom_u32())) {
		count->filtered++;
		count->thinned++;
		return;
	}
	struct moment m = { .ctx = what.ctx,
			    .event = what.event,
			    .source = what.source,
			    .reason = what.reason,
			    .n_own_frames = what.n_own_frames,
			    .user_only = what.user_only };
	m.values[0] = weigh_value(duration_ns, threshold, bpf_get_prandom_u32());
	m.values[1] = weigh_value(1, threshold, bpf_get_prandom_u32());
	n_filtered = count->filtered;
	capture(&m, count);
	if (count->filtered == n_filtered)
		duration_keep(what.source);
}

/* What has begun cannot be kept: it counts, and is not to be had. */
static __always_inline void duration_lose(__u32 event)
{
	struct wire_counters *count = moment_count(event);

	if (count) {
		count->lost++;
		count->lost_unseen++;
	}
}

/* How long it took, of what has a sample. In any context. */
static __always_inline void end_emit(const struct wire_end *end)
{
	if (bpf_ringbuf_output(&samples, (void *)end, sizeof(*end),
			       bpf_ringbuf_query(&samples, BPF_RB_AVAIL_DATA) >= wake_bytes
				       ? BPF_RB_FORCE_WAKEUP
				       : BPF_RB_NO_WAKEUP))
		duration_lose(end->record.event);
}

#endif
