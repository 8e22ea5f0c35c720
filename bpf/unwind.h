/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One step of a user stack walk. Pure: compiled into the kernel half, into the agent's cold path and into unit tests; the very same
 * code.
 *
 * The includer supplies, before including:
 *
 *	UNWIND_INLINE			how functions are declared
 *	UNWIND_FIND(w)			makes the mapping of w->pc the one in w->mapping: true when there is one
 *	UNWIND_RULE(w)			the rule for w->pc, which lies in w->mapping: 0, or the enum wire_end of why not. It is left packed in
 *					w->word, 0 for none, and where it is not plain in w->rule as well, laid out in full
 *	UNWIND_WORD(w, ret, addr)	0 when the word of user memory at addr was read into *ret
 *	UNWIND_READ(w, dst, n, addr)	0 when n bytes of user memory at addr were read
 *	UNWIND_CODE(w, dst, n, pc)	the same for the code around w->pc
 *	UNWIND_SAVED(w)			restores further registers, as w->pc and w->cfa have them: a mask of those that the caller knows.
 *					Not defined: none
 *
 * `w` is the struct unwind_walk of the walk, so that the includer can embed it in what it reads from.
 *
 * A walk is: unwind_begin(), then unwind_step() until it returns false. Before each step the frame of the present pc is
 * unwind_frame(). The present pc is exact for the leaf and behind a signal frame, and the return address − 1 for callers.
 *
 *	      ┌── unwind_frame() is stored by the caller
 *	pc ───┤
 *	      └── unwind_step(): rule for pc → CFA, return address, frame pointer
 *	                         no rule     → the same by frame pointer, for this frame only
 *
 * When a step returns false, w still is the state before it: who knows more can go on from there.
 */
#ifndef XAGENT_BPF_UNWIND_H
#define XAGENT_BPF_UNWIND_H

#ifndef UNWIND_SAVED
#define UNWIND_SAVED(w) 0
#endif

#include "bpf/rule.h"
#include "bpf/wire.h"

/* User addresses end below 2^56 (x86-64 with 5-level paging); AArch64 ends at 2^52. No code lies in the first page (mmap_min_addr). */
#define UNWIND_PC_MIN 4096ULL
#define UNWIND_PC_MAX (1ULL << 56)

/* All registers are known and pc is no return address. */
#define UNWIND_EXACT 1u
/* The caller's frame pointer was not saved: rules that need it cannot be followed. */
#define UNWIND_FP_LOST 2u
/* The last step followed a frame pointer, so a zero one is the end of the chain and no accident. */
#define UNWIND_FP_CHAIN 4u

struct unwind_walk {
	__u64 pc;
	__u64 reg
		[WIRE_N_REGS]; /* sp and fp always; the others with UNWIND_EXACT, or when they are in `known` */
	/* The mapping that held the last pc: the next one is in it 9 times of 10. n_bytes 0: none yet. */
	struct wire_mapping mapping;
	__u64 n_bytes;
	__u64 word; /* struct wire_rule; not 0 when there is a rule */
	struct unwind_rule rule;
	/* Of the step under way. */
	__u64 cfa;
	__u64 ra;
	__u64 fp;
	__u32 flags;
	__u32 at_begin; /* after a step: 1 when its frame goes on at pc + 1 without having called, and is to be named there */
	__u32 known;	/* a bit for each register */
	__u32 end;	/* enum wire_end, valid after unwind_step() returned false */
	__u32 mappings_at;	     /* of the process */
	__u32 n_mappings;	     /* 0: process unknown, all frames are raw */
	__u32 generation;	     /* of the process's table */
	__u32 n_raw;		     /* frames outside of known mappings */
	__u32 n_cfi, n_fp, n_signal; /* steps by kind */
};

UNWIND_INLINE void unwind_begin(struct unwind_walk *w, const struct wire_regs *regs,
				const struct wire_process *process, __u32 flags, int after_syscall)
{
	w->pc = regs->pc - (after_syscall ? 1 : 0);
	for (int i = 0; i < WIRE_N_REGS; i++)
		w->reg[i] = regs->reg[i];
	w->n_bytes = 0;
	w->mapping.begin = 0;
	w->flags = flags;
	w->known = 0;
	w->at_begin = 0;
	w->end = WIRE_END_ROOT;
	w->mappings_at = process ? process->mappings_at : 0;
	w->n_mappings = process ? process->n_mappings : 0;
	w->generation = process ? process->generation : 0;
	w->n_raw = w->n_cfi = w->n_fp = w->n_signal = 0;
}

/* Makes the mapping of the present pc the cached one; false when no mapping holds it. */
UNWIND_INLINE int unwind_find(struct unwind_walk *w)
{
	if (w->pc - w->mapping.begin < w->n_bytes)
		return 1;
	return w->n_mappings && UNWIND_FIND(w);
}

/* Where in its file the present pc is; tables of rules are in the order of the file. */
UNWIND_INLINE __u64 unwind_file_off(const struct unwind_walk *w)
{
	return (w->mapping.frame_base & WIRE_FRAME_OFFSET_MASK) + (w->pc - w->mapping.begin);
}

/* The wire frame of the present pc. */
UNWIND_INLINE __u64 unwind_frame(struct unwind_walk *w)
{
	if (unwind_find(w))
		return w->mapping.frame_base + (w->pc - w->mapping.begin);
	w->n_raw++;
	return WIRE_FRAME_RAW | w->pc;
}

UNWIND_INLINE int unwind_stop(struct unwind_walk *w, __u32 end)
{
	w->end = end;
	return 0;
}

/* Pointer authentication codes and tags lie in the bits that no user address has. */
UNWIND_INLINE __u64 unwind_strip(__u64 ra)
{
#if WIRE_N_REGS == 32
	return ra & ((1ULL << 52) - 1);
#else
	return ra;
#endif
}

/* The value of a register in this frame; false when it is not known. */
UNWIND_INLINE int unwind_reg(struct unwind_walk *w, __u32 reg, __u64 *ret_value)
{
	if (reg == WIRE_ABI_SP) {
		*ret_value = w->reg[WIRE_ABI_SP];
		return 1;
	}
	if (reg == WIRE_ABI_FP) {
		*ret_value = w->reg[WIRE_ABI_FP];
		return !(w->flags & UNWIND_FP_LOST);
	}
	*ret_value = w->reg[reg & (WIRE_N_REGS - 1)];
	return reg < WIRE_N_REGS && ((w->flags & UNWIND_EXACT) || ((w->known >> reg) & 1));
}

/* No user code can be there. */
UNWIND_INLINE int unwind_is_bad(__u64 ra)
{
	ra = unwind_strip(ra);
	return ra <= UNWIND_PC_MIN || ra >= UNWIND_PC_MAX;
}

/* To the caller found: w->cfa, w->ra, w->fp; one more of its kind. */
UNWIND_INLINE int unwind_up(struct unwind_walk *w, __u32 flags, __u32 *count)
{
	if (unwind_is_bad(w->ra))
		return unwind_stop(w, WIRE_END_BAD_PC);
	++*count;
	w->pc = unwind_strip(w->ra) - 1;
	w->reg[WIRE_ABI_SP] = w->cfa;
	w->reg[WIRE_ABI_FP] = w->fp;
	w->flags = flags;
	return 1;
}

/*
 * Through a signal frame: sp is at the struct ucontext that the kernel has put on the stack, wherever that stack is.
 * x86-64: arch/x86/include/uapi/asm/sigcontext.h, 40 bytes into struct ucontext. AArch64: struct rt_sigframe has siginfo (128 bytes)
 * first; registers follow 184 bytes into struct ucontext (arch/arm64/include/uapi/asm/{ucontext,sigcontext}.h).
 */
#if WIRE_N_REGS == 16
UNWIND_INLINE int unwind_signal(struct unwind_walk *w)
{
	/* r8 … r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip */
	__u64 saved[17];

	if (UNWIND_READ(w, saved, sizeof(saved), w->reg[WIRE_ABI_SP] + 40))
		return unwind_stop(w, WIRE_END_STACK_READ);
	if (saved[16] <= UNWIND_PC_MIN || saved[16] >= UNWIND_PC_MAX)
		return unwind_stop(w, WIRE_END_BAD_PC);
	for (int i = 0; i < 8; i++)
		w->reg[RULE_X86_R8 + i] = saved[i];
	w->reg[RULE_X86_RDI] = saved[8];
	w->reg[RULE_X86_RSI] = saved[9];
	w->reg[RULE_X86_RBP] = saved[10];
	w->reg[RULE_X86_RBX] = saved[11];
	w->reg[RULE_X86_RDX] = saved[12];
	w->reg[RULE_X86_RAX] = saved[13];
	w->reg[RULE_X86_RCX] = saved[14];
	w->reg[RULE_X86_RSP] = saved[15];
	w->pc = saved[16];
	w->flags = UNWIND_EXACT;
	w->n_signal++;
	return 1;
}
#else
UNWIND_INLINE int unwind_signal(struct unwind_walk *w)
{
	/* x0 … x30, sp, pc */
	__u64 pc;

	if (UNWIND_READ(w, &pc, sizeof(pc), w->reg[WIRE_ABI_SP] + 568) ||
	    UNWIND_READ(w, w->reg, sizeof(w->reg), w->reg[WIRE_ABI_SP] + 312))
		return unwind_stop(w, WIRE_END_STACK_READ);
	if (pc <= UNWIND_PC_MIN || pc >= UNWIND_PC_MAX)
		return unwind_stop(w, WIRE_END_BAD_PC);
	w->pc = pc;
	w->flags = UNWIND_EXACT;
	w->n_signal++;
	return 1;
}
#endif

/*
 * The rule of nearly every frame: CFA from sp or fp, return address right below it, fp kept or saved next to it. It is followed as it lies
 * in the table.
 */
#define UNWIND_PLAIN_SP WIRE_RULE_OF(RULE_CFA_REG, WIRE_ABI_SP)
#define UNWIND_PLAIN_FP WIRE_RULE_OF(RULE_CFA_REG, WIRE_ABI_FP)

_Static_assert(RULE_FP_SAME == 0 && RULE_FP_CFA == 1 && WIRE_RA_CFA_8 == 0,
	       "the second byte of a plain rule is 0 or 1");

UNWIND_INLINE int unwind_is_plain(__u64 word)
{
	__u32 low = (__u32)word & 0xfeff;

	return low == UNWIND_PLAIN_SP || low == UNWIND_PLAIN_FP;
}

/* One of them is the outermost frame's, which has no caller. */
UNWIND_INLINE int unwind_is_root(__u64 word)
{
	return (((__u32)word >> 12) & 15) == WIRE_RA_UNDEFINED &&
	       ((__u32)word & 0xff) != WIRE_RULE_WIDE;
}

UNWIND_INLINE int unwind_by_plain(struct unwind_walk *w, __u64 word)
{
	__u64 sp = w->reg[WIRE_ABI_SP];
	__u64 fp = w->reg[WIRE_ABI_FP];
	__u32 flags = w->flags & UNWIND_FP_LOST;
	__u64 base = sp;
	__u64 cfa;
	__u64 ra;

	if (((__u32)word & 0xff) == UNWIND_PLAIN_FP) {
		if (flags)
			return unwind_stop(w, WIRE_END_REGISTER);
		base = fp;
	}
	/* The distance is signed and the upper half of the word. */
	cfa = base + ((__s64)word >> 32);
	if (cfa <= sp)
		return unwind_stop(w, WIRE_END_NO_PROGRESS);
	/* The slot that is lower on the stack is read first. */
	if ((__u32)word & 0x100) {
		if (UNWIND_WORD(w, &fp, cfa + (__s64)(__s16)((__u32)word >> 16)))
			return unwind_stop(w, WIRE_END_STACK_READ);
		flags = 0;
	}
	if (UNWIND_WORD(w, &ra, cfa - 8))
		return unwind_stop(w, WIRE_END_STACK_READ);
	/* The first frame of a thread that the C library did not start. */
	if (ra == 0)
		return unwind_stop(w, WIRE_END_ROOT);
	if (unwind_is_bad(ra))
		return unwind_stop(w, WIRE_END_BAD_PC);
	w->cfa = cfa;
	w->known = UNWIND_SAVED(w);
	w->n_cfi++;
	w->pc = unwind_strip(ra) - 1;
	w->reg[WIRE_ABI_SP] = cfa;
	w->reg[WIRE_ABI_FP] = fp;
	w->flags = flags;
	return 1;
}

/* w->cfa by the rule: 0, or why it is not known. */
UNWIND_INLINE __u32 unwind_cfa(struct unwind_walk *w)
{
	__u64 base;

	/* Stubs of lazy binding push a word behind their N-th byte. */
	if (w->rule.cfa == RULE_CFA_PLT) {
		w->cfa = w->reg[WIRE_ABI_SP] + ((w->pc & 15) >= (__u32)w->rule.cfa_off ? 16 : 8);
		return 0;
	}
	if (!unwind_reg(w, w->rule.cfa_reg, &base))
		return WIRE_END_REGISTER;
	w->cfa = base + (__s64)w->rule.cfa_off;
	if (w->rule.cfa == RULE_CFA_DEREF) {
		if (UNWIND_WORD(w, &w->cfa, w->cfa))
			return WIRE_END_STACK_READ;
		w->cfa += (__s64)w->rule.cfa_add;
	}
	return 0;
}

/* The frame pointer of the caller; the slot that is lower on the stack is read first. */
UNWIND_INLINE __u32 unwind_saved_fp(struct unwind_walk *w, __u32 *flags)
{
	__u64 at = w->cfa;

	w->fp = w->reg[WIRE_ABI_FP];
	if (w->rule.fp == RULE_FP_SAME) {
		*flags |= w->flags & UNWIND_FP_LOST;
		return 0;
	}
	if (w->rule.fp == RULE_FP_UNDEFINED) {
		*flags |= UNWIND_FP_LOST;
		return 0;
	}
	if (w->rule.fp != RULE_FP_CFA && !unwind_reg(w, w->rule.fp_reg, &at)) {
		*flags |= UNWIND_FP_LOST;
		return 0;
	}
	if (w->rule.fp == RULE_FP_REG) {
		w->fp = at;
		return 0;
	}
	return UNWIND_WORD(w, &w->fp, at + (__s64)w->rule.fp_off) ? WIRE_END_STACK_READ : 0;
}

UNWIND_INLINE __u32 unwind_saved_ra(struct unwind_walk *w)
{
	__u64 at = w->cfa;

	if (w->rule.ra != RULE_RA_CFA && !unwind_reg(w, w->rule.ra_reg, &at))
		return WIRE_END_REGISTER;
	if (w->rule.ra == RULE_RA_REG) {
		w->ra = at;
		return 0;
	}
	return UNWIND_WORD(w, &w->ra, at + (__s64)w->rule.ra_off) ? WIRE_END_STACK_READ : 0;
}

/* The stack shrinks from callee to caller. A function that has its return address in a register may have no frame at all. */
UNWIND_INLINE int unwind_progress(const struct unwind_walk *w)
{
	if (w->rule.flags & RULE_SWITCH)
		return 1;
	if (w->rule.ra == RULE_RA_REG && w->cfa == w->reg[WIRE_ABI_SP])
		return 1;
	return w->cfa > w->reg[WIRE_ABI_SP];
}

UNWIND_INLINE int unwind_by_rule(struct unwind_walk *w)
{
	__u32 flags = 0;
	__u32 end;

	if (w->rule.ra == RULE_RA_UNDEFINED)
		return unwind_stop(w, WIRE_END_ROOT);
	if (w->rule.ra == RULE_RA_SIGNAL)
		return unwind_signal(w);
	end = unwind_cfa(w);
	if (end)
		return unwind_stop(w, end);
	if (!unwind_progress(w))
		return unwind_stop(w, WIRE_END_NO_PROGRESS);
	end = unwind_saved_fp(w, &flags);
	if (!end)
		end = unwind_saved_ra(w);
	if (end)
		return unwind_stop(w, end);
	/* The first frame of a thread that the C library did not start. */
	if (w->ra == 0)
		return unwind_stop(w, WIRE_END_ROOT);
	if (unwind_is_bad(w->ra))
		return unwind_stop(w, WIRE_END_BAD_PC);
	w->known = UNWIND_SAVED(w);
	return unwind_up(w, flags, &w->n_cfi);
}

/* How far a function with frame pointers that is being entered or left has come: words on the stack above its return address. */
enum unwind_edge { UNWIND_NO_EDGE, UNWIND_NO_FRAME, UNWIND_FP_PUSHED };

/*
 * x86-64, by the instruction about to run: `endbr64`, `push %rbp` and `ret` have the return address on top of the stack, and `mov
 * %rsp,%rbp` right behind a push has the saved frame pointer there.
 */
UNWIND_INLINE enum unwind_edge unwind_edge(struct unwind_walk *w)
{
#if WIRE_N_REGS == 16
	__u32 code;
	__u8 before;

	if (!(w->flags & UNWIND_EXACT) || UNWIND_CODE(w, &code, sizeof(code), w->pc))
		return UNWIND_NO_EDGE;
	if ((code & 0xff) == 0x55 || (code & 0xff) == 0xc3 || code == 0xfa1e0ff3)
		return UNWIND_NO_FRAME;
	if ((code & 0xffffff) != 0xe58948 && (code & 0xffffff) != 0xec8b48)
		return UNWIND_NO_EDGE;
	if (UNWIND_CODE(w, &before, sizeof(before), w->pc - 1) || before != 0x55)
		return UNWIND_NO_EDGE;
	return UNWIND_FP_PUSHED;
#else
	(void)w;
	return UNWIND_NO_EDGE;
#endif
}

/* Only what is code can have called us. Without any mapping known every address may be. */
UNWIND_INLINE int unwind_is_code(struct unwind_walk *w)
{
	__u64 pc = w->pc;
	int found;

	if (!w->n_mappings)
		return 1;
	w->pc = unwind_strip(w->ra) - 1;
	found = unwind_find(w);
	w->pc = pc;
	return found;
}

/* In a prologue or epilogue: true when that is where the leaf is, and it was left. */
UNWIND_INLINE int unwind_by_edge(struct unwind_walk *w)
{
	enum unwind_edge edge = unwind_edge(w);
	__u64 sp = w->reg[WIRE_ABI_SP];

	if (edge == UNWIND_NO_EDGE)
		return 0;
	w->fp = w->reg[WIRE_ABI_FP];
	if (edge == UNWIND_FP_PUSHED) {
		if (UNWIND_WORD(w, &w->fp, sp))
			return 0;
		sp += 8;
	}
	if (UNWIND_WORD(w, &w->ra, sp) || !w->ra || !unwind_is_code(w))
		return 0;
	w->cfa = sp + 8;
	w->known = 0;
	return unwind_up(w, edge == UNWIND_FP_PUSHED ? UNWIND_FP_CHAIN : 0, &w->n_fp);
}

/* No rule: the frame record of both ABIs, a saved frame pointer and a return address (System V x86-64 §3.2.2, AAPCS64 §6.4.6). */
UNWIND_INLINE int unwind_by_fp(struct unwind_walk *w)
{
	__u64 fp = w->reg[WIRE_ABI_FP];

	if (unwind_by_edge(w))
		return 1;
	/* Both ABIs ask the outermost frame to have a zero frame pointer. */
	if (fp == 0)
		return unwind_stop(w,
				   w->flags & UNWIND_FP_CHAIN ? WIRE_END_ROOT : WIRE_END_NO_RULE);
	if (fp < w->reg[WIRE_ABI_SP] || (fp & 7) || (w->flags & UNWIND_FP_LOST))
		return unwind_stop(w, WIRE_END_NO_RULE);
	if (UNWIND_WORD(w, &w->fp, fp) || UNWIND_WORD(w, &w->ra, fp + 8))
		return unwind_stop(w, WIRE_END_NO_RULE);
	if (w->ra == 0)
		return unwind_stop(w, w->fp || !(w->flags & UNWIND_FP_CHAIN) ? WIRE_END_NO_RULE
									     : WIRE_END_ROOT);
	if (!unwind_is_code(w))
		return unwind_stop(w, WIRE_END_NO_RULE);
	w->cfa = fp + 16;
	w->known = 0;
	return unwind_up(w, UNWIND_FP_CHAIN, &w->n_fp);
}

/* Functions begin at multiples of this (compilers' and assemblers' default on both machines). */
#define UNWIND_ALIGNMENT 16

/* The rule found is of code that has not called anybody. */
UNWIND_INLINE int unwind_has_no_call(const struct unwind_walk *w)
{
	return w->word && !unwind_is_plain(w->word) &&
	       (w->rule.ra == RULE_RA_UNDEFINED || w->rule.ra == RULE_RA_SIGNAL);
}

/*
 * The rule for w->pc. Some code is returned to at its first byte without having called: the C library's end of a coroutine, the kernel's
 * signal trampolines. One byte before is another function, or none, so where a function may begin its own rule is asked for first.
 */
UNWIND_INLINE __u32 unwind_rule(struct unwind_walk *w)
{
	int may_begin = !(w->flags & UNWIND_EXACT) && (w->pc + 1) % UNWIND_ALIGNMENT == 0 &&
			w->pc + 1 - w->mapping.begin < w->n_bytes;
	__u32 end;

	w->at_begin = 0;
	if (may_begin) {
		w->pc++;
		end = UNWIND_RULE(w);
		w->pc--;
		if (end)
			return end;
		w->at_begin = unwind_has_no_call(w);
		if (w->at_begin)
			return 0;
	}
	end = UNWIND_RULE(w);
	if (may_begin && !end && !w->word) {
		w->pc++;
		end = UNWIND_RULE(w);
		w->pc--;
		w->at_begin = w->word != 0;
	}
	if (!(w->flags & UNWIND_EXACT) && w->word && !unwind_is_plain(w->word) &&
	    w->rule.ra == RULE_RA_SIGNAL)
		w->at_begin = 1;
	return end;
}

/* To the caller's frame: true when w->pc is the next frame, false when the walk is over and w->end tells why. */
UNWIND_INLINE int unwind_step(struct unwind_walk *w)
{
	__u32 end;

	if (w->n_mappings) {
		if (!unwind_find(w))
			return unwind_stop(w, WIRE_END_NO_MAPPING);
		end = unwind_rule(w);
		if (end)
			return unwind_stop(w, end);
		if (unwind_is_plain(w->word))
			return unwind_by_plain(w, w->word);
		if (w->word)
			return unwind_by_rule(w);
	}
	return unwind_by_fp(w);
}

#endif
