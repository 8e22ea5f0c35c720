/* SPDX-License-Identifier: Apache-2.0 */
/* Process ids as words, and what keeps us from a process. */
#include "agent/cli/inspect_pid.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "agent/cli/proc_status.h"
#include "agent/process/proc.h"
#include "agent/util/cleanup.h"
#include "agent/util/file.h"
#include "agent/util/str.h"

/* Documentation/admin-guide/LSM/Yama.rst: 0 the same user, 1 descendants only, 2 CAP_SYS_PTRACE only, 3 nobody. */
#define PTRACE_SCOPE "/proc/sys/kernel/yama/ptrace_scope"
#define PTRACE_SCOPE_NOBODY 3

void inspect_pids_fini(struct inspect_pids *p)
{
	free(p->items);
	*p = (struct inspect_pids){ 0 };
}

static int fail(struct buf *why, int r, const char *text)
{
	(void)buf_append_str(why, text);
	return r;
}

int inspect_pids_parse(const struct cli_words *words, struct inspect_pids *ret_pids,
		       struct buf *why)
{
	_cleanup_inspect_pids_ struct inspect_pids p = { 0 };
	uint64_t pid;

	if (words->n == 0 || words->rest)
		return fail(why, -EINVAL, "wants process ids");
	p.items = calloc(words->n, sizeof(*p.items));
	if (!p.items)
		return fail(why, -ENOMEM, strerror(ENOMEM));
	for (; p.n < words->n; p.n++) {
		const char *word = words->items[p.n];

		if (str_parse_u64(str_from(word), 10, INT32_MAX, &pid) < 0 || pid == 0) {
			(void)buf_printf(why, "wants process ids, not \"%.100s\"", word);
			return -EINVAL;
		}
		p.items[p.n] = (uint32_t)pid;
	}
	*ret_pids = p;
	p = (struct inspect_pids){ 0 };
	return 0;
}

/* `leader`: of the process whose thread `pid` may be. */
static int check_proc(uint32_t pid, uint32_t leader, struct buf *why)
{
	_cleanup_proc_ struct proc proc = PROC_NONE;

	if (leader != pid) {
		(void)buf_printf(why, "%" PRIu32 " is a thread of process %" PRIu32, pid, leader);
		return -ESRCH;
	}
	int r = proc_open("/proc", pid, &proc);
	if (r == -ENOENT || r == -ESRCH)
		(void)buf_printf(why, "process %" PRIu32 " has ended", pid);
	else if (r < 0)
		(void)buf_printf(why, "process %" PRIu32 ": %s", pid, strerror(-r));
	else if (proc.kernel_thread)
		(void)buf_printf(why, "%" PRIu32 " (%s) is a kernel thread: it runs no user code",
				 pid, proc.comm);
	return why->len ? -ESRCH : 0;
}

int inspect_pid_check(uint32_t pid, struct buf *why)
{
	uint32_t leader;

	if (proc_status_number(pid, "Tgid:", &leader) == 0)
		return check_proc(pid, leader, why);
	(void)buf_printf(why, "there is no process %" PRIu32, pid);
	return -ESRCH;
}

void inspect_pid_needs(struct buf *why)
{
	uint64_t scope;

	if (geteuid() == 0)
		(void)buf_append_str(why, "CAP_SYS_PTRACE, and that no security module forbids it");
	else if (file_read_u64(PTRACE_SCOPE, &scope) < 0)
		(void)buf_append_str(why, "root, CAP_SYS_PTRACE, or the same user");
	else if (scope >= PTRACE_SCOPE_NOBODY)
		(void)buf_printf(why, "kernel.yama.ptrace_scope below %d", PTRACE_SCOPE_NOBODY);
	else
		(void)buf_printf(why,
				 "root, CAP_SYS_PTRACE, or the same user and "
				 "kernel.yama.ptrace_scope = 0 (it is %" PRIu64 ")",
				 scope);
}

/* The tracer is a thread; people know its process. */
static bool explain_tracer(uint32_t pid, struct buf *why)
{
	uint32_t tracer = 0, process;

	if (proc_status_number(pid, "TracerPid:", &tracer) < 0 || tracer == 0)
		return false;
	if (proc_status_number(tracer, "Tgid:", &process) < 0)
		process = tracer;
	(void)buf_printf(why,
			 "process %" PRIu32 " is traced by process %" PRIu32
			 " already, and there can be one tracer only",
			 pid, process);
	return true;
}

void inspect_pid_explain(uint32_t pid, int error, struct buf *why)
{
	if (error == -ESRCH) {
		(void)buf_printf(why, "process %" PRIu32 " has ended", pid);
	} else if (error == -ETIMEDOUT) {
		(void)buf_printf(why,
				 "process %" PRIu32 " could not be stopped in time: does it begin a "
				 "program on a file system (FUSE or NFS) that does not answer?",
				 pid);
	} else if (error != -EPERM && error != -EACCES) {
		(void)buf_printf(why, "process %" PRIu32 ": %s", pid, strerror(-error));
	} else if (pid == (uint32_t)getpid()) {
		(void)buf_printf(why, "process %" PRIu32 " is this one: it cannot stop itself",
				 pid);
	} else if (!explain_tracer(pid, why)) {
		(void)buf_printf(why, "not permitted to stop process %" PRIu32 ": it takes ", pid);
		inspect_pid_needs(why);
	}
}
