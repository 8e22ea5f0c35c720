/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* The timer tick beside a program that it can interrupt: perf's tracepoints exclude ticks on their CPU, raw ones do not. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/events/cpu.bpf.h"

SEC("raw_tp/sys_enter")
int probe(void *ctx)
{
	struct wire_counters *count = moment_count(EVENT_TRACEPOINT);

	if (!count)
		return 0;
	struct moment m = { .ctx = ctx, .event = EVENT_TRACEPOINT, .source = 1, .values = { 7 } };
	capture(&m, count);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
