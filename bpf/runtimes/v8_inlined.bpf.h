/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Functions that V8 has inlined into others. Which ones a return address is in is told by its translation (bpf/runtimes/v8_translation.h). Where there is none, by the code's table of source
 * positions, which has each call of a function; other calls, and what lies between, it need not have. So that is asked only where the frame below is that of such a call.
 */
#ifndef XAGENT_BPF_RUNTIMES_V8_INLINED_BPF_H
#define XAGENT_BPF_RUNTIMES_V8_INLINED_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/runtimes/v8_code.bpf.h"
#include "bpf/runtimes/v8_lines.bpf.h"
#include "bpf/runtimes/v8_objects.bpf.h"
#include "bpf/runtimes/v8_positions.bpf.h"
#include "bpf/runtimes/v8_translation.bpf.h"

/* Inlined functions that one sample reads. */
#define V8_MAX_READS 1000

/* Where functions are told; how many there are into the upper half of the lengths. */
static __always_inline void v8_get_literals(struct scratch *s, __u64 deopt)
{
	__u64 literals = v8_deopt_element(deopt, v8_layout(s)->deopt_literals) - V8_TAG;
	__u64 n = literals & V8_TAG_MASK ? 0 : v8_array_length(literals);

	s->runtime.words[V8_LITERALS] = literals;
	s->runtime.words[V8_LENGTHS] = n << 32;
}

/* And where the positions are at which they were inlined. */
static __always_inline void v8_get_tables(struct scratch *s, __u64 deopt)
{
	__u64 inlines = v8_deopt_element(deopt, v8_layout(s)->deopt_inlines) - V8_TAG;

	v8_get_literals(s, deopt);
	s->runtime.words[V8_INLINES] = inlines;
	if (!(inlines & V8_TAG_MASK))
		s->runtime.words[V8_LENGTHS] |= v8_array_length(inlines);
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

/* The functions are in the translation's chain: how many of them were inlined. */
static __always_inline __u32 v8_chain_begins(struct scratch *s, __u64 deopt, __u32 n)
{
	const struct v8_translation *t = v8_translation(s->level);

	if (!t)
		return 0;
	if (n > 1)
		v8_get_literals(s, deopt);
	s->runtime.words[V8_IS_CHAIN] = 1;
	s->runtime.words[V8_PLACE] = V8_PLACE_OF_BYTECODE | (__u32)t->chain.functions[0];
	return n - 1;
}

/* Which function pc is in: 0: the frame's own, or not known. Leaves what the rest of the frame is read by in words[V8_INLINES …]. */
__noinline __u32 v8_inlined(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	const struct v8_layout *l;
	__u64 key, begin, deopt, id, position;
	__u32 kind, n;

	if (!s)
		return 0;
	l = v8_layout(s);
	s->runtime.words[V8_IS_CHAIN] = 0;
	begin = v8_find_code(s, &key);
	kind = v8_shared_int(s, l->code_flags) & V8_CODE_KIND;
	if (!begin || kind <= l->kind_baseline)
		return 0;
	deopt = v8_shared_word(s, l->code_deopt) - V8_TAG;
	if (deopt & V8_TAG_MASK)
		return 0;
	/* Other code may have come there: no optimization of an isolate has the number of another one. */
	id = v8_deopt_element(deopt, l->deopt_id) >> 32 | (__u64)v8_shared_int(s, l->code_bytes)
								  << 32;
	key = hash_mix(key, id);
	n = l->n_translation_opcodes ? v8_chain(level, begin, deopt, key) : 0;
	asm volatile("" : "+r"(n));
	if (n)
		return v8_chain_begins(s, deopt, n);
	if (!s->runtime.is_called)
		return 0;
	position = v8_position_in_code(s, begin, key);
	if (position == V8_NO_POSITION || position & V8_POSITION_EXTERNAL)
		return 0;
	if (V8_POSITION_FUNCTION(position))
		v8_get_tables(s, deopt);
	/* Maglev has the right functions, but where a loop was peeled, or a function inlined later, places of other calls. */
	s->runtime.words[V8_PLACE] =
		kind == l->kind_baseline + V8_KIND_TURBOFAN ? V8_POSITION_PLACE(position) : 0;
	return V8_POSITION_FUNCTION(position);
}

/* Reads the function at that pointer, which may be a weak one, into function and print. */
static __always_inline bool v8_get_function(struct scratch *s, __u64 shared)
{
	if (!(shared & V8_TAG))
		return false;
	shared = v8_get_shared(s, (shared & ~2ULL) - V8_TAG);
	if (!shared || v8_shared_int(s, v8_layout(s)->shared_id) == V8_NO_LITERAL)
		return false;
	s->runtime.function = shared;
	s->runtime.print = v8_print(s);
	s->runtime.position = ~0U;
	return true;
}

/* Reads the function of an inlining position; that of the one that it lies in into *ret_outer, and where it is called there. */
static __always_inline bool v8_get_inlined(struct scratch *s, __u32 number, __u32 *ret_outer,
					   __u32 *ret_place)
{
	__u64 inlines = s->runtime.words[V8_INLINES], literals = s->runtime.words[V8_LITERALS];
	__u64 position[2], shared;
	__u32 literal;

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
		shared = v8_deopt_element(literals, literal);
	else
		return false;
	return v8_get_function(s, shared);
}

/* Reads the function of the chain that so many ones are around; which is the next one, and where it is itself; where that is, which is known, into *ret_place. */
static __always_inline bool v8_get_linked(struct scratch *s, __u32 number, __u32 *ret_outer,
					  __u32 *ret_place)
{
	const struct v8_translation *t = v8_translation(s->level);
	__u32 literal, outer = number - 1;
	__u64 function;

	if (!t)
		return false;
	*ret_outer = outer;
	barrier_var(number);
	barrier_var(outer);
	function = t->chain.functions[number & (V8_CHAIN_FUNCTIONS - 1)];
	literal = function >> 32;
	s->runtime.words[V8_PLACE] = V8_PLACE_OF_BYTECODE | (__u32)function;
	function = t->chain.functions[outer & (V8_CHAIN_FUNCTIONS - 1)];
	*ret_place = V8_PLACE_OF_BYTECODE | (__u32)function;
	return literal < s->runtime.words[V8_LENGTHS] >> 32 &&
	       v8_get_function(s, v8_deopt_element(s->runtime.words[V8_LITERALS], literal));
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
	bool is_read;

	if (!s)
		return 0;
	if (s->runtime.n_reads++ >= V8_MAX_READS)
		is_read = false;
	else if (s->runtime.words[V8_IS_CHAIN])
		is_read = v8_get_linked(s, s->runtime.inlined, &outer, &place);
	else
		is_read = v8_get_inlined(s, s->runtime.inlined, &outer, &place);
	if (!is_read) {
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

	/* Once for each frame. Builtins, which lie in the file, have none. */
	if (!s || !v8_layout(s)->code_header || s->walk.flags & UNWIND_EXACT ||
	    s->runtime.words[V8_ASKED] == s->walk.reg[WIRE_ABI_FP] ||
	    (!s->runtime.is_called && !v8_layout(s)->n_translation_opcodes) || v8_is_in_file(s))
		return 0;
	s->runtime.words[V8_ASKED] = s->walk.reg[WIRE_ABI_FP];
	number = v8_inlined(level);
	s->runtime.is_called = 0;
	s->runtime.words[V8_BEFORE] = s->record.head.n_user;
	s->runtime.inlined = number;
	return number != 0;
}

#endif
