/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a result goes. A regular file is written beside its place and then moved there, so that nobody sees half of it; what is no
 * regular file (a device, a pipe, a link such as /dev/stdout) is written to as it is.
 */
#ifndef XAGENT_AGENT_CLI_OUTPUT_H
#define XAGENT_AGENT_CLI_OUTPUT_H

#include <stddef.h>

#include "agent/util/buf.h"

/* Tells early what output_write() would meet: no such directory, read-only, a directory. NULL is standard output. 0, or -errno with
 * one line in `why`. */
int output_check(const char *path, struct buf *why);

/* All bytes, or -errno with one line in `why` and no trace left. */
int output_write(const char *path, const void *bytes, size_t n, struct buf *why);

/* More bytes behind those of a complete output_write(). */
int output_append(const char *path, const void *bytes, size_t n, struct buf *why);

#endif
