/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* What the bench programs and their user half share. */
#ifndef XAGENT_TESTS_BENCH_WALK_BENCH_H
#define XAGENT_TESTS_BENCH_WALK_BENCH_H

#include "bpf/wire.h"

/* Different stacks; walked one after the other, so that no branch predictor learns one of them. */
#define BENCH_N_STACKS 256
/* Walks of one run: some milliseconds, in which the system call that starts it is nothing. */
#define BENCH_N_WALKS 4096

/* Where a stack begins. */
struct bench_start {
	__u64 pc;
	__u64 sp;
	__u64 fp;
};

/* Of one run. A walk that does not come to the end that the stack was made with would be fast and wrong. */
struct bench_result {
	__u64 n_frames;
	__u64 n_complete;
	__u64 n_searches;
	__u64 n_fills;
	__u64 ns; /* of the one walk of walk_once and peers_once */
};

/* The value of the map `shared`. */
struct bench_shared {
	struct wire_process process;
	struct bench_start starts[BENCH_N_STACKS];
	struct bench_result result;
	__u32 epoch; /* of the walk before, where none is to find a frame that one before has left in the cache */
	__u32 next; /* the stack that walk_once and peers_once take */
};

#ifdef __bpf__
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bench_shared);
} shared SEC(".maps");

static __always_inline struct bench_shared *bench_shared(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&shared, &zero);
}
#endif

#endif
