/* SPDX-License-Identifier: Apache-2.0 */
/* What questions about steps of time have in common: the steps, and examples. Inside of the read API. */
#ifndef XAGENT_AGENT_STORE_API_API_EXEMPLARS_H
#define XAGENT_AGENT_STORE_API_API_EXEMPLARS_H

#include "agent/store/api/api_rpc.h"
#include "agent/store/query/query.h"

struct Querier__V1__Exemplar;

/* After rpc_check_selection(): the job's time begins a step earlier. RPC_ok or api_job_fail(). */
enum rpc_code rpc_check_steps(struct rpc_call *call, double step_s, size_t n_group_by);
/* `type` is a number of the request. RPC_ok or api_job_fail(). */
enum rpc_code rpc_check_exemplars(struct rpc_call *call, int type);
enum query_exemplars rpc_exemplars(int type);

/* In the call's arena; labels but those that are grouped by. NULL as rpc_call_alloc(). */
struct Querier__V1__Exemplar **rpc_call_exemplars(struct rpc_call *call,
						  const struct query_exemplar *exemplars, size_t n,
						  char *const *group_by, size_t n_group_by);

#endif
