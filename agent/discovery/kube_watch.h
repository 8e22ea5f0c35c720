/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of one kind, kept up to date: listed once, then watched.
 *
 *	          ┌────────── the version is too old, or what came made no sense ─────────┐
 *	          ▼                                                                       │
 *	LISTING ──── pages, the last one came ────► WATCHING ──── ended in order ──► WATCHING
 *	   ▲  │                                      ▲  │
 *	   │  └─ failed ──► WAITING ─────────────────┘  └─ failed ──► WAITING ──► (from the last version on)
 *	   └──────────────────┘
 *
 * What is known stays while the server is away. Loop thread only.
 */
#ifndef XAGENT_AGENT_DISCOVERY_KUBE_WATCH_H
#define XAGENT_AGENT_DISCOVERY_KUBE_WATCH_H

#include <jansson.h>

#include "agent/discovery/kube_api.h"
#include "agent/discovery/kube_query.h"
#include "agent/discovery/retry.h"
#include "agent/util/cleanup.h"
#include "agent/util/clock.h"

/* Of one object with its event: etcd refuses objects above 1.5 MiB (its --max-request-bytes), which JSON makes longer. */
#define KUBE_MAX_OBJECT_BYTES ((size_t)4 << 20)
#define KUBE_WATCH_MAX_ERROR 768

enum kube_watch_state { KUBE_LISTING, KUBE_WATCHING, KUBE_WAITING };

/* Called from the loop. What is borrowed is so for the call; references to the JSON may be kept. No call may free the watch. */
struct kube_watch_ops {
	/* A list begins: what a list before it brought, but did not end, is void. */
	void (*begin)(void *data);
	void (*listed)(json_t *object, void *data);
	/* The list is whole: it takes the place of all that is known. */
	void (*replace)(void *data);
	void (*changed)(json_t *object, void *data);
	void (*deleted)(json_t *object, void *data);
	/* Something failed, or is well again. */
	void (*told)(void *data);
};

struct kube_watch_timing {
	struct retry_options retry;
	uint64_t list_timeout_ns;      /* of a page */
	uint64_t list_idle_timeout_ns; /* without a byte of it */
	uint64_t
		idle_timeout_ns; /* of a watch without a byte: longer than from one bookmark to the next */
	unsigned int watch_s; /* the server ends a watch after so long, or up to twice as long */
	uint64_t settled_ns;  /* a watch that was open for so long works */
};

/* A server gives up on a request after a minute by default, and sends a bookmark about every minute. Client libraries let a watch live
 * for five to ten minutes, so that after a while all servers of a cluster have their share. */
#define KUBE_WATCH_TIMING_INIT                                              \
	((struct kube_watch_timing){ .retry = RETRY_OPTIONS_INIT,           \
				     .list_timeout_ns = 300 * NS_PER_S,     \
				     .list_idle_timeout_ns = 75 * NS_PER_S, \
				     .idle_timeout_ns = 150 * NS_PER_S,     \
				     .watch_s = 300,                        \
				     .settled_ns = 5 * NS_PER_S })

struct kube_watch_options {
	const struct kube_api *api; /* outlives the watch */
	struct kube_query query;    /* its texts too */
	struct kube_watch_timing timing;
	const struct kube_watch_ops *ops;
	void *data;
};

struct kube_watch_status {
	enum kube_watch_state state;
	bool known;	     /* a list has been whole */
	bool failed;	     /* nothing has worked since */
	const char *error;   /* of the last failure, "" for none; also when all is well again */
	const char *version; /* where it goes on from */
	uint64_t
		event_ns; /* when the last byte of a watch, or the last list came (monotonic); 0: never */
	size_t n_lists, n_watches; /* requests that were begun */
	size_t n_too_large;
};

struct kube_watch;

/* Begins at once. 0 or -ENOMEM; ops are not called from within. */
int kube_watch_new(const struct kube_watch_options *options, struct kube_watch **ret_watch);
void kube_watch_free(struct kube_watch *watch); /* NULL-safe */
DEFINE_CLEANUP(struct kube_watch *, kube_watch_free);

struct kube_watch_status kube_watch_status(const struct kube_watch *watch);

#endif
