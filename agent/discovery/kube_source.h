/* SPDX-License-Identifier: Apache-2.0 */
/* The pods of one namespace, or of all, kept up to date: a list with its watch. Loop thread only. */
#ifndef XAGENT_AGENT_DISCOVERY_KUBE_SOURCE_H
#define XAGENT_AGENT_DISCOVERY_KUBE_SOURCE_H

#include "agent/discovery/kube_pods.h"
#include "agent/discovery/kube_watch.h"

/* Zeroed, with the functions set by its owner. */
struct kube_source {
	struct kube_watch *watch;
	struct kube_pods pods;	 /* what is known */
	struct kube_pods listed; /* of a list that is not whole yet */
	const struct kube_pods_options *pods_options;
	void (*changed)(void *data);
	void (*told)(void *data);
	void *data;
};

/* `o` without functions. 0 or -ENOMEM. */
int kube_source_start(struct kube_source *s, const struct kube_watch_options *o,
		      const struct kube_pods_options *pods_options);
void kube_source_fini(struct kube_source *s); /* also of one that was never started */

#endif
