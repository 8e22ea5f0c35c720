/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Functions that await the one that runs: they are suspended, so they have no frames. They are shown where it was resumed.
 *
 *	C stack				heap
 *	 function, resumed
 *	 V8's closure, its context ───► its generator ──► its promise ──► reaction ──► handler: V8's closure, its context ──► generator …
 *	 RunMicrotasks …
 *
 * Who awaits a promise has left a reaction there, whose handler is a closure of V8's own that resumes its generator. What lies between is followed as V8's
 * own backtraces do: a promise that another one is resolved with or was made of by then(), and Promise.all().
 *
 * The chain ends where a promise is awaited by several, or by nothing, and where anything is not what it should be.
 */
#ifndef XAGENT_BPF_RUNTIMES_V8_ASYNC_BPF_H
#define XAGENT_BPF_RUNTIMES_V8_ASYNC_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/runtimes/v8_inlined.bpf.h"
#include "bpf/runtimes/v8_lines.bpf.h"
#include "bpf/runtimes/v8_objects.bpf.h"

/* Promises between two functions. In one sample as many are read as inlined functions: a hostile process has chains without end. */
#define V8_MAX_PROMISES 16

/* The promise that is looked at next, as a pointer; the frame pointer of a frame that was asked; 0 for none of them. */
#define V8_AWAITED (RUNTIME_WORDS - 1)
_Static_assert(V8_AWAITED > V8_IS_CHAIN, "what tells lines is before it");

/* words[0]: the generator that was found; 0: none. */
#define V8_GENERATOR 0

/* An object of V8's that the pointer at `at` leads to, of that type; else 0. */
static __always_inline __u64 v8_typed(const struct v8_layout *l, __u64 at, __u16 type)
{
	__u32 is = 0;
	__u64 object = v8_object(l, v8_word(at), &is);

	return is == type ? object : 0;
}

/* What an object of the context's has at that place, if it is a generator of an async function, or of an async generator; else 0. */
static __always_inline __u64 v8_async_generator(const struct v8_layout *l, __u64 context)
{
	__u32 type = 0;
	__u64 generator = v8_object(l, v8_word(context + V8_CONTEXT_FIRST), &type);

	return type == l->type_async_function || type == l->type_async_generator ? generator : 0;
}

/* The promise that is resolved when the generator's function returns, or yields; else 0. */
static __always_inline __u64 v8_async_promise(const struct v8_layout *l, __u64 generator)
{
	__u64 at = generator + V8_GENERATOR_PROMISE;

	if (v8_type_of_map(l, v8_word(generator)) == l->type_async_generator) {
		at = v8_typed(l, at, l->type_async_request);
		if (!at)
			return 0;
		at += V8_REQUEST_PROMISE;
	}
	return v8_typed(l, at, l->type_promise);
}

/* Whether the function at that pointer is one that no script contains. */
static __always_inline bool v8_is_own_function(struct scratch *s, __u64 pointer)
{
	__u64 shared;

	if ((pointer & V8_TAG_MASK) != V8_TAG)
		return false;
	shared = v8_word(pointer - V8_TAG + v8_layout(s)->function_shared);
	return (shared & V8_TAG_MASK) == V8_TAG && v8_get_shared(s, shared - V8_TAG) &&
	       v8_shared_int(s, v8_layout(s)->shared_id) == V8_NO_LITERAL;
}

/* Where it goes on by a handler of V8's own: a generator, else a promise; false: it is none of these handlers. */
static __always_inline bool v8_async_handler(struct scratch *s, __u64 handler)
{
	const struct v8_layout *l = v8_layout(s);
	__u64 context, capability, promise;

	if (!v8_is_own_function(s, handler))
		return false;
	context = v8_word(handler - V8_TAG + l->function_context) - V8_TAG;
	if (context & V8_TAG_MASK)
		return false;
	s->runtime.words[V8_GENERATOR] = v8_async_generator(l, context);
	if (s->runtime.words[V8_GENERATOR])
		return true;
	/* It resolves a promise, or is one of those that Promise.all() waits for. */
	promise = v8_typed(l, context + V8_CONTEXT_FIRST, l->type_promise);
	capability = v8_typed(l, context + V8_CONTEXT_FIRST + 8, l->type_capability);
	if (!promise && capability)
		promise = v8_typed(l, capability + V8_CAPABILITY_PROMISE, l->type_promise);
	s->runtime.words[V8_AWAITED] = promise ? promise + V8_TAG : 0;
	return promise != 0;
}

/* The only reaction of a promise that is not resolved; else 0. */
static __always_inline __u64 v8_async_reaction(const struct v8_layout *l, __u64 promise)
{
	__u64 reaction;

	if (v8_int(promise + V8_PROMISE_FLAGS + 4) & V8_PROMISE_STATUS)
		return 0;
	reaction = v8_typed(l, promise + V8_PROMISE_REACTIONS, l->type_reaction);
	return reaction && !v8_word(reaction + l->reaction_next) ? reaction : 0;
}

/* One promise further. */
static long v8_async_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);
	const struct v8_layout *l;
	__u64 reaction, promise, capability;

	(void)index;
	if (!s || s->runtime.n_reads++ >= V8_MAX_READS)
		return 1;
	l = v8_layout(s);
	promise = s->runtime.words[V8_AWAITED] - V8_TAG;
	s->runtime.words[V8_AWAITED] = 0;
	reaction = v8_async_reaction(l, promise);
	if (!reaction)
		return 1;
	reaction += l->reaction_next;
	if (v8_async_handler(s, v8_word(reaction + V8_REACTION_FULFILL)))
		return s->runtime.words[V8_GENERATOR] != 0;
	/* Somebody else's: what then() has returned. */
	promise = v8_typed(l, reaction + V8_REACTION_RESULT, l->type_promise);
	capability = v8_typed(l, reaction + V8_REACTION_RESULT, l->type_capability);
	if (!promise && capability)
		promise = v8_typed(l, capability + V8_CAPABILITY_PROMISE, l->type_promise);
	s->runtime.words[V8_AWAITED] = promise ? promise + V8_TAG : 0;
	return !promise;
}

/* The line of the await, by the bytecode at which the generator was left. */
static __always_inline void v8_async_line(struct scratch *s, __u64 generator)
{
	const struct v8_layout *l = v8_layout(s);
	__u32 before = l->bytecode_data - V8_TAG;
	__u64 at = v8_word(generator + V8_GENERATOR_BYTECODE_AT), position;
	__u64 bytecode = v8_typed(l, s->runtime.function + V8_SHARED_DATA, l->type_bytecode);

	if (!l->type_bytecode || !bytecode || (__u32)at || at >> 32 < before)
		return;
	position = v8_position(s->level, v8_word(bytecode + l->bytecode_positions),
			       (at >> 32) - before);
	if (position != V8_NO_POSITION && !(position & V8_POSITION_EXTERNAL))
		v8_line_at_place(s->level, V8_POSITION_PLACE(position));
}

/* Reads the function of a generator that waits. */
static __always_inline bool v8_async_function(struct scratch *s, __u64 generator)
{
	const struct v8_layout *l = v8_layout(s);
	__u64 continuation = v8_word(generator + V8_GENERATOR_CONTINUATION), function, shared;

	function = v8_word(generator + V8_GENERATOR_FUNCTION);
	if ((__s64)continuation < 0 || (function & V8_TAG_MASK) != V8_TAG)
		return false;
	shared = v8_word(function - V8_TAG + l->function_shared);
	if ((shared & V8_TAG_MASK) != V8_TAG)
		return false;
	shared = v8_get_shared(s, shared - V8_TAG);
	if (!shared || v8_shared_int(s, l->shared_id) == V8_NO_LITERAL)
		return false;
	s->runtime.function = shared;
	s->runtime.print = v8_print(s);
	s->runtime.position = ~0U;
	return true;
}

/* The frame at fp, of that function and context: whether it has resumed the generator of a function that runs. What is awaited then is V8_AWAITED. */
static __always_inline void v8_async_begin(struct scratch *s, __u64 function, __u64 context)
{
	const struct v8_layout *l = v8_layout(s);
	__u64 generator = v8_async_generator(l, context - V8_TAG), promise;

	if (!generator || v8_word(generator + V8_GENERATOR_CONTINUATION) != V8_GENERATOR_RUNS ||
	    !v8_is_own_function(s, function))
		return;
	promise = v8_async_promise(l, generator);
	s->runtime.words[V8_AWAITED] = promise ? promise + V8_TAG : 0;
}

/* The next function that awaits what the frame of that function and context has resumed, into function, print and position. 0: there is none, or none any more. */
__noinline int v8_async(__u32 level, __u64 function, __u64 context)
{
	struct scratch *s = walk_scratch(level);
	__u64 fp, generator, promise;

	if (!s || !v8_layout(s)->reaction_next)
		return 0;
	fp = s->walk.reg[WIRE_ABI_FP];
	if (s->runtime.words[V8_AWAITED] == fp)
		return 0;
	s->runtime.words[V8_GENERATOR] = 0;
	if (!(s->runtime.words[V8_AWAITED] & V8_TAG)) {
		s->runtime.words[V8_AWAITED] = 0;
		v8_async_begin(s, function, context);
	}
	if (s->runtime.words[V8_AWAITED])
		bpf_loop(V8_MAX_PROMISES, v8_async_step, &level, 0);
	generator = s->runtime.words[V8_GENERATOR];
	s->runtime.words[V8_AWAITED] = fp;
	if (!generator || !v8_async_function(s, generator))
		return 0;
	promise = v8_async_promise(v8_layout(s), generator);
	if (promise)
		s->runtime.words[V8_AWAITED] = promise + V8_TAG;
	if (want_lines)
		v8_async_line(s, generator);
	return 1;
}

#endif
