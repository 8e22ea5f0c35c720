/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pods of a cluster, of some of its namespaces or of one node, as targets; with the labels of their nodes and namespaces if wanted.
 * Loop thread only.
 */
#ifndef XAGENT_AGENT_DISCOVERY_KUBE_DISCOVERY_H
#define XAGENT_AGENT_DISCOVERY_KUBE_DISCOVERY_H

#include "agent/discovery/kube_watch.h"
#include "agent/target/target_list.h"

/* Each is a watch, hence a connection or a stream of one. */
#define KUBE_DISCOVERY_MAX_NAMESPACES 100

struct kube_discovery_options {
	const struct kube_api *api;    /* outlives the discovery, as all texts */
	const char *const *namespaces; /* each once */
	size_t n_namespaces;	       /* 0: all; the first KUBE_DISCOVERY_MAX_NAMESPACES */
	const char *field_selector, *label_selector; /* NULL or "": none */
	bool attach_node, attach_namespace;
	struct kube_watch_timing timing;
	/* Changes that come within so long are told together; of a thousand pods twice as long, of ten thousand 11 times: whoever is told
	 * looks at all of them. */
	uint64_t gather_ns;
	/* All targets, sorted by namespace and pod: to be taken, or left to be freed. The first call comes when there is a first answer;
	 * later ones may say the same again. */
	void (*changed)(struct target_list *targets, void *data);
	void (*told)(void *data); /* how it goes has changed */
	void *data;
};

#define KUBE_DISCOVERY_GATHER_NS (100ULL * 1000000)

struct kube_discovery_status {
	enum kube_watch_state state; /* the one that is the furthest from watching */
	bool known;		     /* every list has been whole */
	bool failed;		     /* something does not work now */
	const char *error;	     /* the last failure, "" for none */
	const char *version;	     /* of the first list of pods */
	uint64_t event_ns;	     /* the latest; 0: none */
	size_t n_pods, n_targets;
	size_t n_refused;   /* pods, nodes and namespaces left out for want of room */
	size_t n_too_large; /* objects that were too large to be read */
	size_t n_lists, n_watches;
};

struct kube_discovery;

/* 0 or -ENOMEM. Nothing is called from within. */
int kube_discovery_new(const struct kube_discovery_options *options,
		       struct kube_discovery **ret_discovery);
void kube_discovery_free(
	struct kube_discovery *discovery); /* NULL-safe; not from within `changed` or `told` */
DEFINE_CLEANUP(struct kube_discovery *, kube_discovery_free);

struct kube_discovery_status kube_discovery_status(const struct kube_discovery *discovery);

#endif
