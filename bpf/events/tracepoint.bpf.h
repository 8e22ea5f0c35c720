/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Tracepoints: one run for each hit. The task is in the kernel; which of the tracepoints it was is told by the cookie. */
#ifndef XAGENT_BPF_EVENTS_TRACEPOINT_BPF_H
#define XAGENT_BPF_EVENTS_TRACEPOINT_BPF_H

#include "bpf/capture.bpf.h"

SEC("?tracepoint")
int tracepoint(void *ctx)
{
	struct wire_counters *count = moment_count(EVENT_TRACEPOINT);

	if (!count)
		return 0;
	struct moment m = { .ctx = ctx,
			    .event = EVENT_TRACEPOINT,
			    .source = bpf_get_attach_cookie(ctx),
			    .values = { 1 } };
	capture(&m, count);
	return 0;
}

#endif
