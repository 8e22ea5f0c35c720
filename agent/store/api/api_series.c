/* SPDX-License-Identifier: Apache-2.0 */
/* SelectSeries: values over time. */
#include "agent/store/api/api_exemplars.h"
#include "agent/store/api/api_methods.h"
#include "agent/store/api/api_pairs.h"
#include "agent/store/api/api_query.h"
#include "agent/store/api/api_select.h"
#include "agent/store/api/querier.pb-c.h"

#define AVERAGE QUERIER__V1__TIME_SERIES_AGGREGATION_TYPE__TIME_SERIES_AGGREGATION_TYPE_AVERAGE
#define REQUEST(type, call) ((const Querier__V1__##type##Request *)(call)->request)

enum rpc_code select_series_check(struct rpc_call *call)
{
	const Querier__V1__SelectSeriesRequest *r = REQUEST(SelectSeries, call);
	enum rpc_code code = rpc_check_selection(call, r->start, r->end, r->profile_typeid);

	if (code == RPC_ok)
		code = rpc_check_steps(call, r->step, r->n_group_by);
	return code == RPC_ok ? rpc_check_exemplars(call, r->exemplar_type) : code;
}

static bool put_exemplar(struct rpc_call *call, const struct query_exemplar *exemplar,
			 Querier__V1__Point *point)
{
	const Querier__V1__SelectSeriesRequest *r = REQUEST(SelectSeries, call);

	if (!exemplar)
		return true;
	point->n_exemplars = 1;
	point->exemplars = rpc_call_exemplars(call, exemplar, 1, r->group_by, r->n_group_by);
	return point->exemplars;
}

static Querier__V1__Point **make_points(struct rpc_call *call, const struct query_series *from)
{
	Querier__V1__Point **pointers = rpc_call_alloc(call, from->n_points, sizeof(*pointers));
	Querier__V1__Point *points = rpc_call_alloc(call, from->n_points, sizeof(*points));

	for (size_t i = 0; points && pointers && i < from->n_points; i++) {
		querier__v1__point__init(&points[i]);
		points[i].timestamp = from->points[i].time_ms;
		points[i].value = from->points[i].value;
		if (!put_exemplar(call, from->points[i].exemplar, &points[i]))
			return NULL;
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
	const struct query_series_options options = {
		.group_by = (const char *const *)request->group_by,
		.n_group_by = request->n_group_by,
		.step_s = request->step,
		.aggregation = request->aggregation == AVERAGE ? QUERY_AVERAGE : QUERY_SUM,
		.exemplars = rpc_exemplars(request->exemplar_type),
		.limit = request->limit > 0 ? (size_t)request->limit : 0,
	};
	struct query_series_list list = { 0 };
	enum rpc_code code = rpc_add_stacks(call, &q->query, request->stack_trace_selector);

	if (code != RPC_ok)
		return code;
	q->query.start_ms = request->start;
	int r = query_series(&q->query, &options, &list);
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
