/* SPDX-License-Identifier: Apache-2.0 */
/* What methods that select values have in common. Inside of the read API. */
#ifndef XAGENT_AGENT_STORE_API_API_SELECT_H
#define XAGENT_AGENT_STORE_API_API_SELECT_H

#include "agent/store/api/api_rpc.h"
#include "agent/store/query/query.h"

struct Querier__V1__StackTraceSelector;

/* Time and profile type. RPC_ok and the job's time, or api_job_fail(). */
enum rpc_code rpc_check_selection(struct rpc_call *call, int64_t start_ms, int64_t end_ms,
				  const char *profile_type);

/* Only stacks that the selector takes; NULL: all. Texts are borrowed. RPC_ok or api_job_fail(): also for a selector that says more
 * than is known here, because the answer would be about more than was asked for. q->frames is freed by api_query_fini(). */
enum rpc_code rpc_add_stacks(struct rpc_call *call, struct query *q,
			     const struct Querier__V1__StackTraceSelector *selector);

/* Ids of what samples belong to; an empty list says nothing. */
struct rpc_ids {
	char **profiles; /* UUIDs */
	size_t n_profiles;
	char **traces; /* 32 hexadecimal digits */
	size_t n_traces;
	char **spans; /* 16 */
	size_t n_spans;
};

/* Only samples of these. The store keeps no ids of traces, so it has nothing of one that is named. RPC_ok or
 * api_job_fail(). */
enum rpc_code rpc_add_ids(struct rpc_call *call, struct query *q, const struct rpc_ids *ids);

#endif
