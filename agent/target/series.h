/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The finished label sets: cleaned, and one object for equal sets, so that an interval can group
 * samples by pointer.
 *
 * The pool is bounded. When it is full, what nobody else refers to is let go; when that does not
 * help, a set is handed out that the pool does not keep: right, but equal sets made after it are
 * other objects.
 *
 * Loop thread only.
 */
#ifndef XAGENT_AGENT_TARGET_SERIES_H
#define XAGENT_AGENT_TARGET_SERIES_H

#include <stddef.h>

#include "agent/target/label_sanitizer_notes.h"
#include "agent/target/label.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/hash.h"

/* More than three times the active series that Pyroscope grants a tenant (5,000); about 5 MB when
 * full. */
#define SERIES_POOL_MAX 16384

struct series_pool {
	unsigned int n_refs; /* of series_pool_new() */
	size_t max;
	char *host; /* NULL: no host label */
	struct telemetry *telemetry;
	struct label_sanitizer_notes
		*notes; /* borrowed; NULL: nobody wants to know what was done to which label */
	struct hash_table table;
};

/* `telemetry` is borrowed; labels_dropped counts each change of the label sanitizer once a set. `host` NULL or
 * "": no such label. 0 or -ENOMEM. */
int series_pool_init(struct series_pool *pool, size_t max, const char *host,
		     struct telemetry *telemetry);
void series_pool_fini(struct series_pool *pool);

/* The same on the heap, shared by those who hold a reference. */
int series_pool_new(size_t max, const char *host, struct telemetry *telemetry,
		    struct series_pool **ret_pool);
struct series_pool *series_pool_ref(struct series_pool *pool);
void series_pool_unref(struct series_pool *pool); /* NULL-safe */
/* Lets go of the sets that nobody else refers to. */
void series_pool_sweep(struct series_pool *pool);

/* A new reference to the set of `base`, `service_name` (instead of the one in base; NULL: base has
 * one) and host (base's own wins). 0 or -ENOMEM. */
int series_pool_get(struct series_pool *pool, const struct labels *base, const char *service_name,
		    struct labels **ret_labels);

#endif
