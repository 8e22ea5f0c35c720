/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/*
 * The walk of the kernel half, and nothing else: BENCH_N_WALKS walks of stacks in the memory of whoever runs the program.
 *
 *	BPF_PROG_TEST_RUN ─► walk ─► bpf_loop over walks ─► unwind_begin, bpf_loop over frames, as bpf/sample.bpf.c does it
 */
#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/walk.bpf.h"
#include "tests/bench/walk_bench.h"

char LICENSE[] SEC("license") = "GPL";

static __always_inline void one_walk(struct scratch *s, struct bench_shared *b, __u32 index,
				     bool is_new)
{
	const struct bench_start *from = &b->starts[index & (BENCH_N_STACKS - 1)];
	__u32 level = 0;

	s->regs.pc = from->pc;
	s->regs.reg[WIRE_ABI_SP] = from->sp;
	s->regs.reg[WIRE_ABI_FP] = from->fp;
	s->record.head.n_kernel = 0;
	s->record.head.n_user = 0;
	s->has_cache = 1;
	walk_window_init(s);
	/* No frame in the cache is of this epoch. */
	if (is_new)
		s->epoch = ++b->epoch;
	unwind_begin(&s->walk, &s->regs, &b->process, UNWIND_EXACT, 0);
	s->walk.end = STOP_REASON_DEPTH;
	bpf_loop(WIRE_MAX_USER_FRAMES, walk_step, &level, 0);
	b->result.n_frames += s->record.head.n_user;
	b->result.n_complete += s->walk.end == STOP_REASON_ROOT;
	b->result.n_searches += s->n_searches;
	b->result.n_fills += s->n_fills;
}

static long walk_next(__u32 index, void *data)
{
	struct bench_shared *b = bench_shared();
	struct scratch *s = walk_scratch(0);

	(void)data;
	if (!s || !b)
		return 1;
	one_walk(s, b, index, false);
	return 0;
}

static long walk_next_new(__u32 index, void *data)
{
	struct bench_shared *b = bench_shared();
	struct scratch *s = walk_scratch(0);

	(void)data;
	if (!s || !b)
		return 1;
	one_walk(s, b, index, true);
	return 0;
}

static long walk_next_to_ring(__u32 index, void *data)
{
	struct bench_shared *b = bench_shared();
	struct scratch *s = walk_scratch(0);
	__u32 bytes;

	(void)data;
	if (!s || !b)
		return 1;
	one_walk(s, b, index, false);
	bytes = sizeof(struct wire_sample) + s->record.head.n_user * 8;
	if (bytes > sizeof(struct record))
		return 1;
	return bpf_ringbuf_output(&samples, &s->record, bytes, BPF_RB_NO_WAKEUP) ? 1 : 0;
}

SEC("raw_tp/bench")
int walk(void *ctx)
{
	(void)ctx;
	bpf_loop(BENCH_N_WALKS, walk_next, NULL, 0);
	return 0;
}

SEC("raw_tp/bench")
int walk_new(void *ctx)
{
	(void)ctx;
	bpf_loop(BENCH_N_WALKS, walk_next_new, NULL, 0);
	return 0;
}

SEC("raw_tp/bench")
int walk_to_ring(void *ctx)
{
	(void)ctx;
	bpf_loop(BENCH_N_WALKS, walk_next_to_ring, NULL, 0);
	return 0;
}

/* One walk, timed from within: caches are as whoever runs it has left them. */
SEC("raw_tp/bench")
int walk_once(void *ctx)
{
	struct bench_shared *b = bench_shared();
	struct scratch *s = walk_scratch(0);
	__u64 begin = bpf_ktime_get_ns();

	(void)ctx;
	if (!s || !b)
		return 0;
	one_walk(s, b, b->next, false);
	b->result.ns = bpf_ktime_get_ns() - begin;
	return 0;
}
