/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Frames of HotSpot on x86-64 that are being made or left: what registers and instructions tell. */
#ifndef XAGENT_BPF_RUNTIMES_HOTSPOT_X86_BPF_H
#define XAGENT_BPF_RUNTIMES_HOTSPOT_X86_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/runtimes/hotspot_blob.bpf.h"
#include "bpf/runtimes/hotspot_objects.bpf.h"

#define HOTSPOT_RAX 0
#define HOTSPOT_RBX 3
#define HOTSPOT_R13 13

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

/* push %rbp; mov %rsp,%rbp */
#define HOTSPOT_SET_FP 0xec8b4855

/* A stub's leaf, which has made no frame. Between both instructions its frame pointer is what the second one will make it. */
static __always_inline bool hotspot_is_called(struct scratch *s, __u64 blob)
{
	__u64 *reg = s->walk.reg;

	(void)blob;
	if (hotspot_u32(s->walk.pc - 1) == HOTSPOT_SET_FP)
		reg[WIRE_ABI_FP] = reg[WIRE_ABI_SP];
	return hotspot_is_in_cache(s, hotspot_u64(reg[WIRE_ABI_SP]));
}

#endif
