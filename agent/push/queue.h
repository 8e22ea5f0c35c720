/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What waits to be sent to one endpoint: bounded in number and bytes, oldest first.
 *
 * A profile is shared by all endpoints; each endpoint has an entry of its own.
 */
#ifndef XAGENT_AGENT_PUSH_QUEUE_H
#define XAGENT_AGENT_PUSH_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/push/profile.h"
#include "agent/util/list.h"

struct spool_item;

struct push_entry {
	struct list node;	      /* of the queue, or of a flight */
	struct push_profile *profile; /* a reference */
	uint64_t seq;		      /* order of arrival */
	unsigned int n_attempts;
	struct spool_item *item; /* NULL: in memory alone */
};

struct push_queue {
	struct list entries;
	size_t n;
	size_t n_bytes;
	size_t max_items;
	size_t max_bytes;
	uint64_t next_seq;
};

void push_queue_init(struct push_queue *q, size_t max_items, size_t max_bytes);
/* Must be empty. */
void push_queue_fini(struct push_queue *q);

/* Moves the entry in, at the place of its age: a new one (seq 0) at the end, one that comes back
 * from an attempt where it was. */
void push_queue_put(struct push_queue *q, struct push_entry *entry);

/* Whether a ceiling is passed; then the caller takes the oldest out until it is not. */
bool push_queue_is_over(const struct push_queue *q);

/* Whether half of one is passed: then nothing waits for its moment. */
bool push_queue_is_half_full(const struct push_queue *q);

/* All move the entry out; NULL when there is none. */
struct push_entry *push_queue_take_oldest(struct push_queue *q);
/* … that is not larger. */
struct push_entry *push_queue_take_small(struct push_queue *q, size_t max_bytes);
/* Of those that may be sent by `now_ns` (monotonic), the one with the fewest attempts, of equals the oldest: one that the server never takes does not
 * hold up the others, and in a long outage the attempts are spread over all. */
struct push_entry *push_queue_take_next(struct push_queue *q, uint64_t now_ns);
/* One more for a request in which `n_bytes` are: the oldest that may be sent, was never tried and fits. What failed once goes alone from then on, so that
 * one that the server never takes does not fail those beside it. */
struct push_entry *push_queue_take_fresh(struct push_queue *q, uint64_t now_ns, size_t n_bytes);
/* When the first of those that may not be sent by `now_ns` may be; 0: there is none. */
uint64_t push_queue_next_begin(const struct push_queue *q, uint64_t now_ns);
/* One whose deadline has passed. */
struct push_entry *push_queue_take_late(struct push_queue *q, uint64_t now_ns);

#endif
