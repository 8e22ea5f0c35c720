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
#define UNWIND_USER_MASK(w) user_mask
#define UNWIND_CODE(w, dst, n, pc) bpf_probe_read_user((dst), (n), (const void *)(pc))

/* The bits of a user address (agent/util/user_space.h). */
const volatile __u64 user_mask = ~0ULL;

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
/* Raised behind each publication or withdrawal of an object's table: frames in the cache that are older are not to be used. */
volatile __u32 table_epoch = 0;
/* Entries of the cache of frames − 1, all ones. */
const volatile __u32 cache_mask = WIRE_CACHE_MAX_PARTS * FRAME_CACHE_PART_ENTRIES - 1;

/* Where a walk's state lies is told by its level, for functions that can be given no pointer (maps.bpf.h). */
static __always_inline struct scratch *walk_scratch(__u32 level)
{
	return bpf_map_lookup_elem(&scratch, &level);
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

__noinline int walk_search(__u32 level)
{
	struct scratch *s = walk_scratch(level);
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
	return walk_search(scratch_of(w)->level);
}

__noinline __u64 walk_look_up(__u32 level, __u32 off)
{
	struct scratch *s = walk_scratch(level);

	return s ? table_word(s, &s->object, off) : 0;
}

static __always_inline __u32 walk_rule(struct unwind_walk *w)
{
	struct scratch *s = scratch_of(w);
	__u64 off = unwind_file_off(w) - s->object.base_vaddr;

	w->word = 0;
	if (w->mapping.object == WIRE_OBJECT_FP)
		return 0;
	if (!s->object.n_rule_words)
		return STOP_REASON_NO_TABLE;
	if (off >> 8 < s->object.n_buckets)
		w->word = walk_look_up(s->level, off);
	if (!unwind_is_compact(w->word))
		table_unpack(s, &s->object, w->word, &w->rule);
	return 0;
}

/* Reads a piece of stack that begins with the word at addr: as much as wanted, else to the end of the page, else that word. */
__noinline int walk_fill(__u32 level, __u64 addr)
{
	struct scratch *s = walk_scratch(level);
	struct window *win;
	__u32 n;

	if (!s)
		return -1;
	s->n_fills++;
	win = &s->window;
	win->base = addr;
	n = s->want_bytes;
	if (n > WINDOW_BYTES)
		n = WINDOW_BYTES;
	s->want_bytes = n * 2;
	win->n_bytes = n;
	if (!bpf_probe_read_user(win->bytes, n, (const void *)addr))
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
		if (walk_fill(s->level, addr))
			return -1;
		off = 0;
	}
	*ret = *(__u64 *)(win->bytes + (off & (WINDOW_BYTES - 1)));
	return 0;
}

static __always_inline struct cached_frame *cache_entry(__u32 at)
{
	__u32 part = at / FRAME_CACHE_PART_ENTRIES;
	struct frame_cache_part *p = bpf_map_lookup_elem(&frame_cache, &part);

	return p ? &p->entries[at & (FRAME_CACHE_PART_ENTRIES - 1)] : NULL;
}

static __always_inline __u64 cache_key(const struct unwind_walk *w)
{
	return w->flags & UNWIND_EXACT ? w->pc | CACHED_EXACT : w->pc;
}

/* The multiplier of Knuth's multiplicative hashing: 2^64 divided by the golden ratio. */
static __always_inline __u32 cache_hash(__u64 key, __u32 generation)
{
	return (key ^ generation) * 0x9e3779b97f4a7c15ULL >> 32 & cache_mask;
}

static __always_inline bool cache_matches(const struct cached_frame *e, const struct scratch *s,
					  __u64 key)
{
	return e->pc == key && e->generation == s->walk.generation && e->epoch == s->epoch;
}

/* The frame remembered for the pc, behind its callee or else at its own place, from where it is copied to behind the callee. */
static __always_inline struct cached_frame *cache_find(struct scratch *s, __u64 key, __u32 next,
						       __u32 own)
{
	struct cached_frame *behind = cache_entry(next);
	struct cached_frame *e;

	s->cache_at = next;
	if (behind && cache_matches(behind, s, key))
		return behind;
	e = cache_entry(own);
	if (!behind || !e || !cache_matches(e, s, key))
		return NULL;
	*behind = *e;
	s->cache_at = own;
	return e;
}

static __always_inline void cache_put(__u32 at, const struct cached_frame *frame)
{
	struct cached_frame *e = cache_entry(at);

	if (e)
		*e = *frame;
}

/* A frame that is not remembered: stored, looked up in full, and left in the cache behind its callee and at its own place. */
__noinline int walk_uncached(__u32 level, __u32 next, __u32 own)
{
	struct scratch *s = walk_scratch(level);
	struct cached_frame new;
	int goes_on;
	__u32 at;

	if (!s)
		return 1;
	at = s->record.head.n_kernel + s->record.head.n_user - 1;
	if (at >= WIRE_MAX_KERNEL_FRAMES + WIRE_MAX_USER_WORDS)
		return 1;
	s->walk.word = 0;
	s->walk.at_begin = 0;
	new.pc = cache_key(&s->walk);
	new.generation = s->walk.generation;
	new.epoch = s->epoch;
	new.frame = unwind_frame(&s->walk);
	goes_on = unwind_step(&s->walk);
	new.frame += s->walk.at_begin;
	new.word = s->walk.word;
	s->record.words[at] = new.frame;
	if (s->has_cache && (unwind_is_compact(new.word) || unwind_is_root(new.word))) {
		cache_put(own, &new);
		cache_put(next, &new);
	}
	return !goes_on;
}

/* Stores the present frame behind the n that there are, then goes to the caller. Returns 1 to stop, as bpf_loop wants it. */
static __always_inline long walk_native(struct scratch *s, __u32 n)
{
	const struct cached_frame *e;
	__u32 at, next, own;
	__u64 key;

	at = s->record.head.n_kernel + n;
	if (at >= WIRE_MAX_KERNEL_FRAMES + WIRE_MAX_USER_WORDS)
		return 1;
	s->record.head.n_user = n + 1;
	key = cache_key(&s->walk);
	own = cache_hash(key, s->walk.generation);
	/* The leaf's pc is hardly twice the same: what is to be in a row begins at its caller. */
	next = s->is_chained ? (s->cache_at + 1) & cache_mask : own;
	s->is_chained = !(s->walk.flags & UNWIND_EXACT);
	e = s->has_cache ? cache_find(s, key, next, own) : NULL;
	if (!e) {
		int stops = walk_uncached(s->level, next, own);

		/* To the verifier it may have returned anything. */
		asm volatile("" : "+r"(stops));
		return stops & 1;
	}
	s->record.words[at] = e->frame;
	if (unwind_is_compact(e->word))
		return unwind_by_compact(&s->walk, e->word) ? 0 : 1;
	s->walk.end = STOP_REASON_ROOT;
	return 1;
}

/* One step of the walk. `data` is the level. */
static long walk_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);

	return s ? walk_native(s, index) : 1;
}

static __always_inline void walk_window_init(struct scratch *s)
{
	s->window.n_bytes = 0;
	s->want_bytes = WINDOW_FIRST_BYTES;
	s->n_searches = s->n_fills = 0;
	s->epoch = table_epoch;
	s->is_chained = 0;
}

#endif
