/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Frames of a virtual thread that lie on the heap. One that has waited has them in objects, jdk.internal.vm.StackChunk; when it goes on, the innermost few are copied back
 * to the stack of its carrier, and the last of those returns to a barrier, which fetches more.
 *
 *	leaf ─ frames ─► barrier ┄ JavaThread ─► ContinuationEntry ─► Continuation ─► StackChunk: frames ─► its parent: frames ┄┐
 *	                                         Continuation.enterSpecial, on the carrier's stack ─► carrier's frames ◄┄┄┄┄┄┄┄┘
 *
 * In a chunk they lie as they did on the stack, so it is walked as that is: sp is an address in it. But for frame pointers, which count words from where they are saved, and the
 * caller's sp and the locals in a frame of the interpreter, which count words from its frame pointer. What the outermost frame of a chunk returns to is not told there: it is the one that
 * ends where the words in use do.
 *
 * Objects are moved by collectors: what was read counts only while nothing has been moved since the first of them was found, and not while the thread is moving
 * frames there itself. Else the stack ends at the barrier.
 */
#ifndef XAGENT_BPF_RUNTIMES_HOTSPOT_CHUNKS_BPF_H
#define XAGENT_BPF_RUNTIMES_HOTSPOT_CHUNKS_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/runtimes/hotspot_anchor.bpf.h"
#include "bpf/runtimes/hotspot_objects.bpf.h"
#include "bpf/runtimes/hotspot_thread.bpf.h"

/* Of a ContinuationEntry: that of the continuation around it, and its object (runtime/continuationEntry.hpp). */
#define HOTSPOT_ENTRY_PARENT 8
#define HOTSPOT_ENTRY_OBJECT 16
/* Continuations in continuations. */
#define HOTSPOT_MAX_ENTRIES 8
/* Chunks that have no frames, before one that has some. */
#define HOTSPOT_MAX_EMPTY 4
/* An entry lies above the frames of its continuation, as far as arguments on the stack go. */
#define HOTSPOT_MAX_ENTRY_BYTES (1U << 14)

/* Of a JavaThread (utilities/globalDefinitions.hpp). */
#define HOTSPOT_STATE_NATIVE 4
#define HOTSPOT_STATE_JAVA 8
#define HOTSPOT_STATE_BLOCKED 10

static __always_inline struct java_chunk_walk *hotspot_heap(const struct scratch *s)
{
	__u32 level = s->level;

	return bpf_map_lookup_elem(&java_chunk_walks, &level);
}

/* Behind the first local variable of a frame of the interpreter. */
static __always_inline __u64 hotspot_locals_end(__u64 fp)
{
	return fp + 8 * hotspot_u64(fp - HOTSPOT_FRAME_LOCALS) + 8;
}

/* What a frame returns to that ends at `end` on the heap: of the outermost one of a chunk it is not told there, and enterSpecial stands for it. */
static __always_inline __u64 hotspot_ra_on_heap(const struct scratch *s, __u64 end, __u64 ra)
{
	const struct java_chunk_walk *h = hotspot_heap(s);

	return h && end >= h->end ? h->enter + 1 : ra;
}

/* Whether nothing was moved since the heap was entered. */
__noinline int hotspot_is_still(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	const struct java_chunk_walk *h = s ? hotspot_heap(s) : NULL;
	const struct hotspot_threads *p;

	p = h ? bpf_map_lookup_elem(&java_processes, &s->record.head.pid) : NULL;
	return p && hotspot_moved(p) == h->moved;
}

/*
 * Whether the thread may be moving its frames to the heap, or has just done so: they are at both places until it has left them. What does it from Java calls a leaf of the JVM,
 * what does it from the JVM has its state, and is back in Java before it has left the JVM.
 */
static __always_inline bool hotspot_is_freezing(const struct scratch *s,
						const struct hotspot_more *m,
						const struct hotspot_chunks *c, __u64 thread)
{
	__u64 anchor = thread + m->at[HOTSPOT_THREAD_ANCHOR];
	__u32 state;

	if (s->regs.pc - c->yield_at < c->yield_bytes ||
	    hotspot_u64(anchor + m->at[HOTSPOT_ANCHOR_PC]) - c->yield_at < c->yield_bytes)
		return true;
	if (!c->has_preemption)
		return false;
	state = hotspot_u32(thread + c->thread_state);
	if (state == HOTSPOT_STATE_JAVA)
		return !hotspot_is_in_cache(s, s->regs.pc);
	return state != HOTSPOT_STATE_NATIVE && state != HOTSPOT_STATE_BLOCKED;
}

/* The barrier begins with mov at(%r15),%rsp: where a JavaThread has its ContinuationEntry. 0: the walk is not there. */
static __always_inline __u32 hotspot_barrier_offset(const struct scratch *s)
{
	__u64 code = hotspot_u64(s->walk.pc + !(s->walk.flags & UNWIND_EXACT));

	return (code & 0xffffff) == 0xa78b49 ? (__u32)(code >> 24) : 0;
}

/* The ContinuationEntry of the continuation whose frames were walked last; 0: it is not told. */
__noinline __u64 hotspot_find_entry(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	const struct hotspot_more *m = s ? hotspot_more(s) : NULL;
	const struct hotspot_threads *p;
	const struct hotspot_thread *t;
	__u64 thread, entry, sp;
	__u32 offset;

	p = m && m->threads_at ? bpf_map_lookup_elem(&java_processes, &s->record.head.pid) : NULL;
	if (!p)
		return 0;
	t = hotspot_find_thread(s, p);
	offset = hotspot_barrier_offset(s);
	if (!t || !offset)
		return 0;
	thread = t->address;
	if (hotspot_is_freezing(s, m, &p->chunks, thread))
		return 0;
	sp = s->walk.reg[WIRE_ABI_SP];
	entry = hotspot_u64(thread + offset);
	for (int i = 0; i < HOTSPOT_MAX_ENTRIES; i++) {
		if (!entry || entry >= sp)
			break;
		entry = hotspot_u64(entry + HOTSPOT_ENTRY_PARENT);
	}
	return entry - sp < HOTSPOT_MAX_ENTRY_BYTES && hotspot_is_on_stack(m, thread, sp, entry)
		       ? entry
		       : 0;
}

/* The walk goes on at another frame. */
static __always_inline int hotspot_jump(struct scratch *s, __u64 pc, __u64 sp, __u64 fp)
{
	struct unwind_walk *w = &s->walk;

	w->reg[WIRE_ABI_SP] = sp;
	w->reg[WIRE_ABI_FP] = fp;
	w->pc = pc - 1;
	w->flags = w->known = 0;
	w->end = STOP_REASON_DEPTH;
	return hotspot_is_in_cache(s, w->pc);
}

/* Behind the last frame on the heap: enterSpecial, whose frame ends with the entry. */
static __always_inline int hotspot_jump_to_carrier(struct scratch *s,
						   const struct java_chunk_walk *h)
{
	hotspot_set_on_heap(s, false);
	return hotspot_jump(s, h->enter + 1, h->entry, 0);
}

/* To the innermost frame of the chunk, or of the first one behind it that has any. */
static __always_inline int hotspot_jump_to_chunk(struct scratch *s, const struct hotspot_threads *p,
						 struct java_chunk_walk *h, __u64 chunk)
{
	const struct hotspot_chunks *c = &p->chunks;
	__u32 sp = 0, bottom = 0;
	__u64 at;

	for (int i = 0; i < HOTSPOT_MAX_EMPTY; i++) {
		/* The barrier is there for frames on the heap. */
		if (!chunk)
			return hotspot_is_on_heap(s) ? hotspot_jump_to_carrier(s, h) : 0;
		if (!hotspot_is_of(p, chunk, c->chunk_class))
			return 0;
		sp = hotspot_u32(chunk + c->sp);
		bottom = hotspot_u32(chunk + c->bottom);
		if (sp < bottom)
			break;
		chunk = hotspot_reference(p, chunk + c->parent);
	}
	if (sp >= bottom || bottom > hotspot_u32(chunk + c->size))
		return 0;
	at = chunk + c->stack;
	h->chunk = chunk;
	h->end = at + 8 * (__u64)bottom;
	hotspot_set_on_heap(s, true);
	at += 8 * (__u64)sp;
	return hotspot_jump(s, hotspot_u64(at - 8), at, at - 16 + 8 * hotspot_u64(at - 16));
}

/* The agent has told of the JVM's threads before it could tell where frames on the heap lie. */
static __always_inline void hotspot_want_chunks(struct scratch *s, const struct hotspot_threads *p)
{
	if (p && p->chunks.is_wanted)
		s->record.head.own_tid = hotspot_own_tid();
}

/* The newest chunk of the continuation whose frames were walked last; 0: there is none, or it is not told. */
static __always_inline __u64 hotspot_first_chunk(struct scratch *s, const struct hotspot_threads *p,
						 struct java_chunk_walk *h)
{
	__u64 object;

	h->moved = hotspot_moved(p);
	h->enter = p->chunks.enter_at;
	h->enter_bytes = p->chunks.enter_bytes;
	h->entry = hotspot_find_entry(s->level);
	if (!h->entry || h->moved == ~0ULL)
		return 0;
	object = hotspot_u64(h->entry + HOTSPOT_ENTRY_OBJECT);
	if (!object || (hotspot_u64(object) & HOTSPOT_MARK_MOVED) == HOTSPOT_MARK_MOVED)
		return 0;
	return hotspot_reference(p, object + p->chunks.tail);
}

/* From the barrier to the frames on the heap, from one chunk to the next, and from the last back to the stack. 0: the stack ends here. */
__noinline int hotspot_go_to_heap(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	struct java_chunk_walk *h = s ? hotspot_heap(s) : NULL;
	const struct hotspot_threads *p;
	__u64 chunk;

	p = h ? bpf_map_lookup_elem(&java_processes, &s->record.head.pid) : NULL;
	if (!p || !p->chunks.chunk_class) {
		if (s)
			hotspot_want_chunks(s, p);
		return 0;
	}
	if (hotspot_is_on_heap(s)) {
		chunk = hotspot_reference(p, h->chunk + p->chunks.parent);
	} else {
		chunk = hotspot_first_chunk(s, p, h);
		if (!chunk)
			return 0;
	}
	return hotspot_jump_to_chunk(s, p, h, chunk) && hotspot_moved(p) == h->moved;
}

/* … where the stack has ended with STOP_REASON_ON_HEAP, or its end in the chunk was reached. `code`: what is shown if it is not told where it goes on. */
static __always_inline int hotspot_on_heap(struct scratch *s, int code)
{
	bool is_first = !hotspot_is_on_heap(s);
	int is_gone = hotspot_go_to_heap(s->level);

	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(is_gone));
	if (is_gone)
		return RUNTIME_CODE_NOTHING;
	unwind_stop(&s->walk, STOP_REASON_ON_HEAP);
	return is_first ? code : RUNTIME_CODE_NOTHING;
}

/* Of a frame on the heap, before it is looked at: 0, or what ends it. */
static __always_inline int hotspot_look_on_heap(struct scratch *s)
{
	const struct java_chunk_walk *h = hotspot_heap(s);
	int is_still = 0;

	if (h && s->walk.pc - h->enter < h->enter_bytes)
		return hotspot_on_heap(s, RUNTIME_CODE_NOTHING);
	if (h && s->walk.reg[WIRE_ABI_SP] < h->end)
		is_still = hotspot_is_still(s->level);
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(is_still));
	if (is_still)
		return 0;
	unwind_stop(&s->walk, STOP_REASON_ON_HEAP);
	return RUNTIME_CODE_NOTHING;
}

#endif
