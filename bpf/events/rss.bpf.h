/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Growth of resident memory, by the stack of the process's own thread under which its counters grow.
 *
 * The kernel counts resident pages apart on each CPU (of each thread, before 6.2) and adds that to the sum of the process when it is a batch: 32 pages, or two for
 * each CPU (64 page faults). rss_stat comes with each change; what is looked at is the sum, and what it has grown by since it was seen last. So the growth by
 * stack sums to that of the process within a batch for each CPU; whose stack a batch has is the page's that fills it.
 *
 * Which are samples is decided by how much it is (bpf/weigh.h). What becomes resident by the work of others, as a child's first pages by fork(), is nobody's.
 */
#ifndef XAGENT_BPF_EVENTS_RSS_BPF_H
#define XAGENT_BPF_EVENTS_RSS_BPF_H

#include "bpf/duration.bpf.h"

/* The program, and bpf_trace_run2() or 3. */
#define RSS_OWN_FRAMES 2

/* MM_SWAPENTS, NR_MM_COUNTERS, include/linux/mm_types_task.h */
#define RSS_SWAP 2
#define RSS_COUNTERS 4

/* Processes, three counters each. */
#define RSS_SEEN 8192

/* Set by the agent. */
const volatile __u64 page_bytes = 4096;

/* Address of the process's memory map + counter → its sum, as it was seen last. A new map may have the address of one that is gone: that one's counters came to 0. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, RSS_SEEN);
	__type(key, __u64);
	__type(value, __s64);
} rss_seen SEC(".maps");

/* Pages that it has grown by. Functions of their own for their stack, which is not to lie below that of the walk. */
__noinline __s64 rss_grown(__u64 counter, __s64 pages)
{
	__s64 *seen = bpf_map_lookup_elem(&rss_seen, &counter);

	if (!seen) {
		bpf_map_update_elem(&rss_seen, &counter, &pages, BPF_NOEXIST);
		return 0;
	}
	return *seen == pages ? 0 : pages - (__s64)__sync_lock_test_and_set(seen, pages);
}

static __always_inline __s64 rss_pages(__u64 mm, __u32 counter)
{
	__u64 at = mm + bpf_core_field_offset(struct mm_struct___counters, rss_stat) +
		   counter * bpf_core_type_size(struct percpu_counter) +
		   bpf_core_field_offset(struct percpu_counter, count);
	__s64 pages = 0;

	bpf_probe_read_kernel(&pages, sizeof(pages), (void *)at);
	return pages;
}

SEC("?tp_btf/rss_stat")
int rss_change(__u64 *ctx)
{
	struct moment m = { .ctx = ctx,
			    .event = EVENT_RSS,
			    .source = EVENT_SOURCE_RSS,
			    .n_own_frames = RSS_OWN_FRAMES };
	__u64 mm = moment_argument(&ctx[0]);
	__u32 counter = ctx[1];
	__s64 pages;

	if (counter == RSS_SWAP || counter >= RSS_COUNTERS)
		return 0;
	if (bpf_core_field_exists(struct mm_struct___counters, rss_stat[0].count))
		pages = rss_pages(mm, counter);
	else
		pages = ctx[2];
	pages = rss_grown(mm + counter, pages);
	if (pages > 0 && mm == (__u64)KERNEL_READ(bpf_get_current_task_btf(), mm, NULL))
		duration_end(m, pages * page_bytes, page_bytes);
	return 0;
}

#endif
