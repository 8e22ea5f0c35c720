/* SPDX-License-Identifier: Apache-2.0 */
/* One process as /proc shows it. */
#include "agent/process/proc_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/util/cleanup.h"
#include "agent/util/clock.h"
#include "agent/util/file.h"
#include "agent/util/reader.h"

/* Start times of stat are rounded down to ticks, the kernel's HZ is at least 100. */
#define PROC_TICK_SLACK_NS (20 * NS_PER_MS)

static uint64_t boot_to_mono_ns(uint64_t boot_ns)
{
	struct timespec boot;

	(void)clock_gettime(CLOCK_BOOTTIME, &boot);
	uint64_t since_boot = (uint64_t)boot.tv_sec * NS_PER_S + (uint64_t)boot.tv_nsec;
	uint64_t mono = clock_mono_ns();
	uint64_t suspended = since_boot > mono ? since_boot - mono : 0;
	return boot_ns > suspended ? boot_ns - suspended : 0;
}

static uint64_t ticks_to_mono_ns(uint64_t ticks)
{
	uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);

	return boot_to_mono_ns(ticks / hz * NS_PER_S + ticks % hz * NS_PER_S / hz);
}

/* Two files of one process. */
struct state {
	struct buf text, exe;
	struct proc_stat stat; /* borrows from the text */
};

#define STATE_NONE                               \
	((struct state){ .text = BUF_INIT(PROC_STAT_MAX), \
			 .exe = BUF_INIT(MAPPING_PATH_MAX) })

static void state_fini(struct state *s)
{
	buf_fini(&s->text);
	buf_fini(&s->exe);
	*s = STATE_NONE;
}
#define _cleanup_state_ _cleanup_(state_fini)

static int read_state(int dir_fd, uint32_t pid, struct state *ret_state)
{
	state_fini(ret_state);
	int r = proc_wait_state(dir_fd, pid, &ret_state->text, &ret_state->exe);

	if (r < 0)
		return r;
	return proc_stat_parse((struct str){ buf_str(&ret_state->text), ret_state->text.len },
			       &ret_state->stat);
}

static DIR *open_directory(int at_fd, const char *name)
{
	_cleanup_close_ int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir)
		(void)TAKE_FD(fd);
	return dir;
}

static void closedir_p(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir);
}

/* The kernel says 0 of who is gone, so it is asked first: who can be read afterwards was not gone. */
static int read_state_and_owner(int dir_fd, uint32_t pid, struct state *ret_state,
				uint32_t *ret_euid)
{
	struct stat st;

	if (fstat(dir_fd, &st) < 0)
		return -errno;
	*ret_euid = st.st_uid;
	return read_state(dir_fd, pid, ret_state);
}

/* Opens the task directory when its thread lives; -ESRCH when not, or what reader_run() says. Of `state` the leader's stat stays. */
static int open_live_task(int tasks_fd, uint32_t pid, const char *tid, struct state *state,
			  uint32_t *ret_euid)
{
	_cleanup_close_ int fd = openat(tasks_fd, tid, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_state_ struct state its = STATE_NONE;
	int r = fd < 0 ? -ESRCH : read_state_and_owner(fd, pid, &its, ret_euid);

	if (r < 0)
		return reader_is_passing(r) ? r : -ESRCH;
	if (proc_stat_is_dead(&its.stat))
		return -ESRCH;
	buf_fini(&state->exe);
	state->exe = its.exe;
	its.exe = BUF_INIT(MAPPING_PATH_MAX);
	state->stat.code_at = its.stat.code_at;
	state->stat.stack_at = its.stat.stack_at;
	return TAKE_FD(fd);
}

static int find_live_task(int dir_fd, uint32_t pid, struct state *state, uint32_t *ret_euid)
{
	_cleanup_(closedir_p) DIR *tasks = open_directory(dir_fd, "task");
	int n_tried = 0, r = -ESRCH;

	while (tasks && n_tried < PROC_MAX_TASKS_TRIED && r == -ESRCH) {
		const struct dirent *entry = readdir(tasks);

		if (!entry)
			break;
		if (entry->d_name[0] == '.')
			continue;
		r = open_live_task(dirfd(tasks), pid, entry->d_name, state, ret_euid);
		n_tried++;
	}
	return r;
}

static int open_pid(const char *root, uint32_t pid)
{
	char path[256];
	int n = snprintf(path, sizeof(path), "%s/%u", root, pid);

	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int take_exe(struct buf *exe, char **ret_exe)
{
	*ret_exe = exe->len ? strndup(buf_str(exe), exe->len) : NULL;
	return exe->len && !*ret_exe ? -ENOMEM : 0;
}

int proc_open(const char *root, uint32_t pid, struct proc *ret_proc)
{
	_cleanup_state_ struct state state = STATE_NONE;
	_cleanup_proc_ struct proc p = PROC_NONE;
	const struct proc_stat *stat = &state.stat;

	p.dir_fd = open_pid(root, pid);
	if (p.dir_fd < 0)
		return p.dir_fd;
	int r = read_state_and_owner(p.dir_fd, pid, &state, &p.euid);
	if (r < 0)
		return r;
	p.live_fd = proc_stat_is_dead(stat) ? find_live_task(p.dir_fd, pid, &state, &p.euid)
					    : p.dir_fd;
	if (p.live_fd < 0)
		return p.live_fd;
	p.pid = pid;
	p.parent_pid = stat->parent_pid;
	p.n_threads = stat->n_threads;
	p.start_ticks = stat->start_ticks;
	p.start_ns = ticks_to_mono_ns(stat->start_ticks);
	p.kernel_thread = stat->flags & PROC_PF_KTHREAD;
	p.code_at = stat->code_at;
	p.stack_at = stat->stack_at;
	str_copy_utf8(p.comm, sizeof(p.comm), stat->comm);
	r = take_exe(&state.exe, &p.exe);
	if (r < 0)
		return r;
	*ret_proc = p;
	p = PROC_NONE;
	return 0;
}

int proc_has_same_image(const struct proc *p)
{
	_cleanup_state_ struct state now = STATE_NONE;
	int r = read_state(p->live_fd, p->pid, &now);

	if (r < 0)
		return r;
	return now.stat.code_at == p->code_at && now.stat.stack_at == p->stack_at &&
	       strcmp(buf_str(&now.exe), p->exe ? p->exe : "") == 0;
}

void proc_close(struct proc *p)
{
	if (p->live_fd >= 0 && p->live_fd != p->dir_fd)
		(void)close(p->live_fd);
	if (p->dir_fd >= 0)
		(void)close(p->dir_fd);
	free(p->exe);
	*p = PROC_NONE;
}

int proc_read_file(const struct proc *p, const char *name, struct buf *b)
{
	int r = file_read_piece(p->live_fd, name, b);

	return r == -ENOBUFS ? 0 : r;
}

bool proc_has_ended(const char *root, uint32_t pid, uint64_t time_ns)
{
	_cleanup_state_ struct state state = STATE_NONE;
	_cleanup_close_ int fd = open_pid(root, pid);

	int r = fd < 0 ? fd : read_state(fd, pid, &state);
	if (r < 0)
		return r == -ENOENT || r == -ESRCH;
	if (proc_stat_is_dead(&state.stat) && state.stat.n_threads <= 1)
		return true;
	return ticks_to_mono_ns(state.stat.start_ticks) > time_ns + PROC_TICK_SLACK_NS;
}

static int compare_pids(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a;
	uint32_t y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int append_pid(uint32_t pid, uint32_t **pids, size_t *n)
{
	/* Grows at powers of two, so that the capacity needs no variable. */
	if ((*n & (*n - 1)) == 0) {
		uint32_t *grown = reallocarray(*pids, *n ? *n * 2 : 1, sizeof(**pids));

		if (!grown)
			return -ENOMEM;
		*pids = grown;
	}
	(*pids)[(*n)++] = pid;
	return 0;
}

int proc_list_pids(const char *root, uint32_t **ret_pids, size_t *ret_n)
{
	_cleanup_(closedir_p) DIR *dir = open_directory(AT_FDCWD, root);
	_cleanup_free_ uint32_t *pids = NULL;
	size_t n = 0;

	if (!dir)
		return -errno;
	for (;;) {
		uint64_t pid;

		errno = 0;
		const struct dirent *entry = readdir(dir);
		if (!entry)
			break;
		if (str_parse_u64(str_from(entry->d_name), 10, UINT32_MAX, &pid) < 0)
			continue;
		int r = append_pid((uint32_t)pid, &pids, &n);
		if (r < 0)
			return r;
	}
	if (errno)
		return -errno;
	if (n > 0)
		qsort(pids, n, sizeof(*pids), compare_pids);
	*ret_pids = TAKE_PTR(pids);
	*ret_n = n;
	return 0;
}
