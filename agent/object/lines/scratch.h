/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Room on disk for what has to be unpacked and is too large for memory: files without a name, which go when they are closed, also by a
 * crash.
 *
 * Only on a file system that is no memory itself, and never more than a quarter of what is free there. One thread.
 */
#ifndef XAGENT_AGENT_OBJECT_LINES_SCRATCH_H
#define XAGENT_AGENT_OBJECT_LINES_SCRATCH_H

#include <stdint.h>

/* Of one file: some 2 s of inflating. Debug information of a program of a million lines. */
#define SCRATCH_FILE_MAX_BYTES ((uint64_t)512 << 20)
/* Of all. */
#define SCRATCH_MAX_BYTES ((uint64_t)1 << 30)
/* Kept over restarts by the FHS, so on disk; /tmp is often memory. */
#define SCRATCH_DIR "/var/tmp"

/* Opens an empty file for n_bytes elsewhere, as scratch_open(). */
typedef int (*scratch_open_fn)(void *data, uint64_t n_bytes, int *ret_fd);

struct scratch {
	const char *dir; /* borrowed */
	uint64_t max_bytes;
	uint64_t used_bytes;
	uint64_t n_opened;    /* so far */
	scratch_open_fn open; /* NULL: here, in dir; for processes that may open nothing */
	void *open_data;
};

#define SCRATCH_INIT ((struct scratch){ .dir = SCRATCH_DIR, .max_bytes = SCRATCH_MAX_BYTES })

enum scratch_outcome {
	SCRATCH_NONE = 1, /* no room, or no place for it */
	SCRATCH_OUTCOME_MAX
};

/* An empty file that may take n_bytes. 0, SCRATCH_NONE, -errno. */
int scratch_open(struct scratch *s, uint64_t n_bytes, int *ret_fd);
/* Closes it, and gives its n_bytes back. */
void scratch_close(struct scratch *s, int fd, uint64_t n_bytes);

#endif
