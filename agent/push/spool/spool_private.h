/* SPDX-License-Identifier: Apache-2.0 */
/* A spool from inside; for spool*.c. */
#ifndef XAGENT_AGENT_PUSH_SPOOL_SPOOL_PRIVATE_H
#define XAGENT_AGENT_PUSH_SPOOL_SPOOL_PRIVATE_H

#include "agent/push/spool/spool.h"
#include "agent/push/spool/spool_dir.h"
#include "agent/push/spool/spool_index.h"
#include "agent/util/ratelimit.h"
#include "agent/util/worker.h"

struct spool_segment {
	struct list node;
	uint64_t id;
	uint64_t n_bytes;
	uint64_t since_ns; /* real time, of the first that was in it */
	size_t n_items;	   /* that wait or are out */
	bool gone;	   /* no file any more; in no list */
};

struct spool_item {
	struct list node; /* of fresh or tried; in none while it is out */
	union {
		struct spool_segment *segment;
		struct spool_item *next_unused; /* of what is in no index */
	};
	uint64_t offset;
	uint32_t n_frame;
	uint32_t n_profile_bytes;
	uint64_t deadline_ns, since_ns; /* real time */
	unsigned int n_attempts;
};

enum spool_state { SPOOL_CLOSED, SPOOL_OPENING, SPOOL_OPEN };

struct spool {
	struct spool_callbacks callbacks;
	char *path, *owner;
	uint64_t max_bytes, max_age_ns, retry_ns;
	struct worker *worker;
	struct loop_timer *timer;
	struct spool_dir dir; /* the worker's, while it has a job */
	/* The index; the loop's. */
	enum spool_state state;
	bool needed; /* something was to be written */
	bool failing, closing;
	struct ratelimit say_failed, say_works;
	uint64_t write_at_ns, read_at_ns; /* monotonic: not before */
	struct list segments;		  /* oldest first */
	struct list fresh; /* never out since they were found or written; oldest first */
	struct list tried; /* in the order in which they came back */
	struct spool_room room;
	size_t n_segments, n, n_writing, n_reading;
	uint64_t n_bytes;
	unsigned int turn;
	uint64_t late_ns; /* when deadlines were last looked at */
};

/* ---- spool.c ---- */

int spool_add(struct spool *s, const struct spool_place *place, unsigned int n_attempts);
void spool_keep_bounds(struct spool *s);
void spool_lose_all(struct spool *s);
void spool_damaged(struct spool *s, struct spool_item *item);
struct spool_place spool_item_place(const struct spool_item *item);

/* ---- spool_job.c: what the thread is asked for. False: no memory, nothing has changed ---- */

void spool_job_open(struct spool *s);
bool spool_job_write(struct spool *s, struct push_entry *entry);
bool spool_job_read(struct spool *s, struct spool_item *item);
void spool_job_mark(struct spool *s, struct spool_item *item);
void spool_job_remove(struct spool *s, uint64_t segment);

#endif
