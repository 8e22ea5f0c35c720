/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The user registers a walk starts with, from the interrupted context or from where the task entered the kernel. */
#ifndef XAGENT_BPF_REGS_BPF_H
#define XAGENT_BPF_REGS_BPF_H

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>

#include "bpf/kernel.h"
#include "bpf/rule.h"
#include "bpf/wire.h"

#if defined(__TARGET_ARCH_x86)

/* Selector of 32-bit user code: __USER32_CS, arch/x86/include/asm/segment.h */
#define USER32_CS 0x23

static __always_inline bool regs_user_mode(const struct bpf_perf_event_data *ctx)
{
	return (ctx->regs.cs & 3) == 3;
}

static __always_inline bool regs_compat(__u64 cs)
{
	return (cs & 0xffff) == USER32_CS;
}

/* DWARF numbers of the registers that are not in the order of their names. */
#define REGS_FILL(to, ax, dx, cx, bx, si, di, bp, sp) \
	do {                                          \
		(to)->reg[RULE_X86_RAX] = (ax);       \
		(to)->reg[RULE_X86_RDX] = (dx);       \
		(to)->reg[RULE_X86_RCX] = (cx);       \
		(to)->reg[RULE_X86_RBX] = (bx);       \
		(to)->reg[RULE_X86_RSI] = (si);       \
		(to)->reg[RULE_X86_RDI] = (di);       \
		(to)->reg[RULE_X86_RBP] = (bp);       \
		(to)->reg[RULE_X86_RSP] = (sp);       \
	} while (0)

#define REGS_FILL_NUMBERED(to, from)                      \
	do {                                              \
		(to)->reg[RULE_X86_R8] = (from)->r8;      \
		(to)->reg[RULE_X86_R8 + 1] = (from)->r9;  \
		(to)->reg[RULE_X86_R8 + 2] = (from)->r10; \
		(to)->reg[RULE_X86_R8 + 3] = (from)->r11; \
		(to)->reg[RULE_X86_R8 + 4] = (from)->r12; \
		(to)->reg[RULE_X86_R8 + 5] = (from)->r13; \
		(to)->reg[RULE_X86_R8 + 6] = (from)->r14; \
		(to)->reg[RULE_X86_R15] = (from)->r15;    \
	} while (0)

static __always_inline bool regs_interrupted(const struct bpf_perf_event_data *ctx,
					     struct wire_regs *to)
{
	to->pc = ctx->regs.rip;
	REGS_FILL(to, ctx->regs.rax, ctx->regs.rdx, ctx->regs.rcx, ctx->regs.rbx, ctx->regs.rsi,
		  ctx->regs.rdi, ctx->regs.rbp, ctx->regs.rsp);
	REGS_FILL_NUMBERED(to, &ctx->regs);
	return !regs_compat(ctx->regs.cs);
}

static __always_inline bool regs_saved(const struct pt_regs___kernel *from, struct wire_regs *to,
				       bool *in_syscall)
{
	to->pc = from->ip;
	REGS_FILL(to, from->ax, from->dx, from->cx, from->bx, from->si, from->di, from->bp,
		  from->sp);
	REGS_FILL_NUMBERED(to, from);
	/* Entry code stores −1 here for everything but a system call (arch/x86/entry/entry_64.S). */
	*in_syscall = from->orig_ax != ~0UL;
	return !regs_compat(from->cs);
}

#elif defined(__TARGET_ARCH_arm64)

/* PSR_MODE_MASK, PSR_MODE_EL0t, PSR_MODE32_BIT: arch/arm64/include/uapi/asm/ptrace.h */
#define REGS_MODE_MASK 0xf
#define REGS_MODE32 0x10

static __always_inline bool regs_user_mode(const struct bpf_perf_event_data *ctx)
{
	return (ctx->regs.pstate & REGS_MODE_MASK) == 0;
}

static __always_inline bool regs_interrupted(const struct bpf_perf_event_data *ctx,
					     struct wire_regs *to)
{
	to->pc = ctx->regs.pc;
	to->reg[RULE_ARM64_SP] = ctx->regs.sp;
#pragma unroll
	for (int i = 0; i < RULE_ARM64_SP; i++)
		to->reg[i] = ctx->regs.regs[i];
	return !(ctx->regs.pstate & REGS_MODE32);
}

static __always_inline bool regs_saved(const struct pt_regs___kernel *from, struct wire_regs *to,
				       bool *in_syscall)
{
	to->pc = from->pc;
	to->reg[RULE_ARM64_SP] = from->sp;
#pragma unroll
	for (int i = 0; i < RULE_ARM64_SP; i++)
		to->reg[i] = from->regs[i];
	*in_syscall = from->syscallno != -1;
	return !(from->pstate & REGS_MODE32);
}

#endif

#endif
