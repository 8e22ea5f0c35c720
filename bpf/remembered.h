/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What one tick has found out of generated code, for those after it. A place is taken by whatever was remembered last, and several CPUs may write one at
 * once, word by word: parts of two things are no thing.
 */
#ifndef XAGENT_BPF_REMEMBERED_H
#define XAGENT_BPF_REMEMBERED_H

#include <linux/types.h>

#include "bpf/image.h"

/* Of an address in generated code: where that code begins, and what its tables tell of it. */
struct runtime_return {
	__u64 key;   /* remembered_mark() */
	__u64 begin; /* 0: it was not found … */
	__u64 found; /* … at that time; else what the runtime makes of it */
};

/* `key`: a hash of the process and the address. Bit 63 is of no thread, which have the same places. */
static inline __attribute__((always_inline)) __u64 remembered_mark(__u64 key, __u64 begin,
								   __u64 found)
{
	return (key ^ hash_mix(begin, found)) | 1ULL << 63;
}

static inline __attribute__((always_inline)) int remembered_is(const struct runtime_return *place,
							       __u64 key)
{
	return place->key == remembered_mark(key, place->begin, place->found);
}

#endif
