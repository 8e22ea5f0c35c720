/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lines in execution. What is told of one is how far it is from the line at which its function begins: line ends of the source between the two are
 * counted. Both are characters of a script. Where in it the interpreter is, or baseline code (bpf/runtimes/v8_baseline.bpf.h), is told by the bytecode's table of source
 * positions; of optimized code by the same, for its translation has the bytecode, or by the code's own (bpf/runtimes/v8_inlined.bpf.h).
 *
 * With `columns` it has the column, too: characters back to the end of the line before.
 *
 * What was counted is remembered: a function has the same lines whenever it is met.
 */
#ifndef XAGENT_BPF_RUNTIMES_V8_LINES_BPF_H
#define XAGENT_BPF_RUNTIMES_V8_LINES_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/runtimes/v8_baseline.bpf.h"
#include "bpf/runtimes/v8_code.bpf.h"
#include "bpf/runtimes/v8_names.bpf.h"
#include "bpf/runtimes/v8_objects.bpf.h"
#include "bpf/runtimes/v8_positions.bpf.h"

/* words, while lines and columns are counted: where the source is, bytes of its characters, … */
enum {
	V8_SOURCE = 4,
	V8_SIZE,
	V8_BEGIN, /* … where in it the function begins, and the place is; … */
	V8_AT,
	V8_SCRIPT,
	V8_PIECES /* what the sample had read before */
};

_Static_assert((int)V8_PIECES < (int)V8_INLINES,
	       "what lasts from one frame to the next lies behind");

/* What is remembered is by bytecode, or by place in the script. */
#define V8_OF_BYTECODE (1ULL << 32)
#define V8_OF_PLACE (2ULL << 32)
#define V8_OF_LEAF (3ULL << 32)

static __always_inline __u64 v8_line_key(const struct scratch *s, __u64 at)
{
	__u64 function =
		hash_mix(hash_mix(s->runtime.process, s->runtime.function), s->runtime.print);

	return hash_mix(function, at);
}

/* What is remembered into s->runtime.position. */
static __always_inline bool v8_line_known(struct scratch *s, __u64 key)
{
	__u64 begin, position;

	if (!remembered(key, &begin, &position))
		return false;
	s->runtime.position = position;
	return true;
}

static __always_inline void v8_line_remember(struct scratch *s, __u64 key)
{
	if (s->runtime.position != ~0U)
		remember(key, 1, s->runtime.position);
}

/* Where the script of the SharedFunctionInfo that was read is, and where in its source the function begins; ~0: not known. */
static __always_inline __u32 v8_shared_begin(const struct scratch *s, __u64 *ret_script)
{
	const struct v8_layout *l = v8_layout(s);
	__u32 type = 0;
	__u64 at;

	*ret_script = v8_object(l, v8_shared_word(s, l->shared_script), &type);
	if (!*ret_script || type != l->type_script)
		return ~0U;
	at = v8_object(l, v8_shared_word(s, l->shared_name), &type);
	return at && type == l->type_scope ? v8_begin_of(l, at) : ~0U;
}

/* The lines from the beginning of the function that was read to a place in its script, into s->runtime.position; into words what the column is counted by. */
__noinline int v8_count_lines(__u32 level, __u32 place)
{
	struct scratch *s = walk_scratch(level);
	struct v8_flat source;
	__u64 script = 0;
	__u32 begin;

	if (!s || !v8_get_shared(s, s->runtime.function))
		return 0;
	begin = v8_shared_begin(s, &script);
	if (begin > place)
		return 0;
	s->runtime.words[V8_BEGIN] = begin;
	s->runtime.words[V8_AT] = place;
	s->runtime.words[V8_SCRIPT] = script;
	s->runtime.words[V8_PIECES] = s->runtime.n_pieces;
	source = v8_flat(v8_layout(s), v8_word(script + v8_layout(s)->script_source));
	if (!source.at || s->runtime.words[V8_AT] > source.n)
		return 0;
	s->runtime.words[V8_SOURCE] = source.at;
	s->runtime.words[V8_SIZE] = source.size;
	s->runtime.words[0] = source.at + s->runtime.words[V8_BEGIN] * source.size;
	s->runtime.words[1] = (s->runtime.words[V8_AT] - s->runtime.words[V8_BEGIN]) * source.size;
	s->runtime.words[2] = s->runtime.words[3] = 0;
	s->runtime.is_seeking = source.size == 2;
	bpf_loop(V8_MAX_PIECES, v8_count_step, &level, 0);
	s->runtime.is_seeking = 0;
	if (!s->runtime.words[1])
		s->runtime.position = s->runtime.words[2] & (V8_POSITION_WIDE - 1);
	return 0;
}

/* Of a piece of a source, which was read: bytes up to the end of the last line that ends there. */
static __always_inline __u32 v8_last_end(const struct scratch *s, bool is_wide)
{
	const __u64 *words = (const __u64 *)s->runtime.bytes;
	__u64 last = 0, at = 0;
	__u32 n;

	for (__u32 i = 0; i < RUNTIME_READ_BYTES / 8; i++) {
		__u64 ends = v8_equal(words[i], '\n', is_wide) | v8_equal(words[i], '\r', is_wide) |
			     v8_separators(words[i], is_wide);
		/* All bits if there is one: the compiler is not to see that it is a condition, and branch. */
		__u64 is_any = -ends;

		barrier_var(is_any);
		is_any = (ends | is_any) >> 63;
		barrier_var(is_any);
		is_any = -is_any;
		last = (ends & is_any) | (last & ~is_any);
		at = ((8 * i + 1) & is_any) | (at & ~is_any);
	}
	n = at;
	for (__u32 bytes = 4; bytes; bytes /= 2) {
		if (!(last >> (8 * bytes)))
			continue;
		last >>= 8 * bytes;
		n += bytes;
	}
	return n;
}

/* words: where ends what is to be looked through, bytes of it, those behind the last line that ends there; whether there is one. */
static long v8_column_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);
	__u32 n, last;

	(void)index;
	if (!s || !s->runtime.words[1] || s->runtime.n_pieces >= V8_MAX_PIECES)
		return 1;
	s->runtime.n_pieces++;
	n = s->runtime.words[1] < RUNTIME_READ_BYTES ? s->runtime.words[1] : RUNTIME_READ_BYTES;
	if (n < RUNTIME_READ_BYTES)
		__builtin_memset(s->runtime.bytes, 0, RUNTIME_READ_BYTES);
	barrier_var(n);
	if (n > RUNTIME_READ_BYTES ||
	    bpf_probe_read_user(s->runtime.bytes, n, (void *)(s->runtime.words[0] - n)))
		return 1;
	last = s->runtime.words[V8_SIZE] == 2 ? v8_last_end(s, true) : v8_last_end(s, false);
	s->runtime.words[0] -= n;
	s->runtime.words[1] = last ? 0 : s->runtime.words[1] - n;
	s->runtime.words[2] += n - last;
	s->runtime.words[3] = last;
	return 0;
}

/* The column of what lines were counted to, beside those. False: the sample has read too much for it. */
__noinline int v8_count_column(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	__u64 from, column;
	bool is_wide;

	if (!s || s->runtime.position == ~0U)
		return 1;
	is_wide = s->runtime.words[V8_SIZE] == 2;
	/* What was looked through on one line is not again. */
	from = s->runtime.words[s->runtime.position ? V8_AT : V8_BEGIN];
	s->runtime.words[1] = from << is_wide;
	s->runtime.words[0] = s->runtime.words[V8_SOURCE] + s->runtime.words[1];
	s->runtime.words[2] = s->runtime.words[3] = 0;
	bpf_loop(V8_MAX_PIECES, v8_column_step, &level, 0);
	/* Where it has read nothing else it is not tried again. */
	if (s->runtime.words[1])
		return !s->runtime.words[V8_PIECES] || s->runtime.n_pieces < V8_MAX_PIECES;
	column = 1 + s->runtime.words[V8_AT] - from + (s->runtime.words[2] >> is_wide);
	/* Small integers behind the script's name: the line and the column that its source begins in. */
	if (!s->runtime.words[3])
		column += v8_int(s->runtime.words[V8_SCRIPT] + v8_layout(s)->script_name + 16 + 4);
	s->runtime.position = v8_position_of(s->runtime.position, column);
	return 1;
}

/* The place in its script of the function that was read, into s->runtime.position. `key`: what it is remembered by. */
static __always_inline void v8_count(struct scratch *s, __u32 level, __u32 place, __u64 key)
{
	int is_all = 1;

	v8_count_lines(level, place);
	if (want_columns)
		is_all = v8_count_column(level);
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(is_all));
	if (is_all)
		v8_line_remember(s, key);
}

/* The bytecode of the function that was read; 0: it has none. What has it in its place is baseline code. */
static __always_inline __u64 v8_bytecode_of_function(struct scratch *s)
{
	const struct v8_layout *l = v8_layout(s);
	__u64 at = s->runtime.function + V8_SHARED_DATA;
	__u32 type = 0;
	__u64 object = v8_object(l, v8_word(at), &type);

	if (object && type == l->type_code)
		object = v8_object(l, v8_word(object + l->code_deopt), &type);
	return object && l->type_bytecode && type == l->type_bytecode ? object : 0;
}

/* The line of a bytecode of the function that was read; −1: where it is entered. */
static __always_inline void v8_line_at_bytecode(struct scratch *s, __u32 at)
{
	__u64 key = v8_line_key(s, at | V8_OF_BYTECODE), bytecode, position;

	if (v8_line_known(s, key))
		return;
	bytecode = v8_bytecode_of_function(s);
	if (!bytecode)
		return;
	position = v8_position(s->level, v8_word(bytecode + v8_layout(s)->bytecode_positions), at);
	if (position == V8_NO_POSITION || position & V8_POSITION_EXTERNAL ||
	    !V8_POSITION_PLACE(position))
		return;
	v8_count(s, s->level, V8_POSITION_PLACE(position) - 1, key);
}

/* The line of a place in the script, plus one as a source position has it, or of V8_PLACE_OF_BYTECODE; 0: not known. */
__noinline int v8_line_at_place(__u32 level, __u32 place)
{
	struct scratch *s = walk_scratch(level);
	__u64 key;

	if (!s || !place)
		return 0;
	if (place & V8_PLACE_OF_BYTECODE) {
		v8_line_at_bytecode(s, (place & ~V8_PLACE_OF_BYTECODE) - 1);
		return 0;
	}
	key = v8_line_key(s, place | V8_OF_PLACE);
	if (v8_line_known(s, key))
		return 0;
	v8_count(s, level, place - 1, key);
	return 0;
}

/* The bytecode that the interpreter or baseline code runs in the present frame; 0: neither of them does, or where it is is not known. */
static __always_inline __u64 v8_bytecode_of_frame(struct scratch *s)
{
	const struct v8_layout *l = v8_layout(s);
	__u32 type = 0;
	__u64 at;

	if (!l->type_bytecode)
		return 0;
	at = v8_object(l, v8_word(s->walk.reg[WIRE_ABI_FP] - V8_FRAME_BYTECODE), &type);
	return at && type == l->type_bytecode ? at : 0;
}

/* Which one the interpreter has come to; ~0: not known. */
static __always_inline __u32 v8_interpreted_at(struct scratch *s)
{
	__u64 word = v8_word(s->walk.reg[WIRE_ABI_FP] - V8_FRAME_BYTECODE_AT);
	__u32 before = v8_layout(s)->bytecode_data - V8_TAG;

	return (__u32)word || word >> 32 < before ? ~0U : (__u32)(word >> 32) - before;
}

/* The line of the function that was read, whose frame is the present one; `place` is what optimized code has told of it. */
__noinline int v8_line_of_frame(__u32 level, __u32 place)
{
	struct scratch *s = walk_scratch(level);
	__u64 bytecode, key, position;
	bool is_leaf, is_in_file;
	__u32 at;

	if (!s)
		return 0;
	is_leaf = s->walk.flags & UNWIND_EXACT;
	bytecode = place ? 0 : v8_bytecode_of_frame(s);
	if (!bytecode)
		return v8_line_at_place(level, place);
	/* The interpreter's code is one of the builtins; between two calls what it has on the stack is of the one before. */
	is_in_file = v8_is_in_file(s);
	if (is_leaf && is_in_file)
		return 0;
	at = is_in_file ? v8_interpreted_at(s) : v8_baseline_at(level, bytecode);
	/* To the verifier it may be anything. */
	asm volatile("" : "+r"(at));
	if (at == ~0U)
		return 0;
	key = v8_line_key(s, at | (is_leaf ? V8_OF_LEAF : V8_OF_BYTECODE));
	if (v8_line_known(s, key))
		return 0;
	position = v8_position(level, v8_word(bytecode + v8_layout(s)->bytecode_positions), at);
	if (position == V8_NO_POSITION || position & V8_POSITION_EXTERNAL ||
	    !V8_POSITION_PLACE(position))
		return 0;
	/* A bytecode that calls nothing may have no position, and that of the one before may be of what was not run. */
	if (is_leaf && s->runtime.words[V8_FOUND_AT] != at + 1ULL)
		return 0;
	v8_count(s, level, V8_POSITION_PLACE(position) - 1, key);
	return 0;
}

#endif
