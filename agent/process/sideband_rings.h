/* SPDX-License-Identifier: Apache-2.0 */
/* The rings of the side-band, one for each CPU that is online; those that ran full are replaced by larger ones. Where there is no more
 * memory for these, the one that grew longest ago is small again. Inside of sideband only. */
#ifndef XAGENT_AGENT_PROCESS_SIDEBAND_RINGS_H
#define XAGENT_AGENT_PROCESS_SIDEBAND_RINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/process/perf_ring.h"
#include "agent/util/cpus.h"

struct sideband_rings {
	size_t ring_bytes;	/* of one */
	size_t max_grown_bytes; /* of the larger ones together */
	size_t grown_bytes;
	int epoll_fd; /* owned; readable when one of them is; edge-triggered */
	struct perf_ring **items; /* owned */
	size_t n;
	/* Takes what is in a ring that is about to be closed. */
	void (*drain)(struct perf_ring *ring, void *data);
	void *data;
};

/* The sizes, drain and data are set; no ring is open. 0 or -errno. */
int sideband_rings_init(struct sideband_rings *r);
/* Also where init failed, or epoll_fd is −1. */
void sideband_rings_fini(struct sideband_rings *r);

/* Replaces what ran full, opens what came, drains and closes what went. *ret_missed: something may have happened that is in no ring. 0, or the
 * -errno of the first CPU that could not be opened (the others are in use). */
int sideband_rings_sync(struct sideband_rings *r, const struct cpus *online, bool *ret_missed);

/* Makes epoll_fd quiet until a ring fills again. */
void sideband_rings_take_edges(struct sideband_rings *r);

#endif
