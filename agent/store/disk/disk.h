/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a store: what is asked for is done in that order, one after the other, by the worker. Nobody waits for it but disk_free().
 *
 * At first it reads what is there, the newest file first, and hands over each segment; between two of them it does what was asked meanwhile.
 * Inside of agent/store. Loop thread.
 */
#ifndef XAGENT_AGENT_STORE_DISK_DISK_H
#define XAGENT_AGENT_STORE_DISK_DISK_H

#include "agent/store/disk/disk_file.h"
#include "agent/store/segment/segment.h"
#include "agent/store/store_metrics.h"
#include "agent/util/buf.h"
#include "agent/util/loop.h"
#include "agent/util/worker.h"

struct disk_options {
	const char *path;
	struct loop *loop;
	struct worker *worker;
	struct store_metrics *metrics;
	size_t max_bytes; /* of one segment that is read */
	/* A segment that was read, with a reference. False: there is no room for it, nor for any that is older: these files are removed. */
	bool (*loaded)(struct segment *segment, uint64_t id, void *data);
	void *data;
};

struct disk;

/* All is borrowed but the path. 0, or -errno with a sentence in `why`. */
int disk_new(const struct disk_options *options, struct buf *why, struct disk **ret_disk);
/* Does what is left, but reads no more; waits for it. NULL-safe. */
void disk_free(struct disk *d);
DEFINE_CLEANUP(struct disk *, disk_free);

/* As long as it takes, it holds a reference. Of a head under its own name; a closed one replaces the head of its id. Without memory it is
 * not written, and counted. */
void disk_write(struct disk *d, uint64_t id, bool head, struct segment *segment);
/* Both forms. What waits to be written under this id is not written any more. */
void disk_remove(struct disk *d, uint64_t id);

size_t disk_bytes(const struct disk *d);
size_t disk_n_files(const struct disk *d);

#endif
