/* SPDX-License-Identifier: Apache-2.0 */
/* What it costs to know who a new process is: system calls, counted. */
#include <signal.h>
#include <sys/ptrace.h>
#include <linux/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "agent/process/cgroup_tree.h"
#include "agent/process/process.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/process/proc_tree.h"

#define PLACE "/system.slice/nginx.service"
/* The first one is read by a process that has no reader yet, and of a control group that nobody has spoken of. */
#define FIRST 10
#define SECOND 11
/* Its directory, opened, asked for its owner, and closed; stat, likewise; the link exe; a descriptor for the reader, which reads arguments and
 * environment. Nothing of its control group. */
#define CALLS_A_PROCESS 9

struct context {
	struct proc_tree proc, groups;
	uint64_t group;
	struct telemetry *telemetry;
	struct cgroup_tree *tree;
	struct process_table *table;
};

static int setup(void **state)
{
	struct context *w = calloc(1, sizeof(*w));
	char path[128];
	struct stat st;

	*state = w;
	proc_tree_init(&w->proc);
	proc_tree_init(&w->groups);
	(void)snprintf(path, sizeof(path), "%s/system.slice", w->groups.root);
	assert_int_equal(mkdir(path, 0755), 0);
	(void)snprintf(path, sizeof(path), "%s" PLACE, w->groups.root);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(stat(path, &st), 0);
	w->group = st.st_ino;
	for (uint32_t pid = FIRST; pid <= SECOND; pid++)
		proc_tree_add(&w->proc, &(struct fake_proc){ .pid = pid,
							     .comm = "app",
							     .start_ticks = 1000,
							     .maps = "",
							     .exe = "/usr/bin/app",
							     .cwd = "/",
							     .cmdline = "app",
							     .cgroup = "0::" PLACE "\n" });
	assert_int_equal(telemetry_new(&w->telemetry), 0);
	assert_int_equal(cgroup_tree_new(w->groups.root, &w->tree), 0);
	return process_table_new(&(struct process_table_options){ .proc_root = w->proc.root,
								  .telemetry = w->telemetry,
								  .no_mappings = true,
								  .cgroups = w->tree },
				 &w->table);
}

static int teardown(void **state)
{
	struct context *w = *state;

	process_table_free(w->table);
	cgroup_tree_free(w->tree);
	telemetry_free(w->telemetry);
	proc_tree_fini(&w->proc);
	proc_tree_fini(&w->groups);
	free(w);
	return 0;
}

static struct process *sampled(struct context *w, uint32_t pid)
{
	struct process *p = process_table_get(w->table, pid, "app");

	process_set_cgroup(w->table, p, w->group, clock_mono_ns());
	return p;
}

/* Between two calls of getppid(2). */
static void be_counted(struct context *w)
{
	struct process *p;

	(void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	(void)raise(SIGSTOP);
	(void)process_identity(w->table, sampled(w, FIRST));
	p = sampled(w, SECOND);
	(void)syscall(SYS_getppid);
	const struct process_identity *id = process_identity(w->table, p);
	(void)syscall(SYS_getppid);
	_exit(id->complete && strcmp(id->cgroup_path, PLACE) == 0 ? 0 : 1);
}

/* Files are what is counted: how often it waits for the reader is chance, and memory is the sanitizers'. */
static bool is_of_files(uint64_t nr)
{
	static const uint64_t files[] = {
		SYS_openat, SYS_close,	    SYS_read,	    SYS_fstat,
		SYS_fcntl,  SYS_readlinkat, SYS_newfstatat,
#ifdef SYS_open
		SYS_open,
#endif
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (files[i] == nr)
			return true;
	return false;
}

/* The number of the system call that is entered; UINT64_MAX: it is something else that stopped it. */
static uint64_t entered(pid_t child)
{
	struct ptrace_syscall_info info;
	long r = ptrace(PTRACE_GET_SYSCALL_INFO, child, (void *)sizeof(info), &info);

	return r > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY ? info.entry.nr : UINT64_MAX;
}

/* Until it ends. */
static unsigned int count(pid_t child, int *ret_status)
{
	unsigned int n = 0, n_marks = 0;

	for (;;) {
		assert_int_equal(ptrace(PTRACE_SYSCALL, child, NULL, NULL), 0);
		assert_int_equal(waitpid(child, ret_status, 0), child);
		if (!WIFSTOPPED(*ret_status))
			return n;
		uint64_t nr = entered(child);
		n_marks += nr == SYS_getppid;
		n += n_marks == 1 && is_of_files(nr);
	}
}

static void test_calls_a_process(void **state)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		be_counted(*state);
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD), 0);
	assert_int_equal(count(child, &status), CALLS_A_PROCESS);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_calls_a_process),
};

TEST_MAIN(tests)
