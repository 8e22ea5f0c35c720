/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The walk of bpf/unwind.h over the arena and the memory of the current task. */
#ifndef XAGENT_BPF_WALK_BPF_H
#define XAGENT_BPF_WALK_BPF_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define UNWIND_INLINE static __always_inline
#define UNWIND_SEGMENT(ctx, index) ((void)(ctx), walk_segment(index))
#define UNWIND_FIND(w) walk_find(w)
#define UNWIND_RULE(w) walk_rule(w)
#define UNWIND_WORD(w, ret, addr) walk_word((w), (ret), (addr))
#define UNWIND_READ(w, dst, n, addr) bpf_probe_read_user((dst), (n), (const void *)(addr))
#define UNWIND_CODE(w, dst, n, pc) bpf_probe_read_user((dst), (n), (const void *)(pc))

struct unwind_walk;
static __always_inline const char *walk_segment(__u32 index);
static __always_inline int walk_find(struct unwind_walk *w);
static __always_inline __u32 walk_rule(struct unwind_walk *w);
static __always_inline int walk_word(struct unwind_walk *w, __u64 *ret, __u64 addr);

#include "bpf/mappings.h"
#include "bpf/maps.bpf.h"
#include "bpf/table.h"
#include "bpf/unwind.h"

/* How often memory of the arena was given out again: what was read before is not to be trusted when it changes. */
volatile __u64 reuse_count = 0;

static __always_inline struct scratch *walk_scratch(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratch, &zero);
}

static __always_inline const char *walk_segment(__u32 index)
{
	void *segment = bpf_map_lookup_elem(&segments, &index);
	__u32 zero = 0;

	return segment ? bpf_map_lookup_elem(segment, &zero) : NULL;
}

static __always_inline struct scratch *scratch_of(struct unwind_walk *w)
{
	return (struct scratch *)((char *)w - offsetof(struct scratch, walk));
}

/*
 * Functions that are not static are verified once and by themselves, whoever calls them: without that border every path through one
 * search is tried with every path through the next, more than the verifier's million instructions.
 */

__noinline int walk_search(void)
{
	struct scratch *s = walk_scratch();
	const struct wire_object *object;
	struct unwind_walk *w;
	__u32 serial;

	if (!s)
		return 0;
	w = &s->walk;
	s->n_searches++;
	if (!mappings_find_pc(w, w->mappings_at, w->n_mappings, w->pc, &w->mapping, &w->n_bytes))
		return 0;
	object = bpf_map_lookup_elem(&objects, &w->mapping.object);
	s->object.n_rule_words = 0;
	if (!object)
		return 1;
	/* An odd serial is an entry being written; one that has changed is two halves. */
	serial = *(volatile const __u32 *)&object->serial;
	s->object = *object;
	if ((serial & 1) || serial != *(volatile const __u32 *)&object->serial)
		s->object.n_rule_words = 0;
	return 1;
}

static __always_inline int walk_find(struct unwind_walk *w)
{
	(void)w;
	return walk_search();
}

__noinline __u64 walk_look_up(__u32 off)
{
	struct scratch *s = walk_scratch();

	return s ? table_word(s, &s->object, off) : 0;
}

static __always_inline __u64 walk_cached(struct scratch *s, __u32 off)
{
	__u64 key = (__u64)s->object.serial << 32 | off;
	/* The multiplier of Knuth's multiplicative hashing: 2^32 divided by the golden ratio. */
	__u32 slot =
		((off ^ s->object.serial) * 2654435769u) / (0x100000000ULL / RULE_CACHE_ENTRIES);
	struct cached_rule *cached = bpf_map_lookup_elem(&rule_cache, &slot);
	__u64 word;

	if (cached && cached->key == key)
		return cached->word;
	word = walk_look_up(off);
	if (cached) {
		cached->key = key;
		cached->word = word;
	}
	return word;
}

static __always_inline __u32 walk_rule(struct unwind_walk *w)
{
	struct scratch *s = scratch_of(w);
	__u64 off = unwind_file_off(w) - s->object.base_vaddr;
	__u64 word = 0;

	w->rule.cfa = RULE_CFA_NONE;
	if (w->mapping.object == WIRE_OBJECT_FP)
		return 0;
	if (!s->object.n_rule_words)
		return WIRE_END_NO_TABLE;
	if (off >> 8 < s->object.n_granules)
		word = walk_cached(s, off);
	table_unpack(s, &s->object, word, &w->rule);
	return 0;
}

/* Reads a piece of stack that begins with the word at addr: as much as wanted, else to the end of the page, else that word. */
__noinline int walk_fill(__u64 addr)
{
	struct scratch *s = walk_scratch();
	struct window *win;
	__u32 n;

	if (!s)
		return -1;
	s->n_fills++;
	win = &s->window;
	win->base = addr;
	win->n_bytes = WINDOW_BYTES;
	if (!bpf_probe_read_user(win->bytes, WINDOW_BYTES, (const void *)addr))
		return 0;
	n = WIRE_PAGE_BYTES - (addr & (WIRE_PAGE_BYTES - 1));
	win->n_bytes = n;
	if (n >= 8 && !bpf_probe_read_user(win->bytes, n, (const void *)addr))
		return 0;
	win->n_bytes = 8;
	if (!bpf_probe_read_user(win->bytes, 8, (const void *)addr))
		return 0;
	win->n_bytes = 0;
	return -1;
}

static __always_inline int walk_word(struct unwind_walk *w, __u64 *ret, __u64 addr)
{
	struct scratch *s = scratch_of(w);
	struct window *win = &s->window;
	__u64 off = addr - win->base;

	if (win->n_bytes < 8 || off > win->n_bytes - 8) {
		if (walk_fill(addr))
			return -1;
		off = 0;
	}
	*ret = *(__u64 *)(win->bytes + (off & (WINDOW_BYTES - 1)));
	return 0;
}

/* One step of the walk: stores the present frame, then goes to the caller. Returns 1 to stop, as bpf_loop wants it. */
static long walk_step(__u32 index, void *data)
{
	struct scratch *s = walk_scratch();
	bool goes_on;
	__u32 at;

	(void)data;
	if (!s)
		return 1;
	at = s->record.head.n_kernel + index;
	if (at >= WIRE_MAX_KERNEL_FRAMES + WIRE_MAX_USER_FRAMES)
		return 1;
	s->record.words[at] = unwind_frame(&s->walk);
	s->record.head.n_user = index + 1;
	goes_on = unwind_step(&s->walk);
	s->record.words[at] += s->walk.at_begin;
	return goes_on ? 0 : 1;
}

static __always_inline void walk_window_init(struct scratch *s)
{
	s->window.n_bytes = 0;
	s->n_searches = s->n_fills = 0;
}

#endif
