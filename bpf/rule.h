/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One unwind rule: how, at a pc, the canonical frame address (CFA, the stack pointer's value in the caller), the caller's frame pointer
 * and the return address are found. The word that CFI, Go's tables and code without CFI are translated to, that rows are made of, and that the
 * walk obeys. Only these three are followed from frame to frame; every other register is known in the leaf and behind a signal frame
 * only.
 *
 * Registers have their DWARF numbers (System V x86-64 psABI fig. 3.36; "DWARF for the Arm 64-bit Architecture" §4.1).
 */
#ifndef XAGENT_BPF_RULE_H
#define XAGENT_BPF_RULE_H

#include <linux/types.h>

#define RULE_X86_RAX 0
#define RULE_X86_RDX 1
#define RULE_X86_RCX 2
#define RULE_X86_RBX 3
#define RULE_X86_RSI 4
#define RULE_X86_RDI 5
#define RULE_X86_RBP 6
#define RULE_X86_RSP 7
#define RULE_X86_R8 8
#define RULE_X86_R15 15
#define RULE_X86_RIP 16
#define RULE_ARM64_FP 29
#define RULE_ARM64_LR 30
#define RULE_ARM64_SP 31

enum rule_cfa {
	RULE_CFA_NONE,	/* nothing is known here; all else is 0 */
	RULE_CFA_REG,	/* cfa_reg + cfa_off */
	RULE_CFA_DEREF, /* the word at cfa_reg + cfa_off, + cfa_add */
	RULE_CFA_PLT, /* sp + 8, and 8 more where (pc & 15) >= cfa_off: lazy binding stubs of x86-64 */
	/* cfa_add above where a goroutine has left its stack, on AArch64 (bpf/go.h): */
	RULE_CFA_GO_NOTED, /* as noted at cfa_reg + cfa_off */
	RULE_CFA_GO_LEFT,  /* that of the m whose g0 is in x28, at cfa_off in it */
};

enum rule_fp {
	RULE_FP_SAME,	   /* the register still is the caller's */
	RULE_FP_CFA,	   /* saved at CFA + fp_off */
	RULE_FP_DEREF,	   /* saved at fp_reg + fp_off */
	RULE_FP_REG,	   /* kept in fp_reg */
	RULE_FP_UNDEFINED, /* lost */
};

enum rule_ra {
	RULE_RA_CFA,	   /* saved at CFA + ra_off */
	RULE_RA_REG,	   /* in ra_reg */
	RULE_RA_DEREF,	   /* saved at ra_reg + ra_off */
	RULE_RA_UNDEFINED, /* there is no caller: the outermost frame */
	RULE_RA_SIGNAL, /* all registers are in the signal frame at sp, as the kernel laid it down */
};

/* The CFA may be on another stack (Go's systemstack, longjmp): it need not grow in this step. */
#define RULE_SWITCH 1u

/* Members that a kind does not use are 0, so that equal rules are equal bytes. */
struct unwind_rule {
	__u8 cfa; /* enum rule_cfa */
	__u8 cfa_reg;
	__u8 fp; /* enum rule_fp */
	__u8 fp_reg;
	__u8 ra; /* enum rule_ra */
	__u8 ra_reg;
	__u8 flags; /* RULE_SWITCH */
	__u8 zero;
	__s32 cfa_off;
	__s32 fp_off;
	__s32 ra_off;
	__s32 cfa_add;
};

_Static_assert(sizeof(struct unwind_rule) == 24, "three words of the arena");

#endif
