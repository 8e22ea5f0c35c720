/* SPDX-License-Identifier: Apache-2.0 */
/* The system calls that are left to the processes that read DWARF. */
#include "agent/dwarf/sandbox_filter.h"

#include <assert.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "agent/util/macro.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
/* Numbers from here on are those of x32 (asm/unistd.h, __X32_SYSCALL_BIT). */
#define FIRST_FOREIGN_NUMBER 0x40000000
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the numbers of this architecture are not known here"
#endif

/* Low halves of arguments lie first. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "little endian");

struct rule {
	uint32_t number;
	uint8_t argument;   /* that must not have any of these bits */
	uint32_t forbidden; /* 0: any arguments */
};

/* Descriptors that it has, memory without code, its own end. */
static const struct rule reader_rules[] = {
	{ __NR_pread64, 0, 0 },
	{ __NR_pwrite64, 0, 0 },
	{ __NR_recvmsg, 0, 0 },
	{ __NR_sendmsg, 0, 0 },
	{ __NR_close, 0, 0 },
	{ __NR_brk, 0, 0 },
	{ __NR_mmap, 2, PROT_EXEC },
	{ __NR_mprotect, 2, PROT_EXEC },
	{ __NR_mremap, 0, 0 },
	{ __NR_munmap, 0, 0 },
	{ __NR_madvise, 0, 0 },
	{ __NR_futex, 0, 0 },
	{ __NR_clock_gettime, 0, 0 },
	{ __NR_sysinfo, 0, 0 }, /* qsort(3) of the C library asks how much memory there is */
	{ __NR_prlimit64, 0, UINT32_MAX }, /* its own limits */
	{ __NR_rt_sigreturn, 0, 0 },
	{ __NR_restart_syscall, 0, 0 },
	{ __NR_exit, 0, 0 },
	{ __NR_exit_group, 0, 0 },
#ifdef __SANITIZE_ADDRESS__
	{ __NR_gettid, 0, 0 },
	{ __NR_getpid, 0, 0 },
	{ __NR_sched_yield, 0, 0 },
	{ __NR_sigaltstack, 0, 0 },
	{ __NR_rt_sigprocmask, 0, 0 },
	{ __NR_write, 0, 0 },
#endif
};

/* What starting and ending a reader takes besides, and what a reader does before it has its own list. */
static const struct rule server_rules[] = {
	{ __NR_clone, 0, ~(uint32_t)(CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | CSIGNAL) },
	{ __NR_wait4, 0, 0 },
	{ __NR_kill, 0, 0 },
	{ __NR_clock_nanosleep, 0, 0 },
	{ __NR_set_robust_list, 0, 0 },
	{ __NR_rt_sigprocmask, 0, 0 },
	{ __NR_gettid, 0, 0 },
	{ __NR_getpid, 0, 0 },
	{ __NR_prctl, 0, 0 },
	{ __NR_statx, 0, 0 }, /* what kind of file it was given */
};

/* What libdw does on its own and can do without: it asks for the path of the descriptor that it believes to have. -EACCES. */
static const uint32_t refused[] = {
#ifdef __NR_readlink
	__NR_readlink,
#endif
	__NR_readlinkat,
#ifdef __NR_lstat
	__NR_lstat,
#endif
};

struct program {
	struct sock_filter *items;
	size_t n;
};

static void add(struct program *p, struct sock_filter instruction)
{
	assert(p->n < SANDBOX_FILTER_MAX);
	p->items[p->n++] = instruction;
}

static void load(struct program *p, size_t off)
{
	add(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)off));
}

static void end(struct program *p, uint32_t verdict)
{
	add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict));
}

/* The number is loaded; it still is where the rule is not met. */
static void add_rule(struct program *p, const struct rule *rule)
{
	bool is_plain = rule->forbidden == 0;

	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, rule->number, 0,
					    is_plain ? 1 : 4));
	if (!is_plain) {
		load(p, offsetof(struct seccomp_data, args) + rule->argument * sizeof(uint64_t));
		add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, rule->forbidden, 1,
						    0));
	}
	end(p, SECCOMP_RET_ALLOW);
	if (!is_plain)
		end(p, SECCOMP_RET_KILL_PROCESS);
}

static void add_rules(struct program *p, const struct rule *rules, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add_rule(p, &rules[i]);
}

static void add_refused(struct program *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused[i], 0, 1));
		end(p, SECCOMP_RET_ERRNO | EACCES);
	}
}

size_t sandbox_filter_make(enum sandbox_kind kind, struct sock_filter *program)
{
	struct program p = { .items = program };

	load(&p, offsetof(struct seccomp_data, arch));
	add(&p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0));
	end(&p, SECCOMP_RET_KILL_PROCESS);
	load(&p, offsetof(struct seccomp_data, nr));
#ifdef FIRST_FOREIGN_NUMBER
	add(&p,
	    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_FOREIGN_NUMBER, 0, 1));
	end(&p, SECCOMP_RET_KILL_PROCESS);
#endif
	add_rules(&p, reader_rules, ARRAY_SIZE(reader_rules));
	add_refused(&p);
	if (kind == SANDBOX_SERVER)
		add_rules(&p, server_rules, ARRAY_SIZE(server_rules));
	end(&p, SECCOMP_RET_KILL_PROCESS);
	return p.n;
}

int sandbox_filter_apply(enum sandbox_kind kind)
{
	struct sock_filter items[SANDBOX_FILTER_MAX];
	struct sock_fprog program = { .filter = items };

	program.len = (unsigned short)sandbox_filter_make(kind, items);
	/* By prctl(2), which service managers allow where they do not know seccomp(2). */
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0 ? -errno : 0;
}
