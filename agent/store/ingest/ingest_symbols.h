/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile names, as numbers of a head: each item is interned when a kept sample first needs it. Inside of agent/store. */
#ifndef XAGENT_AGENT_STORE_INGEST_INGEST_SYMBOLS_H
#define XAGENT_AGENT_STORE_INGEST_INGEST_SYMBOLS_H

#include "agent/store/ingest/ingest_private.h"

/* By the index of the item in the message: the number in the head + 1, or 0 while it is not known. */
struct ingest_symbols {
	struct ingest *in;
	struct head *head;
	uint32_t *texts, *functions, *mappings;
	uint32_t *locations;		  /* besides these: LOCATION_BAD, LOCATION_EMPTY */
	uint32_t marks[INGEST_MAX_DEPTH]; /* of the stack at hand, as in `locations` */
	size_t n_marks;
	struct {
		uint32_t mark, node;
	} path[INGEST_MAX_DEPTH]; /* of the stack before */
	size_t n_path;
};

/* Lies in the profile's memory. 0, -ENOBUFS, -ENOMEM. */
int ingest_symbols_init(struct ingest_symbols *s, struct ingest *in, struct head *head);

/* The node of a stack, leaf first. SEGMENT_ROOT: it names something that is not there, or nothing at all; the server drops such a sample.
 * 0, -ENOBUFS, -ENOMEM. */
int ingest_symbols_stack(struct ingest_symbols *s, const uint64_t *location_ids, size_t n,
			 uint32_t *ret_node);

/* What the stack of that node did within a span of that id (not 0): a node below it, which replaces it. 0, -ENOBUFS, -ENOMEM. */
int ingest_symbols_span(struct ingest_symbols *s, uint64_t span_id, uint32_t *node);

#endif
