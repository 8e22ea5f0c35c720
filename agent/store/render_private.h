/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of /pyroscope/render share. */
#ifndef XAGENT_AGENT_STORE_RENDER_PRIVATE_H
#define XAGENT_AGENT_STORE_RENDER_PRIVATE_H

#include "agent/store/api_query.h"

/* One of the profiles that are asked for. */
struct render_side {
	char *profile_type;
	char *selector; /* "{…}" */
	int64_t start_ms, end_ms;
};

struct render_call {
	struct api_job job;
	struct render_side sides[CALL_SIDES];
	size_t n_sides;
	size_t max_nodes;
	char *group_by; /* NULL: none */
	enum query_aggregation aggregation;
};

/* Worker: fills job.body. */
enum rpc_code render_write(struct render_call *call);

#endif
