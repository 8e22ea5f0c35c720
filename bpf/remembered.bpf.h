/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What one tick has found out of generated code, for those after it. A place is taken by whatever was remembered last, and several CPUs may write one at
 * once: parts of two things are no thing.
 */
#ifndef XAGENT_BPF_REMEMBERED_BPF_H
#define XAGENT_BPF_REMEMBERED_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/image.h"
#include "bpf/maps.bpf.h"

/* Bit 63 is of no thread, which have the same places. */
static __always_inline __u64 remembered_mark(__u64 key, __u64 begin, __u64 found)
{
	return (key ^ hash_mix(begin, found)) | 1ULL << 63;
}

static __always_inline struct runtime_return *remembered_place(__u64 key)
{
	__u32 at = key & (WIRE_THREAD_SLOTS - 1);

	return bpf_map_lookup_elem(&threads, &at);
}

static __always_inline bool remembered(__u64 key, __u64 *ret_begin, __u64 *ret_found)
{
	const struct runtime_return *place = remembered_place(key);
	struct runtime_return known;

	if (!place)
		return false;
	known = *(const volatile struct runtime_return *)place;
	*ret_begin = known.begin;
	*ret_found = known.found;
	return known.key == remembered_mark(key, known.begin, known.found);
}

static __always_inline void remember(__u64 key, __u64 begin, __u64 found)
{
	struct runtime_return *place = remembered_place(key);

	if (place)
		*place =
			(struct runtime_return){ remembered_mark(key, begin, found), begin, found };
}

#endif
