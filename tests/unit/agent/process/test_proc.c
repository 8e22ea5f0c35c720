/* SPDX-License-Identifier: Apache-2.0 */
/* One process of /proc: the real one, and a tree like it. */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "agent/process/proc.h"
#include "agent/util/clock.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/process/proc_tree.h"

FIXTURE(struct proc_tree, proc_tree_init, proc_tree_fini)

struct found {
	size_t n;
	bool has_pc;
	uint64_t pc;
};

static bool look(const struct maps_entry *e, void *data)
{
	struct found *f = data;

	f->n++;
	f->has_pc = f->has_pc || (f->pc >= e->begin && f->pc < e->end && e->kind == MAPPING_FILE);
	return true;
}

static void test_self(void **state)
{
	_cleanup_proc_ struct proc p = PROC_NONE;
	_cleanup_buf_ struct buf exe = BUF_INIT(MAPPING_PATH_MAX);
	struct found found = { .pc = (uint64_t)(uintptr_t)&test_self };
	uint64_t now = clock_mono_ns();

	(void)state;
	assert_int_equal(proc_open("/proc", (uint32_t)getpid(), &p), 0);
	assert_int_equal(p.parent_pid, getppid());
	assert_false(p.kernel_thread);
	assert_true(p.start_ns <= now && p.start_ns > now - 300 * NS_PER_S);
	assert_int_equal(proc_read_maps(&p, look, &found), 0);
	assert_true(found.has_pc);
	assert_int_equal(proc_read_link(&p, "exe", &exe), 0);
	assert_non_null(strstr(buf_str(&exe), "test_proc"));
	assert_false(proc_has_ended("/proc", (uint32_t)getpid(), now));
	/* An event older than the process spoke of another one. */
	assert_true(proc_has_ended("/proc", (uint32_t)getpid(), p.start_ns - NS_PER_S));
}

static void test_gone(void **state)
{
	struct proc p;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	/* A zombie has no thread that lives. */
	assert_int_equal(proc_open("/proc", (uint32_t)pid, &p), -ESRCH);
	assert_true(proc_has_ended("/proc", (uint32_t)pid, clock_mono_ns()));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(proc_open("/proc", (uint32_t)pid, &p), -ENOENT);
	assert_true(proc_has_ended("/proc", (uint32_t)pid, clock_mono_ns()));
}

static void *sleep_long(void *data)
{
	int *ready = data;

	(void)!write(*ready, "x", 1);
	for (;;)
		(void)pause();
	return NULL;
}

/* The main thread leaves, another one lives on. */
static void leave_main_thread(int ready)
{
	static int fd;
	pthread_t thread;

	fd = ready;
	(void)pthread_create(&thread, NULL, sleep_long, &fd);
	pthread_exit(NULL);
}

static void test_leader_left(void **state)
{
	_cleanup_proc_ struct proc p = PROC_NONE;
	_cleanup_buf_ struct buf exe = BUF_INIT(MAPPING_PATH_MAX);
	struct found found = { .pc = (uint64_t)(uintptr_t)&test_self };
	int ready[2];
	char c;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0)
		leave_main_thread(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	for (int i = 0; i < 1000; i++) { /* until the leader is a zombie */
		_cleanup_proc_ struct proc now = PROC_NONE;

		if (proc_open("/proc", (uint32_t)pid, &now) == 0 && now.live_fd != now.dir_fd)
			break;
		(void)usleep(1000);
	}
	assert_int_equal(proc_open("/proc", (uint32_t)pid, &p), 0);
	assert_int_not_equal(p.live_fd, p.dir_fd);
	assert_int_equal(proc_read_maps(&p, look, &found), 0);
	assert_true(found.has_pc);
	assert_int_equal(proc_read_link(&p, "exe", &exe), 0);
	assert_non_null(strstr(buf_str(&exe), "test_proc"));
	assert_false(proc_has_ended("/proc", (uint32_t)pid, clock_mono_ns()));
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	(void)close(ready[0]);
	(void)close(ready[1]);
}

static void test_tree(void **state)
{
	struct proc_tree *t = *state;
	_cleanup_proc_ struct proc p = PROC_NONE;
	_cleanup_buf_ struct buf b = BUF_INIT(64);
	struct found found = { 0 };

	proc_tree_add(t, &(struct fake_proc){ .pid = 7,
					      .parent_pid = 2,
					      .comm = "kworker/0:1",
					      .flags = PROC_PF_KTHREAD,
					      .maps = "",
					      .exe = "/bin/gone (deleted)" });
	assert_int_equal(proc_open(t->root, 7, &p), 0);
	assert_true(p.kernel_thread);
	assert_string_equal(p.comm, "kworker/0:1");
	assert_int_equal(p.parent_pid, 2);
	assert_int_equal(proc_read_maps(&p, look, &found), 0);
	assert_int_equal(proc_read_link(&p, "exe", &b), 0);
	assert_string_equal(buf_str(&b), "/bin/gone");
	/* A read into a small buffer keeps what fits. */
	proc_tree_write(t, 7, "cmdline",
			"0123456789012345678901234567890123456789012345678901234567890123456789",
			70);
	buf_reset(&b);
	assert_int_equal(proc_read_file(&p, "cmdline", &b), 0);
	assert_int_equal(b.len, 64);
}

static void test_without_mappings(void **state)
{
	struct proc_tree *t = *state;
	_cleanup_proc_ struct proc p = PROC_NONE;
	struct found found = { 0 };

	proc_tree_add(t, &(struct fake_proc){ .pid = 7, .maps = "" });
	assert_int_equal(proc_open(t->root, 7, &p), 0);
	assert_int_equal(proc_read_maps(&p, look, &found), -ESRCH);
	proc_tree_write(t, 7, "stat", "garbage", 7);
	_cleanup_proc_ struct proc again = PROC_NONE;
	assert_int_equal(proc_open(t->root, 7, &again), -EINVAL);
}

/* More than a chunk, more than the ceiling, and lines across the chunks' borders. */
static void test_large_maps(void **state)
{
	struct proc_tree *t = *state;
	_cleanup_proc_ struct proc p = PROC_NONE;
	_cleanup_buf_ struct buf b = BUF_INIT(4 << 20);
	struct found found = { .pc = 0x3000ULL * MAPPINGS_MAX };

	for (unsigned int i = 1; i <= MAPPINGS_MAX + 500; i++)
		(void)buf_printf(
			&b,
			"%llx-%llx r-xp 00000000 08:01 %u   /usr/lib/a/rather/long/path/lib%u.so\n",
			0x3000ULL * i, 0x3000ULL * i + 0x1000, i, i);
	proc_tree_add(t, &(struct fake_proc){ .pid = 7, .maps = buf_str(&b) });
	assert_int_equal(proc_open(t->root, 7, &p), 0);
	assert_int_equal(proc_read_maps(&p, look, &found), 0);
	assert_int_equal(found.n, MAPPINGS_MAX);
	assert_true(found.has_pc);
}

static void test_endless_line(void **state)
{
	struct proc_tree *t = *state;
	_cleanup_proc_ struct proc p = PROC_NONE;
	_cleanup_free_ char *line = calloc(1, 100001);
	struct found found = { 0 };

	memset(line, 'x', 100000);
	proc_tree_add(t, &(struct fake_proc){ .pid = 7, .maps = line });
	assert_int_equal(proc_open(t->root, 7, &p), 0);
	assert_int_equal(proc_read_maps(&p, look, &found), -EINVAL);
}

static void write_state(struct proc_tree *t, const char *comm, unsigned int code, unsigned int stack)
{
	char text[256];
	int n = snprintf(text, sizeof(text),
			 "10 (%s) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 0 %u 0 %u\n", comm, code,
			 stack);

	proc_tree_write(t, 10, "stat", text, (size_t)n);
}

/* An execve() in between is told by any of the three: a program that runs itself anew has the same name. */
static void test_same_image(void **state)
{
	struct proc_tree *t = *state;
	_cleanup_proc_ struct proc p = PROC_NONE;

	proc_tree_add(t, &(struct fake_proc){ .pid = 10, .comm = "a", .exe = "/bin/a" });
	write_state(t, "a", 1000, 2000);
	assert_int_equal(proc_open(t->root, 10, &p), 0);
	assert_string_equal(p.comm, "a");
	assert_string_equal(p.exe, "/bin/a");
	assert_int_equal(proc_has_same_image(&p), 1);
	write_state(t, "worker", 1000, 2000);
	assert_int_equal(proc_has_same_image(&p), 1);
	write_state(t, "a", 1000, 2001);
	assert_int_equal(proc_has_same_image(&p), 0);
	write_state(t, "a", 1001, 2000);
	assert_int_equal(proc_has_same_image(&p), 0);
	write_state(t, "a", 1000, 2000);
	assert_int_equal(unlink(proc_tree_path(t, 10, "exe")), 0);
	proc_tree_link(t, 10, "exe", "/bin/b");
	assert_int_equal(proc_has_same_image(&p), 0);
	proc_tree_remove(t, 10);
	assert_in_range(-proc_has_same_image(&p), ENOENT, ESRCH);
}

static void test_list(void **state)
{
	struct proc_tree *t = *state;
	_cleanup_free_ uint32_t *pids = NULL;
	size_t n = 0;

	for (uint32_t pid = 40; pid > 0; pid -= 4)
		proc_tree_add(t, &(struct fake_proc){ .pid = pid });
	assert_int_equal(mkdir(proc_tree_path(t, 40, "../self"), 0755), 0);
	assert_int_equal(proc_list_pids(t->root, &pids, &n), 0);
	assert_int_equal(n, 10);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(pids[i], 4 * (i + 1));
	assert_int_equal(proc_list_pids("/nonexistent", &pids, &n), -ENOENT);
}

static const struct unit_test tests[] = {
	TEST(test_self),
	TEST(test_gone),
	TEST(test_leader_left),
	FIXTURE_TEST(test_tree),
	FIXTURE_TEST(test_without_mappings),
	FIXTURE_TEST(test_large_maps),
	FIXTURE_TEST(test_endless_line),
	FIXTURE_TEST(test_same_image),
	FIXTURE_TEST(test_list),
};

TEST_MAIN(tests)
