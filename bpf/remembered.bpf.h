/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What is remembered of generated code (bpf/remembered.h), in the map of threads. */
#ifndef XAGENT_BPF_REMEMBERED_BPF_H
#define XAGENT_BPF_REMEMBERED_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/maps.bpf.h"
#include "bpf/remembered.h"

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
	return remembered_is(&known, key);
}

static __always_inline void remember(__u64 key, __u64 begin, __u64 found)
{
	struct runtime_return *place = remembered_place(key);

	if (place)
		*place =
			(struct runtime_return){ remembered_mark(key, begin, found), begin, found };
}

#endif
