/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* System calls, as tp_btf/sys_enter and sys_exit see them: which it is, and its arguments. */
#ifndef XAGENT_BPF_CALL_BPF_H
#define XAGENT_BPF_CALL_BPF_H

#include "bpf/regs.bpf.h"

/* include/uapi/asm-generic/unistd.h, arch/x86/entry/syscalls/syscall_64.tbl */
#if defined(__TARGET_ARCH_x86)
#define CALL_FUTEX 202
#define CALL_RESTART 219
#define CALL_SIGRETURN 15
#define CALL_CONNECT 42
#define CALL_ACCEPT 43
#define CALL_ACCEPT4 288
#else
#define CALL_FUTEX 98
#define CALL_RESTART 128
#define CALL_SIGRETURN 139
#define CALL_CONNECT 203
#define CALL_ACCEPT 202
#define CALL_ACCEPT4 242
#endif
#define CALL_FUTEX_WAITV 449
#define CALL_FUTEX_WAIT 455

/* MAX_ERRNO, include/linux/err.h */
#define CALL_MAX_ERROR 4095L

/* ERESTART_RESTARTBLOCK, include/linux/errno.h: it goes on as CALL_RESTART. */
#define CALL_WILL_RESTART (-516)

/* Of a 32-bit process: its numbers are others. */
static __always_inline bool call_is_compat(const struct pt_regs___kernel *regs)
{
#if defined(__TARGET_ARCH_x86)
	return regs_compat(KERNEL_FIELD(regs, cs, 0));
#else
	return KERNEL_FIELD(regs, pstate, 0) & REGS_MODE32;
#endif
}

static __always_inline __u64 call_second_argument(const struct pt_regs___kernel *regs)
{
#if defined(__TARGET_ARCH_x86)
	return KERNEL_FIELD(regs, si, 0);
#else
	return bpf_core_field_exists(regs->regs) ? regs->regs[1] : 0;
#endif
}

#endif
