/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* The timer tick beside a program that it can interrupt: perf's tracepoints exclude ticks on their CPU, raw ones do not. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/events/cpu.bpf.h"

const volatile __u64 watched_call = 0; /* its number */

SEC("raw_tp/sys_enter")
int probe(struct bpf_raw_tracepoint_args *ctx)
{
	struct wire_counters *count;

	if (ctx->args[1] != watched_call)
		return 0;
	count = moment_count(EVENT_TRACEPOINT);
	if (!count)
		return 0;
	struct moment m = { .ctx = ctx, .event = EVENT_TRACEPOINT, .source = 1, .values = { 7 } };
	capture(&m, count);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
