/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happened between two profiles of a process that counts from its start: Go's memory, mutex and block profiles.
 *
 *	profile ──► a key and values for each sample ──► values of the same key a scrape ago taken off ──► profile
 *
 * alloc_objects, alloc_space, contentions and delay are counts since the start; other values (inuse_space) are as they are at the moment and stay.
 * A key is made of the addresses of a stack and of its labels, as a process keeps its addresses. What is remembered of a profile is 24 bytes
 * a stack, and only of the last one: Go forgets no stack.
 *
 * A count that has become smaller is that of another process, which was started at the same address. What it did before the scrape cannot be told
 * from what the one before had done, so nothing is taken off, and nothing told of counts, until the next scrape.
 *
 * Pure; one user at a time, any thread.
 */
#ifndef XAGENT_AGENT_SCRAPE_DELTA_H
#define XAGENT_AGENT_SCRAPE_DELTA_H

#include <stddef.h>
#include <stdint.h>

#include "agent/util/buf.h"
#include "agent/util/cleanup.h"

/* Of one profile. Go services with the largest profiles have some 20,000 samples and 100,000 locations. */
#define DELTA_MAX_SAMPLES ((size_t)1 << 18)
#define DELTA_MAX_ITEMS ((size_t)1 << 20) /* of each table: texts, locations, functions */
#define DELTA_MAX_FRAMES \
	((size_t)1 << 22) /* of all samples together: each is looked for in a table */
/* Values of a sample; as pprof/pprof.h has it. */
#define DELTA_MAX_VALUES 4
/* Of these, counts since the start. */
#define DELTA_MAX_COUNTS 2

struct delta;

int delta_new(struct delta **ret_delta);
void delta_free(struct delta *d); /* NULL-safe */
DEFINE_CLEANUP(struct delta *, delta_free);

enum delta_outcome {
	DELTA_MADE,
	DELTA_FIRST,	 /* there was none before: counts are 0 */
	DELTA_RESTARTED, /* another process: counts are 0 */
	DELTA_NO_COUNTS, /* nothing in it counts from a start: as it came */
	DELTA_MALFORMED, /* no profile: nothing was changed */
};

/* `plain`: a pprof, not gzip'd. The profile of what happened is appended to `out`, but for DELTA_MALFORMED; samples in which nothing did are left
 * out. -ENOMEM, -ENOBUFS: `d` is as it was. */
int delta_apply(struct delta *d, const uint8_t *plain, size_t n, struct buf *out);

/* Remembered stacks, and what they take. */
size_t delta_n_stacks(const struct delta *d);

/* Whether these bytes are a profile that a server can read the samples of; how many those are. */
bool delta_look(const uint8_t *plain, size_t n, size_t *ret_n_samples);

#endif
