/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the bytes of an object come from: a descriptor read with pread(2), or memory. A file system that does not answer is waited for as
 * long as reader.h says, and then it is -ETIMEDOUT, or -EHOSTDOWN at once.
 *
 * Never mmap: a file that is cut short while we look at it must give an error, not SIGBUS. Borrows
 * both; whoever made the view keeps the descriptor open or the memory alive. Any thread.
 */
#ifndef XAGENT_AGENT_OBJECT_BYTES_H
#define XAGENT_AGENT_OBJECT_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct bytes {
	int fd;		    /* −1: memory */
	const void *memory; /* NULL: descriptor */
	uint64_t size;	    /* of memory; of the file when it was looked at */
};

/* -EINVAL when fd is no regular file, else 0 or -errno. */
int bytes_from_fd(int fd, struct bytes *ret_bytes);
struct bytes bytes_from_memory(const void *memory, size_t size);

/* All n bytes at file_off, or -ENODATA (they are not all there), or -errno. */
int bytes_read(const struct bytes *b, uint64_t file_off, void *dst, size_t n);
/* As many of n bytes as there are: their number, 0 at the end, or -errno. */
ssize_t bytes_read_some(const struct bytes *b, uint64_t file_off, void *dst, size_t n);

/* They will be read soon, and here and there: the kernel may fetch them from the disk meanwhile, in one go. Does not wait, and does nothing
 * where it might. */
void bytes_expect(const struct bytes *b, uint64_t file_off, uint64_t n);

/* What lies close together, read at once: a system call takes as long as copying some thousand bytes. */
#define BYTES_WINDOW_BYTES 4096

struct bytes_window {
	uint64_t file_off;
	size_t n; /* 0: nothing was read */
	unsigned char data[BYTES_WINDOW_BYTES];
};

/* As bytes_read(), out of the window if it holds them; else it is filled from file_off on. */
int bytes_read_window(const struct bytes *b, struct bytes_window *w, uint64_t file_off, void *dst,
		      size_t n);

#endif
