/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A limit of samples a second for each source of events. The values of hits beyond it are added to the next sample.
 *
 * A tracepoint may be hit a million times a second, and each sample costs microseconds and room in the ring. Up to a limit each hit is a
 * sample. Beyond it only some are, at random distances so that no pattern of the program is in step with them, and what the others were worth
 * is added to the next one: sums stay exact, whose they are is an estimate. Each CPU and source for itself.
 *
 * Exact, that is, of the hits that come here. One that finds the CPU running another BPF program, or changing a BPF map, the kernel drops
 * (bpf_prog_active, in trace_call_bpf()), and nothing counts it.
 */
#ifndef XAGENT_BPF_THIN_BPF_H
#define XAGENT_BPF_THIN_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/maps.bpf.h"

/* Whether any source has a limit; timer ticks have their rate. Set by the agent. */
const volatile bool thin_any = false;

/* Samples of a window and CPU at most, by event, as the agent has found that they may be; 0: as many as their sources had at first. */
__u32 event_budgets[EVENT_MAX];

#define THIN_WINDOW_NS (1000000000ULL / WIRE_THIN_WINDOWS)
#define THIN_MAX_STRIDE (1u << 20)

/* At the begin of a window. */
static __always_inline void thin_take_budget(struct wire_thinning *t, __u32 event)
{
	__u32 budget = event < EVENT_MAX ? event_budgets[event] : 0;

	if (budget)
		t->budget = budget;
}

/* The distance follows from the window before, if it has just ended; what a flood has left to be skipped is not the next one's … */
static __always_inline void thin_next_window(struct wire_thinning *t, __u64 now_ns)
{
	bool has_just_ended = now_ns < t->window_end_ns + THIN_WINDOW_NS;
	__u32 stride = has_just_ended ? t->n_hits / t->budget + 1 : 1;

	t->stride = stride > THIN_MAX_STRIDE ? THIN_MAX_STRIDE : stride;
	if (t->n_to_skip >= 2 * t->stride - 1)
		t->n_to_skip = 0;
	t->window_end_ns = now_ns + THIN_WINDOW_NS;
	t->n_hits = t->n_kept = 0;
}

/* … and doubles where that told too little. */
static __always_inline void thin_keep(struct wire_thinning *t)
{
	if (++t->n_kept > t->budget && t->stride < THIN_MAX_STRIDE) {
		t->stride *= 2;
		t->n_kept = 0;
	}
	t->n_to_skip = t->stride > 1 ? bpf_get_prandom_u32() % (2 * t->stride - 1) : 0;
}

/* False: the hit is no sample, its values are the next one's. Else that has what was left to it. */
static __always_inline bool thin_passes(__u32 event, __u32 source, __u64 values[EVENT_MAX_VALUES])
{
	struct wire_thinning *t = thin_any ? bpf_map_lookup_elem(&thinnings, &source) : NULL;
	__u64 now_ns = bpf_ktime_get_ns();

	if (!t)
		return true;
	if (now_ns >= t->window_end_ns) {
		thin_take_budget(t, event);
		thin_next_window(t, now_ns);
	}
	t->n_hits++;
	if (t->n_to_skip) {
		t->n_to_skip--;
		for (int i = 0; i < EVENT_MAX_VALUES; i++)
			t->left[i] += values[i];
		return false;
	}
	thin_keep(t);
	for (int i = 0; i < EVENT_MAX_VALUES; i++) {
		values[i] += t->left[i];
		t->left[i] = 0;
	}
	return true;
}

/* The sample was lost after all. */
static __always_inline void thin_leave(__u32 source, const __u64 values[EVENT_MAX_VALUES])
{
	struct wire_thinning *t = thin_any ? bpf_map_lookup_elem(&thinnings, &source) : NULL;

	for (int i = 0; t && i < EVENT_MAX_VALUES; i++)
		t->left[i] += values[i];
}

#endif
