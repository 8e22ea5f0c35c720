/* SPDX-License-Identifier: Apache-2.0 */
/* What discovery.kubernetes says about itself. */
#ifndef XAGENT_AGENT_COMPONENT_DISCOVERY_KUBERNETES_REPORT_H
#define XAGENT_AGENT_COMPONENT_DISCOVERY_KUBERNETES_REPORT_H

#include "agent/component/component.h"
#include "agent/discovery/kube_discovery.h"

void kubernetes_report_health(struct component *c, const struct kube_discovery_options *options,
			      const struct kube_discovery_status *status);
/* Why there may be no pods; static, "" for no idea. */
const char *kubernetes_report_advice(const struct kube_discovery_options *options);
/* 0 or -ENOMEM. */
int kubernetes_report_debug(struct river_arena *arena, const char *server,
			    const struct kube_discovery_status *status,
			    const struct river_value **ret_info);

#endif
