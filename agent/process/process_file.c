/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process table: opening the very file that is mapped.
 *
 * A path says where a file was when it was mapped; by now another may be there, or a trap in a container's root. So what it leads to is
 * compared with what the kernel said about the mapping, before it is opened for reading (foreign_file.h). Path walks, and map_files of a process
 * whose memory is held, may never return: each try is one call of a reader (reader.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "agent/process/process_private.h"
#include "agent/util/clock.h"
#include "agent/util/foreign_file.h"
#include "agent/util/reader.h"

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

/* Its file system does not answer: elsewhere it would be no better. */
static bool is_lost(int r)
{
	return r == -ETIMEDOUT || r == -EHOSTDOWN;
}

/* What is wanted, and where it may be. All that a call looks at is its own. */
struct open_call {
	struct reader_call call;
	struct proc proc; /* owned; PROC_NONE: the host */
	char host[256];	  /* its root, without a process */
	struct file_key key;
	char *path;	/* owned */
	bool is_at_path; /* it may be there still, and is looked for there */
	struct {
		uint64_t begin, end;
	} ranges[PROCESS_MAX_RANGES];
	int n_ranges;
	int result; /* descriptor, owned, or -errno */
	bool tells_at_once;
	struct stat st;
};

static int check_file(int fd, const struct open_call *c)
{
	struct stat st;
	int r = foreign_stat(fd, &st);

	if (r < 0)
		return r;
	if (st.st_ino != c->key.inode || (st.st_dev != c->key.dev && !dev_is_ambiguous(fd)))
		return -ESTALE;
	return 0;
}

/* `path_fd` is an O_PATH descriptor, or -errno. */
static int open_checked(int path_fd, const struct open_call *c)
{
	int r = path_fd < 0 ? path_fd : check_file(path_fd, c);

	return r < 0 ? r : foreign_reopen(path_fd, 0);
}

/* Layers of an overlayfs on several file systems have inode numbers of their own, too. A range that
 * is still there under the same path is the file then: the link of map_files leads to the mapped
 * file itself, not to what has its path now. */
static bool range_has_path(const struct open_call *c, const char *range)
{
	char target[MAPPING_PATH_MAX];
	ssize_t n = readlinkat(c->proc.dir_fd, range, target, sizeof(target));

	return n > 0 && c->path[0] && str_eq((struct str){ target, (size_t)n }, str_from(c->path));
}

static int open_range(const struct open_call *c, int i)
{
	char range[64];

	(void)snprintf(range, sizeof(range), "map_files/%llx-%llx",
		       (unsigned long long)c->ranges[i].begin,
		       (unsigned long long)c->ranges[i].end);
	_cleanup_close_ int fd = openat(c->proc.dir_fd, range, O_PATH | O_CLOEXEC);
	int r = open_checked(fd < 0 ? -errno : fd, c);
	if (r == -ESTALE && dev_is_ambiguous(fd) && range_has_path(c, range))
		r = foreign_reopen(fd, 0);
	return r;
}

/* Symbolic links stay inside of the root, as they do for the process itself. */
static int open_by_path(const struct open_call *c, int at_fd, const char *root)
{
	if (!c->is_at_path)
		return -ENOENT;
	_cleanup_close_ int root_fd = openat(at_fd, root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int fd = root_fd < 0 ? -errno : foreign_path(root_fd, c->path, 0);
	return open_checked(fd, c);
}

static int open_somewhere(const struct open_call *c)
{
	if (c->host[0])
		return open_by_path(c, AT_FDCWD, c->host);
	for (int i = 0; i < c->n_ranges; i++) {
		int r = open_range(c, i);

		if (r >= 0)
			return r;
	}
	return open_by_path(c, c->proc.live_fd, "root");
}

static void open_run(struct reader_call *call)
{
	struct open_call *c = CONTAINER_OF(call, struct open_call, call);

	c->result = open_somewhere(c);
	if (c->result < 0)
		return;
	c->tells_at_once = reader_tells_at_once(c->result);
	if (!c->tells_at_once)
		(void)foreign_stat(c->result, &c->st);
}

static void open_free(struct reader_call *call)
{
	struct open_call *c = CONTAINER_OF(call, struct open_call, call);

	proc_close(&c->proc);
	free(c->path);
	reader_close(c->result);
	free(c);
}

static struct open_call *open_call_new(const struct mapped_file *f)
{
	struct open_call *c = calloc(1, sizeof(*c));
	char *path = strdup(f->path);

	if (!c || !path) {
		free(c);
		free(path);
		return NULL;
	}
	c->call = (struct reader_call){ .run = open_run, .free = open_free };
	c->proc = PROC_NONE;
	c->result = -1;
	c->key = f->key;
	c->path = path;
	c->is_at_path = path[0] == '/' && !f->deleted;
	return c;
}

/* For the process `pid`, who is to blame when it does not return. Consumes the call. A descriptor or -errno. */
static int open_by_reader(struct open_call *c, uint32_t pid, uint64_t start)
{
	struct reader_subject subject = { .reason = READER_open, .pid = pid, .start = start };
	int r = reader_run(&c->call, &subject);

	if (r < 0)
		return r;
	if (c->result >= 0 && !c->tells_at_once)
		reader_blame_device(c->st.st_dev, pid);
	r = c->result;
	c->result = -1;
	open_free(&c->call);
	return r;
}

static void add_range(struct open_call *c, const struct mapping *m)
{
	c->ranges[c->n_ranges].begin = m->begin;
	c->ranges[c->n_ranges].end = m->end;
	c->n_ranges++;
}

static void add_ranges(struct open_call *c, const struct mappings *m, const struct mapped_file *f)
{
	for (uint32_t i = 0; m && i < m->n; i++)
		if (m->items[i].file == f && c->n_ranges < PROCESS_MAX_RANGES)
			add_range(c, &m->items[i]);
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
	struct open_call *c = open_call_new(f);
	if (!c)
		return -ENOMEM;
	add_ranges(c, p->mappings_ahead, f);
	add_ranges(c, p->mappings, f);
	c->proc = proc;
	proc = PROC_NONE;
	return open_by_reader(c, p->pid, p->start_ticks);
}

static int open_below_host(const char *root, const struct process *p, const struct mapped_file *f)
{
	struct open_call *c = open_call_new(f);

	if (!c)
		return -ENOMEM;
	(void)snprintf(c->host, sizeof(c->host), "%s", root);
	return open_by_reader(c, p ? p->pid : 0, p ? p->start_ticks : 0);
}

static int open_as_host(const struct process_table *t, const struct process *p,
			const struct mapped_file *f)
{
	char init[256];

	(void)snprintf(init, sizeof(init), "%s/1/root", t->proc_root);
	int r = open_below_host(init, p, f);
	return r >= 0 || is_lost(r) ? r : open_below_host("/", p, f);
}

static int open_anyhow(struct process_table *t, struct process *p, const struct mapped_file *f)
{
	int first = open_as_process(t, p, f);

	if (first >= 0 || is_lost(first))
		return first;
	int r = open_as_process(t, process_parent(t, p), f);
	if (r < 0 && !is_lost(r))
		r = open_as_host(t, p, f);
	/* The process's own answer tells most, unless it is only that the process is gone. */
	return r >= 0 || first == -ESRCH || first == -ENOENT ? r : first;
}

/* Whether it is known to be of no use that p tries. */
static bool has_failed(const struct mapped_file *f, const struct process *p)
{
	uint64_t wait_ns = PROCESS_OPEN_RETRY_NS;

	if (f->open_error == -ETIMEDOUT)
		wait_ns = f->lost_by == p->pid ? PROCESS_OPEN_AGAIN_NS : PROCESS_OPEN_LOST_NS;
	return f->open_error &&
	       (f->open_error_ns == 0 || clock_mono_ns() < f->open_error_ns + wait_ns);
}

static int fail(struct process_table *t, struct mapped_file *f, int error)
{
	f->open_error = error;
	f->open_error_ns = clock_mono_ns();
	telemetry_count(t->telemetry, TELEMETRY_files_open_errors, 1);
	return error;
}

/* What tells nothing of the file: others may open it. */
static int put_off(struct process_table *t, struct process *p, int error)
{
	p->opens_after_ns = clock_mono_ns() + PROCESS_PASSING_NS;
	telemetry_count(t->telemetry, TELEMETRY_files_open_errors, 1);
	return error;
}

int process_open_file(struct process_table *t, struct process *p, struct mapped_file *f)
{
	if (f->fd >= 0)
		return 0;
	if (f->vdso)
		return f->open_error = -ENOENT;
	if (has_failed(f, p))
		return f->open_error;
	if (clock_mono_ns() < p->opens_after_ns)
		return -EHOSTDOWN;
	process_touch(t, p);
	int r = open_anyhow(t, p, f);
	/* A call that was given up may be the file's fault: each process that tries it as well is one more. */
	if (process_error_passes(r) && r != -ETIMEDOUT)
		return put_off(t, p, r);
	f->lost_by = p->pid;
	if (r < 0)
		return fail(t, f, r);
	mapped_file_take_fd(f, r);
	telemetry_count(t->telemetry, TELEMETRY_files_opened, 1);
	return 0;
}

/* By that range alone. */
static int open_beside(const struct process *p, const struct proc *proc,
		       const struct mapping *beside)
{
	struct open_call *c = open_call_new(beside->file);

	if (!c)
		return -ENOMEM;
	c->is_at_path = false;
	c->proc.dir_fd = c->proc.live_fd = fcntl(proc->dir_fd, F_DUPFD_CLOEXEC, 0);
	add_range(c, beside);
	return open_by_reader(c, p->pid, p->start_ticks);
}

int process_open_beside(struct process_table *t, struct process *p, const struct proc *proc,
			const struct mapping *beside)
{
	struct mapped_file *f = beside->file;
	bool wanted = f->fd < 0 && !has_failed(f, p) && clock_mono_ns() >= p->opens_after_ns &&
		      beside->begin < beside->end;
	int fd = wanted ? open_beside(p, proc, beside) : -ENOENT;

	if (fd < 0)
		return process_open_file(t, p, f);
	mapped_file_take_fd(f, fd);
	telemetry_count(t->telemetry, TELEMETRY_files_opened, 1);
	return 0;
}
