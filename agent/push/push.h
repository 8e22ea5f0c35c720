/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends profiles to servers: each profile goes to every endpoint, through a bounded queue of its own.
 *
 * A dead endpoint never holds up another, nor the caller: pusher_push only queues. While an
 * endpoint fails, one request at a time probes it, at growing intervals; when it answers again, the
 * queue drains. What is lost (full queue, too old, refused, too many attempts, shutdown) is counted
 * by cause. Delivery is at least once: a request that was lost on its way back is sent again.
 *
 * Loop thread only.
 */
#ifndef XAGENT_AGENT_PUSH_PUSH_H
#define XAGENT_AGENT_PUSH_PUSH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/http/client.h"
#include "agent/push/labels.h"
#include "agent/push/options.h"
#include "agent/push/protocol.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/loop.h"

#define PUSH_MAX_ENDPOINTS 64

struct push_item {
	const struct push_label *
		labels; /* as the target has them; see labels.h for what is sent, and relay.h. Copied */
	size_t n_labels;
	struct shared_bytes *bytes; /* in the form of the protocol. A reference is taken */
	uint64_t deadline_ns;	    /* real time: what has not been sent by then is dropped */
	/* Sent within this time, at a moment that is the same for each profile of these labels, and another in another run. 0: at once. A flush
	 * does not wait for it, nor does the spool. */
	uint64_t spread_ns;
	uint64_t n_samples;
};

/* Strings and arrays are copied. */
struct pusher_options {
	const struct push_protocol *protocol;	       /* borrowed for good */
	const struct push_endpoint_options *endpoints; /* none is legal: everything is discarded */
	size_t n_endpoints;
	const struct push_label *external_labels;
	size_t n_external_labels;
	const char *user_agent; /* "xagent/<version> (linux)" */
	const char *component_path;
	const char *component_id;
	/* For each endpoint. */
	size_t max_queue_items;
	size_t max_queue_bytes;
	unsigned int max_in_flight;
	uint64_t log_interval_ns; /* of repeated refusals */
};

/* 32 MiB hold an hour of about 25 services at 5 KiB a profile and 15 s an interval. */
#define PUSHER_OPTIONS_INIT                                          \
	((struct pusher_options){ .protocol = &push_pyroscope,       \
				  .user_agent = "xagent (linux)",    \
				  .component_path = "/",             \
				  .component_id = "pyroscope.write", \
				  .max_queue_items = 10000,          \
				  .max_queue_bytes = 32 << 20,       \
				  .max_in_flight = 8,                \
				  .log_interval_ns = 60ULL * 1000000000 })

struct pusher;

/* All borrowed, and must outlive it. 0, -EINVAL (an endpoint that push_endpoint_options_check
 * refuses, or too many) or -ENOMEM. */
int pusher_new(struct loop *loop, struct http_client *http, struct telemetry *telemetry,
	       const struct pusher_options *options, struct pusher **ret_pusher);
/* What is still there is dropped and counted. May be called from the callback of pusher_flush.
 * NULL-safe. */
void pusher_free(struct pusher *p);
DEFINE_CLEANUP(struct pusher *, pusher_free);

/* 0; -EMSGSIZE or -ENOMEM: then the item is counted as dropped by every endpoint. */
int pusher_push(struct pusher *p, const struct push_item *item);
/* Whether an endpoint would take so many bytes more without dropping others; true where there is none. */
bool pusher_has_room(const struct pusher *p, size_t n_bytes);
/* Counts a profile of which there are no bytes as dropped by every endpoint. */
void pusher_lost(struct pusher *p);

/*
 * For shutdown: sends what there is, at once, and calls `done` from the loop when nothing is left,
 * at deadline_ns (monotonic) at the latest. An endpoint whose next attempt would come after the
 * deadline is given up right then. Once for each pusher; nothing is pushed afterwards.
 */
void pusher_flush(struct pusher *p, uint64_t deadline_ns, void (*done)(void *data), void *data);

struct push_endpoint_stats {
	const char *url; /* borrowed */
	uint64_t sent_profiles;
	uint64_t sent_bytes;
	uint64_t sent_samples;
	uint64_t dropped_profiles;
	uint64_t dropped_bytes;
	size_t queued_profiles; /* those in flight included */
	size_t queued_bytes;
	unsigned int n_failures;   /* in a row; 0: reachable */
	uint64_t failing_since_ns; /* monotonic, when n_failures > 0 */
	const char *last_error;	   /* borrowed until the loop goes on; "" when there was none */
};

size_t pusher_n_endpoints(const struct pusher *p);
void pusher_stats(const struct pusher *p, size_t endpoint, struct push_endpoint_stats *ret_stats);

#endif
