/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a store; for its files. */
#ifndef XAGENT_AGENT_STORE_STORE_PRIVATE_H
#define XAGENT_AGENT_STORE_STORE_PRIVATE_H

#include <stdbool.h>

#include "agent/store/disk/disk.h"
#include "agent/store/ingest/ingest.h"
#include "agent/store/segment/head.h"
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

	/* The thread that has the head while a task runs. */
	struct worker *ingest;
	struct list tasks[STORE_TASK_CLASSES];
	struct store_task *running; /* NULL: none, and the head is here */
	bool starting;		    /* within store_task_next() */

	struct head *head;	      /* NULL: nothing came since the last was closed */
	struct head_stats head_stats; /* as it was when it was here last */
	uint64_t head_id;
	uint64_t head_since_ns; /* wall clock */
	uint64_t last_id;
	struct segment
		*head_copy; /* the head closed for the moment; NULL: none of its present state */
	struct head_encoding {
		struct store_task task;
		bool closes;
		struct segment *made; /* NULL: no memory, or nothing to encode */
		int result;
	} encoding;
	struct list views; /* requests that wait for the copy */
	bool wants_close, wants_copy;
	bool close_failed; /* tried again with the next tick, or for a profile */
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
/* There is no memory to keep it: takes the reference, and counts it as evicted. */
void store_lose_segment(struct store *s, struct segment *segment, uint64_t id);

/* Room for one more. 0 or -ENOMEM. */
int store_grow_segments(struct store *s);

/* Of a head of the store's bounds. */
struct head_options store_head_options(const struct store *s);
/* There is a head afterwards. 0 or -ENOMEM. It is here. */
int store_need_head(struct store *s);
/* Remembers how large it is. It is here. */
void store_note_head(struct store *s);
/* The head has changed. */
void store_head_changed(struct store *s);

/* Makes a segment of the head when it is large or old enough, or when it is wanted; NULL: it stays. It is here. */
struct store_task *store_closing_task(struct store *s);
/* Makes a copy of the head's present state when somebody waits for it; NULL: nobody does, or it is there. It is here. */
struct store_task *store_copying_task(struct store *s);
/* Writes the head's state to its file, when that is not there yet. */
void store_flush(struct store *s);

/* Who waits gets its view with this copy of the head, or -ENOMEM as its result; NULL: the head is not there any more. */
void store_serve_views(struct store *s, int result, struct segment *copy);

/* Out with what is too old, and with the oldest until all fits. */
void store_evict(struct store *s);

#endif
