/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of one thread of another process. */
#include "agent/cli/threads/thread_regs.h"

#include <elf.h>
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "agent/util/macro.h"
#include "bpf/rule.h"

/* arch/x86/entry/calling.h and entry_64.S: what is no system call has no number; the same of struct pt_regs' syscallno on AArch64. */
#define NO_SYSCALL (-1)
#define SYSCALL_ARGUMENTS 6

/* A set of registers (elf.h, NT_*): its length in bytes as this task has it, or -errno. */
static ssize_t read_set(uint32_t tid, int set, void *to, size_t n)
{
	struct iovec v = { .iov_base = to, .iov_len = n };

	if (ptrace(PTRACE_GETREGSET, (pid_t)tid, (void *)(intptr_t)set, &v) < 0)
		return -errno;
	return (ssize_t)v.iov_len;
}

#if defined(__x86_64__)

/* In which registers a system call has its arguments (System V x86-64 psABI, A.2.1). */
static const uint8_t argument_regs[SYSCALL_ARGUMENTS] = { RULE_X86_RDI, RULE_X86_RSI,
							  RULE_X86_RDX, RULE_X86_R8 + 2,
							  RULE_X86_R8,	RULE_X86_R8 + 1 };

static int take_set(uint32_t tid, const struct user_regs_struct *u, struct thread_regs *r)
{
	(void)tid;
	*r = (struct thread_regs){
		.regs = { .pc = u->rip,
			  .reg = { u->rax, u->rdx, u->rcx, u->rbx, u->rsi, u->rdi, u->rbp, u->rsp,
				   u->r8, u->r9, u->r10, u->r11, u->r12, u->r13, u->r14, u->r15 } },
		.after_syscall = (int64_t)u->orig_rax != NO_SYSCALL,
	};
	return 0;
}

#elif defined(__aarch64__)

static const uint8_t argument_regs[SYSCALL_ARGUMENTS] = { 0, 1, 2, 3, 4, 5 };

static int take_set(uint32_t tid, const struct user_regs_struct *u, struct thread_regs *r)
{
	int number = NO_SYSCALL;
	ssize_t n = read_set(tid, NT_ARM_SYSTEM_CALL, &number, sizeof(number));

	if (n < 0)
		return (int)n;
	*r = (struct thread_regs){ .regs.pc = u->pc, .after_syscall = number != NO_SYSCALL };
	for (int i = 0; i < RULE_ARM64_SP; i++)
		r->regs.reg[i] = u->regs[i];
	r->regs.reg[RULE_ARM64_SP] = u->sp;
	return 0;
}

#endif

int thread_regs_read(uint32_t tid, struct thread_regs *ret_regs)
{
	struct user_regs_struct u;
	ssize_t n = read_set(tid, NT_PRSTATUS, &u, sizeof(u));

	if (n < 0)
		return (int)n;
	/* The kernel gives the set of the code that runs, and that of 32-bit code is shorter. */
	if ((size_t)n < sizeof(u))
		return THREAD_REGS_COMPAT;
	return take_set(tid, &u, ret_regs);
}

static bool cut_hex(struct str *s, __u64 *ret_value)
{
	static const struct str prefix = { " 0x", 3 };
	uint64_t value;

	if (!str_starts_with(*s, prefix))
		return false;
	*s = (struct str){ s->p + prefix.n, s->n - prefix.n };
	if (str_scan_u64(s, 16, UINT64_MAX, &value) < 0)
		return false;
	*ret_value = value;
	return true;
}

/* arguments = { " 0x" hex } */
static bool cut_arguments(struct str *s, struct wire_regs *to)
{
	for (int i = 0; i < SYSCALL_ARGUMENTS; i++)
		if (!cut_hex(s, &to->reg[argument_regs[i]]))
			return false;
	return true;
}

/* text = "running" | "-1" sp pc | number arguments sp pc   (proc_pid_syscall, fs/proc/base.c) */
int thread_regs_parse(struct str text, struct thread_regs *ret_regs)
{
	struct thread_regs r = { 0 };
	struct str s = str_trim(text);
	uint64_t number;

	for (size_t i = 0; i < WIRE_N_REGS; i++)
		r.regs.reg[i] = THREAD_REGS_UNKNOWN;
	if (str_starts_with(s, STR_LIT("-1 ")))
		s = (struct str){ s.p + 2, s.n - 2 };
	else if (str_scan_u64(&s, 10, INT32_MAX, &number) < 0 || !cut_arguments(&s, &r.regs))
		return -EINVAL;
	else
		r.after_syscall = true;
	if (!cut_hex(&s, &r.regs.reg[WIRE_ABI_SP]) || !cut_hex(&s, &r.regs.pc) || s.n > 0)
		return -EINVAL;
	*ret_regs = r;
	return 0;
}
