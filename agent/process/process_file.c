/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process table: opening the very file that is mapped.
 *
 * A path says where a file was when it was mapped; by now another may be there, or a trap (a FIFO,
 * a device) in a container's root. So a path is opened with O_PATH, which touches nothing, compared
 * with what the kernel said about the mapping, and only then opened for reading, through the
 * descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "agent/process/process_private.h"
#include "agent/util/clock.h"

/* Ranges of the same file that are tried in map_files, before its path. */
#define PROCESS_MAX_RANGES 4

/* Stacked and multi-device file systems say other device numbers in stat(2) than in maps and in
 * events (overlayfs: the layer's; btrfs: the subvolume's; before 6.18 perf reports the lower file
 * of a stack). There the inode number must do. */
static bool dev_is_ambiguous(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return false;
	return fs.f_type == OVERLAYFS_SUPER_MAGIC || fs.f_type == BTRFS_SUPER_MAGIC ||
	       fs.f_type == FUSE_SUPER_MAGIC;
}

static int check_file(int fd, const struct mapped_file *f)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_ino != f->key.inode || (st.st_dev != f->key.dev && !dev_is_ambiguous(fd)))
		return -ESTALE;
	return 0;
}

/* Opens for reading what `path_fd` (O_PATH) stands for. */
static int reopen(int path_fd)
{
	char link[64];

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	int fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

static int open_checked(int path_fd, const struct mapped_file *f)
{
	int r = path_fd < 0 ? -errno : check_file(path_fd, f);

	return r < 0 ? r : reopen(path_fd);
}

/* Layers of an overlayfs on several file systems have inode numbers of their own, too. A range that
 * is still there under the same path is the file then: the link of map_files leads to the mapped
 * file itself, not to what has its path now. */
static bool range_has_path(int dir_fd, const char *range, const struct mapped_file *f)
{
	char target[MAPPING_PATH_MAX];
	ssize_t n = readlinkat(dir_fd, range, target, sizeof(target));

	return n > 0 && f->path[0] && str_eq((struct str){ target, (size_t)n }, str_from(f->path));
}

static int open_range(const struct proc *proc, const struct mapping *m)
{
	char range[64];

	(void)snprintf(range, sizeof(range), "map_files/%llx-%llx", (unsigned long long)m->begin,
		       (unsigned long long)m->end);
	_cleanup_close_ int fd = openat(proc->dir_fd, range, O_PATH | O_CLOEXEC);
	int r = open_checked(fd, m->file);
	if (r == -ESTALE && dev_is_ambiguous(fd) && range_has_path(proc->dir_fd, range, m->file))
		r = reopen(fd);
	return r;
}

static int open_by_ranges(const struct proc *proc, const struct process *p,
			  const struct mapped_file *f)
{
	int r = -ENOENT;
	int n = 0;

	for (uint32_t i = 0; p->mappings && i < p->mappings->n && n < PROCESS_MAX_RANGES; i++) {
		if (p->mappings->items[i].file != f)
			continue;
		r = open_range(proc, &p->mappings->items[i]);
		if (r >= 0)
			return r;
		n++;
	}
	return r;
}

/* Symbolic links stay inside of the root, as they do for the process itself. */
static int open_in_root(int root_fd, const struct mapped_file *f)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	_cleanup_close_ int fd = (int)syscall(SYS_openat2, root_fd, f->path, &how, sizeof(how));

	return open_checked(fd, f);
}

static int open_by_path(int proc_fd, const char *root, const struct mapped_file *f)
{
	if (f->path[0] != '/' || f->deleted)
		return -ENOENT;
	_cleanup_close_ int root_fd = openat(proc_fd, root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root_fd < 0 ? -errno : open_in_root(root_fd, f);
}

static int open_as_process(struct process_table *t, struct process *p, const struct mapped_file *f)
{
	_cleanup_proc_ struct proc proc = PROC_NONE;

	if (!p || p->exited)
		return -ESRCH;
	int r = proc_open(t->proc_root, p->pid, &proc);
	if (r < 0)
		return r;
	if (!process_confirm(p, &proc))
		return -ESRCH;
	r = open_by_ranges(&proc, p, f);
	return r >= 0 ? r : open_by_path(proc.live_fd, "root", f);
}

static int open_as_host(const struct process_table *t, const struct mapped_file *f)
{
	char init[256];

	(void)snprintf(init, sizeof(init), "%s/1/root", t->proc_root);
	int r = open_by_path(AT_FDCWD, init, f);
	return r >= 0 ? r : open_by_path(AT_FDCWD, "/", f);
}

static int open_anyhow(struct process_table *t, struct process *p, const struct mapped_file *f)
{
	int first = open_as_process(t, p, f);

	if (first >= 0)
		return first;
	int r = open_as_process(t, process_parent(t, p), f);
	if (r < 0)
		r = open_as_host(t, f);
	/* The process's own answer tells most, unless it is only that the process is gone. */
	return r >= 0 || first == -ESRCH || first == -ENOENT ? r : first;
}

/* Whether it is known to be of no use to try. */
static bool has_failed(const struct mapped_file *f)
{
	return f->open_error && (f->open_error_ns == 0 ||
				 clock_mono_ns() < f->open_error_ns + PROCESS_OPEN_RETRY_NS);
}

static int fail(struct process_table *t, struct mapped_file *f, int error)
{
	f->open_error = error;
	f->open_error_ns = clock_mono_ns();
	telemetry_count(t->telemetry, TELEMETRY_files_open_errors, 1);
	return error;
}

int process_open_file(struct process_table *t, struct process *p, struct mapped_file *f)
{
	if (f->fd >= 0)
		return 0;
	if (f->vdso)
		return f->open_error = -ENOENT;
	if (has_failed(f))
		return f->open_error;
	process_touch(t, p);
	int r = open_anyhow(t, p, f);
	if (r < 0)
		return fail(t, f, r);
	mapped_file_take_fd(f, r);
	telemetry_count(t->telemetry, TELEMETRY_files_opened, 1);
	return 0;
}

int process_open_beside(struct process_table *t, struct process *p, const struct proc *proc,
			const struct mapping *beside)
{
	struct mapped_file *f = beside->file;
	bool wanted = f->fd < 0 && !has_failed(f) && beside->begin < beside->end;
	int fd = wanted ? open_range(proc, beside) : -ENOENT;

	if (fd < 0)
		return process_open_file(t, p, f);
	mapped_file_take_fd(f, fd);
	telemetry_count(t->telemetry, TELEMETRY_files_opened, 1);
	return 0;
}
