/* SPDX-License-Identifier: Apache-2.0 */
/* One endpoint: its queue, its requests in flight, its back-off, its numbers. Inside of agent/push.
 */
#ifndef XAGENT_AGENT_PUSH_ENDPOINT_H
#define XAGENT_AGENT_PUSH_ENDPOINT_H

#include "agent/http/client.h"
#include "agent/push/metrics.h"
#include "agent/push/options.h"
#include "agent/push/protocol.h"
#include "agent/push/push.h"
#include "agent/push/queue.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/loop.h"

struct push_endpoint;

/* What the endpoints of one pusher share. Outlives them; strings borrowed from the pusher. */
struct push_context {
	const struct push_protocol *protocol;
	struct loop *loop;
	struct http_client *http;
	struct telemetry *telemetry;
	const char *user_agent;
	const char *component_path;
	const char *component_id;
	size_t max_queue_items;
	size_t max_queue_bytes;
	unsigned int max_in_flight;
	uint64_t log_interval_ns;
	uint64_t random;
	void (*on_idle)(void *data); /* nothing waits and nothing is in flight any more */
	void *on_idle_data;
};

/* The options must have passed push_endpoint_options_check; they are copied. */
int push_endpoint_new(struct push_context *ctx, const struct push_endpoint_options *options,
		      struct push_endpoint **ret_endpoint);
/* What it still has is dropped and counted. NULL-safe. */
void push_endpoint_free(struct push_endpoint *e);
DEFINE_CLEANUP(struct push_endpoint *, push_endpoint_free);

/* Takes a reference. */
void push_endpoint_put(struct push_endpoint *e, struct push_profile *profile);
/* Whether so many bytes more would push nothing out. */
bool push_endpoint_has_room(const struct push_endpoint *e, size_t n_bytes);
/* Counts a profile that was lost before it could wait. */
void push_endpoint_lost(struct push_endpoint *e, enum push_drop_cause cause, size_t n_bytes);

/* From now on nothing waits longer than until deadline_ns (monotonic). */
void push_endpoint_flush(struct push_endpoint *e, uint64_t deadline_ns);
void push_endpoint_give_up(struct push_endpoint *e);
bool push_endpoint_is_idle(const struct push_endpoint *e);

void push_endpoint_stats_get(const struct push_endpoint *e, struct push_endpoint_stats *ret_stats);

#endif
