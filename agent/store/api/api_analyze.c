/* SPDX-License-Identifier: Apache-2.0 */
/* AnalyzeQuery: how much a question would have to look at. */
#include "agent/store/api/api_methods.h"
#include "agent/store/api/api_query.h"
#include "agent/store/api/querier.pb-c.h"

#define REQUEST(call) ((const Querier__V1__AnalyzeQueryRequest *)(call)->request)

/* An open end is none: the real server answers nothing then. */
enum rpc_code analyze_check(struct rpc_call *call)
{
	const Querier__V1__AnalyzeQueryRequest *r = REQUEST(call);

	call->job.start_ms = r->start;
	call->job.end_ms = r->end;
	return RPC_ok;
}

static enum rpc_code answer_counts(struct rpc_call *call, const struct query_counts *counts)
{
	Querier__V1__AnalyzeQueryResponse response = QUERIER__V1__ANALYZE_QUERY_RESPONSE__INIT;
	Querier__V1__QueryImpact impact = QUERIER__V1__QUERY_IMPACT__INIT;
	Querier__V1__QueryScope scope = QUERIER__V1__QUERY_SCOPE__INIT, *scopes = &scope;

	scope.component_type = (char *)"Short term storage";
	scope.component_count = 1;
	scope.block_count = counts->n_segments;
	scope.series_count = counts->n_series;
	scope.profile_count = counts->n_profiles;
	scope.sample_count = counts->n_samples;
	scope.profile_bytes = counts->n_bytes;
	impact.total_bytes_in_time_range = counts->n_bytes;
	impact.total_queried_series = counts->n_series;
	response.query_scopes = &scopes;
	response.n_query_scopes = 1;
	response.query_impact = &impact;
	return rpc_call_answer(call, &response.base);
}

static enum rpc_code run_analyze(struct rpc_call *call, const struct query *q)
{
	Querier__V1__AnalyzeQueryResponse nothing = QUERIER__V1__ANALYZE_QUERY_RESPONSE__INIT;
	struct query_counts counts;
	int r = query_count(q, &counts);

	if (r < 0)
		return api_job_fail_errno(&call->job, r);
	if (REQUEST(call)->start == 0 || REQUEST(call)->end == 0)
		return rpc_call_answer(call, &nothing.base);
	return answer_counts(call, &counts);
}

/* No query is one for everything. */
enum rpc_code analyze_run(struct rpc_call *call)
{
	char *const *query = &REQUEST(call)->query;
	struct api_query q;
	enum rpc_code code = api_query_init(&q, &call->job, NULL, query, **query != '\0');

	if (code == RPC_ok)
		code = run_analyze(call, &q.query);
	api_query_fini(&q);
	return code;
}
