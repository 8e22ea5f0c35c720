/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The user registers a walk starts with, from the interrupted context or from where the task entered the kernel. */
#ifndef XAGENT_BPF_REGS_BPF_H
#define XAGENT_BPF_REGS_BPF_H

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>

#include "bpf/kernel.h"
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

static __always_inline bool regs_interrupted(const struct bpf_perf_event_data *ctx,
					     struct wire_regs *to)
{
	to->pc = ctx->regs.rip;
	to->sp = ctx->regs.rsp;
	to->fp = ctx->regs.rbp;
	to->ra_reg = 0;
	return !regs_compat(ctx->regs.cs);
}

static __always_inline bool regs_saved(const struct pt_regs___kernel *from, struct wire_regs *to,
				       bool *in_syscall)
{
	to->pc = from->ip;
	to->sp = from->sp;
	to->fp = from->bp;
	to->ra_reg = 0;
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
	to->sp = ctx->regs.sp;
	to->fp = ctx->regs.regs[29];
	to->ra_reg = ctx->regs.regs[30];
	return !(ctx->regs.pstate & REGS_MODE32);
}

static __always_inline bool regs_saved(const struct pt_regs___kernel *from, struct wire_regs *to,
				       bool *in_syscall)
{
	to->pc = from->pc;
	to->sp = from->sp;
	to->fp = from->regs[29];
	to->ra_reg = from->regs[30];
	*in_syscall = from->syscallno != -1;
	return !(from->pstate & REGS_MODE32);
}

#endif

#endif
