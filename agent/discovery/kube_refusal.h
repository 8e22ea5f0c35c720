/* SPDX-License-Identifier: Apache-2.0 */
/* Why the Kubernetes API did not answer, in one line that says what to do about it. Pure. */
#ifndef XAGENT_AGENT_DISCOVERY_KUBE_REFUSAL_H
#define XAGENT_AGENT_DISCOVERY_KUBE_REFUSAL_H

#include "agent/discovery/kube_event.h"
#include "agent/discovery/kube_query.h"
#include "agent/http/client.h"

/* Of what the server itself says, which may be a page of HTML. */
#define KUBE_REFUSAL_MAX_MESSAGE 256

/* How a request to `verb` ("list", "watch") ended, other than well: appends a line. */
void kube_refusal_describe(const struct kube_query *q, const char *verb,
			   const struct http_result *result, struct buf *out);
/* The same for an ERROR within a watch. */
void kube_refusal_describe_event(const struct kube_query *q, const struct kube_status *status,
				 struct buf *out);
/* Whether the answer says that the version or the page's token is too old. */
bool kube_refusal_is_gone(const struct http_result *result);

#endif
