/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the nodes, or of the namespaces: reduced objects by name, with a ceiling. Loop thread only. */
#ifndef XAGENT_AGENT_DISCOVERY_KUBE_OBJECTS_H
#define XAGENT_AGENT_DISCOVERY_KUBE_OBJECTS_H

#include <jansson.h>
#include <stdbool.h>

/* Kubernetes is made for 5,000 nodes and 10,000 namespaces a cluster. */
#define KUBE_OBJECTS_MAX 20000

struct kube_objects {
	json_t *by_name; /* NULL: none yet */
	size_t n_refused;
};

#define KUBE_OBJECTS_INIT ((struct kube_objects){ 0 })

void kube_objects_fini(struct kube_objects *objects); /* empty afterwards */
/* The object is reduced, and kept. True: something that is kept has changed. */
bool kube_objects_put(struct kube_objects *objects, json_t *object);
bool kube_objects_remove(struct kube_objects *objects, const json_t *object);
/* Borrowed; NULL: not known. */
const json_t *kube_objects_get(const struct kube_objects *objects, const char *name);

#endif
