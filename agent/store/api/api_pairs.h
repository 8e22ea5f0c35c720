/* SPDX-License-Identifier: Apache-2.0 */
/* Labels as the messages of several methods have them. Inside of the read API. */
#ifndef XAGENT_AGENT_STORE_API_API_PAIRS_H
#define XAGENT_AGENT_STORE_API_API_PAIRS_H

#include "agent/store/api/api_rpc.h"
#include "agent/store/query/query.h"

struct Querier__V1__LabelPair;

/* In the call's arena, texts borrowed; NULL as rpc_call_alloc(). */
struct Querier__V1__LabelPair **rpc_call_pairs(struct rpc_call *call,
					       const struct query_label *labels, size_t n);

#endif
