/* SPDX-License-Identifier: Apache-2.0 */
/* The step over the frames of the toy interpreter (layout.h). */
#ifndef XAGENT_TESTS_RUNTIMES_TOY_BPF_H
#define XAGENT_TESTS_RUNTIMES_TOY_BPF_H

#include "bpf/walk.bpf.h"
#include "tests/runtimes/toy/layout.h"

static __always_inline __u64 toy_begin(struct scratch *s)
{
	__u64 distance = s->runtime.of.words[TOY_WORD_THREAD];
	__u64 distance_at = s->runtime.of.words[TOY_WORD_DISTANCE_AT];
	__u64 frame = 0;

	if (distance_at)
		bpf_probe_read_user(&distance, sizeof(distance),
				    (void *)(s->runtime.of.base + distance_at));
	bpf_probe_read_user(&frame, sizeof(frame),
			    (void *)(thread_pointer(bpf_get_current_task_btf()) + distance));
	return frame;
}

static __always_inline int toy_read(struct scratch *s)
{
	struct toy_frame frame;
	__u32 print = 0;

	if (bpf_probe_read_user(&frame, sizeof(frame), (void *)s->runtime.at))
		return 0;
	if (!frame.is_entry && bpf_probe_read_user(&print, sizeof(print), (void *)frame.function))
		return 0;
	s->runtime.is_entry = frame.is_entry;
	s->runtime.place = s->runtime.at;
	s->runtime.place_flags = s->runtime.place_position = 0;
	s->runtime.next = frame.previous;
	s->runtime.function = frame.function;
	s->runtime.print = print;
	s->runtime.position = frame.position;
	return 1;
}

/* In a prologue or epilogue the frame is not there, or not any more: then what lies in its place is no function. */
static __always_inline __u32 toy_task(struct scratch *s)
{
	(void)s;
	return 0;
}

static __always_inline int toy_code(struct scratch *s)
{
	__u64 function = 0;
	__u32 print = 0;

	if (s->walk.flags & UNWIND_EXACT)
		return RUNTIME_CODE_NOT_ITS;
	if (bpf_probe_read_user(&function, sizeof(function),
				(void *)(s->walk.reg[WIRE_ABI_FP] + TOY_CODE_FUNCTION)) ||
	    bpf_probe_read_user(&print, sizeof(print), (void *)function))
		return RUNTIME_CODE_NOT_ITS;
	s->runtime.function = function;
	s->runtime.print = print;
	s->runtime.position = 4;
	return RUNTIME_CODE_NAMED;
}

/* Up to a NUL. */
static __always_inline __u32 toy_text(struct wire_name *name, __u64 from, __u32 max)
{
	__u32 at = name_bytes(name);
	long n;

	barrier_var(at);
	if (at > WIRE_TEXTS_BYTES - max)
		return 0;
	n = bpf_probe_read_user_str(name->texts + at, max, (void *)from);
	return n > 1 ? n - 1 : 0;
}

static __always_inline int toy_resume(struct scratch *s, __u64 low)
{
	(void)s;
	(void)low;
	return 0;
}

static __always_inline int toy_name(struct scratch *s, struct wire_name *name)
{
	struct toy_function function;

	if (bpf_probe_read_user(&function, sizeof(function), (void *)s->runtime.function))
		return 0;
	name->n_name = toy_text(name, function.name, WIRE_NAME_BYTES);
	name->n_file = toy_text(name, function.file, WIRE_FILE_BYTES);
	name->line = function.line;
	return name->n_name > 0;
}

#endif
