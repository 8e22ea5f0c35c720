/* SPDX-License-Identifier: Apache-2.0 */
/* Whole small files in, whole files out. */
#ifndef XAGENT_AGENT_UTIL_FILE_H
#define XAGENT_AGENT_UTIL_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/util/buf.h"

/* Appends the whole file to `b` (its ceiling bounds the read: -ENOBUFS). `dirfd` as in openat(2). Opens without blocking on FIFOs,
 * refuses everything that is not a regular file or a /proc-like file with -EINVAL. 0 or -errno. */
int file_read(int dirfd, const char *path, struct buf *b);

/* The same of a file of /proc that the kernel hands out in one piece (stat, status, cgroup, cmdline, environ; not maps): less than was asked
 * for is its end. -ENOBUFS also when it just fits. */
int file_read_piece(int dirfd, const char *path, struct buf *b);

/* Reads from the current offset of an open descriptor to its end. */
int file_read_fd(int fd, struct buf *b);

/* All bytes or -errno. */
int file_write_fd(int fd, const void *bytes, size_t n);

/* One decimal number with white space around it (sysctl, sysfs). */
int file_read_u64(const char *path, uint64_t *ret_value);

#endif
