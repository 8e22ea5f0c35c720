/* SPDX-License-Identifier: Apache-2.0 */
/* Where the bytes of an object come from. */
#include "agent/object/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/util/foreign_file.h"
#include "agent/util/macro.h"
#include "agent/util/reader.h"

int bytes_from_fd(int fd, struct bytes *ret_bytes)
{
	struct stat st;
	int r = foreign_stat(fd, &st);

	if (r < 0)
		return r;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	*ret_bytes = (struct bytes){ .fd = fd, .size = (uint64_t)st.st_size };
	return 0;
}

struct bytes bytes_from_memory(const void *memory, size_t size)
{
	return (struct bytes){ .fd = -1, .memory = memory, .size = size };
}

static ssize_t read_memory(const struct bytes *b, uint64_t file_off, void *dst, size_t n)
{
	if (file_off >= b->size)
		return 0;
	n = MIN_OF(n, (size_t)(b->size - file_off));
	if (n > 0)
		memcpy(dst, (const char *)b->memory + file_off, n);
	return (ssize_t)n;
}

ssize_t bytes_read_some(const struct bytes *b, uint64_t file_off, void *dst, size_t n)
{
	if (b->fd < 0)
		return read_memory(b, file_off, dst, n);
	if (file_off > INT64_MAX - n)
		return 0;
	return reader_pread(b->fd, dst, n, file_off);
}

int bytes_read(const struct bytes *b, uint64_t file_off, void *dst, size_t n)
{
	ssize_t r = bytes_read_some(b, file_off, dst, n);

	if (r < 0)
		return (int)r;
	return (size_t)r == n ? 0 : -ENODATA;
}

static bool window_holds(const struct bytes_window *w, uint64_t file_off, size_t n)
{
	return file_off >= w->file_off && file_off - w->file_off <= w->n &&
	       n <= w->n - (file_off - w->file_off);
}

int bytes_read_window(const struct bytes *b, struct bytes_window *w, uint64_t file_off, void *dst,
		      size_t n)
{
	if (b->fd < 0 || n > sizeof(w->data))
		return bytes_read(b, file_off, dst, n);
	if (!window_holds(w, file_off, n)) {
		ssize_t got = bytes_read_some(b, file_off, w->data, sizeof(w->data));

		w->file_off = file_off;
		w->n = got < 0 ? 0 : (size_t)got;
		if (got < 0)
			return (int)got;
	}
	if (!window_holds(w, file_off, n))
		return -ENODATA;
	memcpy(dst, w->data + (file_off - w->file_off), n);
	return 0;
}

void bytes_expect(const struct bytes *b, uint64_t file_off, uint64_t n)
{
	if (b->fd >= 0 && file_off < b->size && n > 0 && reader_tells_at_once(b->fd))
		(void)posix_fadvise(b->fd, (off_t)file_off, (off_t)MIN_OF(n, b->size - file_off),
				    POSIX_FADV_WILLNEED);
}
