/* SPDX-License-Identifier: Apache-2.0 */
/* What arguments of discovery.kubernetes come to: an API server, how we are known there, and the pods that are wanted of it. */
#ifndef XAGENT_AGENT_COMPONENT_DISCOVERY_KUBERNETES_LINK_H
#define XAGENT_AGENT_COMPONENT_DISCOVERY_KUBERNETES_LINK_H

#include "agent/component/component.h"
#include "agent/component/discovery/kubernetes_args.h"
#include "agent/discovery/kube_access.h"
#include "agent/discovery/kube_discovery.h"

struct kubernetes_link {
	struct kube_api api;
	struct kube_discovery_options options; /* without functions */
	struct kube_access access;	       /* empty with api_server */
	struct http_oauth2 *tokens;
	struct river_arena arena;
};

/* Reads the files that say where the server is. Points into the arguments. 0, or -errno with a line in `why`. */
int kubernetes_link_open(const struct component_env *env, const struct kubernetes_args *args,
			 struct buf *why, struct kubernetes_link **ret_link);
/* Every request has ended. NULL-safe. */
void kubernetes_link_free(struct kubernetes_link *link);
DEFINE_CLEANUP(struct kubernetes_link *, kubernetes_link_free);

#endif
