/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a store; for its files. */
#ifndef XAGENT_AGENT_STORE_STORE_PRIVATE_H
#define XAGENT_AGENT_STORE_STORE_PRIVATE_H

#include <stdbool.h>

#include "agent/store/disk.h"
#include "agent/store/head.h"
#include "agent/store/ingest.h"
#include "agent/store/store.h"
#include "agent/store/store_metrics.h"

/* Of a head, whatever the bound: larger ones make copies that take long, and offsets that find no room. */
#define HEAD_HARD_BYTES ((size_t)64 << 20)

struct store {
	struct store_options options; /* strings are copies of its own */
	char *path, *component_path, *component_id;
	struct telemetry *telemetry;
	struct store_metrics metrics;
	struct disk *disk; /* NULL: memory alone */
	struct loop_timer *tick;
	uint64_t seed;

	/* Closed, by the time of their first profile; ids of the same place name files. */
	struct segment **segments;
	uint64_t *ids;
	size_t n_segments, cap_segments;

	struct head *head; /* NULL: nothing came since the last was closed */
	uint64_t head_id;
	uint64_t head_since_ns; /* wall clock */
	uint64_t last_id;
	struct segment
		*head_copy; /* the head closed for the moment; NULL: none of its present state */
	uint64_t flushed_mono_ns;
	bool head_is_on_disk; /* its present state, or on the way there */

	uint64_t n_received_bytes, n_received_profiles, n_refused_profiles, n_evicted_profiles;
};

static inline uint64_t store_now_ns(const struct store *s)
{
	return s->options.now_ns();
}

int64_t store_oldest_ms(const struct store *s);
size_t store_bytes_now(const struct store *s);

/* Takes the reference when it succeeds. 0 or -ENOMEM. */
int store_add_segment(struct store *s, struct segment *segment, uint64_t id);

/* An empty one of the store's bounds. 0 or -ENOMEM. */
int store_new_head(const struct store *s, struct head **ret_head);
/* There is a head afterwards. 0 or -ENOMEM. */
int store_need_head(struct store *s);
/* Makes a segment of it, if there is a profile in it. 0 or -ENOMEM; then all is as before. */
int store_close_head(struct store *s);
/* Closes it when it is large or old enough. */
int store_roll(struct store *s);
/* The head's present state as a segment, borrowed; NULL: there is no profile in it, or no memory. */
struct segment *store_head_copy(struct store *s);
/* The head has changed. */
void store_head_changed(struct store *s);
/* Writes the head's state to its file, when that is not there yet. */
void store_flush(struct store *s);

/* Out with what is too old, and with the oldest until all fits. */
void store_evict(struct store *s);

#endif
