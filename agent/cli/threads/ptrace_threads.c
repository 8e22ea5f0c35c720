/* SPDX-License-Identifier: Apache-2.0 */
/* All threads of a process, stopped for a moment. */
#include "agent/cli/threads/ptrace_threads.h"

#include <assert.h>
#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "agent/cli/threads/thread_state.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

/* While threads still stop, we wait. When none has for this long, those that are left and wait uninterruptibly (for a disk, for the end
 * of a vfork) are not waited for … */
#define STUCK_NS (20 * NS_PER_MS)
/* … and the others get as long as a CPU quota may hold a thread back (cpu.cfs_quota_us: periods of 100 ms by default). */
#define GIVE_UP_NS (500 * NS_PER_MS)
#define LOOK_NS (5 * NS_PER_MS)
/* Rounds in which new threads were found; each stops all those that were there before. */
#define MAX_ROUNDS 1000

static int compare_places(const void *a, const void *b)
{
	const struct ptrace_place *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

static void sort_places(struct ptrace_threads *t)
{
	t->n_sorted = t->n;
	if (t->n > 0)
		qsort(t->places, t->n, sizeof(*t->places), compare_places);
}

/* Of those that were there when places were sorted last. */
static struct ptrace_thread *find(struct ptrace_threads *t, uint32_t tid)
{
	struct ptrace_place key = { .tid = tid };
	struct ptrace_place *place = NULL;

	if (t->n_sorted > 0)
		place = bsearch(&key, t->places, t->n_sorted, sizeof(key), compare_places);
	return place ? &t->items[place->at] : NULL;
}

static int reserve(struct ptrace_threads *t)
{
	size_t cap = MAX_OF(t->cap * 2, (size_t)64);
	struct ptrace_thread *items;
	struct ptrace_place *places;

	if (t->n < t->cap)
		return 0;
	if (t->n >= PTRACE_THREADS_MAX)
		return -E2BIG;
	items = reallocarray(t->items, cap, sizeof(*items));
	if (!items)
		return -ENOMEM;
	t->items = items;
	places = reallocarray(t->places, cap, sizeof(*places));
	if (!places)
		return -ENOMEM;
	t->places = places;
	t->cap = cap;
	return 0;
}

/* 0 when it is ours now, 1 when it has ended, or -errno. */
static int seize(const struct ptrace_threads *t, uint32_t tid)
{
	if (ptrace(PTRACE_SEIZE, (pid_t)tid, NULL, NULL) < 0) {
		int r = -errno;

		/* The kernel refuses zombies as it refuses what is not permitted. */
		return r == -ESRCH || thread_state(t->pid, tid) == THREAD_DEAD ? 1 : r;
	}
	/* Fails only for one that ends just now, which will be waited for. */
	(void)ptrace(PTRACE_INTERRUPT, (pid_t)tid, NULL, NULL);
	return 0;
}

static int add(struct ptrace_threads *t, uint32_t tid)
{
	int r = reserve(t);

	if (r < 0)
		return r;
	r = seize(t, tid);
	if (r != 0)
		return r < 0 ? r : 0;
	t->places[t->n] = (struct ptrace_place){ .tid = tid, .at = (uint32_t)t->n };
	t->items[t->n++] = (struct ptrace_thread){ .tid = tid, .state = PTRACE_THREAD_AWAITED };
	t->n_awaited++;
	return 0;
}

static void close_directory(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir);
}

/* Seizes what is listed and not known; the list need not be of one moment. */
static int add_new(struct ptrace_threads *t)
{
	char path[sizeof("/proc/4294967295/task")];
	_cleanup_(close_directory) DIR *dir = NULL;
	uint64_t tid;
	int r = 0;

	(void)snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", t->pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	for (struct dirent *e = readdir(dir); e && r == 0; e = readdir(dir))
		if (str_parse_u64(str_from(e->d_name), 10, UINT32_MAX, &tid) == 0 &&
		    !find(t, (uint32_t)tid))
			r = add(t, (uint32_t)tid);
	sort_places(t);
	return r;
}

/* What waitpid(2) has to say of a thread. */
static void note(struct ptrace_threads *t, pid_t tid, int status)
{
	struct ptrace_thread *thread = find(t, (uint32_t)tid);

	if (!thread)
		return;
	assert(t->n_awaited > 0 || thread->state != PTRACE_THREAD_AWAITED);
	t->n_awaited -= thread->state == PTRACE_THREAD_AWAITED;
	thread->state = WIFSTOPPED(status) ? PTRACE_THREAD_STOPPED : PTRACE_THREAD_GONE;
	/* Without an event it has stopped before a signal, which is still to be delivered. */
	thread->signo = WIFSTOPPED(status) && status >> 16 == 0 ? WSTOPSIG(status) : 0;
}

/* All that has stopped or ended by now; whether there was any. */
static bool note_all(struct ptrace_threads *t)
{
	bool any = false;
	int status;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL | __WNOTHREAD | WNOHANG)) > 0) {
		note(t, tid, status);
		any = true;
	}
	return any;
}

static bool all_are_stuck(const struct ptrace_threads *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->items[i].state == PTRACE_THREAD_AWAITED &&
		    thread_state(t->pid, t->items[i].tid) != THREAD_UNINTERRUPTIBLE)
			return false;
	return true;
}

static bool is_hopeless(const struct ptrace_threads *t, uint64_t since_ns)
{
	uint64_t waited_ns = clock_mono_ns() - since_ns;

	return waited_ns > GIVE_UP_NS || (waited_ns > STUCK_NS && all_are_stuck(t));
}

static void wait_for_child(void)
{
	struct timespec patience = { .tv_nsec = LOOK_NS };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	(void)sigtimedwait(&set, NULL, &patience);
}

static void wait_all(struct ptrace_threads *t)
{
	uint64_t since_ns = clock_mono_ns();

	while (t->n_awaited > 0) {
		if (note_all(t))
			since_ns = clock_mono_ns();
		else if (is_hopeless(t, since_ns))
			return;
		else
			wait_for_child();
	}
}

int ptrace_threads_stop(struct ptrace_threads *t, uint32_t pid)
{
	size_t n_before;
	int rounds = 0;
	int r;

	assert(t->n == 0 && !t->items && !t->places);
	t->pid = pid;
	do {
		n_before = t->n;
		r = add_new(t);
		if (r == 0 && t->n > n_before)
			wait_all(t);
	} while (r == 0 && t->n > n_before && ++rounds < MAX_ROUNDS);
	return r;
}

void ptrace_threads_release(struct ptrace_threads *t)
{
	/* Of what did not stop before, some may have by now. */
	(void)note_all(t);
	for (size_t i = 0; i < t->n; i++)
		if (t->items[i].state == PTRACE_THREAD_STOPPED)
			(void)ptrace(PTRACE_DETACH, (pid_t)t->items[i].tid, NULL,
				     (void *)(intptr_t)t->items[i].signo);
	free(t->items);
	free(t->places);
	*t = (struct ptrace_threads){ 0 };
}
