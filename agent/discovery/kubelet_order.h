/* SPDX-License-Identifier: Apache-2.0 */
/* The order of a node's targets: a kubelet lists pods in another one each time, which is no news. Pure. */
#ifndef XAGENT_AGENT_DISCOVERY_KUBELET_ORDER_H
#define XAGENT_AGENT_DISCOVERY_KUBELET_ORDER_H

#include "agent/target/target_list.h"

/* By namespace and pod; those of one pod stay as they are, which is next to each other. 0 or -ENOMEM. */
int kubelet_order(struct target_list *list);

#endif
