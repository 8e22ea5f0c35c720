/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Docker's containers, followed: a list, and a list again whenever an event says that something is different.
 *
 *	asking ──answer──► known ──no answer──► away ──┐
 *	   └──no answer──► away ◄──────────────────────┘ asked again after a while, ever more seldom
 *
 * The stream of events is open before the list is asked for, so that nothing happens unseen in between; and the list is
 * asked for every refresh_interval all the same. While Docker is away the last targets stay. Loop thread only, nothing blocks.
 */
#ifndef XAGENT_AGENT_DISCOVERY_DOCKER_WATCH_H
#define XAGENT_AGENT_DISCOVERY_DOCKER_WATCH_H

#include "agent/discovery/docker_api.h"
#include "agent/discovery/docker_targets.h"
#include "agent/discovery/retry.h"
#include "agent/util/loop.h"

struct docker_watch_options {
	struct docker_server server;
	const char *filters; /* of the list, as JSON: {"label":["a","b"]}; "": none */
	uint64_t refresh_interval_ns;
	struct docker_targets_options targets;
	struct retry_options retry;
};

enum docker_watch_state { DOCKER_ASKING, DOCKER_KNOWN, DOCKER_AWAY };

struct docker_watch_status {
	enum docker_watch_state state;
	char why[HTTP_MAX_ERROR_BYTES]; /* it is away; "" */
	bool follows_events;
	bool events_refused;			 /* somebody does not want them to be followed */
	char events_why[HTTP_MAX_ERROR_BYTES];	 /* events were not followed to their end; "" */
	char networks_why[HTTP_MAX_ERROR_BYTES]; /* there are no labels of networks; "" */
	char version[DOCKER_VERSION_MAX_BYTES];	 /* of the API: "/v1.44", or "" */
	struct docker_counts counts;
	uint64_t n_lists, n_events; /* answers taken, events that mattered */
};

/* The status is another one, and perhaps the targets are, too. May not free the watch. */
typedef void (*docker_watch_fn)(bool other_targets, void *data);

struct docker_watch;

/* 0 or -ENOMEM. */
int docker_watch_new(struct loop *loop, struct http_client *http, docker_watch_fn fn, void *data,
		     struct docker_watch **ret_watch);
void docker_watch_free(struct docker_watch *w);
DEFINE_CLEANUP(struct docker_watch *, docker_watch_free);

/* Begins, or goes on with another server or other filters; the targets stay until there is an answer. Texts are borrowed until the next
 * call of this or the next function, or the end. */
void docker_watch_open(struct docker_watch *w, const struct docker_watch_options *o);
/* As open, but for a server and filters that are the same: the connection stays. */
void docker_watch_adjust(struct docker_watch *w, const struct docker_watch_options *o);

/* Borrowed until the loop runs again. */
const struct target_list *docker_watch_targets(const struct docker_watch *w);
const struct docker_watch_status *docker_watch_status(const struct docker_watch *w);

#endif
