/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The translation of a safepoint of optimized code (bpf/runtimes/v8_translation.h), in the memory of the present process. */
#ifndef XAGENT_BPF_RUNTIMES_V8_TRANSLATION_BPF_H
#define XAGENT_BPF_RUNTIMES_V8_TRANSLATION_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/runtimes/v8_code.bpf.h"
#include "bpf/runtimes/v8_objects.bpf.h"
#include "bpf/runtimes/v8_positions.bpf.h"
#include "bpf/runtimes/v8_translation.h"

/* The most safepoints of one code, and bytes of one translation. */
#define V8_MAX_SAFEPOINTS 2048
#define V8_MAX_TRANSLATION 4096
/* What a piece of a translation costs to look through, in pieces. */
#define V8_TRANSLATION_PIECES (V8_TRANSLATION_BYTES / 8)

static __always_inline struct v8_translation *v8_translation(__u32 level)
{
	return bpf_map_lookup_elem(&v8_translations, &level);
}

static __always_inline struct v8_chain *v8_chain_place(__u64 key)
{
	__u32 at = key & (V8_CHAIN_SLOTS - 1);

	return bpf_map_lookup_elem(&v8_chains, &at);
}

static long v8_safepoint_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);
	struct v8_translation *t = bpf_map_lookup_elem(&v8_translations, data);
	__u64 entry[2] = { 0, 0 };
	__u32 n;

	if (!s || !t || index >= t->n_entries)
		return 1;
	n = 2 * t->pc_bytes + t->index_bytes;
	barrier_var(n);
	if (s->runtime.n_pieces >= V8_MAX_PIECES || n > sizeof(entry) ||
	    bpf_probe_read_user(entry, n, (void *)(t->entries + index * (__u64)t->entry_bytes))) {
		t->is_cut = 1;
		return 1;
	}
	s->runtime.n_pieces++;
	if (v8_entry_number(entry, 0, t->pc_bytes) != t->pc &&
	    v8_entry_number(entry, t->pc_bytes + t->index_bytes, t->pc_bytes) != t->pc + 1)
		return 0;
	t->found = v8_entry_number(entry, t->pc_bytes, t->index_bytes);
	return 1;
}

/* Looks for the safepoint of pc in the Code that was read, which begins at `begin`. */
static __always_inline void v8_find_safepoint(struct scratch *s, struct v8_translation *t,
					      __u64 begin)
{
	const struct v8_layout *l = v8_layout(s);
	bool is_maglev = (v8_shared_int(s, l->code_flags) & V8_CODE_KIND) ==
			 l->kind_baseline + V8_KIND_MAGLEV;
	__u64 table = begin + v8_shared_int(s, l->code_bytes);
	__u64 head = v8_word(table + l->safepoints_length);
	__u32 packed = head >> 32, level = s->level;

	t->found = 0;
	t->n_entries = head;
	t->pc_bytes = V8_SAFEPOINTS_PC_BYTES(packed);
	t->index_bytes = V8_SAFEPOINTS_INDEX_BYTES(packed);
	if (!V8_SAFEPOINTS_ARE_KNOWN(packed) || t->n_entries > V8_MAX_SAFEPOINTS ||
	    t->pc_bytes > 4 || t->index_bytes > 4 || V8_SAFEPOINTS_REST_BYTES(packed) > 4)
		return;
	t->entry_bytes =
		2 * t->pc_bytes + t->index_bytes + V8_SAFEPOINTS_REST_BYTES(packed) + is_maglev;
	t->pc = s->walk.pc - begin + 1;
	t->entries =
		table + (is_maglev ? V8_SAFEPOINTS_MAGLEV : l->safepoints_length + sizeof(head));
	bpf_loop(V8_MAX_SAFEPOINTS, v8_safepoint_step, &level, 0);
}

/* The next byte of the translation that is read; above 255: it ends, or cannot be read. */
static __always_inline __u32 v8_translation_byte(struct scratch *s, struct v8_translation *t)
{
	__u32 older = t->is_older & 1;
	__u32 next = t->next[older], at = next - t->piece[older], n;

	if (next >= t->n_bytes)
		return ~0U;
	if (at >= V8_TRANSLATION_BYTES) {
		n = t->n_bytes - next < V8_TRANSLATION_BYTES ? t->n_bytes - next
							     : V8_TRANSLATION_BYTES;
		barrier_var(n);
		if (s->runtime.n_pieces >= V8_MAX_PIECES || n > V8_TRANSLATION_BYTES ||
		    bpf_probe_read_user(t->bytes + older * V8_TRANSLATION_BYTES, n,
					(void *)(t->at + next))) {
			t->is_cut = 1;
			return ~0U;
		}
		s->runtime.n_pieces += V8_TRANSLATION_PIECES;
		t->piece[older] = next;
		at = 0;
	}
	t->next[older] = next + 1;
	at += older * V8_TRANSLATION_BYTES;
	/* 6.1 does not see how far it goes by how it was made. */
	barrier_var(at);
	return (__u8)t->bytes[at & (2 * V8_TRANSLATION_BYTES - 1)];
}

/* One byte. */
static long v8_translation_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);
	struct v8_translation *t = bpf_map_lookup_elem(&v8_translations, data);
	__u32 byte;

	(void)index;
	if (!s || !t)
		return 1;
	byte = v8_translation_byte(s, t);
	return byte > 255 || v8_translation_take(v8_layout(s), t, byte);
}

static __always_inline __u64 v8_deopt_element(__u64 deopt, __u32 index)
{
	return v8_word(deopt + V8_ARRAY_DATA + 8 * (__u64)index);
}

/* Elements of a DeoptimizationData, or bytes of an array. */
static __always_inline __u32 v8_array_length(__u64 array)
{
	return v8_word(array + V8_ARRAY_LENGTH) >> 32;
}

/* Whether the outermost function is that of the frame. */
static __always_inline bool v8_chain_is_of_frame(struct scratch *s, struct v8_translation *t,
						 __u64 deopt)
{
	const struct v8_layout *l = v8_layout(s);
	__u64 literals = v8_deopt_element(deopt, l->deopt_literals) - V8_TAG;
	__u64 function = v8_word(s->walk.reg[WIRE_ABI_FP] - V8_FRAME_FUNCTION);
	__u32 literal = t->chain.functions[0] >> 32;

	if ((literals & V8_TAG_MASK) || (function & V8_TAG_MASK) != V8_TAG ||
	    literal >= v8_array_length(literals))
		return false;
	return (v8_deopt_element(literals, literal) & ~2ULL) ==
	       v8_word(function - V8_TAG + l->function_shared);
}

/* Reads the translation of the safepoint that was found. While objects are moved it may not be known whose it is. */
static __always_inline void v8_translate(struct scratch *s, struct v8_translation *t, __u64 deopt)
{
	__u32 element = v8_layout(s)->deopt_inlines + V8_DEOPT_ENTRIES_BEHIND +
			V8_DEOPT_ENTRY * (t->found - 1) + V8_DEOPT_ENTRY_TRANSLATION;
	__u64 translations = v8_deopt_element(deopt, V8_DEOPT_TRANSLATIONS) - V8_TAG;
	__u32 level = s->level;

	if ((translations & V8_TAG_MASK) || element >= v8_array_length(deopt))
		return;
	t->at = translations + V8_ARRAY_DATA;
	t->n_bytes = v8_array_length(translations);
	v8_translation_begin(t, v8_deopt_element(deopt, element) >> 32);
	bpf_loop(V8_MAX_TRANSLATION, v8_translation_step, &level, 0);
	if (t->is_broken || t->n_functions)
		t->chain.n = 0;
	else if (!v8_chain_is_of_frame(s, t, deopt))
		t->is_cut = 1;
}

/*
 * Which functions pc is in, by the Code that was read, which begins at `begin`, and its DeoptimizationData: how many, into the translation's chain; 0: not known. `key`: of that address and this code.
 */
__noinline __u32 v8_chain(__u32 level, __u64 begin, __u64 deopt, __u64 key)
{
	struct scratch *s = walk_scratch(level);
	struct v8_translation *t = v8_translation(level);
	struct v8_chain *place = v8_chain_place(key);

	if (!s || !t || !place)
		return 0;
	t->chain = *place;
	if (t->chain.mark == v8_chain_mark(&t->chain, key))
		return t->chain.n;
	__builtin_memset(&t->chain, 0, sizeof(t->chain));
	t->is_cut = 0;
	v8_find_safepoint(s, t, begin);
	if (t->found && !t->is_cut)
		v8_translate(s, t, deopt);
	if (t->is_cut)
		return 0;
	t->chain.mark = v8_chain_mark(&t->chain, key);
	*place = t->chain;
	return t->chain.n;
}

#endif
