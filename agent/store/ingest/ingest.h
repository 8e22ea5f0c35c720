/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A received profile: looked at as a Pyroscope server looks at it, then put into a head.
 *
 *	bytes ──► message ──► rules ──► samples by their labels ──► series ──► slots of a head
 *
 * What comes in is foreign. Opening it touches no head, so that a refused profile leaves no trace. Inside of agent/store; one user at a time.
 */
#ifndef XAGENT_AGENT_STORE_INGEST_INGEST_H
#define XAGENT_AGENT_STORE_INGEST_INGEST_H

#include "agent/encode/profile.h"
#include "agent/store/ingest/read_budget.h"
#include "agent/store/segment/head.h"
#include "agent/target/label.h"
#include "agent/util/buf.h"

/* A Pyroscope server's defaults: validation.max-profile-size-bytes, -max-profile-stacktrace-samples, -sample-labels, -depth (the root's side is
 * kept), -max-profile-symbol-value-length (the end is kept), reject-newer-than. */
#define INGEST_MAX_PLAIN_BYTES ((size_t)4 << 20)
#define INGEST_MAX_SAMPLES 16000
#define INGEST_MAX_SAMPLE_LABELS 100
/* Of one profile, each type of value by itself: as many as it may have samples. Each is looked for in what is there. */
#define INGEST_MAX_SERIES INGEST_MAX_SAMPLES
#define INGEST_MAX_DEPTH 1000
#define INGEST_MAX_TEXT_BYTES 65535
#define INGEST_MAX_FUTURE_MS (600 * 1000)
/* Of inlined calls at one address; as pprof/pprof.h has it. */
#define INGEST_MAX_LINES 256
/* What a profile of 4 MiB may take unpacked: 12 times its size is ample for those that profilers make. */
#define INGEST_MAX_MEMORY ((size_t)48 << 20)

/* X(name, value of the label `reason`). The words are those of the server's own counters where it has such. */
#define INGEST_REFUSALS(X)                                                                     \
	X(LABELS, "invalid_labels")                                                            \
	X(MALFORMED, "malformed_profile")                                                      \
	X(WINDOW, "not_in_ingestion_window")                                                   \
	X(SIZE, "profile_size_limit")                                                          \
	X(SAMPLES, "samples_limit")                                                            \
	X(ROOM, "store_limit")	    /* no room even in an empty head */                        \
	X(REQUEST, "request_limit") /* the request that it came with has used up its budget */ \
	X(QUEUE, "queue_full")	    /* this agent's own: too many wait already */              \
	X(LATE, "too_late")	    /* this agent's own: its deadline passed while it waited */

enum ingest_outcome {
	INGEST_OPENED,
#define INGEST_REFUSAL_ENUM(name, text) INGEST_REFUSED_##name,
	INGEST_REFUSALS(INGEST_REFUSAL_ENUM)
#undef INGEST_REFUSAL_ENUM
		INGEST_MAX
};

struct ingest;

/* now_ms, oldest_ms: Unix times; a profile without a time is of now. `budget` is that of the request, begun; NULL: none. All are borrowed
 * until ingest_free(). INGEST_OPENED; INGEST_REFUSED_x with a sentence in `why`; -ENOMEM; -ECANCELED: `budget` tells what was used up. */
int ingest_open(const struct labels *labels, const uint8_t *pprof, size_t n, int64_t now_ms,
		int64_t oldest_ms, struct read_budget *budget, struct buf *why,
		struct ingest **ret_ingest);
/* A profile of this agent by the same rules; what its tables promise (pprof/pprof.h) is not looked at again. It is borrowed likewise. */
int ingest_open_profile(const struct profile *profile, int64_t now_ms, int64_t oldest_ms,
			struct buf *why, struct ingest **ret_ingest);
/* Whether the bytes are a pprof whose structure is sound, without labels or times. Results as of ingest_open(). */
int ingest_look(const uint8_t *pprof, size_t n, struct read_budget *budget, struct buf *why);
void ingest_free(struct ingest *in); /* NULL-safe */
DEFINE_CLEANUP(struct ingest *, ingest_free);

int64_t ingest_time_ms(const struct ingest *in);

struct ingest_result {
	size_t n_kept;	   /* profiles: one a series */
	size_t n_repeated; /* that the head or a segment has of this very millisecond */
};

/* Into the head; `closed` are segments in which a repetition may hide. 0; -ENOBUFS (the head is full, or of another time), then the head is
 * as it was, and it may be tried with another one; -ECANCELED (the budget), the head is as it was; -ENOMEM, then some of its series may be
 * in, each of them whole. */
int ingest_put(struct ingest *in, struct head *head, struct segment *const *closed, size_t n_closed,
	       struct ingest_result *ret_result);

#endif
