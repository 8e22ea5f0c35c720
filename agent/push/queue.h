/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What waits to be sent to one endpoint: bounded in number and bytes, oldest first.
 *
 * The bytes of a profile are shared by all endpoints (struct push_body, reference-counted); each
 * endpoint has an entry of its own.
 */
#ifndef XAGENT_AGENT_PUSH_QUEUE_H
#define XAGENT_AGENT_PUSH_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/http/client.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/cleanup.h"
#include "agent/util/list.h"

/* One encoded request. Immutable but for its references; loop thread. */
struct push_body {
	unsigned int n_refs;
	uint8_t *bytes; /* owned */
	size_t n;
	size_t n_pprof; /* of which the profile; what the metrics count */
	uint64_t n_samples;
	uint64_t time_ns;     /* real time, of the profile */
	uint64_t begin_ns;    /* monotonic, when it was pushed */
	char *labels_text;    /* owned, for the log */
	struct metric *total; /* borrowed: gets the time until the last endpoint was done with it;
				 may be NULL */
};

/* Begins with one reference. */
struct push_body *push_body_ref(struct push_body *body);
void push_body_unref(struct push_body *body);
DEFINE_CLEANUP(struct push_body *, push_body_unref);

struct push_endpoint;

struct push_entry {
	struct list node; /* of the queue, or of the endpoint's requests in flight */
	struct push_endpoint *endpoint;
	struct push_body *body; /* a reference */
	uint64_t seq;		/* order of arrival */
	unsigned int n_attempts;
	unsigned int wave;	      /* see endpoint.c */
	struct http_request *request; /* in flight only */
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

/* All move the entry out; NULL when there is none. */
struct push_entry *push_queue_take_oldest(struct push_queue *q);
/* The one with the fewest attempts, of equals the oldest: one that the server never takes does not
 * hold up the others, and in a long outage the attempts are spread over all. */
struct push_entry *push_queue_take_next(struct push_queue *q);
/* One whose profile is of before `time_ns`. */
struct push_entry *push_queue_take_older(struct push_queue *q, uint64_t time_ns);

#endif
