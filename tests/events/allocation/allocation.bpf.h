/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* A hit of a system call's tracepoint is one object, of as many bytes as its third argument says. */
#ifndef XAGENT_TESTS_EVENTS_ALLOCATION_BPF_H
#define XAGENT_TESTS_EVENTS_ALLOCATION_BPF_H

#include "bpf/capture.bpf.h"

/* As /sys/kernel/tracing/events/syscalls/sys_enter_readahead/format says. */
struct system_call_entry {
	__u64 common;
	__s64 number;
	__u64 args[6];
};

SEC("?tracepoint")
int tracepoint(struct system_call_entry *entry)
{
	struct wire_counters *count = moment_count(EVENT_TRACEPOINT);

	if (!count)
		return 0;
	struct moment m = { .ctx = entry,
			    .event = EVENT_TRACEPOINT,
			    .source = bpf_get_attach_cookie(entry),
			    .values = { entry->args[2], 1 } };
	capture(&m, count);
	return 0;
}

#endif
