/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A process with two runtimes: one that has a list of frames, and one whose generated code the walk meets (a JVM with Python inside, Python with a
 * JVM or V8 inside). The first is in place (s->runtime), as the only runtime of a process is. The other is beside it (s->beside), and in place only
 * while it is asked for a frame and that frame is shown. What a runtime's functions keep from one call to the next goes with it; what they tell of a
 * frame does not.
 */
#ifndef XAGENT_BPF_RUNTIME_BESIDE_BPF_H
#define XAGENT_BPF_RUNTIME_BESIDE_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/walk.bpf.h"
#include "bpf/wire.h"

static __always_inline void runtime_exchange(__u64 *a, __u64 *b)
{
	__u64 old = *a;

	*a = *b;
	*b = old;
}

/* What a runtime keeps, and what the other one does. */
static __always_inline void runtime_exchange_kept(struct scratch *s)
{
	__u64 *beside = s->record.words + RECORD_BESIDE_AT;

	for (__u32 i = 0; i < RUNTIME_WORDS; i++)
		runtime_exchange(&s->runtime.words[i], beside + i);
	beside += RUNTIME_WORDS;
	for (__u32 i = 0; i < RUNTIME_KNOWN; i++) {
		runtime_exchange(&s->runtime.known[i].at, beside + 2 * i);
		runtime_exchange(&s->runtime.known[i].word, beside + 2 * i + 1);
	}
}

/* What the agent has told of it by now; NULL: nothing any more. */
static __always_inline const struct wire_runtime *runtime_at(const struct scratch *s, __u32 place)
{
	__u64 key = wire_runtime_key(s->record.head.pid, place);

	return bpf_map_lookup_elem(&runtimes, &key);
}

/* From what the agent has told, or from the one in place. */
static __always_inline void runtime_note_beside(struct runtime_beside *b,
						const struct runtime_of *of)
{
	b->kind = of->kind;
	b->flags = of->flags;
	b->claimed_at = of->words[WIRE_CLAIMED_AT];
	b->claimed_bytes = of->words[WIRE_CLAIMED_BYTES];
}

/* The runtime beside the one in place takes its place. One that was retracted meanwhile does so as none. */
__noinline int runtime_turn(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	const struct wire_runtime *of;
	__u32 kind, result;

	if (!s)
		return 0;
	s->beside.is_turned = !s->beside.is_turned;
	of = runtime_at(s, s->beside.is_turned);
	kind = s->beside.kind;
	result = s->beside.result;
	runtime_note_beside(&s->beside, &s->runtime.of);
	s->beside.result = s->runtime.result;
	s->runtime.result = result;
	if (of)
		__builtin_memcpy(&s->runtime.of, of, sizeof(s->runtime.of));
	if (!of || of->kind != kind)
		s->runtime.of.kind = RUNTIME_NONE;
	runtime_exchange_kept(s);
	return 0;
}

/* The first is in place again. */
static __always_inline void runtime_turn_back(struct scratch *s)
{
	if (s->beside.is_turned)
		runtime_turn(s->level);
}

/* Of a process with a table, whose first runtime was found. */
static __always_inline void runtime_find_beside(struct scratch *s)
{
	const struct wire_runtime *of = NULL;

	if (s->runtime.of.flags & WIRE_RUNTIME_IS_FIRST)
		of = runtime_at(s, 1);
	if (of)
		runtime_note_beside(&s->beside, (const void *)of);
}

#endif
