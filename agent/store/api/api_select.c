/* SPDX-License-Identifier: Apache-2.0 */
/* What methods that select values have in common. */
#include "agent/store/api/api_select.h"

#include <stdlib.h>
#include <string.h>

#include "agent/store/api/api_query.h"
#include "agent/store/api/querier.pb-c.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

#define SPAN_ID_DIGITS 16
#define TRACE_ID_DIGITS 32

enum rpc_code rpc_check_selection(struct rpc_call *call, int64_t start_ms, int64_t end_ms,
				  const char *profile_type)
{
	enum rpc_code code = api_check_range(&call->job, start_ms, end_ms);

	call->job.start_ms = start_ms;
	call->job.end_ms = end_ms;
	return code == RPC_ok ? api_check_profile_type(&call->job, profile_type) : code;
}

static enum rpc_code add_call_site(struct rpc_call *call, struct query *q,
				   const Querier__V1__StackTraceSelector *selector)
{
	const char **names = rpc_call_alloc(call, selector->n_call_site, sizeof(*names));

	if (!names)
		return call->job.code;
	for (size_t i = 0; i < selector->n_call_site; i++)
		names[i] = selector->call_site[i]->name;
	q->call_site = names;
	q->n_call_site = selector->n_call_site;
	return RPC_ok;
}

/* One of the four lists of a filter. */
struct frame_list {
	char **items;
	size_t n;
	bool is_regex, is_wanted;
};

static enum rpc_code add_frames(struct rpc_call *call, struct query *q,
				const struct frame_list *list)
{
	_cleanup_buf_ struct buf why = BUF_INIT(1024);

	for (size_t i = 0; i < list->n; i++) {
		int r = query_frames_add(q->frames, list->items[i], list->is_regex, list->is_wanted,
					 &why);

		if (r < 0)
			return api_job_fail_errno(&call->job, r);
		if (r != QUERY_FRAMES_ADDED)
			return api_job_fail(&call->job, RPC_invalid_argument,
					    "invalid %s function name%s: %s",
					    list->is_wanted ? "include" : "exclude",
					    list->is_regex ? " regex" : "", buf_str(&why));
	}
	return RPC_ok;
}

static enum rpc_code add_frame_filter(struct rpc_call *call, struct query *q,
				      const Querier__V1__StackFrameFilter *f)
{
	const struct frame_list lists[] = {
		{ f->include_function_names, f->n_include_function_names, false, true },
		{ f->exclude_function_names, f->n_exclude_function_names, false, false },
		{ f->include_function_name_regexes, f->n_include_function_name_regexes, true,
		  true },
		{ f->exclude_function_name_regexes, f->n_exclude_function_name_regexes, true,
		  false },
	};
	int r = query_frames_new(&q->frames);
	enum rpc_code code = r < 0 ? api_job_fail_errno(&call->job, r) : RPC_ok;

	for (size_t i = 0; code == RPC_ok && i < ARRAY_SIZE(lists); i++)
		code = add_frames(call, q, &lists[i]);
	return code;
}

enum rpc_code rpc_add_stacks(struct rpc_call *call, struct query *q,
			     const Querier__V1__StackTraceSelector *selector)
{
	const Querier__V1__StackFrameFilter *filter = selector ? selector->frame_filter : NULL;
	enum rpc_code code = RPC_ok;

	if (selector &&
	    (selector->base.n_unknown_fields > 0 || (filter && filter->base.n_unknown_fields > 0)))
		return api_job_fail(&call->job, RPC_unimplemented,
				    "the stack trace selector has more than a call site and a "
				    "filter of frames, which is not implemented");
	if (selector && selector->n_call_site > 0)
		code = add_call_site(call, q, selector);
	return code == RPC_ok && filter ? add_frame_filter(call, q, filter) : code;
}

static bool is_hex(const char *text, size_t n_digits)
{
	return strspn(text, "0123456789abcdefABCDEF") == n_digits && !text[n_digits];
}

static enum rpc_code check_ids(struct rpc_call *call, const struct rpc_ids *ids)
{
	struct query_profile_id id;

	for (size_t i = 0; i < ids->n_profiles; i++)
		if (!query_profile_id_parse(ids->profiles[i], &id))
			return api_job_fail(&call->job, RPC_invalid_argument,
					    "invalid profile id: \"%.100s\"", ids->profiles[i]);
	for (size_t i = 0; i < ids->n_traces; i++)
		if (!is_hex(ids->traces[i], TRACE_ID_DIGITS))
			return api_job_fail(&call->job, RPC_invalid_argument,
					    "invalid trace id: \"%.100s\"", ids->traces[i]);
	for (size_t i = 0; i < ids->n_spans; i++)
		if (!is_hex(ids->spans[i], SPAN_ID_DIGITS))
			return api_job_fail(&call->job, RPC_invalid_argument,
					    "invalid span id: \"%.100s\"", ids->spans[i]);
	return RPC_ok;
}

static int compare_spans(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static enum rpc_code add_spans(struct rpc_call *call, struct query *q, const struct rpc_ids *ids)
{
	uint64_t *numbers = rpc_call_alloc(call, ids->n_spans, sizeof(*numbers));

	if (!numbers)
		return call->job.code;
	for (size_t i = 0; i < ids->n_spans; i++)
		(void)str_parse_u64(str_from(ids->spans[i]), 16, UINT64_MAX, &numbers[i]);
	qsort(numbers, ids->n_spans, sizeof(*numbers), compare_spans);
	q->span_ids = numbers;
	q->n_span_ids = ids->n_spans;
	return RPC_ok;
}

static enum rpc_code add_profiles(struct rpc_call *call, struct query *q, const struct rpc_ids *ids)
{
	struct query_profile_id *parsed = rpc_call_alloc(call, ids->n_profiles, sizeof(*parsed));

	if (!parsed)
		return call->job.code;
	for (size_t i = 0; i < ids->n_profiles; i++)
		(void)query_profile_id_parse(ids->profiles[i], &parsed[i]);
	qsort(parsed, ids->n_profiles, sizeof(*parsed), query_profile_id_compare);
	q->by_profile = true;
	q->profile_ids = parsed;
	q->n_profile_ids = ids->n_profiles;
	return RPC_ok;
}

enum rpc_code rpc_add_ids(struct rpc_call *call, struct query *q, const struct rpc_ids *ids)
{
	enum rpc_code code = check_ids(call, ids);

	q->by_span = ids->n_traces > 0 || ids->n_spans > 0;
	if (code == RPC_ok && ids->n_profiles > 0)
		code = add_profiles(call, q, ids);
	if (code != RPC_ok || ids->n_spans == 0 || ids->n_traces > 0)
		return code;
	return add_spans(call, q, ids);
}
