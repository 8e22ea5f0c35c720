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
/* Names of stubs have up to 50 characters. */
#define HOTSPOT_STUB_NAME_BYTES 96

/* "nmethod" */
#define HOTSPOT_NMETHOD_TEXT 0x00646f6874656d6eULL

/* None of its addresses was met: none is as high as the lowest. */
#define HOTSPOT_NO_INTERPRETER 0xffffffffULL

enum hotspot_blob {
	HOTSPOT_BLOB_IS_NONE,
	HOTSPOT_BLOB_IS_INTERPRETER,
	HOTSPOT_BLOB_IS_NMETHOD,
	HOTSPOT_BLOB_IS_ADAPTER,
	HOTSPOT_BLOB_IS_CONTINUATION,
	HOTSPOT_BLOB_IS_STUB,
};

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

#define HOTSPOT_RAX 0
#define HOTSPOT_RBX 3
#define HOTSPOT_R13 13
/* The interpreter's bytecode pointer: r13, or x22. */
#define HOTSPOT_BCP (WIRE_N_REGS == 16 ? HOTSPOT_R13 : 22)

/* The leaf has its bytecode pointer in a register, and in its frame only where it was at the last call. `bcp`: that one, by which its method was read. */
static __always_inline void hotspot_take_live_bcp(struct scratch *s, __u64 bcp)
{
	__u64 code = bcp - s->runtime.position;
	__u64 at = s->walk.reg[HOTSPOT_BCP] - code;

	if (s->walk.flags & UNWIND_EXACT && s->runtime.position != HOTSPOT_NO_BCI &&
	    at < hotspot_read_u16(s, hotspot_layout(s)->at[HOTSPOT_CONST_CODE_BYTES]))
		s->runtime.position = at;
}

/* Of the innermost method. */
static __always_inline void hotspot_note_tier(struct scratch *s, __u32 tier)
{
	if (want_tiers && s->record.head.tier == WIRE_TIER_NONE)
		s->record.head.tier = tier;
}

/* How the code of a method was compiled, whose CodeBlob is at `at`; its name is "nmethod", or "native nmethod". The tier has one byte or four. */
static __always_inline __u32 hotspot_tier_of(const struct scratch *s, __u64 at, __u64 name)
{
	__u32 offset = hotspot_layout(s)->at[HOTSPOT_NMETHOD_TIER];
	__u8 tier = 0;

	if ((name & 0xffff) == 0x616e)
		return WIRE_TIER_NATIVE;
	if (offset != HOTSPOT_NONE)
		bpf_probe_read_user(&tier, sizeof(tier), (void *)(at + offset));
	return tier && tier <= WIRE_TIER_LAST ? WIRE_TIER_OF(tier) : WIRE_TIER_NONE;
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

/* The caller's sp, where a register may have it; arguments of a method are 255 words at most. */
static __always_inline __u64 hotspot_sender(__u64 sender, __u64 otherwise)
{
	return sender - otherwise < 256 * 8 ? sender : otherwise;
}

#if WIRE_N_REGS == 16
/*
 * The interpreter's leaf, before its frame is whole or behind its end: the caller's sp is in r13 and its return address on top of the stack, then in
 * rax, then in the frame; at last it is on top of the stack again, then in rsi, and that sp in rbx.
 */
__noinline int hotspot_find_sender(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	struct unwind_walk *w;
	__u64 fp, sp;

	if (!s)
		return 0;
	w = &s->walk;
	fp = w->reg[WIRE_ABI_FP];
	sp = w->reg[WIRE_ABI_SP];
	w->fp = fp;
	w->ra = hotspot_u64(sp);
	w->cfa = hotspot_sender(w->reg[HOTSPOT_R13], sp + 8);
	if (w->cfa == sp + 8)
		w->cfa = hotspot_sender(w->reg[HOTSPOT_RBX], sp + 8);
	if (hotspot_is_in_cache(s, w->ra))
		return 1;
	/* The frame pointer was pushed, and is not set yet. */
	w->ra = hotspot_u64(sp + 8);
	w->cfa = hotspot_sender(w->reg[HOTSPOT_R13], sp + 16);
	w->fp = hotspot_u64(sp);
	if (hotspot_is_in_cache(s, w->ra) && w->fp - sp < HOTSPOT_MAX_FRAME_BYTES)
		return 1;
	/* It is: rax has the address still. No frame that is whole is as small. */
	w->ra = hotspot_u64(fp + 8);
	w->cfa = hotspot_sender(w->reg[HOTSPOT_R13], fp + 16);
	if (w->cfa == fp + 16 && fp > sp)
		w->cfa = hotspot_sender(hotspot_u64(fp - HOTSPOT_FRAME_SENDER_SP), fp + 16);
	w->fp = hotspot_u64(fp);
	if (fp - sp < HOTSPOT_FRAME_BCP && hotspot_is_in_cache(s, w->ra))
		return 1;
	w->fp = fp;
	w->ra = w->reg[HOTSPOT_RAX];
	w->cfa = w->reg[HOTSPOT_R13];
	if (hotspot_is_in_cache(s, w->ra) && w->cfa - sp < HOTSPOT_MAX_FRAME_BYTES)
		return 1;
	w->ra = w->reg[HOTSPOT_RSI];
	w->cfa = w->reg[HOTSPOT_RBX];
	return hotspot_is_in_cache(s, w->ra) && w->cfa - sp < HOTSPOT_MAX_FRAME_BYTES;
}

/* mov %rax,(%rsp); mov %rsp,%r13, which sub follows, of one byte or four. */
#define HOTSPOT_PUT_RA 0x24048948
#define HOTSPOT_SET_SENDER 0x8348ec8b4cULL
#define HOTSPOT_SET_SENDER_4 0x8148ec8b4cULL
/* What it saves before it calls the JVM. */
#define HOTSPOT_MAX_SAVED_BYTES 1024

/* An adapter that compiled code has called, before it makes room: code keeps sp a multiple of 16. r13 is nobody's. */
static __always_inline bool hotspot_is_compiled_call(struct scratch *s, __u64 ra)
{
	__u64 pc = s->walk.pc, blob, name;

	if (!(s->walk.reg[WIRE_ABI_SP] & 8))
		return false;
	s->walk.pc = ra;
	blob = hotspot_find_blob(s);
	s->walk.pc = pc;
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(blob));
	name = blob ? hotspot_u64(blob + hotspot_layout(s)->at[HOTSPOT_BLOB_NAME]) : 0;
	return name && hotspot_u64(name) == HOTSPOT_NMETHOD_TEXT;
}

/*
 * An adapter to the interpreter: the return address is in rax as long as it is not behind the arguments that were made room for. Where the JVM has to be called first, r13 is
 * where the return address is.
 */
__noinline int hotspot_find_adapted(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	struct unwind_walk *w;
	__u64 code, sp, r13;

	if (!s)
		return 0;
	w = &s->walk;
	sp = w->reg[WIRE_ABI_SP];
	r13 = w->reg[HOTSPOT_R13];
	code = hotspot_u64(w->pc);
	w->fp = w->reg[WIRE_ABI_FP];
	w->ra = w->reg[HOTSPOT_RAX];
	if ((__u32)code == HOTSPOT_PUT_RA) {
		w->cfa = r13;
	} else if (code << 24 >> 24 == HOTSPOT_SET_SENDER ||
		   code << 24 >> 24 == HOTSPOT_SET_SENDER_4) {
		w->cfa = sp;
		return hotspot_is_in_cache(s, w->ra);
	} else {
		w->ra = hotspot_u64(sp);
		w->cfa = sp + 8;
		if (hotspot_is_in_cache(s, w->ra))
			return hotspot_is_compiled_call(s, w->ra);
		w->ra = hotspot_u64(r13);
		w->cfa = r13 + 8;
	}
	return r13 - sp < HOTSPOT_MAX_SAVED_BYTES && hotspot_is_in_cache(s, w->ra);
}
#else
int hotspot_find_sender(__u32 level);

static __always_inline int hotspot_find_adapted(__u32 level)
{
	(void)level;
	return 0;
}
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

/* How far a frame of known size has come, at the instruction about to run. */
enum hotspot_edge { HOTSPOT_WHOLE, HOTSPOT_NO_FRAME, HOTSPOT_FP_PUSHED };

/* Without what the frame has beside it: the saved frame pointer, and the return address. */
#define HOTSPOT_PUSHED_BYTES 16

#if WIRE_N_REGS == 16
/* sub $bytes,%rsp; C1 and C2 have the short form where it will do, or not. */
static __always_inline bool hotspot_is_sub(const __u8 *code, __u32 bytes)
{
	__u32 value;

	if (code[0] != 0x48 || code[2] != 0xec)
		return false;
	if (code[1] == 0x83)
		return code[3] == bytes;
	value = code[3] | (__u32)code[4] << 8 | (__u32)code[5] << 16 | (__u32)code[6] << 24;
	return code[1] == 0x81 && value == bytes;
}

/* mov %rsp,%rbp, which is between the push and the sub where frame pointers are kept (-XX:+PreserveFramePointer). */
static __always_inline bool hotspot_is_fp_set(const __u8 *code)
{
	return code[0] == 0x48 && code[1] == 0x8b && code[2] == 0xec;
}

/* In the prologue, which ends `n` bytes behind the code that was read: what lies ahead tells what was done. */
static __always_inline enum hotspot_edge hotspot_ahead(const __u8 *code, __u32 n, __u32 bytes)
{
	/* Too far ahead to be seen. */
	enum hotspot_edge edge = n > HOTSPOT_CODE_BYTES ? HOTSPOT_NO_FRAME : HOTSPOT_WHOLE;

	for (__u32 i = 0; i < HOTSPOT_CODE_BYTES - 7; i++) {
		if (i >= n)
			break;
		/* push %rbp; sub $bytes,%rsp, or the latter of the whole frame but its return address */
		if (bytes > HOTSPOT_PUSHED_BYTES &&
		    hotspot_is_sub(code + i, bytes - HOTSPOT_PUSHED_BYTES)) {
			edge = i == 0 || (i == 3 && hotspot_is_fp_set(code)) ? HOTSPOT_FP_PUSHED
									     : HOTSPOT_NO_FRAME;
			break;
		}
		if (hotspot_is_sub(code + i, bytes - 8) ||
		    (bytes == HOTSPOT_PUSHED_BYTES && code[i] == 0x55)) {
			edge = HOTSPOT_NO_FRAME;
			break;
		}
	}
	return edge;
}

/* Bytes of an instruction that looks whether a safepoint is wanted; 0: it is none. */
static __always_inline __u32 hotspot_poll(const __u8 *code)
{
	/* cmp at(%r15),%rsp */
	if (code[0] == 0x49 && code[1] == 0x3b && code[2] == 0x67)
		return 4;
	if (code[0] == 0x49 && code[1] == 0x3b && code[2] == 0xa7)
		return 7;
	/* ja */
	if (code[0] == 0x0f && code[1] == 0x87)
		return 6;
	/* test %eax,at(%rip) */
	if (code[0] == 0x85 && code[1] == 0x05)
		return 6;
	/* mov at(%r15),%r10; test %eax,(%r10) */
	if (code[0] == 0x4d && code[1] == 0x8b && code[2] == 0x57)
		return 4;
	if (code[0] == 0x4d && code[1] == 0x8b && code[2] == 0x97)
		return 7;
	if (code[0] == 0x41 && code[1] == 0x85 && code[2] == 0x02)
		return 3;
	return 0;
}

/* In the epilogue, behind its add to %rsp: nothing but that lies between the pc and `ret`. */
static __always_inline enum hotspot_edge hotspot_behind(const __u8 *code)
{
	enum hotspot_edge edge = code[0] == 0x5d ? HOTSPOT_FP_PUSHED : HOTSPOT_NO_FRAME;
	__u32 at = edge == HOTSPOT_FP_PUSHED;

	for (int i = 0; i < 3; i++) {
		__u32 n = hotspot_poll(code + (at & 15));

		if (!n)
			break;
		at += n;
	}
	return code[at & (HOTSPOT_CODE_BYTES - 1)] == 0xc3 ? edge : HOTSPOT_WHOLE;
}

/* The slow path of the poll of an epilogue: lea at(%rip),%r10; mov %r10,at(%r15); jmp. */
static __always_inline bool hotspot_is_slow_poll(const __u8 *code)
{
	if (code[0] == 0x4c && code[1] == 0x8d && code[2] == 0x15)
		code += 7;
	return code[0] == 0x4d && code[1] == 0x89 && code[2] == 0x97 && code[7] == 0xe9;
}

/* Of the leaf. `n`: bytes of code before the frame is whole, from the pc on; 0: it was. */
__noinline int hotspot_edge_of(__u32 level, __u32 n, __u32 bytes)
{
	struct scratch *s = walk_scratch(level);
	const __u8 *code;

	if (!s)
		return HOTSPOT_WHOLE;
	code = (const __u8 *)s->runtime.bytes;
	if (bpf_probe_read_user(s->runtime.bytes, HOTSPOT_CODE_BYTES, (void *)s->walk.pc))
		return HOTSPOT_WHOLE;
	if (n)
		return hotspot_ahead(code, n, bytes);
	if (hotspot_is_slow_poll(code))
		return HOTSPOT_NO_FRAME;
	return hotspot_behind(code);
}

#endif

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

/* A stub of which only the name is known. */
static __always_inline void hotspot_stub(struct scratch *s, __u64 blob, __u64 name, __u64 text)
{
	s->runtime.known[HOTSPOT_KNOWN_NAMES].at = 0;
	s->runtime.known[HOTSPOT_KNOWN_NAMES].word = name;
	s->runtime.function = blob;
	s->runtime.print = (__u32)(hash_mix(text, name) >> 32) | 1;
	s->runtime.position = HOTSPOT_NO_BCI;
}

#if WIRE_N_REGS == 16
/* To the caller of code whose frames have `bytes`. Its method was read. */
static __always_inline int hotspot_sized(struct scratch *s, __u32 n_begin, __u32 bytes)
{
	struct unwind_walk *w = &s->walk;
	__u64 sp = w->reg[WIRE_ABI_SP];
	int edge = HOTSPOT_WHOLE;

	if (w->flags & UNWIND_EXACT)
		edge = hotspot_edge_of(s->level, n_begin, bytes);
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(edge));
	w->cfa = sp + (edge == HOTSPOT_NO_FRAME	   ? 8
		       : edge == HOTSPOT_FP_PUSHED ? HOTSPOT_PUSHED_BYTES
						   : bytes);
	edge = hotspot_find_ra(s->level, edge);
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(edge));
	return edge ? hotspot_up(s) : hotspot_lost(s, STOP_REASON_BAD_PC);
}

/* A stub whose frame is none, or by frame pointer. Only the JVM itself calls it from elsewhere. */
static __always_inline int hotspot_by_fp(struct scratch *s)
{
	struct unwind_walk *w = &s->walk;
	__u64 fp = w->reg[WIRE_ABI_FP], sp = w->reg[WIRE_ABI_SP];

	w->ra = w->flags & UNWIND_EXACT ? hotspot_u64(sp) : 0;
	w->cfa = sp + 8;
	w->fp = fp;
	if (!hotspot_is_in_cache(s, w->ra)) {
		if (fp - sp > HOTSPOT_MAX_FRAME_BYTES || (fp & 7))
			return hotspot_lost(s, STOP_REASON_NO_RULE);
		w->cfa = fp + 16;
		if (walk_word(w, &w->fp, fp) || walk_word(w, &w->ra, fp + 8))
			return hotspot_lost(s, STOP_REASON_STACK_READ);
		/* The barrier at entries of methods keeps room for another sp there. */
		if (w->ra == ~0ULL) {
			w->cfa = fp + 24;
			w->ra = hotspot_u64(fp + 16);
		}
		if (!hotspot_is_in_cache(s, w->ra)) {
			if (!unwind_is_code(w))
				return hotspot_lost(s, STOP_REASON_BAD_PC);
			s->runtime.words[HOTSPOT_WORD_WRAPPER] =
				hotspot_u64(fp - HOTSPOT_FRAME_WRAPPER);
		}
	}
	return hotspot_up(s);
}

/* A stub's leaf, which has made no frame. */
static __always_inline bool hotspot_is_called(struct scratch *s, __u64 blob)
{
	(void)blob;
	return hotspot_is_in_cache(s, hotspot_u64(s->walk.reg[WIRE_ABI_SP]));
}
#else
#include "bpf/runtimes/hotspot_arm64.bpf.h"
#endif

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

static __always_inline enum hotspot_blob hotspot_kind(const __u64 *text)
{
	/* "Interpre", "I2C/C2I ", "nmethod", "native n", "method", and what lies behind its end; "StubRoutines (continuation" */
	if (text[0] == 0x6572707265746e49ULL)
		return HOTSPOT_BLOB_IS_INTERPRETER;
	if (text[0] == 0x204932432f433249ULL)
		return HOTSPOT_BLOB_IS_ADAPTER;
	if (text[0] == HOTSPOT_NMETHOD_TEXT ||
	    (text[0] == 0x6e2065766974616eULL && text[1] << 8 == 0x00646f6874656d00ULL))
		return HOTSPOT_BLOB_IS_NMETHOD;
	if (text[0] == 0x74756f5262757453ULL && text[1] == 0x6f63282073656e69ULL &&
	    text[2] == 0x697461756e69746eULL)
		return HOTSPOT_BLOB_IS_CONTINUATION;
	return HOTSPOT_BLOB_IS_STUB;
}

/* By the name of a blob, and the first characters of that. */
static __always_inline enum hotspot_blob hotspot_read_kind(__u64 name, __u64 *ret_text)
{
	__u64 text[3] = { 0 };

	bpf_probe_read_user(text, sizeof(text), (void *)name);
	*ret_text = text[0];
	return hotspot_kind(text);
}

/* What was read of a CodeBlob. */
struct hotspot_code_blob {
	__u64 begin; /* of its code */
	__u64 method;
	__u64 name;
	__u64 text; /* the first characters of the name; not read of one that is known */
	enum hotspot_blob kind;
	__u32 number;	/* of the compilation; 0: not known */
	__u32 bytes;	/* of a frame */
	__u32 complete; /* from here on it is whole */
};

static __always_inline void hotspot_get_blob(struct scratch *s, __u64 at,
					     struct hotspot_code_blob *ret_blob)
{
	const struct hotspot_layout *l = hotspot_layout(s);
	__u32 complete = l->at[HOTSPOT_BLOB_COMPLETE];

	ret_blob->begin = l->at[HOTSPOT_BLOB_CODE] != HOTSPOT_NONE
				  ? hotspot_read_u64(s, l->at[HOTSPOT_BLOB_CODE])
				  : at + hotspot_read_u32(s, l->at[HOTSPOT_BLOB_CODE_OFFSET]);
	ret_blob->method = hotspot_read_u64(s, l->at[HOTSPOT_NMETHOD_METHOD]);
	ret_blob->bytes = 8 * hotspot_read_u32(s, l->at[HOTSPOT_BLOB_FRAME_BYTES]);
	ret_blob->complete = l->has_short_complete ? (__u32)(__s16)hotspot_read_u16(s, complete)
						   : hotspot_read_u32(s, complete);
	ret_blob->name = hotspot_read_u64(s, l->at[HOTSPOT_BLOB_NAME]);
	ret_blob->number = hotspot_number_of(s, at);
	ret_blob->text = 0;
	ret_blob->kind = HOTSPOT_BLOB_IS_NMETHOD;
	/* One text is the name of all of these. */
	if (ret_blob->name && ret_blob->name == s->runtime.words[HOTSPOT_WORD_NMETHOD])
		return;
	ret_blob->kind = hotspot_read_kind(ret_blob->name, &ret_blob->text);
	if (ret_blob->kind == HOTSPOT_BLOB_IS_NMETHOD)
		s->runtime.words[HOTSPOT_WORD_NMETHOD] = ret_blob->name;
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

/* To the caller of code whose frame is whole. A copy of sp may be too low where frame pointers were followed, on AArch64. */
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

/* A caller in compiled code that was met before, of which nothing is read again. RUNTIME_CODE_NOT_ITS: it is none. */
static __always_inline int hotspot_remembered(struct scratch *s, bool is_own)
{
	__u64 at, found, what, rest;
	int is_shown = 0;

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
					 : hotspot_remembered(s, is_own);
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

/* The file that a class was compiled from, as its class file says. */
static __always_inline __u64 hotspot_source(const struct hotspot_layout *l, __u64 pool)
{
	__u64 klass = hotspot_u64(pool + l->at[HOTSPOT_POOL_HOLDER]);
	__u32 index = 0;

	if (l->at[HOTSPOT_POOL_SOURCE] != HOTSPOT_NONE)
		index = hotspot_u16(pool + l->at[HOTSPOT_POOL_SOURCE]);
	else if (l->at[HOTSPOT_KLASS_SOURCE] != HOTSPOT_NONE)
		index = hotspot_u16(klass + l->at[HOTSPOT_KLASS_SOURCE]);
	return hotspot_slot(l, pool, index);
}

/* The first line of a table of lines; 0: it is not told. Bytecodes before it may have none: Kotlin's look at arguments first. */
static __always_inline __u32 hotspot_first_line(struct scratch *s, __u64 table)
{
	__u32 at = 1, first, line;

	if (bpf_probe_read_user(s->runtime.bytes, HOTSPOT_SCOPE_BYTES, (void *)table))
		return 0;
	first = (__u8)s->runtime.bytes[0];
	if (first != HOTSPOT_LINES_LONG)
		return first & 7;
	hotspot_number(s, &at);
	line = hotspot_number(s, &at);
	/* Signed: the lowest bit is the sign's. */
	return line & 1 ? 0 : line >> 1;
}

/* The types of a method's arguments, behind its name. */
__noinline int hotspot_name_arguments(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	struct wire_name *name = bpf_map_lookup_elem(&names, &level);
	const struct hotspot_layout *l;
	__u64 constants, pool, signature;

	if (!s || !name || name->n_name > WIRE_NAME_BYTES - WIRE_SIGNATURE_BYTES)
		return 0;
	l = hotspot_layout(s);
	constants = hotspot_u64(s->runtime.function + l->at[HOTSPOT_METHOD_CONST]);
	pool = hotspot_u64(constants + l->at[HOTSPOT_CONST_POOL]);
	signature = hotspot_slot(l, pool, hotspot_u16(constants + l->at[HOTSPOT_CONST_SIGNATURE]));
	if (!signature)
		return 0;
	name->signature_at = name->n_name;
	name->n_name += hotspot_append(s, name, signature, WIRE_SIGNATURE_BYTES);
	return 0;
}

/* Where a method lies in its file. */
__noinline int hotspot_name_lines(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	struct wire_name *name = bpf_map_lookup_elem(&names, &level);
	const struct hotspot_layout *l;
	__u64 constants, pool, source, table, n;

	if (!s || !name)
		return 0;
	l = hotspot_layout(s);
	constants = hotspot_u64(s->runtime.function + l->at[HOTSPOT_METHOD_CONST]);
	pool = hotspot_u64(constants + l->at[HOTSPOT_CONST_POOL]);
	source = hotspot_source(l, pool);
	if (!source)
		return 0;
	name->file_encoding = WIRE_JAVA;
	name->n_file = hotspot_append(s, name, source, WIRE_FILE_BYTES);
	if (!l->has_lines ||
	    !(hotspot_u16(constants + l->at[HOTSPOT_CONST_FLAGS]) & HOTSPOT_CONST_HAS_LINES))
		return 0;
	table = l->const_bytes + hotspot_u16(constants + l->at[HOTSPOT_CONST_CODE_BYTES]);
	n = 8 * (__u64)hotspot_u32(constants + l->at[HOTSPOT_CONST_SIZE]) - table;
	table += constants;
	name->line = hotspot_first_line(s, table);
	/* What lies behind the table comes along: its end is told in it. */
	if (!want_lines || n > 8ULL << 32)
		return 0;
	name->n_lines = name_append(name, table, n, WIRE_LINES_BYTES);
	if (name->n_lines)
		name->lines_format = l->major >= 20 ? HOTSPOT_LINES_20 : HOTSPOT_LINES;
	return 0;
}

/* Of a function that was remembered. */
__noinline int hotspot_read_names(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	__u32 print, position;
	__u64 function;
	int is_read;

	if (!s)
		return 0;
	function = s->runtime.function;
	print = s->runtime.print;
	position = s->runtime.position;
	is_read = hotspot_method(level, function, HOTSPOT_NO_BCI, HOTSPOT_AT_BCI);
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(is_read));
	is_read = is_read && s->runtime.function == function && s->runtime.print == print;
	s->runtime.function = function;
	s->runtime.print = print;
	s->runtime.position = position;
	return is_read;
}

static __always_inline int hotspot_name(struct scratch *s, struct wire_name *name)
{
	const struct runtime_known *names = &s->runtime.known[HOTSPOT_KNOWN_NAMES];
	int is_read = 1;
	long n;

	if (s->runtime.function == HOTSPOT_GAP)
		return hotspot_name_gap(name);
	if (names->at == HOTSPOT_AT_RECEIVER)
		return hotspot_name_receiver(s->level);
	if (names->at == HOTSPOT_NAMES_UNREAD)
		is_read = hotspot_read_names(s->level);
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(is_read));
	if (!is_read)
		return 0;
	if (!names->at) {
		n = bpf_probe_read_user_str(name->texts, HOTSPOT_STUB_NAME_BYTES,
					    (void *)names->word);
		name->n_name = n > 1 ? n - 1 : 0;
		return n > 1;
	}
	/* Behind the walk: the method is being compiled. */
	name->compiled_tier = s->record.head.compiled_tier;
	name->scope_encoding = WIRE_JAVA_CLASS;
	name->name_encoding = WIRE_JAVA;
	name->n_scope = hotspot_append(s, name, names->at, WIRE_SCOPE_BYTES);
	name->n_name = hotspot_append(s, name, names->word, WIRE_NAME_BYTES);
	if (!name->n_scope || !name->n_name)
		return 0;
	if (want_arguments)
		hotspot_name_arguments(s->level);
	hotspot_name_lines(s->level);
	return 1;
}

#endif
