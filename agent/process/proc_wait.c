/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What /proc tells of a process that may have to be waited for: its state, mappings, arguments and environment, and the file that it runs.
 *
 * Mappings, arguments and environment need the process's mmap_lock, which a page fault on a file system that does not answer may keep; all but
 * the arguments need its exec_update_lock, which an execve(2) keeps while it closes files there. So readers read them (reader.h), each with one
 * call.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/process/proc_private.h"
#include "agent/util/cleanup.h"
#include "agent/util/file.h"
#include "agent/util/foreign_file.h"
#include "agent/util/macro.h"
#include "agent/util/reader.h"

#define FILES_MAX 2
/* Most environments are smaller. A larger one is read again, into memory of its own that the kernel gives and takes back. */
#define ENVIRON_USUAL_BYTES (16u << 10)

/* Files of one directory of /proc. */
struct files_call {
	struct reader_call call;
	int dir_fd; /* owned */
	struct {
		const char *name;
		int (*read)(int dirfd, const char *path, struct buf *b);
	} files[FILES_MAX];
	struct buf texts[FILES_MAX];
	int results[FILES_MAX];
};

static void files_run(struct reader_call *call)
{
	struct files_call *c = CONTAINER_OF(call, struct files_call, call);

	for (size_t i = 0; i < FILES_MAX && c->files[i].name; i++)
		c->results[i] = c->files[i].read(c->dir_fd, c->files[i].name, &c->texts[i]);
}

/* An environment holds secrets. It is the one that is reserved in one piece. */
static void wipe(struct buf *b)
{
	if (b->data)
		explicit_bzero(b->data, b->len);
}

static void files_free(struct reader_call *call)
{
	struct files_call *c = CONTAINER_OF(call, struct files_call, call);

	if (c->dir_fd >= 0)
		(void)close(c->dir_fd);
	wipe(&c->texts[1]);
	for (size_t i = 0; i < FILES_MAX; i++)
		buf_fini(&c->texts[i]);
	free(c);
}

static void files_call_free(struct files_call *c)
{
	files_free(&c->call);
}
DEFINE_CLEANUP(struct files_call *, files_call_free);

static struct reader_subject subject_of(const struct proc *p, enum reader_reason reason)
{
	return (struct reader_subject){ .reason = reason, .pid = p->pid, .start = p->start_ticks };
}

/* Of a directory of /proc, which stays the caller's. */
static int files_new(int dir_fd, struct files_call **ret_call)
{
	_cleanup_(files_call_freep) struct files_call *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->call = (struct reader_call){ .run = files_run, .free = files_free };
	c->dir_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
	if (c->dir_fd < 0)
		return -errno;
	*ret_call = TAKE_PTR(c);
	return 0;
}

static void files_add(struct files_call *c, size_t i, const char *name,
		      int (*read)(int dirfd, const char *path, struct buf *b), size_t max_bytes)
{
	c->files[i].name = name;
	c->files[i].read = read;
	c->texts[i] = BUF_INIT(max_bytes);
}

/* Runs the call; *c is NULL when it failed. */
static int files_read(struct files_call **c, const struct reader_subject *subject)
{
	int r = reader_run(&(*c)->call, subject);

	if (r < 0)
		*c = NULL;
	return r;
}

static void take(struct buf *to, struct buf *from)
{
	*to = *from;
	*from = BUF_INIT(from->max_bytes);
}

static int read_link(int dir_fd, const char *name, struct buf *b)
{
	static const struct str deleted = { " (deleted)", 10 };
	char target[MAPPING_PATH_MAX];
	ssize_t n = readlinkat(dir_fd, name, target, sizeof(target));

	if (n < 0)
		return -errno;
	struct str path = { target, (size_t)n };
	if (str_ends_with(path, deleted))
		path.n -= deleted.n;
	return buf_append(b, path.p, path.n);
}

int proc_read_link(const struct proc *p, const char *name, struct buf *b)
{
	_cleanup_(files_call_freep) struct files_call *c = NULL;
	struct reader_subject subject = subject_of(p, READER_stat);
	int r = files_new(p->live_fd, &c);

	if (r < 0)
		return r;
	files_add(c, 0, name, read_link, b->max_bytes);
	r = files_read(&c, &subject);
	if (r < 0)
		return r;
	r = c->results[0];
	return r < 0 ? r : buf_append(b, buf_str(&c->texts[0]), c->texts[0].len);
}

int proc_wait_state(int dir_fd, uint32_t pid, struct buf *stat, struct buf *exe)
{
	_cleanup_(files_call_freep) struct files_call *c = NULL;
	const struct reader_subject subject = { .reason = READER_stat, .pid = pid };
	int r = files_new(dir_fd, &c);

	if (r < 0)
		return r;
	files_add(c, 0, "stat", file_read_piece, stat->max_bytes);
	files_add(c, 1, "exe", read_link, exe->max_bytes);
	r = files_read(&c, &subject);
	if (r < 0)
		return r;
	r = c->results[0];
	if (r < 0)
		return r;
	take(stat, &c->texts[0]);
	if (c->results[1] == 0)
		take(exe, &c->texts[1]);
	return 0;
}

struct maps_reader {
	maps_fn fn;
	void *data;
	size_t n;
};

static bool reader_entry(const struct maps_entry *entry, void *data)
{
	struct maps_reader *reader = data;

	reader->n += entry->executable;
	return reader->fn(entry, reader->data) && reader->n < MAPPINGS_MAX;
}

/* Whole lines only, where it was cut. */
static struct str whole_lines(const struct buf *b, bool is_cut)
{
	const char *newline = is_cut && b->len ? memrchr(b->data, '\n', b->len) : NULL;

	return (struct str){ buf_str(b), is_cut ? newline ? (size_t)(newline + 1 - b->data) : 0
						 : b->len };
}

/* The kernel writes no such line. */
static bool is_endless(const struct buf *b)
{
	return b->len > MAPS_LINE_MAX && !memchr(b->data, '\n', MAPS_LINE_MAX);
}

int proc_read_maps(const struct proc *p, maps_fn fn, void *data)
{
	_cleanup_(files_call_freep) struct files_call *c = NULL;
	struct maps_reader reader = { .fn = fn, .data = data };
	struct reader_subject subject = subject_of(p, READER_maps);
	int r = files_new(p->live_fd, &c);

	if (r < 0)
		return r;
	files_add(c, 0, "maps", file_read, PROC_MAPS_MAX);
	r = files_read(&c, &subject);
	if (r < 0)
		return r;
	r = c->results[0];
	if (r < 0 && r != -ENOBUFS)
		return r;
	if (is_endless(&c->texts[0]))
		return -EINVAL;
	(void)maps_parse(whole_lines(&c->texts[0], r == -ENOBUFS), reader_entry, &reader);
	/* An exiting process gives its memory up before it is a zombie. */
	return reader.n == 0 && !p->kernel_thread ? -ESRCH : 0;
}

/* What fits into so many bytes of environ, which are reserved in one piece; 0: none. */
static int read_arguments(const struct proc *p, struct buf *ret_arguments, struct buf *ret_environ,
			  size_t environ_bytes, bool *ret_is_cut)
{
	_cleanup_(files_call_freep) struct files_call *c = NULL;
	struct reader_subject subject = subject_of(p, READER_arguments);
	int r = files_new(p->live_fd, &c);

	if (r < 0)
		return r;
	files_add(c, 0, "cmdline", file_read_piece, ret_arguments->max_bytes);
	if (environ_bytes) {
		files_add(c, 1, "environ", file_read_piece, environ_bytes);
		r = buf_reserve(&c->texts[1], environ_bytes);
	}
	if (r == 0)
		r = files_read(&c, &subject);
	if (r < 0)
		return r;
	take(ret_arguments, &c->texts[0]);
	if (environ_bytes)
		take(ret_environ, &c->texts[1]);
	*ret_is_cut = c->results[1] == -ENOBUFS;
	return c->results[0] == -ENOBUFS ? 0 : c->results[0];
}

int proc_read_arguments(const struct proc *p, struct buf *ret_arguments, struct buf *ret_environ)
{
	size_t most = ret_environ ? ret_environ->max_bytes : 0;
	size_t usual = MIN_OF(most, (size_t)ENVIRON_USUAL_BYTES);
	bool is_cut = false;
	int r = read_arguments(p, ret_arguments, ret_environ, usual, &is_cut);

	if (r < 0 || !is_cut || usual == most)
		return r;
	wipe(ret_environ);
	buf_fini(ret_environ);
	buf_fini(ret_arguments);
	return read_arguments(p, ret_arguments, ret_environ, most, &is_cut);
}

struct exe_call {
	struct reader_call call;
	int dir_fd; /* owned */
	ino_t inode;
	int result;
};

/* The kernel may ask the file's server whether it is still there, also for O_PATH. */
static void exe_run(struct reader_call *call)
{
	struct exe_call *c = CONTAINER_OF(call, struct exe_call, call);
	_cleanup_close_ int fd = openat(c->dir_fd, "exe", O_PATH | O_CLOEXEC);
	struct stat st;

	c->result = fd < 0 ? -errno : foreign_stat(fd, &st);
	if (c->result == 0)
		c->inode = st.st_ino;
}

static void exe_free(struct reader_call *call)
{
	struct exe_call *c = CONTAINER_OF(call, struct exe_call, call);

	if (c->dir_fd >= 0)
		(void)close(c->dir_fd);
	free(c);
}

int proc_exe_inode(const struct proc *p, ino_t *ret_inode)
{
	struct reader_subject subject = subject_of(p, READER_open);
	struct exe_call *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	*c = (struct exe_call){ .call = { .run = exe_run, .free = exe_free },
				.dir_fd = fcntl(p->live_fd, F_DUPFD_CLOEXEC, 0) };
	int r = reader_run(&c->call, &subject);
	if (r < 0)
		return r;
	r = c->result;
	if (r == 0)
		*ret_inode = c->inode;
	exe_free(&c->call);
	return r;
}
