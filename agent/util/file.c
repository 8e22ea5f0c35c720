/* SPDX-License-Identifier: Apache-2.0 */
/* Whole small files in, whole files out. */
#include "agent/util/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/util/cleanup.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

#define FILE_READ_CHUNK 4096

/* What is asked for next; 0: there is no room. */
static size_t wanted(const struct buf *b)
{
	return MIN_OF(b->max_bytes - b->len, (size_t)FILE_READ_CHUNK);
}

static ssize_t read_chunk(int fd, struct buf *b, size_t want)
{
	int r = buf_reserve(b, want);
	ssize_t n;

	if (r < 0)
		return r;
	do {
		n = read(fd, b->data + b->len, want);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	b->len += (size_t)n;
	b->data[b->len] = '\0';
	return n;
}

int file_read_fd(int fd, struct buf *b)
{
	for (;;) {
		size_t want = wanted(b);
		char probe;

		if (want == 0) {
			ssize_t more = read(fd, &probe, 1);

			return more < 0 ? -errno : more == 0 ? 0 : -ENOBUFS;
		}
		ssize_t n = read_chunk(fd, b, want);
		if (n <= 0)
			return (int)n;
	}
}

int file_read_piece(int dirfd, const char *path, struct buf *b)
{
	_cleanup_close_ int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	size_t want;
	ssize_t n;

	if (fd < 0)
		return -errno;
	do {
		want = wanted(b);
		n = want == 0 ? -ENOBUFS : read_chunk(fd, b, want);
		if (n < 0)
			return (int)n;
	} while ((size_t)n == want);
	return 0;
}

int file_read(int dirfd, const char *path, struct buf *b)
{
	_cleanup_close_ int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	return file_read_fd(fd, b);
}

int file_write_fd(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;

	while (n > 0) {
		ssize_t w = write(fd, p, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return -errno;
		p += w;
		n -= (size_t)w;
	}
	return 0;
}

int file_read_u64(const char *path, uint64_t *ret_value)
{
	_cleanup_buf_ struct buf b = BUF_INIT(64);
	int r = file_read(AT_FDCWD, path, &b);

	if (r < 0)
		return r;
	return str_parse_u64(str_trim((struct str){ buf_str(&b), b.len }), 10, UINT64_MAX,
			     ret_value);
}
