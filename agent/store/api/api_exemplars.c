/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of time, and examples. */
#include "agent/store/api/api_exemplars.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "agent/store/api/api_pairs.h"
#include "agent/store/api/api_query.h"
#include "agent/store/api/querier.pb-c.h"

/* As query_series() takes it, in seconds. */
#define MIN_STEP_S 1e-3
#define MAX_STEP_S 1e9
#define SPAN_ID_BYTES 17

/* The real server does not bear a negative step. */
enum rpc_code rpc_check_steps(struct rpc_call *call, double step_s, size_t n_group_by)
{
	if (!(isfinite(step_s) && step_s > 0))
		return api_job_fail(&call->job, RPC_invalid_argument, "step must be non-zero");
	if (step_s < MIN_STEP_S || step_s > MAX_STEP_S)
		return api_job_fail(&call->job, RPC_invalid_argument,
				    "step must be at least a millisecond, and a number of "
				    "seconds that a clock can reach");
	if (n_group_by > API_MAX_MATCHERS)
		return api_job_fail(&call->job, RPC_invalid_argument,
				    "more than %d labels to group by", API_MAX_MATCHERS);
	if (__builtin_sub_overflow(call->job.start_ms, (int64_t)ceil(step_s * 1e3),
				   &call->job.start_ms))
		call->job.start_ms = INT64_MIN;
	return RPC_ok;
}

enum rpc_code rpc_check_exemplars(struct rpc_call *call, int type)
{
	switch (type) {
	case QUERIER__V1__EXEMPLAR_TYPE__EXEMPLAR_TYPE_UNSPECIFIED:
	case QUERIER__V1__EXEMPLAR_TYPE__EXEMPLAR_TYPE_NONE:
	case QUERIER__V1__EXEMPLAR_TYPE__EXEMPLAR_TYPE_INDIVIDUAL:
	case QUERIER__V1__EXEMPLAR_TYPE__EXEMPLAR_TYPE_SPAN:
		return RPC_ok;
	default:
		return api_job_fail(&call->job, RPC_invalid_argument, "unknown exemplar type: %d",
				    type);
	}
}

enum query_exemplars rpc_exemplars(int type)
{
	if (type == QUERIER__V1__EXEMPLAR_TYPE__EXEMPLAR_TYPE_INDIVIDUAL)
		return QUERY_EXEMPLARS_OF_PROFILES;
	return type == QUERIER__V1__EXEMPLAR_TYPE__EXEMPLAR_TYPE_SPAN ? QUERY_EXEMPLARS_OF_SPANS
								      : QUERY_NO_EXEMPLARS;
}

/* Of a span its id, of a profile its own. */
static bool put_id(struct rpc_call *call, const struct query_exemplar *from,
		   Querier__V1__Exemplar *to)
{
	char *text = rpc_call_alloc(call, QUERY_PROFILE_ID_BYTES, 1);

	if (!text)
		return false;
	if (from->span) {
		(void)snprintf(text, SPAN_ID_BYTES, "%016" PRIx64, from->span);
		to->span_id = text;
	} else {
		query_profile_id_print(query_exemplar_id(from), text);
		to->profile_id = text;
	}
	return true;
}

static bool put_labels(struct rpc_call *call, const struct query_exemplar *from,
		       char *const *group_by, size_t n_group_by, Querier__V1__Exemplar *to)
{
	struct query_labels labels = { 0 };
	int r = query_exemplar_labels(from, (const char *const *)group_by, n_group_by,
				      &call->job.memory, &labels);

	if (r < 0) {
		(void)api_job_fail_errno(&call->job, r);
		return false;
	}
	to->labels = rpc_call_pairs(call, labels.items, labels.n);
	to->n_labels = labels.n;
	query_free(labels.items);
	return to->labels;
}

Querier__V1__Exemplar **rpc_call_exemplars(struct rpc_call *call,
					   const struct query_exemplar *exemplars, size_t n,
					   char *const *group_by, size_t n_group_by)
{
	Querier__V1__Exemplar **pointers = rpc_call_alloc(call, n, sizeof(*pointers));
	Querier__V1__Exemplar *made = rpc_call_alloc(call, n, sizeof(*made));

	for (size_t i = 0; pointers && made && i < n; i++) {
		querier__v1__exemplar__init(&made[i]);
		made[i].timestamp = exemplars[i].time_ms;
		made[i].value = exemplars[i].value;
		if (!put_id(call, &exemplars[i], &made[i]) ||
		    !put_labels(call, &exemplars[i], group_by, n_group_by, &made[i]))
			return NULL;
		pointers[i] = &made[i];
	}
	return made ? pointers : NULL;
}
