/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The step over frames of HotSpot (bpf/runtimes/hotspot.h). They are found as the walk meets them, in the code cache.
 *
 * Interpreted:	frame pointer, below it the method, and the caller's sp as it was before arguments were made room for
 * Compiled:	the frame's size is its code's, and the caller's frame pointer is its uppermost word. While it is being made or left, the
 *		instructions tell
 *
 * Whoever calls such code lies in the code cache, too, but for the stub by which the JVM calls into it.
 */
#ifndef XAGENT_BPF_RUNTIMES_HOTSPOT_BPF_H
#define XAGENT_BPF_RUNTIMES_HOTSPOT_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/runtimes/hotspot_blob.bpf.h"
#include "bpf/runtimes/hotspot_names.bpf.h"
#include "bpf/runtimes/hotspot_objects.bpf.h"
#include "bpf/runtimes/hotspot_receiver.bpf.h"
#include "bpf/runtimes/hotspot_scopes.bpf.h"
#include "bpf/runtimes/hotspot_anchor.bpf.h"
#include "bpf/runtimes/hotspot_chunks.bpf.h"
#include "bpf/runtimes/hotspot_thread.bpf.h"

/* Locals of a frame, and what its expressions have on the stack. */
#define HOTSPOT_MAX_FRAME_BYTES (1U << 20)
/* What lies before a frame is whole: the check of the receiver's class, padding, a probe of the stack. What an epilogue has behind the frame's end is less. */
#define HOTSPOT_CODE_BYTES 96

/* None of its addresses was met: none is as high as the lowest. */
#define HOTSPOT_NO_INTERPRETER 0xffffffffULL

static __always_inline __u64 hotspot_begin(struct scratch *s)
{
	s->runtime.known[HOTSPOT_KNOWN_BOUNDS].word = 0;
	s->runtime.words[HOTSPOT_WORD_POOL] = s->runtime.words[HOTSPOT_WORD_NMETHOD] = 0;
	s->runtime.words[HOTSPOT_WORD_INTERPRETER] = HOTSPOT_NO_INTERPRETER;
	s->runtime.words[HOTSPOT_WORD_WRAPPER] = 0;
	hotspot_set_on_heap(s, false);
	if (!hotspot_layout(s)->is_supported)
		s->runtime.result = RUNTIME_RESULT_UNSUPPORTED;
	else
		hotspot_find_cache(s->level);
	return 0;
}

static __always_inline int hotspot_read(struct scratch *s)
{
	(void)s;
	return 0;
}

static __always_inline int hotspot_lost(struct scratch *s, __u32 end)
{
	s->runtime.result = RUNTIME_RESULT_UNREADABLE;
	unwind_stop(&s->walk, end);
	return RUNTIME_CODE_LAST;
}

/* To the caller, which w->cfa, w->ra and w->fp tell. */
static __always_inline int hotspot_up(struct scratch *s)
{
	struct unwind_walk *w = &s->walk;

	w->known = 0;
	if (w->cfa < w->reg[WIRE_ABI_SP] ||
	    (w->cfa == w->reg[WIRE_ABI_SP] && !(w->flags & UNWIND_EXACT)))
		return hotspot_lost(s, STOP_REASON_NO_PROGRESS);
	if (hotspot_is_unpacking(s))
		hotspot_note_unpacking(s, w->cfa);
	return unwind_up(w, 0, &w->n_fp) ? RUNTIME_CODE_LEFT : RUNTIME_CODE_LAST;
}

/* The interpreter's bytecode pointer: r13, or x22. */
#define HOTSPOT_BCP (WIRE_N_REGS == 16 ? 13 : 22)

/* The leaf has its bytecode pointer in a register, and in its frame only where it was at the last call. `bcp`: that one, by which its method was read. */
static __always_inline void hotspot_take_live_bcp(struct scratch *s, __u64 bcp)
{
	__u64 code = bcp - s->runtime.position;
	__u64 at = s->walk.reg[HOTSPOT_BCP] - code;

	if (s->walk.flags & UNWIND_EXACT && s->runtime.position != HOTSPOT_NO_BCI &&
	    at < hotspot_read_u16(s, hotspot_layout(s)->at[HOTSPOT_CONST_CODE_BYTES]))
		s->runtime.position = at;
}

/* A frame of the interpreter that is whole. */
__noinline int hotspot_interpreted(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	__u64 method = 0, bcp = 0, sender = 0, saved_fp = 0, ra = 0, fp;
	const struct hotspot_layout *l;
	struct unwind_walk *w;
	int is_its = 1;

	if (!s)
		return RUNTIME_CODE_NOT_ITS;
	l = hotspot_layout(s);
	w = &s->walk;
	fp = w->reg[WIRE_ABI_FP];

	/* What lies below sp is of a call before. */
	if (fp - HOTSPOT_FRAME_BCP - w->reg[WIRE_ABI_SP] > HOTSPOT_MAX_FRAME_BYTES || (fp & 7) ||
	    walk_word(w, &bcp, fp - (l->low_at ? HOTSPOT_FRAME_BCP : HOTSPOT_FRAME_BCP_8)) ||
	    walk_word(w, &method, fp - HOTSPOT_FRAME_METHOD) ||
	    walk_word(w, &sender, fp - HOTSPOT_FRAME_SENDER_SP) || walk_word(w, &saved_fp, fp) ||
	    walk_word(w, &ra, fp + 8))
		return RUNTIME_CODE_NOT_ITS;
	if (hotspot_is_on_heap(s)) {
		sender = fp + 8 * sender;
		saved_fp = fp + 8 * saved_fp;
		ra = hotspot_ra_on_heap(s, hotspot_locals_end(fp), ra);
		is_its = hotspot_is_in_cache(s, ra) ? hotspot_is_still(level) : 0;
	}
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(is_its));
	w->cfa = sender - (fp + 16) < HOTSPOT_MAX_FRAME_BYTES ? sender : fp + 16;
	w->fp = saved_fp;
	w->ra = ra;
	if (is_its && !hotspot_is_unfilled(s))
		is_its = hotspot_method(level, method, bcp, HOTSPOT_AT_BCP);
	else
		is_its = 0;
	asm volatile("" : "+r"(is_its));
	if (!is_its)
		return RUNTIME_CODE_NOT_ITS;
	hotspot_take_live_bcp(s, bcp);
	hotspot_note_tier(s, WIRE_TIER_INTERPRETED);
	return hotspot_up(s);
}

/* How far a frame of known size has come, at the instruction about to run. */
enum hotspot_edge { HOTSPOT_WHOLE, HOTSPOT_NO_FRAME, HOTSPOT_FP_PUSHED };

/* Without what the frame has beside it: the saved frame pointer, and the return address. */
#define HOTSPOT_PUSHED_BYTES 16

/* Words that code of a whole frame has pushed at most: C2's comparison of strings keeps one there, slow paths of barriers some registers. */
#define HOTSPOT_MAX_PUSHED 6

/* The caller's frame pointer and return address, below w->cfa: nothing was pushed. */
static __always_inline int hotspot_find_ra_on_heap(struct unwind_walk *w, const struct scratch *s)
{
	if (walk_word(w, &w->fp, w->cfa - 16) || walk_word(w, &w->ra, w->cfa - 8))
		return 0;
	w->fp = w->cfa - 16 + 8 * w->fp;
	w->ra = hotspot_ra_on_heap(s, w->cfa, w->ra);
	return hotspot_is_in_cache(s, w->ra);
}

/* … or above, where the leaf has pushed something. */
__noinline int hotspot_find_ra(__u32 level, __u32 edge)
{
	struct scratch *s = walk_scratch(level);
	__u32 n = edge == HOTSPOT_WHOLE ? HOTSPOT_MAX_PUSHED : 0;
	struct unwind_walk *w;
	__u64 fp = 0, ra = 0;

	if (!s)
		return 0;
	w = &s->walk;
	if (hotspot_is_on_heap(s))
		return hotspot_find_ra_on_heap(w, s);
	for (__u32 i = 0; i <= HOTSPOT_MAX_PUSHED; i++) {
		if (i > n || walk_word(w, &fp, w->cfa - 16) || walk_word(w, &ra, w->cfa - 8))
			return 0;
		if (hotspot_is_in_cache(s, ra))
			break;
		w->cfa += 8;
	}
	w->fp = edge == HOTSPOT_NO_FRAME ? w->reg[WIRE_ABI_FP] : fp;
	w->ra = ra;
	return hotspot_is_in_cache(s, w->ra);
}

/* The caller's sp, where a register may have it; arguments of a method are 255 words at most. */
static __always_inline __u64 hotspot_sender(__u64 sender, __u64 otherwise)
{
	return sender - otherwise < 256 * 8 ? sender : otherwise;
}

#if WIRE_N_REGS == 16
#include "bpf/runtimes/hotspot_x86.bpf.h"
#else
#include "bpf/runtimes/hotspot_arm64.bpf.h"
#endif

static __always_inline int hotspot_interpreter_edge(struct scratch *s, bool is_adapter)
{
	bool is_leaf = s->walk.flags & UNWIND_EXACT;
	int is_found = is_leaf ? 0 : hotspot_is_unpacking(s);

	if (is_leaf && is_adapter)
		is_found = hotspot_find_adapted(s->level);
	/* To the verifier they may have returned anything. */
	asm volatile("" : "+r"(is_found));
	if (is_leaf && !is_found)
		is_found = hotspot_find_sender(s->level);
	asm volatile("" : "+r"(is_found));
	return is_found ? hotspot_up(s) : hotspot_lost(s, STOP_REASON_NO_RULE);
}

/*
 * A stub's leaf has set its frame pointer, and has less on the stack than in a whole frame, or some words more: what it saves is pushed bit by bit. The frame
 * pointer of its caller is further away.
 */
static __always_inline bool hotspot_has_fp(const struct scratch *s, __u32 bytes)
{
	__u64 fp = s->walk.reg[WIRE_ABI_FP];

	return fp - s->walk.reg[WIRE_ABI_SP] < bytes + 8 * HOTSPOT_MAX_PUSHED &&
	       hotspot_is_in_cache(s, hotspot_u64(fp + 8));
}

static __always_inline __u64 hotspot_in_cache(const struct scratch *s)
{
	return s->walk.pc - s->runtime.known[HOTSPOT_KNOWN_BOUNDS].at;
}

/* The interpreter is one blob, which has what lies between two addresses in it. */
static __always_inline void hotspot_note_interpreter(struct scratch *s)
{
	__u64 *word = &s->runtime.words[HOTSPOT_WORD_INTERPRETER];
	__u64 at = hotspot_in_cache(s), low = (__u32)*word, high = *word >> 32;

	if (at >> 32)
		return;
	low = at < low ? at : low;
	high = at > high ? at : high;
	*word = high << 32 | low;
}

static __always_inline bool hotspot_is_interpreter(const struct scratch *s)
{
	__u64 word = s->runtime.words[HOTSPOT_WORD_INTERPRETER], at = hotspot_in_cache(s);

	return at >= (__u32)word && at <= word >> 32;
}

/* Of the frame's own method, whose scope was looked at last. */
static __always_inline __u32 hotspot_own_bci(const struct scratch *s)
{
	return s->runtime.words[HOTSPOT_WORD_BCI];
}

/* is_own: what was inlined into the present frame was shown. */
static __always_inline int hotspot_in_blob(struct scratch *s, __u64 at, bool is_own)
{
	struct hotspot_code_blob blob;
	__u64 pc = s->walk.pc;
	enum hotspot_blob kind;
	__u32 begun, tier;
	int code;

	hotspot_get_blob(s, at, &blob);
	if (pc < blob.begin || blob.bytes > HOTSPOT_MAX_FRAME_BYTES)
		return RUNTIME_CODE_NOT_ITS;
	kind = blob.kind;
	if (kind == HOTSPOT_BLOB_IS_INTERPRETER) {
		hotspot_note_interpreter(s);
		code = hotspot_interpreted(s->level);
		/* To the verifier it may have returned anything. */
		asm volatile("" : "+r"(code));
		if (code != RUNTIME_CODE_NOT_ITS)
			return code;
	}
	begun = blob.complete != ~0U && pc - blob.begin < blob.complete
			? blob.complete - (__u32)(pc - blob.begin)
			: 0;
	hotspot_stub(s, at, blob.name, blob.text);
	if (hotspot_is_unpacker(blob.text))
		hotspot_note_unpacking(s, s->walk.reg[WIRE_ABI_SP]);
	if (blob.text == HOTSPOT_VTABLE_TEXT && s->walk.flags & UNWIND_EXACT)
		hotspot_receiver(s->level);
	/* Adapters between both have the same registers. */
	if (kind == HOTSPOT_BLOB_IS_INTERPRETER || kind == HOTSPOT_BLOB_IS_ADAPTER)
		return hotspot_interpreter_edge(s, kind == HOTSPOT_BLOB_IS_ADAPTER);
	/* The barrier that a virtual thread's frames return to when their callers lie on the heap. */
	if (kind == HOTSPOT_BLOB_IS_CONTINUATION) {
		unwind_stop(&s->walk, STOP_REASON_ON_HEAP);
		return RUNTIME_CODE_LAST;
	}
	/* Of stubs nothing tells when their frame is whole. */
	if (kind == HOTSPOT_BLOB_IS_STUB && s->walk.flags & UNWIND_EXACT &&
	    (hotspot_is_called(s, at) || hotspot_has_fp(s, blob.bytes)))
		return hotspot_by_fp(s);
	if (kind == HOTSPOT_BLOB_IS_NMETHOD) {
		tier = want_tiers ? hotspot_tier_of(s, at, blob.text) : WIRE_TIER_NONE;
		hotspot_note_tier(s, tier);
		if (!is_own)
			hotspot_set_key(s, at, blob.number);
		code = is_own ? 0
			      : hotspot_inlined_first(s, at, blob.number, blob.begin, blob.method);
		asm volatile("" : "+r"(code));
		if (code)
			return RUNTIME_CODE_INLINED;
		hotspot_show_own(s->level, blob.method, hotspot_own_bci(s));
		hotspot_remember_caller(s, blob.number, blob.method, tier, blob.bytes);
	}
	if (blob.bytes >= HOTSPOT_PUSHED_BYTES)
		return hotspot_sized(s, begun, blob.bytes);
	return hotspot_is_on_heap(s) ? RUNTIME_CODE_NOT_ITS : hotspot_by_fp(s);
}

/* To the caller of code whose frame is whole. On AArch64 sp may be too low where frame pointers were followed. */
static __always_inline int hotspot_whole(struct scratch *s, __u32 bytes)
{
	struct unwind_walk *w = &s->walk;
	int is_found;

	if (WIRE_N_REGS != 16 && w->flags & UNWIND_SP_LOWEST)
		return hotspot_lost(s, STOP_REASON_REGISTER);
	w->cfa = w->reg[WIRE_ABI_SP] + bytes;
	is_found = !hotspot_is_on_heap(s) && !walk_word(w, &w->fp, w->cfa - 16) &&
		   !walk_word(w, &w->ra, w->cfa - 8) && hotspot_is_in_cache(s, w->ra);
	if (!is_found)
		is_found = hotspot_find_ra(s->level, HOTSPOT_WHOLE);
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(is_found));
	return is_found ? hotspot_up(s) : hotspot_lost(s, STOP_REASON_BAD_PC);
}

/* The scope that a caller in compiled code was in, which others lie around, as long as it is known what that is. */
static __always_inline int hotspot_show_remembered_scope(struct scratch *s, __u64 at, __u64 found)
{
	hotspot_set_key(s, at, found >> 32);
	s->runtime.words[HOTSPOT_WORD_AT] = at;
	s->runtime.words[HOTSPOT_WORD_SCOPES] = 0;
	s->runtime.inlined = found;
	return hotspot_show_scope(s->level, 0);
}

/* A caller's own function, and the way to its own caller. */
static __always_inline int hotspot_show_caller(struct scratch *s, __u64 what, __u64 rest)
{
	__u32 bci = what >> HOTSPOT_METHOD_BITS;

	hotspot_note_tier(s, (__u32)rest >> HOTSPOT_TIER_SHIFT);
	s->runtime.known[HOTSPOT_KNOWN_NAMES].at = HOTSPOT_NAMES_UNREAD;
	s->runtime.function = what & ((1ULL << HOTSPOT_METHOD_BITS) - 1);
	s->runtime.print = rest >> 32;
	s->runtime.position = bci == HOTSPOT_SHORT_NO_BCI ? HOTSPOT_NO_BCI : bci;
	return hotspot_whole(s, 8 * ((__u32)rest & ((1u << HOTSPOT_TIER_SHIFT) - 1)));
}

/*
 * A caller in compiled code that was met before: one read tells whether it is the same still. RUNTIME_CODE_NOT_ITS: it is none. A function of its own: what it has on the
 * stack is not to lie below what other runtimes call.
 */
__noinline int hotspot_remembered(__u32 level, __u32 is_own)
{
	struct scratch *s = walk_scratch(level);
	__u64 at, found, what, rest;
	int is_shown = 0;

	if (!s)
		return RUNTIME_CODE_NOT_ITS;
	if (!s->runtime.words[HOTSPOT_WORD_SHIFT])
		hotspot_find_heap(s->level, s->walk.pc);
	if (s->walk.flags & UNWIND_EXACT || !remembered(hotspot_key_of_pc(s), &at, &found) ||
	    !(found >> 32))
		return RUNTIME_CODE_NOT_ITS;
	if (!is_own) {
		if (!hotspot_is_compilation(s, at & ~HOTSPOT_IS_INLINED, found >> 32))
			return RUNTIME_CODE_NOT_ITS;
		if (at & HOTSPOT_IS_INLINED)
			is_shown = hotspot_show_remembered_scope(s, at & ~HOTSPOT_IS_INLINED,
								 found);
		/* To the verifier it may have returned anything. */
		asm volatile("" : "+r"(is_shown));
		if (is_shown)
			return RUNTIME_CODE_INLINED;
	}
	if (!remembered(hotspot_key_of_caller(hotspot_key_of_pc(s), found >> 32), &what, &rest))
		return RUNTIME_CODE_NOT_ITS;
	return hotspot_show_caller(s, what, rest);
}

/* A function of its own: what it has on the stack is not to lie below what other runtimes call. */
__noinline int hotspot_frame(__u32 level, __u32 is_own)
{
	struct scratch *s = walk_scratch(level);
	__u64 blob = s ? hotspot_find_blob(s) : 0;

	return s && blob ? hotspot_in_blob(s, blob, is_own) : RUNTIME_CODE_NOT_ITS;
}

/* What follows what was shown of the present frame, or it is the first. */
static __always_inline int hotspot_next(struct scratch *s)
{
	bool is_own = s->runtime.inlined;
	int code = 0;

	if (is_own)
		code = hotspot_show_scope(s->level, 0);
	/* To the verifier they may have returned anything. */
	asm volatile("" : "+r"(code));
	if (code)
		return RUNTIME_CODE_INLINED;
	if (hotspot_is_on_heap(s) && !is_own)
		code = hotspot_look_on_heap(s);
	if (code)
		return code;
	code = hotspot_is_interpreter(s) ? hotspot_interpreted(s->level)
					 : hotspot_remembered(s->level, is_own);
	asm volatile("" : "+r"(code));
	if (code == RUNTIME_CODE_NOT_ITS)
		code = hotspot_frame(s->level, is_own);
	asm volatile("" : "+r"(code));
	return code;
}

static __always_inline int hotspot_code(struct scratch *s)
{
	int code;

	if (!hotspot_is_in_cache(s, s->walk.pc) || s->walk.flags & UNWIND_FP_LOST)
		return RUNTIME_CODE_NOT_ITS;
	code = hotspot_next(s);
	/* Of AArch64 it is not known how frames lie there. */
	if (WIRE_N_REGS != 16)
		return code;
	if (code == RUNTIME_CODE_LAST && s->walk.end == STOP_REASON_ON_HEAP)
		return hotspot_on_heap(s, code);
	if (!hotspot_is_on_heap(s) || (code != RUNTIME_CODE_NOT_ITS && code != RUNTIME_CODE_LAST))
		return code;
	/* No native frame lies there. */
	unwind_stop(&s->walk, STOP_REASON_ON_HEAP);
	return code == RUNTIME_CODE_LAST ? code : RUNTIME_CODE_NOTHING;
}

#endif
