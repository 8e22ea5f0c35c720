/* SPDX-License-Identifier: Apache-2.0 */
/* Methods about what there is: profile types, labels, series, and the time that is covered. */
#include <string.h>

#include "agent/store/api/api_methods.h"
#include "agent/store/api/api_pairs.h"
#include "agent/store/api/api_query.h"
#include "agent/store/api/querier.pb-c.h"
#include "agent/util/str.h"

/* What ProfileTypes looks at when it is not told. */
#define DEFAULT_RANGE_MS (3600 * INT64_C(1000))
#define PROFILE_TYPE_PARTS 5
#define CPU_TIME "process_cpu:cpu:"

#define REQUEST(type, call) ((const Querier__V1__##type##Request *)(call)->request)

/* Here an end may be left open. */
static enum rpc_code set_range(struct rpc_call *call, int64_t start_ms, int64_t end_ms)
{
	call->job.start_ms = start_ms;
	call->job.end_ms = end_ms ? end_ms : INT64_MAX;
	if (start_ms > call->job.end_ms)
		return api_check_range(&call->job, start_ms, end_ms);
	return RPC_ok;
}

enum rpc_code profile_types_check(struct rpc_call *call)
{
	const Querier__V1__ProfileTypesRequest *r = REQUEST(ProfileTypes, call);

	if (r->start == 0 && r->end == 0)
		return set_range(call, call->now_ms - DEFAULT_RANGE_MS, call->now_ms);
	return set_range(call, r->start, r->end);
}

enum rpc_code label_names_check(struct rpc_call *call)
{
	const Querier__V1__LabelNamesRequest *r = REQUEST(LabelNames, call);

	return set_range(call, r->start, r->end);
}

enum rpc_code label_values_check(struct rpc_call *call)
{
	const Querier__V1__LabelValuesRequest *r = REQUEST(LabelValues, call);

	if (*r->name == '\0')
		return api_job_fail(&call->job, RPC_invalid_argument, "name is required");
	return set_range(call, r->start, r->end);
}

enum rpc_code series_check(struct rpc_call *call)
{
	const Querier__V1__SeriesRequest *r = REQUEST(Series, call);

	if (r->n_label_names > API_MAX_MATCHERS)
		return api_job_fail(&call->job, RPC_invalid_argument, "more than %d label names",
				    API_MAX_MATCHERS);
	return set_range(call, r->start, r->end);
}

enum rpc_code nothing_check(struct rpc_call *call)
{
	(void)call;
	return RPC_ok;
}

static char *copy_text(struct rpc_call *call, struct str text)
{
	char *copy = arena_strndup(&call->arena, text.p ? text.p : "", text.n);

	if (!copy)
		(void)api_job_fail_errno(&call->job, -ENOBUFS);
	return copy;
}

/* name:type:unit:period_type:period_unit */
static Querier__V1__ProfileType *make_profile_type(struct rpc_call *call, const char *id)
{
	Querier__V1__ProfileType *type = rpc_call_alloc(call, 1, sizeof(*type));
	struct str rest = str_from(id), part;
	char *parts[PROFILE_TYPE_PARTS];

	for (size_t i = 0; i < PROFILE_TYPE_PARTS; i++) {
		if (!str_split(&rest, ':', &part))
			part = STR_LIT("");
		parts[i] = copy_text(call, part);
		if (!parts[i])
			return NULL;
	}
	if (!type)
		return NULL;
	querier__v1__profile_type__init(type);
	type->id = (char *)id;
	type->name = parts[0];
	type->sample_type = parts[1];
	type->sample_unit = parts[2];
	type->period_type = parts[3];
	type->period_unit = parts[4];
	return type;
}

static enum rpc_code answer_profile_types(struct rpc_call *call, const struct query_names *ids)
{
	Querier__V1__ProfileTypesResponse response = QUERIER__V1__PROFILE_TYPES_RESPONSE__INIT;

	response.profile_types = rpc_call_alloc(call, ids->n, sizeof(*response.profile_types));
	if (!response.profile_types)
		return call->job.code;
	for (; response.n_profile_types < ids->n; response.n_profile_types++) {
		size_t i = response.n_profile_types;

		response.profile_types[i] = make_profile_type(call, ids->items[i]);
		if (!response.profile_types[i])
			return call->job.code;
	}
	return rpc_call_answer(call, &response.base);
}

/* Grafana preselects the first with "cpu" in it, which could be memory that a CPU profiler saw, or an event. */
static void put_cpu_first(struct query_names *ids)
{
	for (size_t i = 0; i < ids->n; i++) {
		char *id = ids->items[i];

		if (strncmp(id, CPU_TIME, strlen(CPU_TIME)) != 0)
			continue;
		memmove(ids->items + 1, ids->items, i * sizeof(*ids->items));
		ids->items[0] = id;
		return;
	}
}

enum rpc_code profile_types_run(struct rpc_call *call)
{
	struct api_query q;
	struct query_names ids = { 0 };
	enum rpc_code code = api_query_init(&q, &call->job, NULL, NULL, 0);

	if (code == RPC_ok) {
		int r = query_profile_types(&q.query, &ids);

		put_cpu_first(&ids);
		code = r < 0 ? api_job_fail_errno(&call->job, r) : answer_profile_types(call, &ids);
		query_names_fini(&ids);
	}
	api_query_fini(&q);
	return code;
}

static enum rpc_code answer_label_names(struct rpc_call *call, struct api_query *q)
{
	Querier__V1__LabelNamesResponse response = QUERIER__V1__LABEL_NAMES_RESPONSE__INIT;
	struct query_names names = { 0 };
	int r = query_label_names(&q->query, &names);

	if (r < 0)
		return api_job_fail_errno(&call->job, r);
	response.names = names.items;
	response.n_names = names.n;
	enum rpc_code code = rpc_call_answer(call, &response.base);
	query_names_fini(&names);
	return code;
}

enum rpc_code label_names_run(struct rpc_call *call)
{
	const Querier__V1__LabelNamesRequest *r = REQUEST(LabelNames, call);
	struct api_query q;
	enum rpc_code code = api_query_init(&q, &call->job, NULL, r->matchers, r->n_matchers);

	if (code == RPC_ok)
		code = answer_label_names(call, &q);
	api_query_fini(&q);
	return code;
}

static enum rpc_code answer_label_values(struct rpc_call *call, struct api_query *q,
					 const char *name)
{
	Querier__V1__LabelValuesResponse response = QUERIER__V1__LABEL_VALUES_RESPONSE__INIT;
	struct query_names values = { 0 };
	int r = query_label_values(&q->query, name, &values);

	if (r < 0)
		return api_job_fail_errno(&call->job, r);
	response.names = values.items;
	response.n_names = values.n;
	enum rpc_code code = rpc_call_answer(call, &response.base);
	query_names_fini(&values);
	return code;
}

enum rpc_code label_values_run(struct rpc_call *call)
{
	const Querier__V1__LabelValuesRequest *r = REQUEST(LabelValues, call);
	struct api_query q;
	enum rpc_code code = api_query_init(&q, &call->job, NULL, r->matchers, r->n_matchers);

	if (code == RPC_ok)
		code = answer_label_values(call, &q, r->name);
	api_query_fini(&q);
	return code;
}

static Querier__V1__Labels *make_labels(struct rpc_call *call, const struct query_labels *from)
{
	Querier__V1__Labels *labels = rpc_call_alloc(call, 1, sizeof(*labels));

	if (!labels)
		return NULL;
	querier__v1__labels__init(labels);
	labels->labels = rpc_call_pairs(call, from->items, from->n);
	labels->n_labels = from->n;
	return labels->labels ? labels : NULL;
}

static enum rpc_code answer_series(struct rpc_call *call, const struct query_label_sets *sets)
{
	Querier__V1__SeriesResponse response = QUERIER__V1__SERIES_RESPONSE__INIT;

	response.labels_set = rpc_call_alloc(call, sets->n, sizeof(*response.labels_set));
	if (!response.labels_set)
		return call->job.code;
	for (; response.n_labels_set < sets->n; response.n_labels_set++) {
		size_t i = response.n_labels_set;

		response.labels_set[i] = make_labels(call, &sets->items[i]);
		if (!response.labels_set[i])
			return call->job.code;
	}
	return rpc_call_answer(call, &response.base);
}

enum rpc_code series_run(struct rpc_call *call)
{
	const Querier__V1__SeriesRequest *request = REQUEST(Series, call);
	struct api_query q;
	struct query_label_sets sets = { 0 };
	enum rpc_code code =
		api_query_init(&q, &call->job, NULL, request->matchers, request->n_matchers);

	if (code == RPC_ok) {
		int r = query_label_sets(&q.query, (const char *const *)request->label_names,
					 request->n_label_names, &sets);

		code = r < 0 ? api_job_fail_errno(&call->job, r) : answer_series(call, &sets);
		query_label_sets_fini(&sets);
	}
	api_query_fini(&q);
	return code;
}

enum rpc_code stats_at_once(struct rpc_call *call, struct store *store)
{
	Querier__V1__GetProfileStatsResponse response =
		QUERIER__V1__GET_PROFILE_STATS_RESPONSE__INIT;
	struct store_stats stats;

	store_stats(store, &stats);
	response.data_ingested = stats.n_profiles > 0;
	response.oldest_profile_time = stats.oldest_ms;
	response.newest_profile_time = stats.newest_ms;
	return rpc_call_answer(call, &response.base);
}
