/* SPDX-License-Identifier: Apache-2.0 */
/* SelectSeries: values over time. */
#include <math.h>

#include "agent/store/api/api_methods.h"
#include "agent/store/api/api_pairs.h"
#include "agent/store/api/api_query.h"
#include "agent/store/api/api_select.h"
#include "agent/store/api/querier.pb-c.h"

#define REQUEST(type, call) ((const Querier__V1__##type##Request *)(call)->request)

/* As query_series() takes it, in seconds. */
#define MIN_STEP_S 1e-3
#define MAX_STEP_S 1e9

/* The first point reaches back by one step. The real server does not bear a negative step. */
enum rpc_code select_series_check(struct rpc_call *call)
{
	const Querier__V1__SelectSeriesRequest *r = REQUEST(SelectSeries, call);
	enum rpc_code code = rpc_check_selection(call, r->start, r->end, r->profile_typeid);

	if (code != RPC_ok)
		return code;
	if (!(isfinite(r->step) && r->step > 0))
		return api_job_fail(&call->job, RPC_invalid_argument, "step must be non-zero");
	if (r->step < MIN_STEP_S || r->step > MAX_STEP_S)
		return api_job_fail(&call->job, RPC_invalid_argument,
				    "step must be at least a millisecond, and a number of "
				    "seconds that a clock can reach");
	if (r->n_group_by > API_MAX_MATCHERS)
		return api_job_fail(&call->job, RPC_invalid_argument,
				    "more than %d labels to group by", API_MAX_MATCHERS);
	if (__builtin_sub_overflow(call->job.start_ms, (int64_t)ceil(r->step * 1e3),
				   &call->job.start_ms))
		call->job.start_ms = INT64_MIN;
	return RPC_ok;
}

static Querier__V1__Point **make_points(struct rpc_call *call, const struct query_series *from)
{
	Querier__V1__Point **pointers = rpc_call_alloc(call, from->n_points, sizeof(*pointers));
	Querier__V1__Point *points = rpc_call_alloc(call, from->n_points, sizeof(*points));

	for (size_t i = 0; points && pointers && i < from->n_points; i++) {
		querier__v1__point__init(&points[i]);
		points[i].timestamp = from->points[i].time_ms;
		points[i].value = from->points[i].value;
		pointers[i] = &points[i];
	}
	return points ? pointers : NULL;
}

static Querier__V1__Series *make_series(struct rpc_call *call, const struct query_series *from)
{
	Querier__V1__Series *series = rpc_call_alloc(call, 1, sizeof(*series));

	if (!series)
		return NULL;
	querier__v1__series__init(series);
	series->labels = rpc_call_pairs(call, from->labels.items, from->labels.n);
	series->n_labels = from->labels.n;
	series->points = make_points(call, from);
	series->n_points = from->n_points;
	return series->labels && series->points ? series : NULL;
}

static enum rpc_code answer_select_series(struct rpc_call *call,
					  const struct query_series_list *list)
{
	Querier__V1__SelectSeriesResponse response = QUERIER__V1__SELECT_SERIES_RESPONSE__INIT;

	response.series = rpc_call_alloc(call, list->n, sizeof(*response.series));
	if (!response.series)
		return call->job.code;
	for (; response.n_series < list->n; response.n_series++) {
		size_t i = response.n_series;

		response.series[i] = make_series(call, &list->items[i]);
		if (!response.series[i])
			return call->job.code;
	}
	return rpc_call_answer(call, &response.base);
}

static enum rpc_code run_select_series(struct rpc_call *call, struct api_query *q)
{
	const Querier__V1__SelectSeriesRequest *request = REQUEST(SelectSeries, call);
	enum query_aggregation aggregation =
		request->aggregation ==
				QUERIER__V1__TIME_SERIES_AGGREGATION_TYPE__TIME_SERIES_AGGREGATION_TYPE_AVERAGE
			? QUERY_AVERAGE
			: QUERY_SUM;
	struct query_series_list list = { 0 };
	enum rpc_code code = rpc_add_call_site(call, &q->query, request->stack_trace_selector);

	if (code != RPC_ok)
		return code;
	q->query.start_ms = request->start;
	int r = query_series(&q->query, (const char *const *)request->group_by, request->n_group_by,
			     request->step, aggregation,
			     request->limit > 0 ? (size_t)request->limit : 0, &list);
	if (r < 0)
		return api_job_fail_errno(&call->job, r);
	code = answer_select_series(call, &list);
	query_series_list_fini(&list);
	return code;
}

enum rpc_code select_series_run(struct rpc_call *call)
{
	const Querier__V1__SelectSeriesRequest *r = REQUEST(SelectSeries, call);
	struct api_query q;
	enum rpc_code code =
		api_query_init(&q, &call->job, r->profile_typeid, &r->label_selector, 1);

	if (code == RPC_ok)
		code = run_select_series(call, &q);
	api_query_fini(&q);
	return code;
}
