/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lines in execution. What is told of one is how far it is from the line at which its function begins: line ends of the source between the two are
 * counted. Both are characters of a script. Where in it the interpreter is, is told by the bytecode's table of source positions; of optimized code
 * by the code's (bpf/runtimes/v8_inlined.bpf.h).
 *
 * What was counted is remembered: a function has the same lines whenever it is met.
 */
#ifndef XAGENT_BPF_RUNTIMES_V8_LINES_BPF_H
#define XAGENT_BPF_RUNTIMES_V8_LINES_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/runtimes/v8_names.bpf.h"
#include "bpf/runtimes/v8_objects.bpf.h"
#include "bpf/runtimes/v8_positions.bpf.h"

/* What is remembered is by bytecode, or by place in the script. */
#define V8_OF_BYTECODE (1ULL << 32)
#define V8_OF_PLACE (2ULL << 32)

static __always_inline __u64 v8_line_key(const struct scratch *s, __u64 at)
{
	__u64 function =
		hash_mix(hash_mix(s->runtime.process, s->runtime.function), s->runtime.print);

	return hash_mix(function, at) | 1ULL << 63;
}

/* What is remembered into s->runtime.position. */
static __always_inline bool v8_line_known(struct scratch *s, __u64 key)
{
	struct runtime_return *known = v8_known(key);

	if (!known || known->key != key)
		return false;
	s->runtime.position = known->found;
	return true;
}

static __always_inline void v8_line_remember(struct scratch *s, __u64 key)
{
	struct runtime_return *known = v8_known(key);

	if (known && s->runtime.position != ~0U)
		*known = (struct runtime_return){ key, 1, s->runtime.position };
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

/* The lines from the beginning of the function that was read to a place in its script, into s->runtime.position. */
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
	source = v8_flat(v8_layout(s), v8_word(script + v8_layout(s)->script_source));
	if (!source.at || place > source.n)
		return 0;
	s->runtime.words[0] = source.at + (__u64)begin * source.size;
	s->runtime.words[1] = (__u64)(place - begin) * source.size;
	s->runtime.words[2] = 0;
	s->runtime.is_seeking = source.size == 2;
	bpf_loop(V8_MAX_PIECES, v8_count_step, &level, 0);
	s->runtime.is_seeking = 0;
	if (!s->runtime.words[1])
		s->runtime.position = s->runtime.words[2] & 0x3fffffff;
	return 0;
}

/* The line of a place in the script, plus one as a source position has it; 0: not known. */
__noinline int v8_line_at_place(__u32 level, __u32 place)
{
	struct scratch *s = walk_scratch(level);
	__u64 key;

	if (!s || !place)
		return 0;
	key = v8_line_key(s, place | V8_OF_PLACE);
	if (v8_line_known(s, key))
		return 0;
	v8_count_lines(level, place - 1);
	v8_line_remember(s, key);
	return 0;
}

/* Which bytecode a frame has come to, if the interpreter runs it; ~0: it does not, or it is not known. */
static __always_inline __u32 v8_bytecode_at(struct scratch *s, __u64 *ret_bytecode)
{
	const struct v8_layout *l = v8_layout(s);
	__u64 words[2]; /* how far, BytecodeArray */
	__u32 type = 0, before = l->bytecode_data - V8_TAG;

	/* Between two calls the word on the stack is that of the one before. */
	if (!l->type_bytecode || s->walk.flags & UNWIND_EXACT)
		return ~0U;
	/* Its code is one of the builtins, which lie in the file. */
	if (!unwind_find(&s->walk) || s->walk.mapping.frame_base & WIRE_FRAME_RAW)
		return ~0U;
	if (bpf_probe_read_user(words, sizeof(words),
				(void *)(s->walk.reg[WIRE_ABI_FP] - V8_FRAME_BYTECODE_AT)) ||
	    (__u32)words[0] || words[0] >> 32 < before)
		return ~0U;
	*ret_bytecode = v8_object(l, words[1], &type);
	return *ret_bytecode && type == l->type_bytecode ? (words[0] >> 32) - before : ~0U;
}

/* The line of the function that was read, whose frame is the present one; `place` is what optimized code has told of it. */
__noinline int v8_line_of_frame(__u32 level, __u32 place)
{
	struct scratch *s = walk_scratch(level);
	__u64 bytecode = 0, key, position;
	__u32 at;

	if (!s)
		return 0;
	at = v8_bytecode_at(s, &bytecode);
	if (at == ~0U)
		return v8_line_at_place(level, place);
	key = v8_line_key(s, at | V8_OF_BYTECODE);
	if (v8_line_known(s, key))
		return 0;
	position = v8_position(level, v8_word(bytecode + v8_layout(s)->bytecode_positions), at);
	if (position == V8_NO_POSITION || position & V8_POSITION_EXTERNAL ||
	    !V8_POSITION_PLACE(position))
		return 0;
	v8_count_lines(level, V8_POSITION_PLACE(position) - 1);
	v8_line_remember(s, key);
	return 0;
}

#endif
