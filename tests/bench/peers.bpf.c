/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/*
 * The same walk from the primitives that the other profilers build theirs of, for comparison in the same run on the same stacks: for
 * each frame a trie of address prefixes for the mapping, a hash for the page of the table, a search in an inner array of 8-byte rows,
 * and a read of user memory for each word.
 *
 * Less than any of them does: no tail calls, no other rules than these stacks have, no checks.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "tests/bench/peers_bench.h"
#include "tests/bench/walk_bench.h"

char LICENSE[] SEC("license") = "GPL";

/* A table of 2^17 rows can be searched; a page of 64 KiB has at most 8,900. */
#define MAX_HALVINGS 17
#define MAX_FRAMES 200

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 17);
	__type(key, struct peers_prefix);
	__type(value, struct peers_mapping);
} prefixes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, struct peers_page);
	__type(value, struct peers_range);
} pages SEC(".maps");

struct rows {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct peers_row));
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH_OF_MAPS);
	__uint(max_entries, PEERS_MAX_OBJECTS);
	__type(key, __u32);
	__array(values, struct rows);
} tables SEC(".maps");

struct state {
	__u64 pc;
	__u64 sp;
	__u64 fp;
	__u32 n_frames;
	__u32 complete;
	__u64 frames[256];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct state);
} states SEC(".maps");

static __always_inline struct state *state_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&states, &zero);
}

/* The last row of [first, last) whose low word is not above `low`. */
static __always_inline const struct peers_row *search(void *rows, __u32 first, __u32 last,
						      __u16 low)
{
	for (int i = 0; i < MAX_HALVINGS && first < last; i++) {
		__u32 middle = first + (last - first) / 2;
		const struct peers_row *row = bpf_map_lookup_elem(rows, &middle);

		if (!row)
			return NULL;
		if (row->low <= low)
			first = middle + 1;
		else
			last = middle;
	}
	first--;
	return bpf_map_lookup_elem(rows, &first);
}

static __always_inline const struct peers_row *find_row(__u64 pc)
{
	struct peers_prefix prefix = { 96, PEERS_PID_BE, __builtin_bswap64(pc) };
	const struct peers_mapping *mapping = bpf_map_lookup_elem(&prefixes, &prefix);
	const struct peers_range *range;
	struct peers_page page;
	void *rows;
	__u64 off;

	if (!mapping)
		return NULL;
	off = pc - mapping->bias;
	page = (struct peers_page){ mapping->object, (__u32)(off >> 16) };
	range = bpf_map_lookup_elem(&pages, &page);
	rows = bpf_map_lookup_elem(&tables, &page.object);
	return range && rows ? search(rows, range->first, range->last, (__u16)off) : NULL;
}

static long step(__u32 index, void *data)
{
	struct state *s = state_get();
	const struct peers_row *row;
	__u64 cfa, ra;

	(void)data;
	if (!s)
		return 1;
	s->frames[index & 255] = s->pc;
	s->n_frames = index + 1;
	row = find_row(s->pc);
	if (!row)
		return 1;
	cfa = s->sp + row->cfa_off;
	if (row->fp_off && bpf_probe_read_user(&s->fp, 8, (void *)(cfa + row->fp_off)))
		return 1;
	if (bpf_probe_read_user(&ra, 8, (void *)(cfa - 8)))
		return 1;
	if (!ra) {
		s->complete = 1;
		return 1;
	}
	s->sp = cfa;
	s->pc = ra - 1;
	return 0;
}

static __always_inline void one_walk(struct state *s, struct bench_shared *b, __u32 index)
{
	const struct bench_start *from = &b->starts[index & (BENCH_N_STACKS - 1)];

	s->pc = from->pc;
	s->sp = from->sp;
	s->fp = from->fp;
	s->complete = 0;
	bpf_loop(MAX_FRAMES, step, NULL, 0);
	b->result.n_frames += s->n_frames;
	b->result.n_complete += s->complete;
}

static long walk_next(__u32 index, void *data)
{
	struct bench_shared *b = bench_shared();
	struct state *s = state_get();

	(void)data;
	if (!s || !b)
		return 1;
	one_walk(s, b, index);
	return 0;
}

SEC("raw_tp/bench")
int peers(void *ctx)
{
	(void)ctx;
	bpf_loop(BENCH_N_WALKS, walk_next, NULL, 0);
	return 0;
}

SEC("raw_tp/bench")
int peers_once(void *ctx)
{
	struct bench_shared *b = bench_shared();
	struct state *s = state_get();
	__u64 begin = bpf_ktime_get_ns();

	(void)ctx;
	if (!s || !b)
		return 0;
	one_walk(s, b, b->next);
	b->result.ns = bpf_ktime_get_ns() - begin;
	return 0;
}
