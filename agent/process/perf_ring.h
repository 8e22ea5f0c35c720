/* SPDX-License-Identifier: Apache-2.0 */
/* The side-band event of one CPU and the ring the kernel writes its records into. */
#ifndef XAGENT_AGENT_PROCESS_PERF_RING_H
#define XAGENT_AGENT_PROCESS_PERF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/util/cleanup.h"

struct perf_ring;

#define PERF_RING_WAKE_BYTES ((size_t)128 * 1024)

/* ring_bytes: a power of two of pages. The descriptor becomes readable when the ring is half full, larger ones from
 * PERF_RING_WAKE_BYTES on: more is room for the time until somebody reads. 0 or -errno of perf_event_open(2) and mmap(2). */
int perf_ring_open(unsigned int cpu, size_t ring_bytes, struct perf_ring **ret_ring);
void perf_ring_close(struct perf_ring *ring);
DEFINE_CLEANUP(struct perf_ring *, perf_ring_close);

unsigned int perf_ring_cpu(const struct perf_ring *ring);
size_t perf_ring_bytes(const struct perf_ring *ring);
/* The kernel had no room for a record since the ring was opened, as far as it was read. */
bool perf_ring_was_full(const struct perf_ring *ring);
/* At the last reading there was so little room that a record may not have found any, which the kernel tells with the next one only. */
bool perf_ring_was_crowded(const struct perf_ring *ring);
int perf_ring_fd(const struct perf_ring *ring);
/* Its CPU has been offline since the last call: nothing comes any more. */
bool perf_ring_is_dead(struct perf_ring *ring);

/* Calls `fn` for each record that was written when it was called; the bytes are gone afterwards.
 * Returns the number of bytes that were skipped because the ring did not follow the contract (0
 * with any kernel). */
typedef void (*perf_ring_fn)(const void *record, size_t n, void *data);
size_t perf_ring_read(struct perf_ring *ring, perf_ring_fn fn, void *data);

#endif
