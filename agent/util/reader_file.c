/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and closing files that may be on a file system that does not answer. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "agent/util/foreign_file.h"
#include "agent/util/macro.h"
#include "agent/util/reader_private.h"

/* One call's at most: what an allocation holds that may stay for long. */
#define PIECE_MAX_BYTES ((size_t)256 << 10)
/* Descriptors that wait to be closed: as many as the usual hard limit of a service has, a quarter of them. */
#define TO_CLOSE_MAX 4096

struct pread_call {
	struct reader_call call;
	int fd; /* borrowed: see reader.h. pread(2) of a number that is another file's by now reads what nobody looks at */
	uint64_t file_off;
	size_t n;
	ssize_t result;
	unsigned char bytes[];
};

static struct reader_subject subject_of(int fd, enum reader_reason reason)
{
	struct stat st = { 0 };

	(void)foreign_stat(fd, &st);
	return (struct reader_subject){ .reason = reason, .dev = st.st_dev };
}

static ssize_t pread_all(int fd, unsigned char *dst, size_t n, uint64_t file_off)
{
	size_t done = 0;

	while (done < n) {
		ssize_t r = pread(fd, dst + done, n - done, (off_t)(file_off + done));

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		if (r == 0)
			break;
		done += (size_t)r;
	}
	return (ssize_t)done;
}

static void run_pread(struct reader_call *call)
{
	struct pread_call *c = CONTAINER_OF(call, struct pread_call, call);

	c->result = pread_all(c->fd, c->bytes, c->n, c->file_off);
}

static void free_call(struct reader_call *call)
{
	free(call);
}

static ssize_t pread_by_reader(int fd, const struct stat *st, void *dst, size_t n,
			       uint64_t file_off)
{
	struct reader_subject subject = { .reason = READER_file, .dev = st->st_dev };
	struct pread_call *c = malloc(sizeof(*c) + n);

	if (!c)
		return -ENOMEM;
	*c = (struct pread_call){
		.call = { .run = run_pread, .free = free_call },
		.fd = fd,
		.file_off = file_off,
		.n = n,
	};
	int r = reader_run(&c->call, &subject);
	if (r < 0)
		return r;
	ssize_t got = c->result;
	if (got > 0)
		memcpy(dst, c->bytes, (size_t)got);
	free(c);
	return got;
}

/* What is small is read with all that is around it. */
static ssize_t pread_window(int fd, void *dst, size_t n, uint64_t file_off)
{
	unsigned char window[READER_WINDOW_BYTES];
	uint64_t in_window = file_off % READER_WINDOW_BYTES;
	struct stat st;
	int r = foreign_stat(fd, &st);

	if (r < 0)
		return r;
	if (in_window + n > READER_WINDOW_BYTES)
		return pread_by_reader(fd, &st, dst, n, file_off);
	ssize_t got = reader_cache_get(&st, file_off, dst, n);
	if (got >= 0)
		return got;
	got = pread_by_reader(fd, &st, window, sizeof(window), file_off - in_window);
	if (got < 0)
		return got;
	reader_cache_put(&st, file_off - in_window, window, (size_t)got);
	got = (uint64_t)got > in_window ? (ssize_t)MIN_OF(n, (size_t)got - in_window) : 0;
	memcpy(dst, window + in_window, (size_t)got);
	return got;
}

/* What the page cache has. −1: that cannot be told, or it has nothing of it. */
static ssize_t pread_at_once(int fd, unsigned char *dst, size_t n, uint64_t file_off)
{
	struct iovec piece = { .iov_base = dst, .iov_len = n };

	return preadv2(fd, &piece, 1, (off_t)file_off, RWF_NOWAIT);
}

ssize_t reader_pread(int fd, void *dst, size_t n, uint64_t file_off)
{
	unsigned char *to = dst;
	size_t done = 0;

	if (reader_is_in_place())
		return pread_all(fd, dst, n, file_off);
	while (done < n) {
		size_t want = MIN_OF(n - done, PIECE_MAX_BYTES);
		ssize_t r = pread_at_once(fd, to + done, want, file_off + done);

		if (r < 0)
			r = pread_window(fd, to + done, want, file_off + done);
		if (r < 0)
			return r;
		if (r == 0)
			break;
		done += (size_t)r;
	}
	return (ssize_t)done;
}

struct close_call {
	struct reader_call call;
	int fd;
};

static void run_close(struct reader_call *call)
{
	struct close_call *c = CONTAINER_OF(call, struct close_call, call);

	(void)close(c->fd);
}

/* Those of devices that are avoided, in the order in which they came. */
static struct {
	pthread_mutex_t lock;
	int fds[TO_CLOSE_MAX];
	uint32_t first, n;
	uint64_t n_returned; /* as it was when they were tried last */
} to_close = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Beyond the ceiling it stays open. */
static void close_later(int fd)
{
	pthread_mutex_lock(&to_close.lock);
	if (to_close.n < TO_CLOSE_MAX)
		to_close.fds[(to_close.first + to_close.n++) % TO_CLOSE_MAX] = fd;
	pthread_mutex_unlock(&to_close.lock);
}

/* −1: none */
static int take_to_close(void)
{
	pthread_mutex_lock(&to_close.lock);
	int fd = to_close.n > 0 ? to_close.fds[to_close.first] : -1;
	if (fd >= 0) {
		to_close.first = (to_close.first + 1) % TO_CLOSE_MAX;
		to_close.n--;
	}
	pthread_mutex_unlock(&to_close.lock);
	return fd;
}

uint32_t reader_n_to_close(void)
{
	pthread_mutex_lock(&to_close.lock);
	uint32_t n = to_close.n;
	pthread_mutex_unlock(&to_close.lock);
	return n;
}

bool reader_tells_at_once(int fd)
{
	unsigned char byte;

	return pread_at_once(fd, &byte, 1, 0) >= 0 || errno == EAGAIN;
}

/* Such a file system does nothing when a file is closed that was read; nor does any when it is only a path (O_PATH: EBADF). */
static bool closes_at_once(int fd)
{
	return reader_tells_at_once(fd) || errno == EBADF;
}

/* 0, or as reader_run(): -ETIMEDOUT when it is being closed, else the descriptor is still open. */
static int close_by_reader(int fd)
{
	struct reader_subject subject = subject_of(fd, READER_close);
	struct close_call *c = malloc(sizeof(*c));

	if (!c)
		return -ENOMEM;
	*c = (struct close_call){ .call = { .run = run_close, .free = free_call }, .fd = fd };
	int r = reader_run(&c->call, &subject);
	if (r == 0)
		free(c);
	return r;
}

static void close_now_or_later(int fd)
{
	int r = close_by_reader(fd);

	if (r < 0 && r != -ETIMEDOUT)
		close_later(fd);
}

/* Only a file system that answers again makes a difference. */
static void close_waiting(void)
{
	uint64_t n_returned = reader_n_returned();

	pthread_mutex_lock(&to_close.lock);
	uint32_t n = to_close.n_returned != n_returned ? to_close.n : 0;
	to_close.n_returned = n_returned;
	pthread_mutex_unlock(&to_close.lock);
	for (uint32_t i = 0; i < n; i++) {
		int fd = take_to_close();

		if (fd >= 0)
			close_now_or_later(fd);
	}
}

void reader_close(int fd)
{
	int saved = errno;

	if (fd < 0)
		return;
	if (reader_is_in_place() || closes_at_once(fd))
		(void)close(fd);
	else
		close_now_or_later(fd);
	/* A reader would do it itself, and be lost for devices that it was not admitted for. */
	if (!reader_is_in_place())
		close_waiting();
	errno = saved;
}
