/* SPDX-License-Identifier: Apache-2.0 */
/* From what a request says to a query. */
#include "agent/store/api/api_query.h"

#include <assert.h>
#include <string.h>

enum rpc_code api_check_range(struct api_job *job, int64_t start_ms, int64_t end_ms)
{
	if (start_ms == 0 || end_ms == 0)
		return api_job_fail(job, RPC_invalid_argument, "missing time range in the query");
	if (start_ms > end_ms)
		return api_job_fail(job, RPC_invalid_argument,
				    "query start time is after end time");
	return RPC_ok;
}

enum rpc_code api_check_profile_type(struct api_job *job, const char *id)
{
	size_t n_parts = 1;

	for (const char *p = id; *p; p++)
		n_parts += *p == ':';
	if (n_parts == 5 || n_parts == 6)
		return RPC_ok;
	return api_job_fail(
		job, RPC_invalid_argument,
		"profile-type selection must be of the form "
		"<name>:<sample-type>:<sample-unit>:<period-type>:<period-unit>(:delta), "
		"got(%zu): \"%.200s\"",
		n_parts, id);
}

enum rpc_code api_check_nodes(struct api_job *job, int64_t asked, size_t *ret_max_nodes)
{
	if (asked < 0)
		return api_job_fail(job, RPC_invalid_argument,
				    "max flamegraph nodes limit must be set (max allowed %d)",
				    API_MAX_NODES);
	if (asked > API_MAX_NODES)
		return api_job_fail(job, RPC_invalid_argument,
				    "max flamegraph nodes limit %lld is greater than allowed %d",
				    (long long)asked, API_MAX_NODES);
	*ret_max_nodes = asked > 0 ? (size_t)asked : API_DEFAULT_NODES;
	return RPC_ok;
}

/* Blanks, and comments to the end of their line. */
static bool says_nothing(const char *text)
{
	for (;;) {
		text += strspn(text, " \t\r\n");
		if (*text != '#')
			return *text == '\0';
		text += strcspn(text, "\n");
	}
}

static enum rpc_code add_selector(struct api_query *q, struct api_job *job, const char *text)
{
	_cleanup_buf_ struct buf why = BUF_INIT(API_MAX_WHY_BYTES);

	/* A selector of nothing is all to us; to the real server it is a mistake. */
	if (says_nothing(text))
		return api_job_fail(job, RPC_invalid_argument,
				    "unknown position: parse error: unexpected end of input");
	int r = selector_new(text, &why, &q->selectors[q->query.n_selectors]);
	if (r < 0)
		return api_job_fail_errno(job, r);
	if (r == SELECTOR_WRONG)
		return api_job_fail(job, RPC_invalid_argument, "%s", buf_str(&why));
	q->query.n_selectors++;
	return RPC_ok;
}

enum rpc_code api_query_init(struct api_query *q, struct api_job *job, const char *profile_type,
			     char *const *matchers, size_t n_matchers)
{
	enum rpc_code code = RPC_ok;

	assert(n_matchers == 0 || matchers);
	*q = (struct api_query){ .query = { .view = &job->view,
					    .profile_type = profile_type,
					    .selectors = q->selectors,
					    .start_ms = job->start_ms,
					    .end_ms = job->end_ms,
					    .memory = &job->memory,
					    .stop = job->stop } };
	if (n_matchers > API_MAX_MATCHERS)
		return api_job_fail(job, RPC_invalid_argument, "more than %d matchers",
				    API_MAX_MATCHERS);
	for (size_t i = 0; i < n_matchers && code == RPC_ok; i++)
		code = add_selector(q, job, matchers[i]);
	return code;
}

void api_query_fini(struct api_query *q)
{
	for (size_t i = 0; i < q->query.n_selectors; i++)
		selector_free(q->selectors[i]);
	query_frames_free(q->query.frames);
}
