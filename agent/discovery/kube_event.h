/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the Kubernetes API says in a list and in a watch, beside the objects themselves. Pure; all texts are borrowed from the JSON, and
 * never NULL.
 */
#ifndef XAGENT_AGENT_DISCOVERY_KUBE_EVENT_H
#define XAGENT_AGENT_DISCOVERY_KUBE_EVENT_H

#include <jansson.h>
#include <stdbool.h>

/* An object of the kind Status: how a request failed. */
struct kube_status {
	unsigned int code;  /* as in HTTP; 0: it does not say */
	const char *reason; /* "Expired", "Forbidden" … */
	const char *message;
};

/* Also of something else than a Status: then all is empty. NULL-safe. */
struct kube_status kube_status_read(const json_t *json);
/* The version that a list or watch began with is too old: only another list helps. */
bool kube_status_is_gone(const struct kube_status *status);

enum kube_event_kind {
	KUBE_EVENT_CHANGED, /* ADDED, MODIFIED */
	KUBE_EVENT_DELETED,
	KUBE_EVENT_BOOKMARK, /* nothing but a newer version to go on from */
	KUBE_EVENT_ERROR,
	KUBE_EVENT_UNKNOWN, /* to be passed over */
};

struct kube_event {
	enum kube_event_kind kind;
	json_t *object;		   /* borrowed; NULL: there is none */
	const char *version;	   /* of the object; "" for an error */
	struct kube_status status; /* of an error */
};

/* One line of a watch. */
struct kube_event kube_event_read(const json_t *json);

/* What a list says about itself. */
struct kube_page {
	const char *version; /* where a watch goes on from */
	const char *next;    /* the token of the next page; "": there is none */
};

struct kube_page kube_page_read(const json_t *rest);

#endif
