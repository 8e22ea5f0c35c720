/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of the Kubernetes API without what targets do not need: the larger part of them. Pure. */
#ifndef XAGENT_AGENT_DISCOVERY_KUBE_REDUCE_H
#define XAGENT_AGENT_DISCOVERY_KUBE_REDUCE_H

#include <jansson.h>

/* What pod_targets_add reads of a pod, of a node and of a namespace. */
void kube_reduce_pod(json_t *pod);
void kube_reduce_surrounding(json_t *object);

#endif
