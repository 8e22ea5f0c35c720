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

#define REGS_NR_CLONE3 435 /* the same everywhere */
#define REGS_NO_CALL (~0ULL)

/* Where the stack that clone3 was asked for begins: words five and six of struct clone_args (include/uapi/linux/sched.h), place and size. */
static __always_inline bool regs_is_clone3_stack(__u64 args, __u64 sp)
{
	__u64 stack[2];

	return !bpf_probe_read_user(stack, sizeof(stack), (void *)(args + 40)) && stack[0] &&
	       stack[0] + stack[1] == sp;
}

#if defined(__TARGET_ARCH_x86)

/* Selector of 32-bit user code: __USER32_CS, arch/x86/include/asm/segment.h */
#define USER32_CS 0x23
#define REGS_NR_CLONE 56 /* arch/x86/entry/syscalls/syscall_64.tbl */
/* Where the result of a clone is looked at, and parent and child part: a test and two jumps. */
#define REGS_BRANCH_BYTES 16

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

#define REGS_PLAIN(from, name) ((from)->name)

#define REGS_FILL_NUMBERED(to, from, get)                    \
	do {                                                 \
		(to)->reg[RULE_X86_R8] = get(from, r8);      \
		(to)->reg[RULE_X86_R8 + 1] = get(from, r9);  \
		(to)->reg[RULE_X86_R8 + 2] = get(from, r10); \
		(to)->reg[RULE_X86_R8 + 3] = get(from, r11); \
		(to)->reg[RULE_X86_R8 + 4] = get(from, r12); \
		(to)->reg[RULE_X86_R8 + 5] = get(from, r13); \
		(to)->reg[RULE_X86_R8 + 6] = get(from, r14); \
		(to)->reg[RULE_X86_R15] = get(from, r15);    \
	} while (0)

static __always_inline bool regs_interrupted(const struct bpf_perf_event_data *ctx,
					     struct wire_regs *to)
{
	to->pc = ctx->regs.rip;
	REGS_FILL(to, ctx->regs.rax, ctx->regs.rdx, ctx->regs.rcx, ctx->regs.rbx, ctx->regs.rsi,
		  ctx->regs.rdi, ctx->regs.rbp, ctx->regs.rsp);
	REGS_FILL_NUMBERED(to, &ctx->regs, REGS_PLAIN);
	return !regs_compat(ctx->regs.cs);
}

/* A register that the kernel does not save under this name is 0; where sp is, there is no user half. */
#define REGS_SAVED(from, name) KERNEL_FIELD(from, name, 0)

static __always_inline bool regs_saved(const struct pt_regs___kernel *from, struct wire_regs *to)
{
	to->pc = REGS_SAVED(from, ip);
	REGS_FILL(to, REGS_SAVED(from, ax), REGS_SAVED(from, dx), REGS_SAVED(from, cx),
		  REGS_SAVED(from, bx), REGS_SAVED(from, si), REGS_SAVED(from, di),
		  REGS_SAVED(from, bp), REGS_SAVED(from, sp));
	REGS_FILL_NUMBERED(to, from, REGS_SAVED);
	return !regs_compat(REGS_SAVED(from, cs));
}

/*
 * Entry code stores −1 as the number of everything but a system call (arch/x86/entry/entry_64.S). The number stays when pc does not: after
 * an exec it is the new image's first, before a signal is handled the handler's. `syscall` leaves where it returns to in rcx, but not with FRED.
 */
static __always_inline bool regs_behind_call(const struct pt_regs___kernel *from)
{
	__u64 pc = REGS_SAVED(from, ip);
	__u16 code;

	if (REGS_SAVED(from, orig_ax) == ~0UL)
		return false;
	if (REGS_SAVED(from, cx) == pc)
		return true;
	return !bpf_probe_read_user(&code, sizeof(code), (void *)(pc - sizeof(code))) &&
	       code == 0x050f;
}

static __always_inline __u64 regs_pc(const struct pt_regs___kernel *from)
{
	return REGS_SAVED(from, ip);
}

static __always_inline __u64 regs_call(const struct pt_regs___kernel *from)
{
	return KERNEL_FIELD(from, orig_ax, REGS_NO_CALL);
}

/* Whether the number of the call is another machine's, or not known. TS_COMPAT (arch/x86/include/asm/thread_info.h): 32-bit calls; those of x32 have a bit. */
#define REGS_TS_COMPAT 0x2
#define REGS_X32_BIT 0x40000000

static __always_inline bool regs_of_other_machine(struct task_struct *task,
						  const struct pt_regs___kernel *from)
{
	__u64 call = regs_call(from);

	return !bpf_core_field_exists(from->orig_ax) ||
	       !bpf_core_field_exists(task->thread_info.status) ||
	       BPF_CORE_READ(task, thread_info.status) & REGS_TS_COMPAT ||
	       regs_compat(REGS_SAVED(from, cs)) || (call != REGS_NO_CALL && call & REGS_X32_BIT);
}

static __always_inline __u64 regs_first_argument(const struct pt_regs___kernel *from)
{
	return REGS_SAVED(from, di);
}

/*
 * A task that was made with a stack of its own and has not left the function that made it: the result is 0 in it alone (−ENOSYS while the
 * call lasts). Back in user code the number of the call is gone, but for some instructions rcx is where it returned to.
 */
static __always_inline bool regs_is_fresh_clone(const struct wire_regs *r, __u64 call)
{
	if (r->reg[RULE_X86_RAX])
		return false;
	if (call == REGS_NR_CLONE)
		return r->reg[RULE_X86_RSI] == r->reg[RULE_X86_RSP];
	if (call != REGS_NR_CLONE3 &&
	    (call != REGS_NO_CALL || r->pc - r->reg[RULE_X86_RCX] >= REGS_BRANCH_BYTES))
		return false;
	return regs_is_clone3_stack(r->reg[RULE_X86_RDI], r->reg[RULE_X86_RSP]);
}

#elif defined(__TARGET_ARCH_arm64)

/* PSR_MODE_MASK, PSR_MODE_EL0t, PSR_MODE32_BIT: arch/arm64/include/uapi/asm/ptrace.h */
#define REGS_MODE_MASK 0xf
#define REGS_MODE32 0x10
#define REGS_NR_CLONE 220      /* include/uapi/asm-generic/unistd.h */
#define REGS_SVC_0 0xd4000001u /* svc #0 */

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

static __always_inline bool regs_saved(const struct pt_regs___kernel *from, struct wire_regs *to)
{
	/* Asked for as a whole: of one element clang 14 does not come to an end. */
	bool has_regs = bpf_core_field_exists(from->regs);

	to->pc = KERNEL_FIELD(from, pc, 0);
	to->reg[RULE_ARM64_SP] = KERNEL_FIELD(from, sp, 0);
#pragma unroll
	for (int i = 0; i < RULE_ARM64_SP; i++)
		to->reg[i] = has_regs ? from->regs[i] : 0;
	return !(KERNEL_FIELD(from, pstate, 0) & REGS_MODE32);
}

/* As above; an exec keeps the number, too (start_thread_common, arch/arm64/include/asm/processor.h). */
static __always_inline bool regs_behind_call(const struct pt_regs___kernel *from)
{
	__u32 code;

	return KERNEL_FIELD(from, syscallno, -1) != -1 &&
	       !bpf_probe_read_user(&code, sizeof(code),
				    (void *)(KERNEL_FIELD(from, pc, 0) - sizeof(code))) &&
	       code == REGS_SVC_0;
}

static __always_inline __u64 regs_pc(const struct pt_regs___kernel *from)
{
	return KERNEL_FIELD(from, pc, 0);
}

static __always_inline __u64 regs_call(const struct pt_regs___kernel *from)
{
	int call = KERNEL_FIELD(from, syscallno, -1);

	return call == -1 ? REGS_NO_CALL : (__u64)call;
}

static __always_inline bool regs_of_other_machine(struct task_struct *task,
						  const struct pt_regs___kernel *from)
{
	(void)task;
	return !bpf_core_field_exists(from->syscallno) ||
	       KERNEL_FIELD(from, pstate, 0) & REGS_MODE32;
}

/* The register has the result once there is one. */
static __always_inline __u64 regs_first_argument(const struct pt_regs___kernel *from)
{
	return KERNEL_FIELD(from, orig_x0, ~0ULL);
}

/* A task that was made with a stack of its own and has not run yet: the result is 0 in it alone. What clone3 was asked for is gone. */
static __always_inline bool regs_is_fresh_clone(const struct wire_regs *r, __u64 call)
{
	return call == REGS_NR_CLONE && !r->reg[0] && r->reg[1] == r->reg[RULE_ARM64_SP];
}

#endif

#endif
