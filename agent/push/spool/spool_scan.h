/* SPDX-License-Identifier: Apache-2.0 */
/* What is in the directory of a spool at the start. Blocks; any thread. Inside of agent/push/spool. */
#ifndef XAGENT_AGENT_PUSH_SPOOL_SPOOL_SCAN_H
#define XAGENT_AGENT_PUSH_SPOOL_SPOOL_SCAN_H

#include <stdint.h>
#include <sys/types.h>

#include "agent/push/spool/spool_dir.h"

#define SPOOL_NAME_BYTES 32

void spool_name_print(uint64_t id, char text[static SPOOL_NAME_BYTES]);
bool spool_name_parse(const char *text, uint64_t *ret_id);

/* A segment that is there, and its size if asked for; -EINVAL: no plain file, or with names elsewhere; -errno. */
int spool_segment_open(int dir_fd, uint64_t id, int flags, uint64_t *ret_bytes);
/* As many bytes as there are; -errno. */
ssize_t spool_pread(int fd, uint8_t *bytes, size_t n, uint64_t offset);

/* Removes segments of ours in which nothing waits. 0 or -errno. */
int spool_scan(int dir_fd, uint64_t *ret_next_id, struct spool_found *ret_found);

/* The records of one segment that wait, added to `found`. Those that cannot be read are counted. 0 or -errno. */
int spool_scan_segment(int fd, uint64_t id, uint64_t n_bytes, struct spool_found *found);

#endif
