/* SPDX-License-Identifier: Apache-2.0 */
/* Steps through a program and compares unwind rules with what calls left behind. */
#include "tests/support/step_oracle.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/util/macro.h"

#if defined(__x86_64__)

#define MAX_THREADS 64
#define MAX_SLOTS 65536
/* A slot that is further up is another stack's. */
#define MAX_FRAME_BYTES ((uint64_t)1 << 20)
#define CACHE_ENTRIES 65536
/* A stack pointer that rises by more has changed to another stack. */
#define MAX_RISE_BYTES (1u << 20)
/* Of the pc in the kernel's signal frame, from the stack pointer at the return from the handler. */
#define SIGNAL_RIP 168

/* Where a return address was left. */
struct slot {
	uint64_t at;
	uint64_t ra;
	uint64_t fp; /* of the caller */
	uint64_t function;
};

struct thread {
	pid_t tid;
	bool has_before;
	int signal; /* to be delivered with the next step */
	struct user_regs_struct before;
	/* What the rule at the return from a signal handler says will come back. */
	bool returning;
	uint64_t returning_cfa;
	uint64_t returning_fp;
	uint64_t returning_pc;
};

struct cached {
	uint64_t vaddr;
	uint64_t function;
	int outcome;
	struct unwind_rule rule;
	bool checked;
	bool used;
};

struct run {
	const struct step_oracle *oracle;
	struct step_report *report;
	pid_t pid;
	uint64_t bias;
	uint64_t begin; /* of the executable, runtime addresses */
	uint64_t end;
	struct slot *slots; /* ascending by address */
	size_t n_slots;
	struct thread threads[MAX_THREADS];
	size_t n_threads;
	struct cached *cache;
	uint32_t n_printed;
};

static bool read_word(const struct run *run, uint64_t at, uint64_t *ret_word)
{
	struct iovec local = { ret_word, sizeof(*ret_word) };
	struct iovec remote = { (void *)(uintptr_t)at, sizeof(*ret_word) };

	return process_vm_readv(run->pid, &local, 1, &remote, 1, 0) == (ssize_t)sizeof(*ret_word);
}

/* The first slot at or above the address. */
static size_t slot_index(const struct run *run, uint64_t at)
{
	size_t lo = 0;
	size_t hi = run->n_slots;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (run->slots[mid].at < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void slots_remove(struct run *run, size_t first, size_t last)
{
	memmove(&run->slots[first], &run->slots[last], (run->n_slots - last) * sizeof(*run->slots));
	run->n_slots -= last - first;
}

static void slot_put(struct run *run, const struct slot *slot)
{
	size_t i = slot_index(run, slot->at);

	if (i < run->n_slots && run->slots[i].at == slot->at) {
		run->slots[i] = *slot;
		return;
	}
	if (run->n_slots == MAX_SLOTS)
		slots_remove(run, MAX_SLOTS - 1, MAX_SLOTS);
	memmove(&run->slots[i + 1], &run->slots[i], (run->n_slots - i) * sizeof(*run->slots));
	run->slots[i] = *slot;
	run->n_slots++;
}

static bool is_inside(const struct run *run, uint64_t pc)
{
	return pc >= run->begin && pc < run->end;
}

static struct cached *look_up(struct run *run, uint64_t pc)
{
	const struct step_oracle *oracle = run->oracle;
	uint64_t vaddr = pc - run->bias;
	struct cached *c = &run->cache[vaddr % CACHE_ENTRIES];

	if (!c->used || c->vaddr != vaddr) {
		*c = (struct cached){ .vaddr = vaddr, .used = true };
		c->outcome = oracle->rule_at(oracle->data, vaddr, &c->rule);
		c->function = oracle->function_of(oracle->data, vaddr);
	}
	return c;
}

static uint64_t function_of(struct run *run, uint64_t pc)
{
	return is_inside(run, pc) ? look_up(run, pc)->function : 0;
}

static uint64_t reg_of(const struct user_regs_struct *r, uint8_t reg)
{
	const unsigned long long regs[] = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi,
					    r->rbp, r->rsp, r->r8,  r->r9,  r->r10, r->r11,
					    r->r12, r->r13, r->r14, r->r15, r->rip };

	return reg < ARRAY_SIZE(regs) ? regs[reg] : 0;
}

static bool rule_cfa(const struct run *run, const struct unwind_rule *rule,
		     const struct user_regs_struct *regs, uint64_t *ret_cfa)
{
	uint64_t at = reg_of(regs, rule->cfa_reg) + (uint64_t)(int64_t)rule->cfa_off;

	if (rule->cfa == RULE_CFA_REG)
		*ret_cfa = at;
	else if (rule->cfa == RULE_CFA_PLT)
		*ret_cfa = regs->rsp + 8 + ((regs->rip & 15) >= (uint64_t)rule->cfa_off ? 8 : 0);
	else
		return rule->cfa == RULE_CFA_DEREF && read_word(run, at, ret_cfa);
	return true;
}

static bool rule_fp(const struct run *run, const struct unwind_rule *rule,
		    const struct user_regs_struct *regs, uint64_t cfa, uint64_t *ret_fp)
{
	uint64_t off = (uint64_t)(int64_t)rule->fp_off;
	uint64_t at;

	switch ((enum rule_fp)rule->fp) {
	case RULE_FP_SAME:
		*ret_fp = regs->rbp;
		return true;
	case RULE_FP_REG:
		*ret_fp = reg_of(regs, rule->fp_reg);
		return true;
	case RULE_FP_CFA:
		return read_word(run, cfa + off, ret_fp);
	case RULE_FP_DEREF:
		at = reg_of(regs, rule->fp_reg) + off;
		/* As in bpf/unwind.h: outside of the frame it has been popped. */
		if (rule->fp_reg == RULE_X86_RBP && at - regs->rsp >= cfa - regs->rsp) {
			*ret_fp = regs->rbp;
			return true;
		}
		return read_word(run, at, ret_fp);
	case RULE_FP_UNDEFINED:
		break;
	}
	return false;
}

static bool rule_ra(const struct run *run, const struct unwind_rule *rule,
		    const struct user_regs_struct *regs, uint64_t cfa, uint64_t *ret_ra)
{
	uint64_t off = (uint64_t)(int64_t)rule->ra_off;

	if (rule->ra == RULE_RA_REG)
		*ret_ra = reg_of(regs, rule->ra_reg);
	else if (rule->ra == RULE_RA_CFA)
		return read_word(run, cfa + off, ret_ra);
	else
		return rule->ra == RULE_RA_DEREF &&
		       read_word(run, reg_of(regs, rule->ra_reg) + off, ret_ra);
	return true;
}

static void differ(struct run *run, const char *what, const struct user_regs_struct *regs,
		   uint64_t found, uint64_t wanted)
{
	const struct step_oracle *oracle = run->oracle;
	uint64_t vaddr = regs->rip - run->bias;

	if (run->n_printed++ >= oracle->max_printed)
		return;
	(void)fprintf(stderr, "%s at %#lx (%s+%#lx): %#lx, is %#lx; rsp %#llx rbp %#llx\n", what,
		      (unsigned long)vaddr,
		      oracle->name_of ? oracle->name_of(oracle->data, vaddr) : "",
		      (unsigned long)(vaddr - function_of(run, regs->rip)), (unsigned long)found,
		      (unsigned long)wanted, regs->rsp, regs->rbp);
}

static void compare(struct run *run, struct cached *c, const struct user_regs_struct *regs,
		    const struct slot *slot, uint64_t cfa)
{
	uint64_t ra, fp;

	run->report->n_checked++;
	run->report->n_pcs += !c->checked;
	c->checked = true;
	if (cfa != slot->at + 8) {
		run->report->n_wrong_cfa++;
		differ(run, "CFA", regs, cfa, slot->at + 8);
	} else if (!rule_ra(run, &c->rule, regs, cfa, &ra) || ra != slot->ra) {
		run->report->n_wrong_ra++;
		differ(run, "RA", regs, 0, slot->ra);
	} else if (c->rule.fp != RULE_FP_UNDEFINED &&
		   (!rule_fp(run, &c->rule, regs, cfa, &fp) || fp != slot->fp)) {
		run->report->n_wrong_fp++;
		differ(run, "FP", regs, fp, slot->fp);
	}
}

/* At the return from a signal handler: the handler may have changed what comes back, so it is compared when it is back. */
static void expect_signal(struct run *run, struct thread *t, struct cached *c,
			  const struct user_regs_struct *regs)
{
	t->returning = rule_cfa(run, &c->rule, regs, &t->returning_cfa) &&
		       rule_fp(run, &c->rule, regs, t->returning_cfa, &t->returning_fp) &&
		       read_word(run, regs->rsp + SIGNAL_RIP, &t->returning_pc);
	run->report->n_wrong_cfa += !t->returning;
}

static void check_signal(struct run *run, struct thread *t, const struct user_regs_struct *regs)
{
	struct step_report *report = run->report;

	t->returning = false;
	report->n_signals++;
	if (t->returning_pc != regs->rip) {
		report->n_wrong_ra++;
		differ(run, "signal's pc", regs, t->returning_pc, regs->rip);
	} else if (t->returning_cfa != regs->rsp) {
		report->n_wrong_cfa++;
		differ(run, "signal's CFA", regs, t->returning_cfa, regs->rsp);
	} else if (t->returning_fp != regs->rbp) {
		report->n_wrong_fp++;
		differ(run, "signal's FP", regs, t->returning_fp, regs->rbp);
	}
}

/* The slot of the function that runs, NULL when it is not known. */
static const struct slot *truth(struct run *run, uint64_t at, bool exact, uint64_t function)
{
	size_t i = slot_index(run, at);
	uint64_t word;

	if (i == run->n_slots || (exact && run->slots[i].at != at) ||
	    run->slots[i].at - at > MAX_FRAME_BYTES || run->slots[i].function != function ||
	    function == 0)
		return NULL;
	if (!read_word(run, run->slots[i].at, &word) || word != run->slots[i].ra) {
		/* Of a stack that has gone. */
		slots_remove(run, i, i + 1);
		return NULL;
	}
	return &run->slots[i];
}

static void check(struct run *run, struct thread *t, const struct user_regs_struct *regs)
{
	struct step_report *report = run->report;
	struct cached *c = look_up(run, regs->rip);
	uint64_t cfa;

	report->n_inside++;
	if (c->outcome != 0 || c->rule.cfa == RULE_CFA_NONE) {
		report->n_no_rule++;
		return;
	}
	if (c->rule.ra == RULE_RA_UNDEFINED) {
		report->n_roots++;
		return;
	}
	if (c->rule.ra == RULE_RA_SIGNAL) {
		expect_signal(run, t, c, regs);
		return;
	}
	bool switched = c->rule.flags & RULE_SWITCH;
	bool known = rule_cfa(run, &c->rule, regs, &cfa);
	/* On the other stack there is none of this function; then the slot is where the rule says. */
	const struct slot *slot = truth(run, regs->rsp, false, c->function);
	if (!slot && switched && known)
		slot = truth(run, cfa - 8, true, c->function);
	if (!slot) {
		report->n_unknown++;
		return;
	}
	report->n_switched += switched;
	compare(run, c, regs, slot, known ? cfa : 0);
}

/* What the last instruction did to the slots. */
static void follow(struct run *run, struct thread *t, const struct user_regs_struct *now)
{
	const struct user_regs_struct *was = &t->before;
	struct slot slot = { now->rsp, 0, now->rbp, 0 };

	if (now->rsp > was->rsp && now->rsp - was->rsp < MAX_RISE_BYTES)
		slots_remove(run, slot_index(run, was->rsp), slot_index(run, now->rsp));
	slot.function = function_of(run, now->rip);
	if (!read_word(run, now->rsp, &slot.ra))
		return;
	bool called = now->rsp == was->rsp - 8 && slot.ra > was->rip && slot.ra <= was->rip + 15 &&
		      now->rip != slot.ra;
	/* Entered otherwise: a tail call, a signal handler, the first function of a stack. */
	bool entered = slot.function != 0 && now->rip - run->bias == slot.function &&
		       (now->rip < was->rip || now->rip > was->rip + 15 || now->rsp != was->rsp);
	if (called || entered)
		slot_put(run, &slot);
}

static struct thread *thread_of(struct run *run, pid_t tid)
{
	for (size_t i = 0; i < run->n_threads; i++)
		if (run->threads[i].tid == tid)
			return &run->threads[i];
	if (run->n_threads == MAX_THREADS)
		return NULL;
	run->threads[run->n_threads] = (struct thread){ .tid = tid };
	run->report->n_threads++;
	return &run->threads[run->n_threads++];
}

static void thread_gone(struct run *run, pid_t tid)
{
	struct thread *t = thread_of(run, tid);

	if (t)
		*t = run->threads[--run->n_threads];
}

static void step_done(struct run *run, struct thread *t)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, t->tid, NULL, &regs) < 0)
		return;
	run->report->n_steps++;
	if (t->has_before) {
		/* The frame was at the stack pointer, which nothing but the return changes there. */
		if (t->returning && regs.rsp != t->before.rsp)
			check_signal(run, t, &regs);
		follow(run, t, &regs);
	}
	if (is_inside(run, regs.rip) && run->report->n_steps > run->oracle->skip_steps)
		check(run, t, &regs);
	t->before = regs;
	t->has_before = true;
}

/* Where the executable has been put. */
static int find_executable(struct run *run)
{
	char path[64], exe[4096], line[8192];
	bool first = true;

	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)run->pid);
	ssize_t n = readlink(path, exe, sizeof(exe) - 1);
	if (n < 0)
		return -errno;
	exe[n] = '\0';
	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)run->pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		char *end;
		uint64_t begin = strtoull(line, &end, 16);

		if (!strstr(line, exe))
			continue;
		if (first)
			run->begin = begin;
		first = false;
		run->end = strtoull(end + 1, NULL, 16);
	}
	(void)fclose(f);
	run->bias = run->begin - run->oracle->base_vaddr;
	return first ? -ENOENT : 0;
}

static int start(struct run *run)
{
	int status;

	run->pid = fork();
	if (run->pid < 0)
		return -errno;
	if (run->pid == 0) {
		(void)setpgid(0, 0);
		(void)personality(ADDR_NO_RANDOMIZE);
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
			(void)execvp(run->oracle->argv[0], run->oracle->argv);
		_exit(127);
	}
	if (waitpid(run->pid, &status, 0) < 0)
		return -errno;
	if (!WIFSTOPPED(status))
		return -EPERM;
	if (ptrace(PTRACE_SETOPTIONS, run->pid, NULL,
		   (void *)(PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL)) < 0)
		return -errno;
	return find_executable(run);
}

static void resume(struct thread *t)
{
	(void)ptrace(PTRACE_SINGLESTEP, t->tid, NULL, (void *)(intptr_t)t->signal);
}

/* One stop of one thread. */
static void stopped(struct run *run, pid_t tid, int status)
{
	struct thread *t;

	if (!WIFSTOPPED(status)) {
		thread_gone(run, tid);
		return;
	}
	t = thread_of(run, tid);
	if (!t)
		return;
	int sig = WSTOPSIG(status);
	if (sig == SIGTRAP && status >> 8 == SIGTRAP)
		step_done(run, t);
	t->signal = sig == SIGTRAP || sig == SIGSTOP ? 0 : sig;
	resume(t);
}

static int step_all(struct run *run)
{
	const struct step_oracle *oracle = run->oracle;

	resume(thread_of(run, run->pid));
	while (!oracle->max_steps || run->report->n_steps < oracle->max_steps) {
		int status;
		pid_t tid = waitpid(-run->pid, &status, __WALL);

		if (tid < 0 && errno == EINTR)
			continue;
		if (tid < 0 || (tid == run->pid && !WIFSTOPPED(status)))
			return 0;
		stopped(run, tid, status);
	}
	return 0;
}

static void stop(struct run *run)
{
	int status;

	if (run->pid > 0) {
		(void)kill(run->pid, SIGKILL);
		while (waitpid(-run->pid, &status, __WALL) > 0)
			;
	}
	free(run->slots);
	free(run->cache);
	free(run);
}

int step_oracle_run(const struct step_oracle *oracle, struct step_report *ret_report)
{
	struct run *run = calloc(1, sizeof(*run));
	int r = -ENOMEM;

	if (!run)
		return r;
	*ret_report = (struct step_report){ 0 };
	run->oracle = oracle;
	run->report = ret_report;
	run->slots = calloc(MAX_SLOTS, sizeof(*run->slots));
	run->cache = calloc(CACHE_ENTRIES, sizeof(*run->cache));
	if (run->slots && run->cache)
		r = start(run);
	if (r == 0)
		r = step_all(run);
	stop(run);
	return r;
}

#else

int step_oracle_run(const struct step_oracle *oracle, struct step_report *ret_report)
{
	(void)oracle;
	(void)ret_report;
	return -ENOSYS;
}

#endif
