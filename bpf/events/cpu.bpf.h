/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* CPU time: one run for each timer tick on each CPU. */
#ifndef XAGENT_BPF_EVENTS_CPU_BPF_H
#define XAGENT_BPF_EVENTS_CPU_BPF_H

#include "bpf/capture.bpf.h"
#include "bpf/idle.bpf.h"

const volatile bool want_idle = false;

SEC("?perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	struct wire_counters *count = moment_count(EVENT_CPU);
	bool is_idle = !(__u32)bpf_get_current_pid_tgid();

	if (!count)
		return 0;
	if (is_idle && !want_idle && !idle_is_at_work(ctx, bpf_get_current_task_btf())) {
		count->idle++;
		return 0;
	}
	struct moment m = { .ctx = ctx, .interrupted = ctx, .event = EVENT_CPU, .values = { 1 } };
	capture(&m, count);
	return 0;
}

#endif
