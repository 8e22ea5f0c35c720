/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a scraper. */
#ifndef XAGENT_AGENT_SCRAPE_SCRAPER_PRIVATE_H
#define XAGENT_AGENT_SCRAPE_SCRAPER_PRIVATE_H

#include "agent/scrape/scrape_metrics.h"
#include "agent/scrape/scrape_read.h"
#include "agent/scrape/scraper.h"
#include "agent/util/hash.h"
#include "agent/util/time_share.h"
#include "agent/util/worker.h"

struct scraper {
	struct scraper_context context;
	struct scraper_options options;
	struct http_oauth2 *tokens; /* NULL: none */
	struct worker *worker;
	struct scrape_metrics metrics;
	struct hash_table loops;
	size_t held_bytes; /* of answers under way, and of those that wait for the worker */
	size_t max_held_bytes;
	bool marking; /* which of the two values of loop->mark is that of the targets of now */
};

/* One address. */
struct scrape_loop {
	struct hash_node node;
	struct scraper *s;
	struct scrape_target target;
	struct loop_timer *timer;
	uint64_t next_ns, began_ns;
	bool mark;

	struct http_request *request; /* NULL: none is under way */
	struct buf body;
	bool too_large, given_up; /* why its body is not wanted any more */
	bool due;		  /* its time came while it was busy */
	bool gone;		  /* it is no target any more; the worker still has it */

	struct worker_job job;
	bool in_worker;
	struct delta *delta;	 /* NULL: its profiles do not count from a start */
	size_t n_stacks;	 /* that this remembers, as the loop thread knows */
	struct time_share share; /* of the worker */
	uint64_t cpu_ns;	 /* that it took just now */
	enum scrape_result result;
	struct scrape_reading reading;
	struct buf why;

	enum scrape_health health;
	char last_error[SCRAPER_MAX_ERROR_BYTES];
	uint64_t last_real_ns, last_duration_ns;
};

/* Takes what is in `target`; its timer runs. 0 or -ENOMEM, then it is as it was. */
int scrape_loop_new(struct scraper *s, struct scrape_target *target, struct scrape_loop **ret_loop);
/* Not in the table any more. What is in the worker ends later. */
void scrape_loop_end(struct scrape_loop *l);
/* With another interval it asks at other moments. */
void scrape_loop_schedule(struct scrape_loop *l);
/* Its request is given up; it asks again when it is time. */
void scrape_loop_cancel(struct scrape_loop *l);

#endif
