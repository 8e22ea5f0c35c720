/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One step of a user stack walk. Pure: compiled into the kernel half, into the agent's own walk and into unit tests; the very same
 * code.
 *
 * The includer supplies, before including:
 *
 *	UNWIND_INLINE			how functions are declared
 *	UNWIND_FIND(w)			makes the mapping of w->pc the one in w->mapping: true when there is one
 *	UNWIND_RULE(w)			the rule for w->pc, which lies in w->mapping: 0, or the enum stop_reason of why not. It is left packed in
 *					w->word, 0 for none, and where it is not compact in w->rule as well, laid out in full
 *	UNWIND_WORD(w, ret, addr)	0 when the word of user memory at addr was read into *ret
 *	UNWIND_READ(w, dst, n, addr)	0 when n bytes of user memory at addr were read
 *	UNWIND_CODE(w, dst, n, pc)	the same for the code around w->pc
 *	UNWIND_USER_MASK(w)		the bits that a user address has, all below a power of two. Asked for on AArch64 only
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

#include "bpf/go.h"
#include "bpf/rule.h"
#include "bpf/wire.h"

/* User addresses end below 2^56 (x86-64 with 5-level paging) or 2^52 (AArch64). No code lies in the first page (mmap_min_addr). */
#define UNWIND_PC_MIN 4096ULL
#if WIRE_N_REGS == 32
#define UNWIND_PC_MAX (1ULL << 52)
#else
#define UNWIND_PC_MAX (1ULL << 56)
#endif

/* All registers are known and pc is no return address. */
#define UNWIND_EXACT WIRE_USER_UNWOUND_EXACT
/* The caller's frame pointer was not saved: rules that need it cannot be followed. */
#define UNWIND_FP_LOST WIRE_USER_UNWOUND_FP_LOST
/* The last step followed a frame pointer, so a zero one is the end of the chain and no accident. */
#define UNWIND_FP_CHAIN WIRE_USER_UNWOUND_FP_CHAIN
/*
 * sp is not known, only that it is not below what reg says: the last step followed a frame pointer on AArch64, where the frame record lies
 * anywhere in its frame (AAPCS64 §6.4.6; gcc has it at the bottom). On x86-64 it lies at the top, and sp is behind it.
 */
#define UNWIND_SP_LOWEST (WIRE_N_REGS == 32 ? WIRE_USER_UNWOUND_SP_LOWEST : 0)

struct unwind_walk {
	__u64 pc;
	__u64 reg
		[WIRE_N_REGS]; /* sp and fp, unless flags say otherwise; the others with UNWIND_EXACT, or when they are in `known` */
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
	__u32 end;	/* enum stop_reason, valid after unwind_step() returned false */
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
	w->end = STOP_REASON_ROOT;
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
	return WIRE_FRAME_RAW_OF(w->pc);
}

UNWIND_INLINE int unwind_stop(struct unwind_walk *w, __u32 end)
{
	w->end = end;
	return 0;
}

/*
 * Pointer authentication codes and tags lie in the bits that no user address has; bit 55, which neither may change, is set in the kernel's
 * addresses (Arm ARM, AddPAC and Strip; arch/arm64/include/asm/pointer_auth.h).
 */
UNWIND_INLINE __u64 unwind_strip(const struct unwind_walk *w, __u64 ra)
{
	(void)w;
#if WIRE_N_REGS == 32
	return ra & (UNWIND_USER_MASK(w) | (0 - (ra >> 55 & 1)));
#else
	return ra;
#endif
}

/* The value of a register in this frame; false when it is not known. */
UNWIND_INLINE int unwind_reg(struct unwind_walk *w, __u32 reg, __u64 *ret_value)
{
	if (reg == WIRE_ABI_SP) {
		*ret_value = w->reg[WIRE_ABI_SP];
		return !(w->flags & UNWIND_SP_LOWEST);
	}
	if (reg == WIRE_ABI_FP) {
		*ret_value = w->reg[WIRE_ABI_FP];
		return !(w->flags & UNWIND_FP_LOST);
	}
	*ret_value = w->reg[reg & (WIRE_N_REGS - 1)];
	return reg < WIRE_N_REGS && ((w->flags & UNWIND_EXACT) || ((w->known >> reg) & 1));
}

/* No user code can be there. */
UNWIND_INLINE int unwind_is_bad(const struct unwind_walk *w, __u64 ra)
{
	ra = unwind_strip(w, ra);
	return ra <= UNWIND_PC_MIN || ra >= UNWIND_PC_MAX;
}

/* To the caller found: w->cfa, w->ra, w->fp; one more of its kind. */
UNWIND_INLINE int unwind_up(struct unwind_walk *w, __u32 flags, __u32 *count)
{
	if (unwind_is_bad(w, w->ra))
		return unwind_stop(w, STOP_REASON_BAD_PC);
	++*count;
	w->pc = unwind_strip(w, w->ra) - 1;
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
		return unwind_stop(w, STOP_REASON_STACK_READ);
	if (saved[16] <= UNWIND_PC_MIN || saved[16] >= UNWIND_PC_MAX)
		return unwind_stop(w, STOP_REASON_BAD_PC);
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

	if (w->flags & UNWIND_SP_LOWEST)
		return unwind_stop(w, STOP_REASON_REGISTER);
	if (UNWIND_READ(w, &pc, sizeof(pc), w->reg[WIRE_ABI_SP] + 568) ||
	    UNWIND_READ(w, w->reg, sizeof(w->reg), w->reg[WIRE_ABI_SP] + 312))
		return unwind_stop(w, STOP_REASON_STACK_READ);
	if (pc <= UNWIND_PC_MIN || pc >= UNWIND_PC_MAX)
		return unwind_stop(w, STOP_REASON_BAD_PC);
	w->pc = pc;
	w->flags = UNWIND_EXACT;
	w->n_signal++;
	return 1;
}
#endif

/*
 * The rule of nearly every frame: CFA from sp or fp, fp kept or saved, the return address right below the CFA or, on AArch64, behind the saved
 * fp. It is followed as it lies in the table.
 */
#define UNWIND_COMPACT_SP WIRE_RULE_OF(RULE_CFA_REG, WIRE_ABI_SP)
#define UNWIND_COMPACT_FP WIRE_RULE_OF(RULE_CFA_REG, WIRE_ABI_FP)
#define UNWIND_COMPACT_SAVES_FP 0x100u
#if WIRE_N_REGS == 32
#define UNWIND_COMPACT_RA_BEHIND_FP 0x1000u
#else
#define UNWIND_COMPACT_RA_BEHIND_FP 0u
#endif

_Static_assert(RULE_FP_SAME == 0 && RULE_FP_CFA == 1 && WIRE_RA_CFA_8 == 0 && WIRE_RA_FP_8 == 1,
	       "a bit of the second byte of a compact rule each");

UNWIND_INLINE int unwind_is_compact(__u64 word)
{
	__u32 low = (__u32)word & 0xffff & ~(UNWIND_COMPACT_SAVES_FP | UNWIND_COMPACT_RA_BEHIND_FP);

	return low == UNWIND_COMPACT_SP || low == UNWIND_COMPACT_FP;
}

/* One of them is the outermost frame's, which has no caller. */
UNWIND_INLINE int unwind_is_root(__u64 word)
{
	return (((__u32)word >> 12) & 15) == WIRE_RA_UNDEFINED &&
	       ((__u32)word & 0xff) != WIRE_RULE_FULL;
}

/*
 * The CFA of a function whose rules find it by sp, where sp is not known. One that saves frame pointer and return address side by side has made
 * a frame record, and when it calls, its frame pointer is where that is. 0, or why it is not known.
 */
UNWIND_INLINE __u32 unwind_cfa_of_record(const struct unwind_walk *w, __s64 fp_off, __u64 *ret_cfa)
{
	__u64 fp = w->reg[WIRE_ABI_FP];

	if ((w->flags & UNWIND_FP_LOST) || fp < w->reg[WIRE_ABI_SP] || (fp & 7))
		return STOP_REASON_REGISTER;
	*ret_cfa = fp - fp_off;
	return 0;
}

/* A compact rule's: 0, or why it is not known. The distance is signed and the upper half of the word. */
UNWIND_INLINE __u32 unwind_compact_cfa(const struct unwind_walk *w, __u64 word, __s64 fp_off,
				       __u64 *ret_cfa)
{
	if (((__u32)word & 0xff) == UNWIND_COMPACT_FP) {
		*ret_cfa = w->reg[WIRE_ABI_FP] + ((__s64)word >> 32);
		return w->flags & UNWIND_FP_LOST ? STOP_REASON_REGISTER : 0;
	}
	*ret_cfa = w->reg[WIRE_ABI_SP] + ((__s64)word >> 32);
	if (!(w->flags & UNWIND_SP_LOWEST))
		return 0;
	return ((__u32)word & UNWIND_COMPACT_SAVES_FP) &&
			       (((__u32)word & UNWIND_COMPACT_RA_BEHIND_FP) || fp_off == -16)
		       ? unwind_cfa_of_record(w, fp_off, ret_cfa)
		       : STOP_REASON_REGISTER;
}

UNWIND_INLINE int unwind_by_compact(struct unwind_walk *w, __u64 word)
{
	__s64 fp_off = (__s16)((__u32)word >> 16);
	__u64 fp = w->reg[WIRE_ABI_FP];
	__u32 flags = w->flags & UNWIND_FP_LOST;
	__s64 ra_off = -8;
	__u64 cfa;
	__u64 ra;
	__u32 end = unwind_compact_cfa(w, word, fp_off, &cfa);

	if (end)
		return unwind_stop(w, end);
	if (cfa <= w->reg[WIRE_ABI_SP])
		return unwind_stop(w, STOP_REASON_NO_PROGRESS);
	/* The slot that is lower on the stack is read first. */
	if ((__u32)word & UNWIND_COMPACT_SAVES_FP) {
		if (UNWIND_WORD(w, &fp, cfa + fp_off))
			return unwind_stop(w, STOP_REASON_STACK_READ);
		flags = 0;
	}
	if ((__u32)word & UNWIND_COMPACT_RA_BEHIND_FP)
		ra_off = fp_off + 8;
	if (UNWIND_WORD(w, &ra, cfa + ra_off))
		return unwind_stop(w, STOP_REASON_STACK_READ);
	/* The first frame of a thread that the C library did not start. */
	if (ra == 0)
		return unwind_stop(w, STOP_REASON_ROOT);
	if (unwind_is_bad(w, ra))
		return unwind_stop(w, STOP_REASON_BAD_PC);
	w->cfa = cfa;
	w->known = UNWIND_SAVED(w);
	w->n_cfi++;
	w->pc = unwind_strip(w, ra) - 1;
	w->reg[WIRE_ABI_SP] = cfa;
	w->reg[WIRE_ABI_FP] = fp;
	w->flags = flags;
	return 1;
}

/* The rule finds the CFA by an sp that is not known, and makes a frame record. */
UNWIND_INLINE int unwind_has_record(const struct unwind_walk *w)
{
	return (w->flags & UNWIND_SP_LOWEST) && w->rule.cfa == RULE_CFA_REG &&
	       w->rule.cfa_reg == WIRE_ABI_SP && w->rule.fp == RULE_FP_CFA &&
	       w->rule.ra == RULE_RA_CFA && w->rule.ra_off == w->rule.fp_off + 8;
}

/*
 * Go on AArch64 goes to the thread's stack with the frame pointer that was left there, so nothing in registers leads back. What
 * runtime.asmcgocall notes at `at` is the g, and how far below the end of its stack sp was, for that stack may be moved meanwhile; or 0 and sp,
 * when it stayed where it was.
 */
UNWIND_INLINE int unwind_go_noted(struct unwind_walk *w, __u64 at)
{
	__u64 g, depth, end;

	if (UNWIND_WORD(w, &g, at) || UNWIND_WORD(w, &depth, at + 8))
		return -1;
	if (g && UNWIND_READ(w, &end, sizeof(end), g + GO_G_END))
		return -1;
	w->cfa = g ? end - depth : depth;
	return 0;
}

/*
 * runtime.systemstack notes where sp was in the g that runs on the m, whose g0 is in x28 for as long as Go code runs. The walk has x28 of the
 * leaf, which may be C, so it is believed only where g0, m and the goroutine lead to each other.
 */
UNWIND_INLINE int unwind_go_left(struct unwind_walk *w, __s64 goroutine_off)
{
	__u64 g0 = w->reg[GO_ARM64_G & (WIRE_N_REGS - 1)];
	__u64 m, m_g0, g, g_m;

	if (UNWIND_READ(w, &m, sizeof(m), g0 + GO_G_M) || UNWIND_READ(w, &m_g0, sizeof(m_g0), m) ||
	    m_g0 != g0 || UNWIND_READ(w, &g, sizeof(g), m + goroutine_off) ||
	    UNWIND_READ(w, &g_m, sizeof(g_m), g + GO_G_M) || g_m != m)
		return -1;
	return UNWIND_READ(w, &w->cfa, sizeof(w->cfa), g + GO_G_SP);
}

/* w->cfa by such a rule; `at`: cfa_reg + cfa_off, for what is noted there. 0, or why it is not known. */
UNWIND_INLINE __u32 unwind_go_cfa(struct unwind_walk *w, __u64 at)
{
	int r = w->rule.cfa == RULE_CFA_GO_NOTED ? unwind_go_noted(w, at)
						 : unwind_go_left(w, w->rule.cfa_off);

	w->cfa += (__s64)w->rule.cfa_add;
	return r ? STOP_REASON_STACK_READ : 0;
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
	if (unwind_has_record(w))
		return unwind_cfa_of_record(w, w->rule.fp_off, &w->cfa);
	if (WIRE_N_REGS == 32 && w->rule.cfa == RULE_CFA_GO_LEFT)
		return unwind_go_cfa(w, 0);
	if (!unwind_reg(w, w->rule.cfa_reg, &base))
		return STOP_REASON_REGISTER;
	w->cfa = base + (__s64)w->rule.cfa_off;
	if (WIRE_N_REGS == 32 && w->rule.cfa == RULE_CFA_GO_NOTED)
		return unwind_go_cfa(w, w->cfa);
	if (w->rule.cfa == RULE_CFA_DEREF) {
		if (UNWIND_WORD(w, &w->cfa, w->cfa))
			return STOP_REASON_STACK_READ;
		w->cfa += (__s64)w->rule.cfa_add;
	}
	return 0;
}

/*
 * A function that has realigned its stack finds the saved frame pointer by the frame pointer itself (gcc: DW_CFA_expression rbp, breg6 0),
 * and compilers do not say where `leave` or `pop` has given it back. What a function saves lies in its own frame, so where the slot would be
 * outside of it, the register already is the caller's.
 */
UNWIND_INLINE int unwind_fp_is_back(const struct unwind_walk *w)
{
	__u64 sp = w->reg[WIRE_ABI_SP];
	__u64 slot = w->reg[WIRE_ABI_FP] + (__s64)w->rule.fp_off;

	return w->rule.fp == RULE_FP_DEREF && w->rule.fp_reg == WIRE_ABI_FP &&
	       !(w->flags & UNWIND_FP_LOST) && !(w->rule.flags & RULE_SWITCH) &&
	       slot - sp >= w->cfa - sp;
}

/* The frame pointer of the caller; the slot that is lower on the stack is read first. */
UNWIND_INLINE __u32 unwind_saved_fp(struct unwind_walk *w, __u32 *flags)
{
	__u64 at = w->cfa;

	w->fp = w->reg[WIRE_ABI_FP];
	if (w->rule.fp == RULE_FP_SAME || unwind_fp_is_back(w)) {
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
	return UNWIND_WORD(w, &w->fp, at + (__s64)w->rule.fp_off) ? STOP_REASON_STACK_READ : 0;
}

UNWIND_INLINE __u32 unwind_saved_ra(struct unwind_walk *w)
{
	__u64 at = w->cfa;

	if (w->rule.ra != RULE_RA_CFA && !unwind_reg(w, w->rule.ra_reg, &at))
		return STOP_REASON_REGISTER;
	if (w->rule.ra == RULE_RA_REG) {
		w->ra = at;
		return 0;
	}
	return UNWIND_WORD(w, &w->ra, at + (__s64)w->rule.ra_off) ? STOP_REASON_STACK_READ : 0;
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

/*
 * AArch64: a caller whose rule has its return address in x30 has called nobody, or will never be returned to. When what lies before the pc is
 * no call (bl, blr, blraa, blrab and theirs without modifier), nobody has called it either: it was returned to, as the C library's end of a
 * coroutine is.
 */
UNWIND_INLINE int unwind_is_uncalled(struct unwind_walk *w)
{
#if WIRE_N_REGS == 32
	__u32 code;

	if ((w->flags & UNWIND_EXACT) || w->rule.ra != RULE_RA_REG ||
	    w->rule.ra_reg != RULE_ARM64_LR || UNWIND_CODE(w, &code, sizeof(code), w->pc - 3))
		return 0;
	return (code & 0xfc000000) != 0x94000000 && (code & 0xfefff000) != 0xd63f0000;
#else
	(void)w;
	return 0;
#endif
}

UNWIND_INLINE int unwind_by_rule(struct unwind_walk *w)
{
	__u32 flags = 0;
	__u32 end;

	if (w->rule.ra == RULE_RA_UNDEFINED)
		return unwind_stop(w, STOP_REASON_ROOT);
	if (w->rule.ra == RULE_RA_SIGNAL)
		return unwind_signal(w);
	end = unwind_cfa(w);
	if (end)
		return unwind_stop(w, end);
	if (!unwind_progress(w))
		return unwind_stop(w, STOP_REASON_NO_PROGRESS);
	end = unwind_saved_fp(w, &flags);
	if (!end)
		end = unwind_saved_ra(w);
	if (end == STOP_REASON_REGISTER && unwind_is_uncalled(w))
		return unwind_stop(w, STOP_REASON_ROOT);
	if (end)
		return unwind_stop(w, end);
	/* The first frame of a thread that the C library did not start. */
	if (w->ra == 0)
		return unwind_stop(w, STOP_REASON_ROOT);
	if (unwind_is_bad(w, w->ra))
		return unwind_stop(w, STOP_REASON_BAD_PC);
	w->known = UNWIND_SAVED(w);
	return unwind_up(w, flags, &w->n_cfi);
}

/* Only what is code can have called us. Without any mapping known every address may be. */
UNWIND_INLINE int unwind_is_code(struct unwind_walk *w)
{
	__u64 pc = w->pc;
	int found;

	if (!w->n_mappings)
		return 1;
	w->pc = unwind_strip(w, w->ra) - 1;
	found = unwind_find(w);
	w->pc = pc;
	return found;
}

/* How far a function with frame pointers that is being entered or left has come: what is on the stack besides the caller's frame. */
enum unwind_edge { UNWIND_NO_EDGE, UNWIND_NO_FRAME, UNWIND_FP_PUSHED };

/* By the instruction about to run: w->cfa, w->ra and w->fp are found, but for UNWIND_NO_EDGE. */
#if WIRE_N_REGS == 16
UNWIND_INLINE enum unwind_edge unwind_edge(struct unwind_walk *w)
{
	__u64 sp = w->reg[WIRE_ABI_SP];
	__u32 code;
	__u8 before;

	if (UNWIND_CODE(w, &code, sizeof(code), w->pc))
		return UNWIND_NO_EDGE;
	w->fp = w->reg[WIRE_ABI_FP];
	w->cfa = sp + 8;
	/* `endbr64`, `push %rbp` and `ret` have the return address on top of the stack. */
	if ((code & 0xff) == 0x55 || (code & 0xff) == 0xc3 || code == 0xfa1e0ff3)
		return UNWIND_WORD(w, &w->ra, sp) ? UNWIND_NO_EDGE : UNWIND_NO_FRAME;
	/* `mov %rsp,%rbp` right behind a push has the saved frame pointer there. */
	if ((code & 0xffffff) != 0xe58948 && (code & 0xffffff) != 0xec8b48)
		return UNWIND_NO_EDGE;
	if (UNWIND_CODE(w, &before, sizeof(before), w->pc - 1) || before != 0x55)
		return UNWIND_NO_EDGE;
	w->cfa = sp + 16;
	if (UNWIND_WORD(w, &w->fp, sp) || UNWIND_WORD(w, &w->ra, sp + 8))
		return UNWIND_NO_EDGE;
	return UNWIND_FP_PUSHED;
}
#else
/* stp x29, x30, [sp, #-8 n]! */
#define UNWIND_IS_PUSH(code) (((code)&0xffe07fff) == 0xa9a07bfd)
#define UNWIND_PUSHED_BYTES(code) (512 - ((code) >> 15 & 63) * 8)

/* bti c, bti jc, paciasp, pacibsp, autiasp, autibsp, ret, retaa, retab: the return address is in x30. */
UNWIND_INLINE int unwind_is_edge(__u32 code)
{
	return UNWIND_IS_PUSH(code) || code == 0xd503245f || code == 0xd50324df ||
	       (code & ~0xc0u) == (0xd503233f & ~0xc0u) || code == 0xd65f03c0 ||
	       (code & ~0x400u) == 0xd65f0bff;
}

UNWIND_INLINE enum unwind_edge unwind_edge(struct unwind_walk *w)
{
	__u64 sp = w->reg[WIRE_ABI_SP];
	__u32 code, before;

	if (UNWIND_CODE(w, &code, sizeof(code), w->pc))
		return UNWIND_NO_EDGE;
	w->cfa = sp;
	w->ra = w->reg[RULE_ARM64_LR];
	w->fp = w->reg[WIRE_ABI_FP];
	if (unwind_is_edge(code))
		return UNWIND_NO_FRAME;
	/* `mov x29, sp` right behind a push has the frame record on top of the stack. */
	if (code != 0x910003fd || UNWIND_CODE(w, &before, sizeof(before), w->pc - 4) ||
	    !UNWIND_IS_PUSH(before))
		return UNWIND_NO_EDGE;
	w->cfa = sp + UNWIND_PUSHED_BYTES(before);
	if (UNWIND_WORD(w, &w->fp, sp) || UNWIND_WORD(w, &w->ra, sp + 8))
		return UNWIND_NO_EDGE;
	return UNWIND_FP_PUSHED;
}
#endif

/* In a prologue or epilogue: true when that is where the leaf is, and it was left. */
UNWIND_INLINE int unwind_by_edge(struct unwind_walk *w)
{
	enum unwind_edge edge = w->flags & UNWIND_EXACT ? unwind_edge(w) : UNWIND_NO_EDGE;

	if (edge == UNWIND_NO_EDGE || !w->ra || !unwind_is_code(w))
		return 0;
	w->known = 0;
	return unwind_up(w, edge == UNWIND_FP_PUSHED ? UNWIND_FP_CHAIN : 0, &w->n_fp);
}

/*
 * AArch64: a leaf without a rule that has made no frame record (the vDSO of kernels that put no unwind information there). When x30 leads out
 * of the leaf's mapping, what was called last is the leaf itself. Only sp may have been moved meanwhile. When the record that fp leads to has
 * the same address, it is the leaf's own, and the better one to follow.
 */
UNWIND_INLINE int unwind_by_link(struct unwind_walk *w)
{
#if WIRE_N_REGS == 32
	__u64 own;

	w->ra = w->reg[RULE_ARM64_LR];
	if (!(w->flags & UNWIND_EXACT) || !w->n_mappings ||
	    unwind_strip(w, w->ra) - 1 - w->mapping.begin < w->n_bytes)
		return 0;
	if (!UNWIND_WORD(w, &own, w->reg[WIRE_ABI_FP] + 8) && own == w->ra)
		return 0;
	if (!unwind_is_code(w))
		return 0;
	w->cfa = w->reg[WIRE_ABI_SP];
	w->fp = w->reg[WIRE_ABI_FP];
	w->known = 0;
	return unwind_up(w, UNWIND_SP_LOWEST, &w->n_fp);
#else
	(void)w;
	return 0;
#endif
}

/* No rule: the frame record of both ABIs, a saved frame pointer and a return address (System V x86-64 §3.2.2, AAPCS64 §6.4.6). */
UNWIND_INLINE int unwind_by_fp(struct unwind_walk *w)
{
	__u64 fp = w->reg[WIRE_ABI_FP];

	if (unwind_by_edge(w) || unwind_by_link(w))
		return 1;
	/* Both ABIs ask the outermost frame to have a zero frame pointer. */
	if (fp == 0)
		return unwind_stop(w, w->flags & UNWIND_FP_CHAIN ? STOP_REASON_ROOT
								 : STOP_REASON_NO_RULE);
	if (fp < w->reg[WIRE_ABI_SP] || (fp & 7) || (w->flags & UNWIND_FP_LOST))
		return unwind_stop(w, STOP_REASON_NO_RULE);
	if (UNWIND_WORD(w, &w->fp, fp) || UNWIND_WORD(w, &w->ra, fp + 8))
		return unwind_stop(w, STOP_REASON_NO_RULE);
	if (w->ra == 0)
		return unwind_stop(w, w->fp || !(w->flags & UNWIND_FP_CHAIN) ? STOP_REASON_NO_RULE
									     : STOP_REASON_ROOT);
	if (!unwind_is_code(w))
		return unwind_stop(w, STOP_REASON_NO_RULE);
	w->cfa = fp + 16;
	w->known = 0;
	return unwind_up(w, UNWIND_FP_CHAIN | UNWIND_SP_LOWEST, &w->n_fp);
}

/* Functions begin at multiples of this (compilers' and assemblers' default on both machines). */
#define UNWIND_ALIGNMENT 16

/* The rule found is of code that has not called anybody. */
UNWIND_INLINE int unwind_has_no_call(const struct unwind_walk *w)
{
	return w->word && !unwind_is_compact(w->word) &&
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
	if (!(w->flags & UNWIND_EXACT) && w->word && !unwind_is_compact(w->word) &&
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
			return unwind_stop(w, STOP_REASON_NO_MAPPING);
		end = unwind_rule(w);
		if (end)
			return unwind_stop(w, end);
		if (unwind_is_compact(w->word))
			return unwind_by_compact(w, w->word);
		if (w->word)
			return unwind_by_rule(w);
	}
	return unwind_by_fp(w);
}

#endif
