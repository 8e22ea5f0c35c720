/* SPDX-License-Identifier: Apache-2.0 */
/* From what a request says to a query. Inside of the read API. */
#ifndef XAGENT_AGENT_STORE_API_API_QUERY_H
#define XAGENT_AGENT_STORE_API_API_QUERY_H

#include "agent/store/api/api_queue.h"
#include "agent/store/query/query.h"

/* The real server's: querier.max-flamegraph-nodes-default and -max. */
#define API_DEFAULT_NODES 8192
#define API_MAX_NODES 1048576
/* Of one request. A dashboard sends one; each is a regular expression perhaps. */
#define API_MAX_MATCHERS 64

/* All: RPC_ok, or api_job_fail() with the real server's words. Loop thread or worker. */

/* Both ends, Unix milliseconds, in order. */
enum rpc_code api_check_range(struct api_job *job, int64_t start_ms, int64_t end_ms);
/* "name:type:unit:period_type:period_unit", perhaps with ":delta". */
enum rpc_code api_check_profile_type(struct api_job *job, const char *id);
/* 0: the default. */
enum rpc_code api_check_nodes(struct api_job *job, int64_t asked, size_t *ret_max_nodes);

/* A query; it owns the selectors and the filter of frames. */
struct api_query {
	struct query query;
	struct selector *selectors[API_MAX_MATCHERS];
};

/* Of the job's view and time. Texts are borrowed. fini also after a failure. */
enum rpc_code api_query_init(struct api_query *q, struct api_job *job, const char *profile_type,
			     char *const *matchers, size_t n_matchers);
void api_query_fini(struct api_query *q);

#endif
