/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments of a spool as files of one directory, for root only. Blocks; one thread at a time.
 *
 *	spool-ID.seg	records, in the order in which they came; ID has 16 hex digits and grows
 *
 * Nothing is written into a segment of an earlier run but the state of its records, so what a crash left at its end does not matter. What has
 * another name, is no plain file of ours, or is of a later version is left alone.
 */
#ifndef XAGENT_AGENT_PUSH_SPOOL_SPOOL_DIR_H
#define XAGENT_AGENT_PUSH_SPOOL_SPOOL_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/push/spool/spool_record.h"

/* Records of one directory; older ones than so many are not looked at. */
#define SPOOL_MAX_RECORDS 65536
#define SPOOL_MAX_SEGMENTS 4096

/* Where a record is. */
struct spool_place {
	uint64_t segment;
	uint64_t offset;
	struct spool_record record;
};

static inline size_t spool_place_bytes(const struct spool_place *p)
{
	return SPOOL_HEAD_BYTES + p->record.n_frame;
}

struct spool_found {
	struct spool_place *places; /* that wait; oldest first */
	size_t n;
	size_t n_damaged; /* records or segments that could not be read */
};

struct spool_dir {
	const char *path; /* borrowed */
	size_t max_segment_bytes;
	int fd; /* -1: not open */
	uint64_t next_id;
	/* The one that is written. */
	int segment_fd; /* -1: none */
	uint64_t segment;
	uint64_t end;
	uint32_t number;
};

#define SPOOL_DIR_INIT ((struct spool_dir){ .fd = -1, .segment_fd = -1 })

/* Opens the directory, which `make` makes, and looks what is in it. 0; -ENOENT; -EBUSY: another agent has it; -EPERM: others than root may
 * write to it; -errno. */
int spool_dir_open(struct spool_dir *d, bool make, struct spool_found *ret_found);
void spool_dir_close(struct spool_dir *d);
void spool_found_fini(struct spool_found *found);

/* All or nothing. 0; -ESTALE: the directory has been removed; -errno. */
int spool_dir_append(struct spool_dir *d, const struct push_profile *profile, uint64_t deadline_ns,
		     struct spool_place *ret_place);
/* 0; -EBADMSG: it is not there any more as it was written; -errno. */
int spool_dir_read(struct spool_dir *d, const struct spool_place *place,
		   struct push_profile **ret_profile);
/* It is not found again. 0 or -errno. */
int spool_dir_mark(struct spool_dir *d, const struct spool_place *place);
/* 0 or -errno; one that is not there is fine. */
int spool_dir_remove(struct spool_dir *d, uint64_t segment);
/* What was written is on the disk itself. */
int spool_dir_sync(struct spool_dir *d);

#endif
