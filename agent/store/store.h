/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in store: recent profiles, bounded in bytes and in time.
 *
 *	profile ──► head (grows) ──► segment (closed) ──► oldest first out
 *	                               └──► file
 *
 * Profiles are read and put into the head on a thread of the store, one after the other; what a query reads is a view: references to
 * segments, the head closed for the moment among them. Everything here is for the loop thread, which waits for neither, but a view may be
 * read by whoever holds it.
 *
 * Metrics (labels component_path, component_id):
 *	xagent_store_bytes, _max_bytes		what it takes of what it may take
 *	xagent_store_segments, _series		closed segments; series of the head
 *	xagent_store_profiles, _samples		that are in it now
 *	xagent_store_received_profiles_total, _received_bytes_total		bytes as they came; of this agent's own before compression
 *	xagent_store_refused_profiles_total	by `reason`: invalid_labels, malformed_profile, not_in_ingestion_window, profile_size_limit,
 *						samples_limit, store_limit, request_limit, queue_full, too_late
 *	xagent_store_refused_requests_total	by `reason`: queue_full, message_size, inflated_bytes, elements, memory, time, query_memory
 *	xagent_store_repeated_profiles_total	those that it had already
 *	xagent_store_evicted_profiles_total	by `reason`: bytes, age
 *	xagent_store_disk_bytes, _disk_files	of segments on disk
 *	xagent_store_disk_written_bytes_total, _disk_errors_total, _disk_damaged_files_total
 */
#ifndef XAGENT_AGENT_STORE_STORE_H
#define XAGENT_AGENT_STORE_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/store/ingest/ingest.h"
#include "agent/store/segment/segment.h"
#include "agent/store/store_task.h"
#include "agent/target/label.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/buf.h"
#include "agent/util/clock.h"
#include "agent/util/loop.h"
#include "agent/util/worker.h"

struct store_options {
	size_t max_bytes;    /* of segments, head and its closed copy together */
	uint64_t max_age_ns; /* of profiles */
	uint64_t slot_ns;    /* profiles of one series within it become one */
	uint64_t segment_ns; /* of time in one segment */
	uint64_t flush_ns;   /* how often the head is written to disk: what a crash may lose */
	const char *path;    /* directory of the files; NULL: memory alone. Copied */
	const char *component_path, *component_id; /* of metrics. Copied */
	uint64_t (*now_ns)(void);		   /* wall clock; NULL: the real one */
};

#define STORE_OPTIONS_INIT                                          \
	((struct store_options){ .max_bytes = (size_t)64 << 20,     \
				 .max_age_ns = 6 * 3600 * NS_PER_S, \
				 .slot_ns = NS_PER_S,               \
				 .segment_ns = 1800 * NS_PER_S,     \
				 .flush_ns = 60 * NS_PER_S,         \
				 .component_path = "/",             \
				 .component_id = "pyroscope.store" })

struct store;

/* Reads what `path` has; damaged files are named in the log, counted, and set aside. `loop`, `worker` (for files) and `telemetry` are
 * borrowed and outlive it. 0, -errno with a sentence in `why`. */
int store_new(struct loop *loop, struct worker *worker, struct telemetry *telemetry,
	      const struct store_options *options, struct buf *why, struct store **ret_store);
/* Writes the head when there is a path, and waits for that. NULL-safe. */
void store_free(struct store *s);
DEFINE_CLEANUP(struct store *, store_free);

/* Other bounds, from now on. Path and slot stay. */
void store_set_bounds(struct store *s, size_t max_bytes, uint64_t max_age_ns);

enum store_outcome {
	STORE_KEPT,
	STORE_REFUSED, /* not a profile, wrong labels, too old, too large: `why` has the words of the real server where there are such */
	STORE_REPEATED, /* the series has a profile of this very millisecond: a request that was sent again. Not kept, not an error */
	STORE_OVER_BUDGET, /* it would cost more than `budget` has left, or nobody waits any more: that tells */
};

/* One profile on its way; stays where it is until `done`. */
struct store_put {
	struct store_task task;
	const struct profile *profile; /* borrowed; or NULL and the next three */
	const struct labels *labels;   /* borrowed */
	const uint8_t *pprof;	       /* gzip'd or plain; borrowed */
	size_t n;
	/* Of the request that it is a part of; borrowed. NULL: a profile of this agent, which goes first and is never given up. */
	struct read_budget *budget;
	uint64_t deadline_ns; /* wall clock; when its turn comes later it is refused. 0: none */
	void (*done)(struct store_put *put); /* loop thread; may put it again */
	struct buf *why;		     /* of a refusal; borrowed */
	int result;			     /* enum store_outcome; -ENOMEM */
	/* The store's own. */
	struct ingest *in;
	struct segment **closed;
	size_t n_closed;
	struct head_options head_options;
	int64_t now_ms, oldest_ms;
	struct ingest_result counts;
	unsigned int n_repeats;
	int outcome; /* 0, INGEST_REFUSED_x, -errno */
	bool fresh, wants_new_head;
};

/* Labels of samples become labels of series, as in the real server. STORE_KEPT also when it had no sample worth keeping. */
void store_put(struct store *s, struct store_put *put);
/* Waits until all that was put is in, and who wants a view has it. For tests. */
void store_drain(struct store *s);

/* STORE_REQUEST_TAKEN: nothing to count. */
void store_count_request(struct store *s, enum store_request_refusal reason);

/* So many were refused by whoever received them, before there was anything to put: they count as those above. */
void store_count_refused(struct store *s, enum ingest_outcome reason, size_t n);

struct store_stats {
	size_t bytes, max_bytes;
	size_t n_segments;
	size_t n_series;     /* of the head */
	uint64_t n_profiles; /* in it now, all of these */
	uint64_t n_samples;
	uint64_t n_received_bytes, n_received_profiles; /* since start */
	uint64_t n_refused_profiles, n_evicted_profiles;
	int64_t oldest_ms, newest_ms; /* 0: nothing is there */
};

void store_stats(const struct store *s, struct store_stats *ret_stats);

/* By time, oldest first; they may overlap. */
struct store_view {
	struct segment **segments; /* a reference each */
	size_t n;
};

/* Who wants a view of what may hold profiles in [start_ms, end_ms]; stays where it is until `done`. */
struct store_view_request {
	struct list node;
	int64_t start_ms, end_ms;
	void (*done)(struct store_view_request *request);
	int result;		/* 0 or -ENOMEM */
	struct store_view view; /* the caller's, when the result is 0 */
};

/* `done` is called at once when all is there, or when the head has been copied. */
void store_view_request(struct store *s, struct store_view_request *request);
/* Loop thread. NULL-safe. */
void store_view_fini(struct store_view *v);

#endif
