/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Functions that V8 has inlined into others. Which one a return address is in is told by the code's table of source positions, which has each call of a
 * function; other calls, and what lies between, it need not have. So it is asked only where the frame below is that of such a call.
 */
#ifndef XAGENT_BPF_RUNTIMES_V8_INLINED_BPF_H
#define XAGENT_BPF_RUNTIMES_V8_INLINED_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/runtimes/v8_code.bpf.h"
#include "bpf/runtimes/v8_lines.bpf.h"
#include "bpf/runtimes/v8_objects.bpf.h"
#include "bpf/runtimes/v8_positions.bpf.h"

/* Inlined functions that one sample reads. */
#define V8_MAX_READS 1000

static __always_inline __u64 v8_deopt_element(__u64 deopt, __u32 index)
{
	return v8_word(deopt + V8_ARRAY_DATA + 8 * (__u64)index);
}

/* Where the functions of the positions are told. */
static __always_inline void v8_get_tables(struct scratch *s, __u64 deopt)
{
	const struct v8_layout *l = v8_layout(s);
	__u64 inlines = v8_deopt_element(deopt, l->deopt_inlines) - V8_TAG;
	__u64 literals = v8_deopt_element(deopt, l->deopt_literals) - V8_TAG;
	__u64 n_inlines = 0, n_literals = 0;

	if (!(inlines & V8_TAG_MASK))
		n_inlines = v8_word(inlines + V8_ARRAY_LENGTH) >> 32;
	if (!(literals & V8_TAG_MASK))
		n_literals = v8_word(literals + V8_ARRAY_LENGTH) >> 32;
	s->runtime.words[V8_INLINES] = inlines;
	s->runtime.words[V8_LITERALS] = literals;
	s->runtime.words[V8_LENGTHS] = n_literals << 32 | n_inlines;
}

/* The position at pc, by the Code that was read, which begins at `begin`. `key`: of that address and this code. */
static __always_inline __u64 v8_position_in_code(struct scratch *s, __u64 begin, __u64 key)
{
	__u64 begun, position;

	if (remembered(key, &begun, &position))
		return position;
	position = v8_position(s->level, v8_shared_word(s, v8_layout(s)->code_positions),
			       s->walk.pc - begin);
	if (position != V8_NO_POSITION)
		remember(key, begin, position);
	return position;
}

/* Which function pc is in: 0: the frame's own, or not known. Leaves what the rest of the frame is read by in words[V8_INLINES …]. */
__noinline __u32 v8_inlined(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	const struct v8_layout *l;
	__u64 key, begin, deopt, id, position;
	__u32 kind;

	if (!s)
		return 0;
	l = v8_layout(s);
	begin = v8_find_code(s, &key);
	kind = v8_shared_int(s, l->code_flags) & V8_CODE_KIND;
	if (!begin || kind <= l->kind_baseline)
		return 0;
	deopt = v8_shared_word(s, l->code_deopt) - V8_TAG;
	if (deopt & V8_TAG_MASK)
		return 0;
	/* Other code may have come there: no optimization has the number of another one. */
	id = v8_deopt_element(deopt, l->deopt_id) >> 32 | 1ULL << 32;
	position = v8_position_in_code(s, begin, hash_mix(key, id));
	if (position == V8_NO_POSITION || position & V8_POSITION_EXTERNAL)
		return 0;
	if (V8_POSITION_FUNCTION(position))
		v8_get_tables(s, deopt);
	/* Maglev has the right functions, but where a loop was peeled, or a function inlined later, places of other calls. */
	s->runtime.words[V8_PLACE] =
		kind == l->kind_baseline + V8_KIND_TURBOFAN ? V8_POSITION_PLACE(position) : 0;
	return V8_POSITION_FUNCTION(position);
}

/* Reads the function of an inlining position into function and print; that of the one that it lies in into *ret_outer, and where it is called there. */
static __always_inline bool v8_get_inlined(struct scratch *s, __u32 number, __u32 *ret_outer,
					   __u32 *ret_place)
{
	__u64 inlines = s->runtime.words[V8_INLINES], literals = s->runtime.words[V8_LITERALS];
	__u64 position[2], shared;
	__u32 literal;

	if (s->runtime.n_reads++ >= V8_MAX_READS)
		return false;
	if (!number || (__u64)number * V8_INLINE_BYTES > (__u32)s->runtime.words[V8_LENGTHS] ||
	    bpf_probe_read_user(
		    position, sizeof(position),
		    (void *)(inlines + V8_ARRAY_DATA + (number - 1) * (__u64)V8_INLINE_BYTES)))
		return false;
	literal = (__u32)position[1];
	*ret_outer = V8_POSITION_FUNCTION(position[0]);
	*ret_place = position[0] & V8_POSITION_EXTERNAL ? 0 : V8_POSITION_PLACE(position[0]);
	/* One is inlined after what it is inlined into. */
	if (*ret_outer >= number)
		return false;
	if (literal == V8_INLINES_ITSELF)
		shared = v8_word(v8_word(s->walk.reg[WIRE_ABI_FP] - V8_FRAME_FUNCTION) - V8_TAG +
				 v8_layout(s)->function_shared);
	else if (literal < s->runtime.words[V8_LENGTHS] >> 32)
		/* It may be a weak reference. */
		shared = v8_deopt_element(literals, literal) & ~2ULL;
	else
		return false;
	if ((shared & V8_TAG_MASK) != V8_TAG)
		return false;
	shared = v8_get_shared(s, shared - V8_TAG);
	if (!shared || v8_shared_int(s, v8_layout(s)->shared_id) == V8_NO_LITERAL)
		return false;
	s->runtime.function = shared;
	s->runtime.print = v8_print(s);
	s->runtime.position = ~0U;
	return true;
}

/* None of the functions that were inlined into the present frame is shown: half of them would be a chain of calls that never was. */
static __always_inline void v8_hide_inlined(struct scratch *s)
{
	__u32 before = s->runtime.words[V8_BEFORE];

	s->runtime.inlined = 0;
	s->runtime.words[V8_PLACE] = 0;
	if (before < s->record.head.n_user)
		s->record.head.n_user = before;
}

__noinline int v8_show_inlined(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	__u32 outer = 0, place = 0;

	if (!s)
		return 0;
	if (!v8_get_inlined(s, s->runtime.inlined, &outer, &place)) {
		v8_hide_inlined(s);
		return 0;
	}
	if (want_lines)
		v8_line_at_place(level, s->runtime.words[V8_PLACE]);
	if (s->runtime.words[V8_PLACE])
		s->runtime.words[V8_PLACE] = place;
	s->runtime.inlined = outer;
	return 1;
}

/* Functions that were inlined into the present frame come before its own. */
__noinline int v8_inlined_first(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	__u32 number;

	/* Builtins, which lie in the file, have none. */
	if (!s || !v8_layout(s)->code_header || s->walk.flags & UNWIND_EXACT ||
	    !s->runtime.is_called || v8_is_in_file(s))
		return 0;
	/* Once for each frame. */
	s->runtime.is_called = 0;
	number = v8_inlined(level);
	s->runtime.words[V8_BEFORE] = s->record.head.n_user;
	s->runtime.inlined = number;
	return number != 0;
}

#endif
