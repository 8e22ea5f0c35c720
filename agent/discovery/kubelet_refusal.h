/* SPDX-License-Identifier: Apache-2.0 */
/* Why a kubelet did not answer, in one line that says what to do about it. Pure. */
#ifndef XAGENT_AGENT_DISCOVERY_KUBELET_REFUSAL_H
#define XAGENT_AGENT_DISCOVERY_KUBELET_REFUSAL_H

#include "agent/http/client.h"
#include "agent/http/credentials.h"

/* Appends a line; nothing when the answer is one (200). `credentials` are what was shown. */
void kubelet_refusal_describe(const struct http_result *result,
			      const struct http_credentials *credentials, struct buf *out);

#endif
