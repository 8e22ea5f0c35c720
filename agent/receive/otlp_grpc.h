/* SPDX-License-Identifier: Apache-2.0 */
/* What is of gRPC in a request of OTLP. Inside of agent/receive. */
#ifndef XAGENT_AGENT_RECEIVE_OTLP_GRPC_H
#define XAGENT_AGENT_RECEIVE_OTLP_GRPC_H

#include "agent/http/grpc/grpc_server.h"
#include "agent/receive/refused.h"

/* NULL: profiles are exported to this path. Else why calls of it are not taken. */
const char *otlp_grpc_refusal(const char *path);

/* `retry_s`: when it may be sent again; 0: never, or nobody knows. Frees the call. */
void otlp_grpc_answer(struct grpc_call *call, const struct receive_verdict *verdict,
		      unsigned int retry_s);

#endif
