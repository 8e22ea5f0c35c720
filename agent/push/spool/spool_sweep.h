/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spools of endpoints that are in no configuration any more: directories of spools that nobody has open. What has been in one
 * for longer than any profile may wait is removed. Blocks; for spool_sweeper.c.
 */
#ifndef XAGENT_AGENT_PUSH_SPOOL_SPOOL_SWEEP_H
#define XAGENT_AGENT_PUSH_SPOOL_SPOOL_SWEEP_H

#include <stddef.h>
#include <stdint.h>

struct spool_swept {
	size_t n_segments; /* that were removed */
	uint64_t n_bytes;
};

/* Of the directories in `path` that are called as those of spools are, segments that were last written before `before_ns` (real time), and the directory when
 * nothing is left of it. What has another name or is no plain file stays, as does what cannot be removed. */
void spool_sweep(const char *path, uint64_t before_ns, struct spool_swept *ret_swept);

#endif
