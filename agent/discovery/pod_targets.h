/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pod as targets: one a container and declared port, one a container without ports; with the labels that Prometheus' and Grafana's
 * discovery of pods give. Pure.
 */
#ifndef XAGENT_AGENT_DISCOVERY_POD_TARGETS_H
#define XAGENT_AGENT_DISCOVERY_POD_TARGETS_H

#include <jansson.h>

#include "agent/target/target_list.h"

/* What the targets of a pod may say besides what is in the pod. */
struct pod_targets_options {
	const json_t *node; /* attach_metadata: the Node object; NULL: not known, or not wanted */
	const json_t *namespace; /* attach_metadata: the Namespace object; likewise */
};

/* `pod` is a Pod object of the API (core/v1), borrowed; what is missing in it, or of a wrong type, is left out. A pod that has no IP yet, or
 * no name, has no targets. `o` may be NULL. 0, -E2BIG, -ENOMEM: then the list may have some of them. */
int pod_targets_add(const json_t *pod, const struct pod_targets_options *o,
		    struct target_list *list);

#endif
