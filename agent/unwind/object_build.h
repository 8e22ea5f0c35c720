/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the unwind table of one file in the worker.
 *
 * A build has descriptors of its own: the loop thread may close the file's meanwhile.
 */
#ifndef XAGENT_AGENT_UNWIND_OBJECT_BUILD_H
#define XAGENT_AGENT_UNWIND_OBJECT_BUILD_H

#include "agent/process/mapping.h"
#include "agent/unwind/row_table.h"
#include "agent/util/siphash.h"
#include "agent/util/worker.h"
#include "bpf/wire.h"

struct object_build {
	struct worker_job job; /* run is set; done and data are the caller's */
	void *data;
	int fd;	      /* −1: the vDSO */
	int debug_fd; /* −1: none */
	size_t max_bytes;
	struct siphash_key key;
	/* Results: 0 or an enum row_table_outcome or -errno; the table. */
	int result;
	struct row_table *table;
	uint64_t bias; /* of the table's places to file offsets */
	/* Of all that a walk reads of the table, and of where in the file it begins: tables of one digest may stand for each other. A
	 * file without rules has one, too. */
	uint64_t digest;
};

/* For an opened file, and its debug file (−1: none). The key is copied. 0 or -errno. */
int object_build_new(const struct mapped_file *f, int debug_fd, size_t max_bytes,
		     const struct siphash_key *key, struct object_build **ret_build);
void object_build_free(struct object_build *b); /* NULL-safe */
DEFINE_CLEANUP(struct object_build *, object_build_free);

#endif
