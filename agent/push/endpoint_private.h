/* SPDX-License-Identifier: Apache-2.0 */
/* One endpoint from inside; for endpoint*.c. */
#ifndef XAGENT_AGENT_PUSH_ENDPOINT_PRIVATE_H
#define XAGENT_AGENT_PUSH_ENDPOINT_PRIVATE_H

#include "agent/push/endpoint.h"
#include "agent/push/flight.h"
#include "agent/push/metrics.h"
#include "agent/push/spool/spool.h"
#include "agent/push/verdict.h"
#include "agent/util/ratelimit.h"

/* Refusals are logged once an interval for each class of status. */
#define PUSH_REFUSAL_CLASSES 7

struct push_endpoint {
	struct push_context *ctx;
	struct push_endpoint_options options; /* a copy */
	char *target_url;
	struct push_queue queue;
	struct list flights;
	size_t n_flights;
	size_t n_flying; /* profiles in them */
	size_t n_flying_bytes;
	struct spool *spool; /* NULL: there is none */
	size_t n_loading;    /* asked of the spool */
	size_t n_out;	     /* in flight, and in the spool */
	size_t n_writing, n_writing_bytes;
	unsigned int turn;
	bool given_up;
	struct loop_timer *timer;
	bool waiting;	      /* for the timer */
	uint64_t deadline_ns; /* of the flush; 0: none */
	unsigned int wave;
	struct push_endpoint_stats stats;
	struct push_reason last_error;
	struct push_metrics metrics;
	struct ratelimit refusals[PUSH_REFUSAL_CLASSES];
};

/* In memory and on disk. */
static inline size_t endpoint_n_kept(const struct push_endpoint *e)
{
	struct spool_stats s = { 0 };

	if (e->spool)
		spool_stats_get(e->spool, &s);
	return e->queue.n + e->n_flying - e->n_out + e->n_writing + s.n;
}

/* In memory. */
static inline size_t endpoint_kept_bytes(const struct push_endpoint *e)
{
	return e->queue.n_bytes + e->n_flying_bytes + e->n_writing_bytes;
}

/* ---- endpoint.c ---- */

void endpoint_on_timer(void *data);
void endpoint_pump(struct push_endpoint *e);
void endpoint_start(struct push_endpoint *e, struct push_entry *first);

/* ---- endpoint_spool.c: what waits on disk ---- */

int endpoint_spool_new(struct push_endpoint *e);
/* What waits in memory goes to disk, while the server takes nothing or there is no room. */
void endpoint_unload(struct push_endpoint *e);
/* The same, whatever the server does, and waits for the disk. */
void endpoint_unload_all(struct push_endpoint *e);
/* Asks the spool for one. False: none. */
bool endpoint_load(struct push_endpoint *e);
/* The entry's profile stays on disk, for later. */
void endpoint_put_back(struct push_endpoint *e, struct push_entry *entry, unsigned int n_attempts);
void endpoint_update_spool_gauges(struct push_endpoint *e);

/* ---- endpoint_end.c: how a profile ends, and what is said of it and of an outage ---- */

void endpoint_count_dropped(struct push_endpoint *e, enum push_drop_cause cause, size_t n_bytes);
/* These end the entry. */
void endpoint_drop(struct push_endpoint *e, struct push_entry *entry, enum push_drop_cause cause);
void endpoint_sent(struct push_endpoint *e, struct push_entry *entry);
void endpoint_refused(struct push_endpoint *e, struct push_entry *entry, unsigned int status,
		      const struct push_reason *reason);
/* An answer came to a request of this wave. */
void endpoint_is_back(struct push_endpoint *e, unsigned int wave);
void endpoint_log_outage(const struct push_endpoint *e, unsigned int status, uint64_t wait_ns);

#endif
