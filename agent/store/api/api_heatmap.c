/* SPDX-License-Identifier: Apache-2.0 */
/* SelectHeatmap: how many profiles, or spans, had which value, over time. */
#include "agent/store/api/api_exemplars.h"
#include "agent/store/api/api_methods.h"
#include "agent/store/api/api_pairs.h"
#include "agent/store/api/api_query.h"
#include "agent/store/api/api_select.h"
#include "agent/store/api/querier.pb-c.h"

#define REQUEST(call) ((const Querier__V1__SelectHeatmapRequest *)(call)->request)
#define OF_PROFILES QUERIER__V1__HEATMAP_QUERY_TYPE__HEATMAP_QUERY_TYPE_INDIVIDUAL
#define OF_SPANS QUERIER__V1__HEATMAP_QUERY_TYPE__HEATMAP_QUERY_TYPE_SPAN

/* Examples are of what is counted. */
static enum rpc_code check_types(struct rpc_call *call, int query_type, int exemplar_type)
{
	enum query_exemplars exemplars = rpc_exemplars(exemplar_type);

	if (query_type != OF_PROFILES && query_type != OF_SPANS)
		return api_job_fail(&call->job, RPC_invalid_argument,
				    "valid heatmap query type must be specified");
	if (exemplars == QUERY_EXEMPLARS_OF_PROFILES && query_type != OF_PROFILES)
		return api_job_fail(&call->job, RPC_invalid_argument,
				    "individual exemplars only available for individual query "
				    "type");
	if (exemplars == QUERY_EXEMPLARS_OF_SPANS && query_type != OF_SPANS)
		return api_job_fail(&call->job, RPC_invalid_argument,
				    "span exemplars only available for span query type");
	return rpc_check_exemplars(call, exemplar_type);
}

enum rpc_code select_heatmap_check(struct rpc_call *call)
{
	const Querier__V1__SelectHeatmapRequest *r = REQUEST(call);
	enum rpc_code code = rpc_check_selection(call, r->start, r->end, r->profile_typeid);

	if (code == RPC_ok)
		code = rpc_check_steps(call, r->step, r->n_group_by);
	return code == RPC_ok ? check_types(call, r->query_type, r->exemplar_type) : code;
}

static bool put_slot(struct rpc_call *call, const struct query_heatmap_slot *from, double *y_min,
		     Querier__V1__HeatmapSlot *to)
{
	const Querier__V1__SelectHeatmapRequest *r = REQUEST(call);

	querier__v1__heatmap_slot__init(to);
	to->timestamp = from->time_ms;
	to->y_min = y_min;
	to->n_y_min = QUERY_HEATMAP_ROWS;
	to->counts = (int32_t *)from->counts;
	to->n_counts = QUERY_HEATMAP_ROWS;
	to->n_exemplars = from->n_exemplars;
	to->exemplars = rpc_call_exemplars(call, from->exemplars, from->n_exemplars, r->group_by,
					   r->n_group_by);
	return to->exemplars;
}

static bool put_series(struct rpc_call *call, const struct query_heatmap_series *from,
		       double *y_min, Querier__V1__HeatmapSeries *to)
{
	Querier__V1__HeatmapSlot *slots = rpc_call_alloc(call, from->n_slots, sizeof(*slots));

	querier__v1__heatmap_series__init(to);
	to->labels = rpc_call_pairs(call, from->labels.items, from->labels.n);
	to->n_labels = from->labels.n;
	to->slots = rpc_call_alloc(call, from->n_slots, sizeof(*to->slots));
	for (; slots && to->slots && to->n_slots < from->n_slots; to->n_slots++) {
		size_t i = to->n_slots;

		if (!put_slot(call, &from->slots[i], y_min, &slots[i]))
			return false;
		to->slots[i] = &slots[i];
	}
	return slots && to->slots && to->labels;
}

static enum rpc_code answer(struct rpc_call *call, const struct query_heatmap *map)
{
	Querier__V1__SelectHeatmapResponse response = QUERIER__V1__SELECT_HEATMAP_RESPONSE__INIT;
	Querier__V1__HeatmapSeries *series = rpc_call_alloc(call, map->n, sizeof(*series));
	double y_min[QUERY_HEATMAP_ROWS];

	for (size_t i = 0; i < QUERY_HEATMAP_ROWS; i++)
		y_min[i] = (double)map->y_min[i];
	response.series = rpc_call_alloc(call, map->n, sizeof(*response.series));
	if (!series || !response.series)
		return call->job.code;
	for (; response.n_series < map->n; response.n_series++) {
		size_t i = response.n_series;

		if (!put_series(call, &map->series[i], y_min, &series[i]))
			return call->job.code;
		response.series[i] = &series[i];
	}
	return rpc_call_answer(call, &response.base);
}

static enum rpc_code run(struct rpc_call *call, struct api_query *q)
{
	const Querier__V1__SelectHeatmapRequest *r = REQUEST(call);
	const struct query_series_options options = {
		.group_by = (const char *const *)r->group_by,
		.n_group_by = r->n_group_by,
		.step_s = r->step,
		.exemplars = rpc_exemplars(r->exemplar_type),
		.limit = r->limit > 0 ? (size_t)r->limit : 0,
	};
	struct query_heatmap map = { 0 };

	q->query.start_ms = r->start;
	int error = query_heatmap(&q->query, &options, r->query_type == OF_SPANS, &map);
	if (error < 0)
		return api_job_fail_errno(&call->job, error);
	enum rpc_code code = answer(call, &map);
	query_heatmap_fini(&map);
	return code;
}

enum rpc_code select_heatmap_run(struct rpc_call *call)
{
	const Querier__V1__SelectHeatmapRequest *r = REQUEST(call);
	struct api_query q;
	enum rpc_code code =
		api_query_init(&q, &call->job, r->profile_typeid, &r->label_selector, 1);

	if (code == RPC_ok)
		code = run(call, &q);
	api_query_fini(&q);
	return code;
}
