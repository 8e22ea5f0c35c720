/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of the Kubernetes API: which objects, and the path and query that say so. Pure. */
#ifndef XAGENT_AGENT_DISCOVERY_KUBE_QUERY_H
#define XAGENT_AGENT_DISCOVERY_KUBE_QUERY_H

#include <stdbool.h>

#include "agent/util/buf.h"
#include "agent/util/str.h"

/* Objects a page; what kubectl and client libraries ask for. */
#define KUBE_PAGE_OBJECTS 500

enum kube_resource { KUBE_PODS, KUBE_NODES, KUBE_NAMESPACES };

/* NULL or "": not given. Borrowed. */
struct kube_query {
	enum kube_resource resource;
	const char *namespace; /* pods: of this one alone, else of all */
	const char *field_selector, *label_selector;
};

const char *kube_resource_name(enum kube_resource resource); /* "pods" … */

/* Append path and query. The answer may be as old as `version` ("0": as the server has at hand; "": the newest), or is the page that
 * `next` is the token of. 0 or what buf_append returns. */
int kube_query_list(const struct kube_query *q, const char *version, const char *next,
		    struct buf *out);
/* What has changed since `version`; the server ends it after `seconds`. */
int kube_query_watch(const struct kube_query *q, const char *version, unsigned int seconds,
		     struct buf *out);

/* The one node that a selector such as "spec.nodeName=a,status.phase=Running" allows: false when it allows several. */
bool kube_selector_node(const char *field_selector, struct str *ret_node);

#endif
