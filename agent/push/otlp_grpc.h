/* SPDX-License-Identifier: Apache-2.0 */
/* What an answer of gRPC means for a profile. Pure. */
#ifndef XAGENT_AGENT_PUSH_OTLP_GRPC_H
#define XAGENT_AGENT_PUSH_OTLP_GRPC_H

#include "agent/push/verdict.h"
#include "agent/util/str.h"

/* An answer with a status of HTTP; texts as they are on the wire, "" where there are none. */
struct grpc_answer {
	unsigned int http_status;
	const char *content_type;
	const char *status, *message,
		*details; /* grpc-status, grpc-message, grpc-status-details-bin */
	struct str body;
};

enum push_verdict grpc_answer_judge(const struct grpc_answer *answer, bool retry_when_exhausted,
				    struct push_reason *ret_reason);

#endif
