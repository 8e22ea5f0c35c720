/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader is a process of its own that shares everything with ours.
 *
 * A thread in a wait that nothing interrupts keeps its process: exit_group(2) waits for it, and whoever waits for the process (a service manager,
 * a container's runtime) does not see it end before the server answers. A task made with CLONE_VM and CLONE_FILES, but without CLONE_THREAD,
 * is another process, and keeps nobody but itself. It also keeps the table of descriptors, so that it is not us who close files of such a
 * file system in the end, which waits, too.
 *
 * posix_spawn(3) does the same for a moment: the task runs on a stack of its own with the thread-local storage of the thread that made it, which
 * stands still meanwhile (CLONE_VFORK) and ends at once when the process is to end, as that wait can be killed.
 *
 * Whoever stops all threads (LeakSanitizer does at the end) would wait for the one that stands still: with sanitizers the thread does it itself.
 */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/util/reader_private.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STAYS_IN_THREAD 1
#else
#define STAYS_IN_THREAD 0
#endif

struct task {
	void (*fn)(void *data);
	void *data;
	pid_t parent;
};

static int task_main(void *arg)
{
	const struct task *t = arg;

	/* It ends with its thread, when it can. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != t->parent)
		return 1;
	(void)prctl(PR_SET_NAME, "xagent-reader");
	t->fn(t->data);
	return 0;
}

void reader_run_apart(void (*fn)(void *data), void *data)
{
	struct task t = { .fn = fn, .data = data, .parent = getpid() };
	int status = 0;

	if (STAYS_IN_THREAD) {
		fn(data);
		return;
	}
	char *stack = mmap(NULL, READER_STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
	pid_t pid = stack == MAP_FAILED
			    ? -1
			    : clone(task_main, stack + READER_STACK_BYTES,
				    CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_VFORK, &t);
	/* Without one it is done here, and may keep the process. */
	if (pid < 0)
		fn(data);
	else
		(void)waitpid(pid, &status, __WALL);
	if (stack != MAP_FAILED)
		(void)munmap(stack, READER_STACK_BYTES);
	/* It has died of our fault, in our memory. */
	if (WIFSIGNALED(status))
		abort();
}
