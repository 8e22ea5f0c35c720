/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes or the namespaces that pods are in, kept up to date: a list with its watch. Loop thread only. */
#ifndef XAGENT_AGENT_DISCOVERY_KUBE_SURROUNDING_H
#define XAGENT_AGENT_DISCOVERY_KUBE_SURROUNDING_H

#include "agent/discovery/kube_objects.h"
#include "agent/discovery/kube_watch.h"

/* Zeroed, with the functions set by its owner. */
struct kube_surrounding {
	struct kube_watch *watch;    /* NULL: not wanted */
	struct kube_objects objects; /* what is known */
	struct kube_objects listed;  /* of a list that is not whole yet */
	void (*changed)(void *data); /* names, labels or annotations have */
	void (*told)(void *data);
	void *data;
};

/* `o` without functions. 0 or -ENOMEM. */
int kube_surrounding_start(struct kube_surrounding *s, const struct kube_watch_options *o);
void kube_surrounding_fini(struct kube_surrounding *s); /* also of one that was never started */

#endif
