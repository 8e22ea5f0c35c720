/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What HotSpot's frames have of their own on AArch64. A call leaves the return address in x30, so it is there until a frame was made and once it was
 * removed:
 *
 *	small frames	sub sp, sp, #bytes;  stp x29, x30, [sp, #bytes − 16] … ldp x29, x30, [sp, #bytes − 16];  add sp, sp, #bytes;  ret
 *	large ones	stp x29, x30, [sp, #−16]!;  sub sp, sp, … … add sp, sp, …;  ldp x29, x30, [sp], #16;  ret
 *
 * A whole frame is as on x86-64: the return address is its uppermost word, and below it is the caller's frame pointer.
 */
#ifndef XAGENT_BPF_RUNTIMES_HOTSPOT_ARM64_BPF_H
#define XAGENT_BPF_RUNTIMES_HOTSPOT_ARM64_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/runtimes/hotspot_objects.bpf.h"

#define HOTSPOT_X13 13
#define HOTSPOT_X19 19
#define HOTSPOT_ESP 20 /* where the interpreter's expressions are (macroAssembler_aarch64.hpp) */

/* Frames that are smaller are made by two instructions. */
#define HOTSPOT_SMALL_BYTES (512 + 16)
#define HOTSPOT_CODE_WORDS (HOTSPOT_CODE_BYTES / 4)

#define HOTSPOT_SUB_SP(bytes) (0xd10003ff | (bytes) << 10)
#define HOTSPOT_ADD_SP(bytes) (0x910003ff | (bytes) << 10)
#define HOTSPOT_STORE(bytes) (0xa9007bfd | ((bytes) / 8 & 127) << 15)
#define HOTSPOT_LOAD(bytes) (0xa9407bfd | ((bytes) / 8 & 127) << 15)
#define HOTSPOT_PUSH 0xa9bf7bfd
#define HOTSPOT_POP 0xa8c17bfd
#define HOTSPOT_RET 0xd65f03c0
/* and sp, x20, #−16: the interpreter has left its frame, and goes to where its caller's sp was. */
#define HOTSPOT_TO_ESP 0x927cee9f

/* The interpreter's leaf, or an adapter's, before its frame is whole or behind its end: the caller's sp as it was is in a register. */
__noinline int hotspot_find_sender(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	struct unwind_walk *w;
	__u32 code = 0;
	__u64 sp;

	if (!s)
		return 0;
	w = &s->walk;
	sp = w->reg[WIRE_ABI_SP];
	w->fp = w->reg[WIRE_ABI_FP];
	w->ra = w->reg[RULE_ARM64_LR];
	bpf_probe_read_user(&code, sizeof(code), (void *)w->pc);
	if (code == HOTSPOT_TO_ESP)
		w->cfa = hotspot_sender(w->reg[HOTSPOT_ESP] & ~15ULL, sp);
	else
		w->cfa = hotspot_sender(
			w->reg[hotspot_layout(s)->major >= 19 ? HOTSPOT_X19 : HOTSPOT_X13], sp);
	return hotspot_is_in_cache(s, w->ra);
}

static __always_inline int hotspot_find_adapted(__u32 level)
{
	(void)level;
	return 0;
}

/* What the code about to run tells of a frame that has its caller in registers. */
enum hotspot_made {
	HOTSPOT_MADE,	  /* it has not */
	HOTSPOT_NOT_MADE, /* sp is the caller's */
	HOTSPOT_SP_MOVED, /* sp is the frame's */
	HOTSPOT_RECORD,	  /* fp and the return address are on top of the stack */
};

/* In the prologue, which ends `n` bytes behind the code that was read. */
static __always_inline enum hotspot_made hotspot_made_ahead(const __u32 *code, __u32 n, __u32 bytes)
{
	bool is_small = bytes < HOTSPOT_SMALL_BYTES;
	__u32 first = is_small ? HOTSPOT_SUB_SP(bytes) : HOTSPOT_PUSH;
	__u32 second = is_small ? HOTSPOT_STORE(bytes - 16) : 0;
	enum hotspot_made made = is_small ? HOTSPOT_MADE : HOTSPOT_RECORD;

	/* Too far ahead to be seen. */
	if (n > HOTSPOT_CODE_BYTES)
		return HOTSPOT_NOT_MADE;
	for (__u32 i = 0; i < HOTSPOT_CODE_WORDS; i++) {
		if (4 * i >= n)
			break;
		if (code[i] == first)
			return HOTSPOT_NOT_MADE;
		if (code[i] == second)
			made = HOTSPOT_SP_MOVED;
	}
	return made;
}

/* ldr x8, [x28, …]; cmp sp, x8; b.hi: whether a safepoint is wanted. */
static __always_inline bool hotspot_is_poll(__u32 code)
{
	return (code & 0xffc003ff) == 0xf9400388 || code == 0xeb2863ff ||
	       (code & 0xff00001f) == 0x54000008;
}

/* In the epilogue: nothing but that lies between the pc and `ret`. It is wanted: adr x8, …; str x8, [x28, …]; b. */
static __always_inline enum hotspot_made hotspot_made_behind(const __u32 *code, __u32 before,
							     __u32 bytes)
{
	__u32 at = 0;

	if (bytes < HOTSPOT_SMALL_BYTES && code[0] == HOTSPOT_ADD_SP(bytes) &&
	    before == HOTSPOT_LOAD(bytes - 16))
		return HOTSPOT_SP_MOVED;
	if (bytes >= HOTSPOT_SMALL_BYTES && code[0] == HOTSPOT_POP)
		return HOTSPOT_RECORD;
	if ((code[0] & 0x9f00001f) == 0x10000008)
		at = 1;
	if ((code[at] & 0xffc003ff) == 0xf9000388 && code[at + 1] >> 26 == 5)
		return HOTSPOT_NOT_MADE;
	at = 0;
	for (int i = 0; i < 3; i++)
		at += at == (__u32)i && hotspot_is_poll(code[i]);
	return code[at & 3] == HOTSPOT_RET ? HOTSPOT_NOT_MADE : HOTSPOT_MADE;
}

/* Of the leaf. `n`: bytes of code before the frame is whole, from the pc on; 0: it was. */
__noinline int hotspot_made(__u32 level, __u32 n, __u32 bytes)
{
	struct scratch *s = walk_scratch(level);
	const __u32 *code;
	__u32 before = 0;

	if (!s)
		return HOTSPOT_MADE;
	code = (const __u32 *)s->runtime.bytes;
	if (bpf_probe_read_user(s->runtime.bytes, HOTSPOT_CODE_BYTES, (void *)s->walk.pc))
		return HOTSPOT_MADE;
	if (n)
		return hotspot_made_ahead(code, n, bytes);
	bpf_probe_read_user(&before, sizeof(before), (void *)(s->walk.pc - 4));
	return hotspot_made_behind(code, before, bytes);
}

/* To the caller of code whose frames have `bytes`. Its method was read. */
static __always_inline int hotspot_sized(struct scratch *s, __u32 n_begin, __u32 bytes)
{
	struct unwind_walk *w = &s->walk;
	__u64 sp = w->reg[WIRE_ABI_SP];
	int made = HOTSPOT_MADE;

	if (w->flags & UNWIND_SP_LOWEST)
		return hotspot_lost(s, STOP_REASON_REGISTER);
	if (w->flags & UNWIND_EXACT)
		made = hotspot_made(s->level, n_begin, bytes);
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(made));
	w->cfa = sp + (made == HOTSPOT_NOT_MADE ? 0
		       : made == HOTSPOT_RECORD ? HOTSPOT_PUSHED_BYTES
						: bytes);
	if (made == HOTSPOT_NOT_MADE || made == HOTSPOT_SP_MOVED) {
		w->ra = w->reg[RULE_ARM64_LR];
		w->fp = w->reg[WIRE_ABI_FP];
		made = hotspot_is_in_cache(s, w->ra);
	} else {
		made = hotspot_find_ra(s->level, HOTSPOT_WHOLE);
	}
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(made));
	return made ? hotspot_up(s) : hotspot_lost(s, STOP_REASON_BAD_PC);
}

/*
 * The leaf, a stub at `blob`, has its return address in x30, and has made no frame: what it calls itself would have left another one there. Stubs for atomic
 * operations are called by the JVM's native code.
 */
static __always_inline bool hotspot_is_called(struct scratch *s, __u64 blob)
{
	struct unwind_walk *w = &s->walk;
	__u64 link = w->reg[RULE_ARM64_LR], pc = w->pc, other;

	if (!(w->flags & UNWIND_EXACT) || hotspot_u64(w->reg[WIRE_ABI_FP] + 8) == link)
		return false;
	w->ra = link;
	if (!hotspot_is_in_cache(s, link))
		return link && unwind_is_code(w);
	w->pc = link;
	other = hotspot_find_blob(s);
	w->pc = pc;
	return other && other != blob;
}

/* A stub whose frame is none, or by frame pointer. Only the JVM itself calls it from elsewhere. */
static __always_inline int hotspot_by_fp(struct scratch *s)
{
	struct unwind_walk *w = &s->walk;
	__u64 fp = w->reg[WIRE_ABI_FP], sp = w->reg[WIRE_ABI_SP];

	if (hotspot_is_called(s, s->runtime.function)) {
		w->ra = w->reg[RULE_ARM64_LR];
		w->cfa = sp;
		w->fp = fp;
		return hotspot_up(s);
	}
	if (fp - sp > HOTSPOT_MAX_FRAME_BYTES || (fp & 7))
		return hotspot_lost(s, STOP_REASON_NO_RULE);
	w->cfa = fp + 16;
	w->fp = hotspot_u64(fp);
	w->ra = hotspot_u64(fp + 8);
	if (!hotspot_is_in_cache(s, w->ra)) {
		if (!unwind_is_code(w))
			return hotspot_lost(s, STOP_REASON_BAD_PC);
		s->runtime.words[HOTSPOT_WORD_WRAPPER] = hotspot_u64(fp - HOTSPOT_FRAME_WRAPPER);
	}
	return hotspot_up(s);
}

#endif
