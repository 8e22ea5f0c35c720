/* SPDX-License-Identifier: Apache-2.0 */
/* A child of ours is stopped and goes on; one that was stopped stays so; its registers and memory are read meanwhile. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/cli/threads/ptrace_threads.h"
#include "agent/process/thread_memory.h"
#include "agent/cli/threads/thread_regs.h"
#include "agent/cli/threads/thread_state.h"
#include "agent/util/clock.h"
#include "tests/support/unit.h"

#define N_THREADS 5
#define PATIENCE_NS (10 * NS_PER_S)

/* Both processes see it. */
struct shared {
	volatile uint64_t n_ready;
	volatile uint64_t count;
	uint64_t secret;
};

struct child {
	struct shared *shared;
	pid_t pid;
};

static void *spin(void *data)
{
	struct shared *s = data;

	(void)__atomic_add_fetch(&s->n_ready, 1, __ATOMIC_SEQ_CST);
	for (;;)
		(void)__atomic_add_fetch(&s->count, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static _Noreturn void run_child(struct shared *s)
{
	pthread_t thread;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 1; i < N_THREADS; i++)
		if (pthread_create(&thread, NULL, spin, s))
			_exit(1);
	(void)spin(s);
	_exit(1);
}

static void wait_for(const volatile uint64_t *value, uint64_t least)
{
	uint64_t end_ns = clock_mono_ns() + PATIENCE_NS;

	while (__atomic_load_n(value, __ATOMIC_SEQ_CST) < least)
		assert_true(clock_mono_ns() < end_ns);
}

static int setup(void **state)
{
	static struct child c;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	c.shared = mmap(NULL, sizeof(*c.shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (c.shared == MAP_FAILED)
		return -1;
	c.shared->secret = 0x5ec7e7;
	c.pid = fork();
	if (c.pid == 0)
		run_child(c.shared);
	*state = &c;
	return c.pid < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	struct child *c = *state;

	(void)kill(c->pid, SIGKILL);
	(void)waitpid(c->pid, NULL, __WALL);
	return munmap(c->shared, sizeof(*c->shared));
}

/* Where containers and security modules forbid it, nothing can be tested. */
static void stop(struct ptrace_threads *t, const struct child *c)
{
	wait_for(&c->shared->n_ready, N_THREADS);
	int r = ptrace_threads_stop(t, (uint32_t)c->pid);
	if (r == -EPERM || r == -ENOSYS) {
		ptrace_threads_release(t);
		print_message("ptrace(2) is not permitted here\n");
		skip();
	}
	assert_int_equal(r, 0);
	assert_int_equal(t->n, N_THREADS);
}

static void test_nothing_moves(void **state)
{
	struct child *c = *state;
	struct ptrace_threads t = { 0 };
	uint64_t count;

	stop(&t, c);
	for (size_t i = 0; i < t.n; i++)
		assert_int_equal(t.items[i].state, PTRACE_THREAD_STOPPED);
	count = c->shared->count;
	(void)usleep(20000);
	assert_int_equal(c->shared->count, count);
	ptrace_threads_release(&t);
	wait_for(&c->shared->count, count + 1000);
}

static void test_registers_and_memory(void **state)
{
	struct child *c = *state;
	struct ptrace_threads t = { 0 };
	struct thread_memory m = { 0 };
	struct thread_regs regs;
	uint64_t word = 0;

	stop(&t, c);
	assert_int_equal(thread_regs_read(t.items[0].tid, &regs), 0);
	assert_false(regs.after_syscall);
	/* A child of ours has our code where we have it. */
	assert_in_range(regs.regs.pc, (uintptr_t)spin, (uintptr_t)spin + 512);
	m.pid = m.tid = t.items[0].tid;
	assert_int_equal(thread_memory_read(&m, (uintptr_t)&c->shared->secret, &word, 8), 0);
	assert_int_equal(word, 0x5ec7e7);
	assert_int_equal(thread_memory_read(&m, regs.regs.reg[WIRE_ABI_SP], &word, 8), 0);
	assert_int_not_equal(thread_memory_read(&m, 0, &word, 8), 0);
	assert_int_not_equal(thread_memory_read(&m, THREAD_REGS_UNKNOWN, &word, 8), 0);
	assert_false(m.unanswered);
	ptrace_threads_release(&t);
}

static void test_stopped_stays_stopped(void **state)
{
	struct child *c = *state;
	struct ptrace_threads t = { 0 };
	uint64_t count;
	int status;

	wait_for(&c->shared->n_ready, N_THREADS);
	assert_int_equal(kill(c->pid, SIGSTOP), 0);
	assert_int_equal(waitpid(c->pid, &status, WUNTRACED), c->pid);
	count = c->shared->count;
	stop(&t, c);
	ptrace_threads_release(&t);
	(void)usleep(20000);
	assert_int_equal(c->shared->count, count);
	assert_int_equal(kill(c->pid, SIGCONT), 0);
	wait_for(&c->shared->count, count + 1000);
}

/* Its threads that are killed while they are ours are ours to wait for, before it has ended. */
static int wait_for_end(pid_t child)
{
	pid_t pid;
	int status;

	do
		pid = waitpid(-1, &status, __WALL);
	while (pid > 0 && pid != child);
	assert_int_equal(pid, child);
	return status;
}

static void test_signal_is_not_lost(void **state)
{
	struct child *c = *state;
	struct ptrace_threads t = { 0 };
	int status;

	stop(&t, c);
	assert_int_equal(kill(c->pid, SIGTERM), 0);
	ptrace_threads_release(&t);
	status = wait_for_end(c->pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void test_no_such_process(void **state)
{
	struct ptrace_threads t = { 0 };

	(void)state;
	assert_int_equal(ptrace_threads_stop(&t, 4194305), -ESRCH);
	ptrace_threads_release(&t);
	assert_int_equal(thread_state(4194305, 4194305), THREAD_DEAD);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_nothing_moves),
	FIXTURE_TEST(test_registers_and_memory),
	FIXTURE_TEST(test_stopped_stays_stopped),
	FIXTURE_TEST(test_signal_is_not_lost),
	TEST(test_no_such_process),
};

TEST_MAIN(tests)
