/* SPDX-License-Identifier: Apache-2.0 */
/* What a kubelet answers about the pods of its node, as targets. Pure. */
#ifndef XAGENT_AGENT_DISCOVERY_KUBELET_PODS_H
#define XAGENT_AGENT_DISCOVERY_KUBELET_PODS_H

#include "agent/target/target_list.h"
#include "agent/util/buf.h"
#include "agent/util/str.h"

/* Namespaces that count; n = 0: all. */
struct kubelet_namespaces {
	const char *const *names;
	size_t n;
};

/*
 * The targets of a PodList, ordered by namespace and pod, since a kubelet lists pods in another order each time. 0, or -errno with one
 * line in `why`: -EBADMSG (no PodList), -E2BIG (more targets than a list takes), -ENOMEM.
 */
int kubelet_pods_read(struct str json, const struct kubelet_namespaces *namespaces, struct buf *why,
		      struct target_list *ret_list);

#endif
