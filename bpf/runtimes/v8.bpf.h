/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The step over V8's frames (bpf/runtimes/v8.h). They are found as the walk meets them, in generated code and in the builtins, so there is no list, and no
 * state of the thread is looked for.
 *
 * Where the leaf is interrupted before its frame is whole, what lies in its place is of a call before: only what was pushed is read.
 */
#ifndef XAGENT_BPF_RUNTIMES_V8_BPF_H
#define XAGENT_BPF_RUNTIMES_V8_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/runtimes/v8_async.bpf.h"
#include "bpf/runtimes/v8_inlined.bpf.h"
#include "bpf/runtimes/v8_lines.bpf.h"
#include "bpf/runtimes/v8_names.bpf.h"
#include "bpf/runtimes/v8_objects.bpf.h"
#include "bpf/runtimes/v8_wasm.bpf.h"

static __always_inline __u64 v8_begin(struct scratch *s)
{
	s->runtime.words[V8_PLACE] = s->runtime.words[V8_CODE_MAP] = 0;
	s->runtime.words[V8_AWAITED] = s->runtime.words[V8_ASKED] = 0;
	s->runtime.known[V8_KNOWN_SHARED].at = s->runtime.known[V8_KNOWN_SCRIPT].at = 0;
	if (!v8_layout(s)->is_supported)
		s->runtime.result = RUNTIME_RESULT_UNSUPPORTED;
	return 0;
}

static __always_inline int v8_read(struct scratch *s)
{
	(void)s;
	return 0;
}

/* What was pushed of the frame at fp: 0, or up to V8_FRAME_BYTES below it. */
static __always_inline __u64 v8_pushed(struct scratch *s)
{
	__u64 below = s->walk.reg[WIRE_ABI_FP] - s->walk.reg[WIRE_ABI_SP];

	if (s->walk.flags & UNWIND_EXACT && unwind_edge(&s->walk) != UNWIND_NO_EDGE)
		return 0;
	return below < V8_FRAME_BYTES ? below : V8_FRAME_BYTES;
}

/* A frame that has a context has a function: reads which one. */
static __always_inline int v8_function(struct scratch *s, __u64 pointer)
{
	const struct v8_layout *l = v8_layout(s);
	__u32 place = s->runtime.words[V8_PLACE];
	__u64 shared = 0;

	s->runtime.words[V8_PLACE] = 0;
	if ((pointer & V8_TAG_MASK) == V8_TAG)
		shared = v8_word(pointer - V8_TAG + l->function_shared);
	if ((shared & V8_TAG_MASK) == V8_TAG)
		shared = v8_get_shared(s, shared - V8_TAG);
	if (!shared || (shared & V8_TAG_MASK)) {
		s->runtime.is_called = 0;
		s->runtime.result = RUNTIME_RESULT_UNREADABLE;
		return RUNTIME_CODE_FRAME;
	}
	s->runtime.is_called = 1;
	if (v8_shared_int(s, l->shared_id) == V8_NO_LITERAL)
		return RUNTIME_CODE_FRAME;
	s->runtime.function = shared;
	s->runtime.print = v8_print(s);
	s->runtime.position = ~0U;
	if (want_lines)
		v8_line_of_frame(s->level, place);
	return RUNTIME_CODE_NAMED_FRAME;
}

/* A frame of V8's own, of that type. */
static __always_inline int v8_own_frame(struct scratch *s, __u64 kind)
{
	const struct v8_layout *l = v8_layout(s);

	/* What makes an object lies between its constructor and who calls that. */
	if (kind == l->frame_construct || kind == l->frame_fast_construct)
		return RUNTIME_CODE_FRAME;
	s->runtime.is_called = kind == l->exit_builtin || kind == l->exit_callback;
	return RUNTIME_CODE_FRAME;
}

static __always_inline int v8_wasm_frame(struct scratch *s, __u64 instance)
{
	int is_known = v8_wasm(s->level, instance);

	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(is_known));
	if (!is_known) {
		s->runtime.function = V8_WASM_FUNCTION;
		s->runtime.print = V8_WASM_PRINT;
		s->runtime.result = v8_layout(s)->wasm_module ? RUNTIME_RESULT_UNREADABLE
							      : RUNTIME_RESULT_UNSUPPORTED;
	}
	s->runtime.is_called = 0;
	s->runtime.position = ~0U;
	return RUNTIME_CODE_NAMED_FRAME;
}

/* Optimized code has a function before its frame is whole, too, and behind its end: whatever is inlined runs between. */
__noinline int v8_begun(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	const struct v8_layout *l;
	__u64 key, deopt, shared;

	if (!s || !v8_layout(s)->code_header || !(s->walk.flags & UNWIND_EXACT) || v8_is_in_file(s))
		return RUNTIME_CODE_BEGUN;
	l = v8_layout(s);
	if (!v8_find_code(s, &key) ||
	    (v8_shared_int(s, l->code_flags) & V8_CODE_KIND) <= l->kind_baseline)
		return RUNTIME_CODE_BEGUN;
	deopt = v8_shared_word(s, l->code_deopt) - V8_TAG;
	if (deopt & V8_TAG_MASK)
		return RUNTIME_CODE_BEGUN;
	shared = v8_deopt_element(deopt, l->deopt_id + V8_DEOPT_FUNCTION_BEHIND_ID);
	if (l->wrapper_shared)
		shared = v8_word(shared - V8_TAG + l->wrapper_shared);
	if (!v8_get_function(s, shared))
		return RUNTIME_CODE_BEGUN;
	s->runtime.is_called = 1;
	return RUNTIME_CODE_NAMED_BEGUN;
}

/* A function of its own: what it has on the stack is not to lie below what other runtimes call. */
__noinline int v8_frame(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	__u64 function = 0, kind = 0;
	int is_inlined, is_awaiting, begun;
	__u64 fp;

	if (!s)
		return RUNTIME_CODE_NOT_ITS;
	fp = s->walk.reg[WIRE_ABI_FP];
	if (!v8_layout(s)->is_supported || s->walk.flags & UNWIND_FP_LOST)
		return RUNTIME_CODE_NOT_ITS;
	if (v8_pushed(s) < V8_FRAME_BYTES) {
		begun = v8_begun(s->level);
		asm volatile("" : "+r"(begun));
		return begun;
	}
	if (walk_word(&s->walk, &function, fp - V8_FRAME_FUNCTION) ||
	    walk_word(&s->walk, &kind, fp - V8_FRAME_KIND))
		return RUNTIME_CODE_BEGUN;
	if (kind >> 1 == v8_layout(s)->frame_wasm && !(kind & V8_TAG))
		return v8_wasm_frame(s, function);
	if (!(kind & V8_TAG))
		return v8_own_frame(s, kind >> 1);
	if (want_async) {
		is_awaiting = v8_async(s->level, function, kind);
		asm volatile("" : "+r"(is_awaiting));
		if (is_awaiting)
			return RUNTIME_CODE_INLINED;
	}
	is_inlined = s->runtime.inlined || v8_inlined_first(s->level);
	asm volatile("" : "+r"(is_inlined));
	if (is_inlined) {
		is_inlined = v8_show_inlined(s->level);
		asm volatile("" : "+r"(is_inlined));
	}
	return is_inlined ? RUNTIME_CODE_INLINED : v8_function(s, function);
}

static __always_inline __u32 v8_task(struct scratch *s)
{
	(void)s;
	return 0;
}

static __always_inline int v8_code(struct scratch *s)
{
	return v8_frame(s->level);
}

static __always_inline int v8_resume(struct scratch *s, __u64 low)
{
	(void)s;
	(void)low;
	return 0;
}

#endif
