/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods and their targets: the pods of one list and of the watch that follows it.
 *
 * The JSON of a pod is gone once its targets are made, unless they may have to be made again. Loop thread only.
 */
#ifndef XAGENT_AGENT_DISCOVERY_KUBE_PODS_H
#define XAGENT_AGENT_DISCOVERY_KUBE_PODS_H

#include <jansson.h>
#include <stdbool.h>

#include "agent/discovery/pod_targets.h"
#include "agent/util/hash.h"

/* The node and the namespace of a pod, as they are known now. */
typedef struct pod_targets_options (*kube_pods_surroundings_fn)(const json_t *pod, void *data);

struct kube_pods_options {
	size_t max_pods, max_targets, max_bytes; /* of names and values of labels */
	/* NULL: nothing is known beside the pods, and no JSON is kept. */
	kube_pods_surroundings_fn surroundings;
	void *data;
};

/* What those of a node with every pod it can have need, many times over; a cluster's pods need a selector beyond. */
#define KUBE_PODS_MAX 50000
#define KUBE_PODS_MAX_TARGETS TARGET_LIST_MAX
#define KUBE_PODS_MAX_BYTES ((size_t)128 << 20)

struct kube_pods {
	const struct kube_pods_options *o; /* outlives it */
	struct hash_table by_uid;
	size_t n_targets, n_bytes;
	size_t n_refused; /* times that a pod was left out for want of room */
};

struct kube_pod {
	struct hash_node node;
	char *uid;  /* without one: namespace and name */
	char *name; /* namespace/name: what targets are sorted by */
	struct target_list targets;
	size_t n_bytes;
	json_t *object; /* reduced; NULL: not kept */
};

void kube_pods_init(struct kube_pods *pods, const struct kube_pods_options *options);
void kube_pods_fini(struct kube_pods *pods); /* empty afterwards */

/* A new pod, or another version of one. Where there is no room it is left out, and counted; an older version goes. `object` may be changed,
 * and kept. 0 or -ENOMEM. */
int kube_pods_put(struct kube_pods *pods, json_t *object);
void kube_pods_remove(struct kube_pods *pods, const json_t *object);
/* The surroundings have changed. 0 or -ENOMEM. */
int kube_pods_remake(struct kube_pods *pods);

/* All pods, sorted by name; array of pods->by_uid.n, to be freed. NULL: memory is out. */
struct kube_pod **kube_pods_sorted(struct kube_pods *const *sets, size_t n_sets, size_t *ret_n);

#endif
