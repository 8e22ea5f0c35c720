/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles of many targets, fetched by HTTP again and again.
 *
 *	targets ──► a loop each: timer ──► request ──► body ──► worker: gzip, difference to the last one ──► profile
 *
 * Each loop has a timer, a request, a timeout and memory of its own, so that one target's slow or hostile answer holds no other. When it is that a
 * loop asks follows from its address and labels: requests are spread over the interval, and an agent that starts again asks at the same moments.
 *
 * Answers under way have a budget together. Where they pass it, the largest is given up, whose ever it is: so a target that sends without
 * end is stopped, not those that come after it.
 *
 * Loop thread.
 */
#ifndef XAGENT_AGENT_SCRAPE_SCRAPER_H
#define XAGENT_AGENT_SCRAPE_SCRAPER_H

#include "agent/http/client.h"
#include "agent/http/credentials.h"
#include "agent/http/oauth2.h"
#include "agent/scrape/scrape_result.h"
#include "agent/scrape/scrape_target.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/loop.h"
#include "agent/util/shared_bytes.h"

/* Addresses of profiles; more are left out. */
#define SCRAPER_MAX_LOOPS 20000
/* Bytes of all answers under way, and of those that wait for the worker. */
#define SCRAPER_MAX_HELD_BYTES ((size_t)32 << 20)
#define SCRAPER_MAX_ERROR_BYTES 400

struct scraper_options {
	uint64_t interval_ns,
		timeout_ns; /* the time that a profile is made over comes on top of it */
	struct http_request_options request; /* without an address */
	struct http_credentials credentials;
	const struct http_oauth2_options *oauth2; /* NULL: none */
	size_t max_held_bytes;			  /* 0: SCRAPER_MAX_HELD_BYTES */
};

/* A profile with at least one sample, gzip'd. It takes references. */
typedef void (*scraper_profile_fn)(struct shared_bytes *pprof, const struct scrape_target *target,
				   uint64_t time_ns, void *data);

struct scraper_context {
	struct loop *loop;
	struct http_client *http;
	struct telemetry *telemetry;
	const char *component_path, *component_id; /* labels of metrics */
	const char *log_id;			   /* what the log calls it */
	scraper_profile_fn fn;
	void *data;
};

struct scraper;

/* The context's texts are borrowed. 0 or -errno. */
int scraper_new(const struct scraper_context *context, struct scraper **ret_scraper);
/* What the worker has begun is delivered first. NULL-safe. */
void scraper_free(struct scraper *s);
DEFINE_CLEANUP(struct scraper *, scraper_free);

/* Borrowed until others take their place; a request under way goes on with what it has, but where tokens come from elsewhere it is given up.
 * 0 or -errno: then the old ones stay. */
int scraper_set_options(struct scraper *s, const struct scraper_options *options);

/* Takes what is in the array. A target that was there before goes on as if nothing had happened; one that is not among them any more ends, and
 * with it its request. How many were left out, as there were too many, or no memory. */
size_t scraper_set_targets(struct scraper *s, struct scrape_target *targets, size_t n);

enum scrape_health { SCRAPE_UNKNOWN, SCRAPE_UP, SCRAPE_DOWN, SCRAPE_HEALTH_MAX };

const char *scrape_health_text(enum scrape_health health);

struct scrape_status {
	const struct scrape_target *target;
	enum scrape_health health;
	const char *last_error; /* "": none */
	uint64_t last_real_ns;	/* when the last scrape began; 0: there was none */
	uint64_t last_duration_ns;
};

/* Each loop once, in no order. */
typedef void (*scraper_status_fn)(const struct scrape_status *status, void *data);
void scraper_each(const struct scraper *s, scraper_status_fn fn, void *data);

/* How many loops are so. */
void scraper_count(const struct scraper *s, size_t ret_n[SCRAPE_HEALTH_MAX]);

#endif
