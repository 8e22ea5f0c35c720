/* SPDX-License-Identifier: Apache-2.0 */
/* Questions of /pyroscope/render: from parameters to a job. */
#include "agent/store/render.h"

#include <errno.h>
#include <string.h>

#include "agent/store/render_private.h"
#include "agent/store/render_time.h"
#include "agent/util/macro.h"

/* What is looked at when nobody says. */
#define DEFAULT_RANGE_MS (3600 * INT64_C(1000))

/* Names of the parameters of a side. */
struct side_names {
	const char *query, *from, *until;
};

static void render_free(struct api_job *job)
{
	struct render_call *call = CONTAINER_OF(job, struct render_call, job);

	for (size_t i = 0; i < ARRAY_SIZE(call->sides); i++) {
		free(call->sides[i].profile_type);
		free(call->sides[i].selector);
	}
	free(call->group_by);
	api_job_fini(&call->job);
	free(call);
}

static void render_run(struct api_job *job)
{
	(void)render_write(CONTAINER_OF(job, struct render_call, job));
}

/* query = profile type [ selector ] */
static enum rpc_code parse_query(struct render_call *call, struct render_side *side,
				 const char *name, const char *text)
{
	if (!text || *text == '\0')
		return api_job_fail(&call->job, RPC_invalid_argument, "\"%s\" is required", name);
	if (strlen(text) > RENDER_MAX_QUERY_BYTES)
		return api_job_fail(&call->job, RPC_invalid_argument, "\"%s\" is too long", name);
	size_t n = strcspn(text, "{");
	struct str type = str_trim((struct str){ text, n });
	if (type.n == 0)
		return api_job_fail(&call->job, RPC_invalid_argument,
				    "\"%s\" must contain a profile-type selection", name);
	side->profile_type = strndup(type.p, type.n);
	side->selector = strdup(text[n] ? text + n : "{}");
	if (!side->profile_type || !side->selector)
		return api_job_fail_errno(&call->job, -ENOMEM);
	if (api_check_profile_type(&call->job, side->profile_type) == RPC_ok)
		return RPC_ok;
	return api_job_fail(&call->job, RPC_invalid_argument,
			    "failed to parse \"%s\": not name:type:unit:period_type:period_unit",
			    name);
}

static enum rpc_code parse_time(struct render_call *call, const char *name, const char *text,
				int64_t now_ms, int64_t *time_ms)
{
	if (!text || *text == '\0' || render_parse_time(str_from(text), now_ms, time_ms))
		return RPC_ok;
	return api_job_fail(&call->job, RPC_invalid_argument,
			    "\"%s\" is not a time: now-1h, or seconds since 1970", name);
}

static enum rpc_code parse_side(struct render_call *call, struct render_side *side,
				const struct side_names *names, int64_t now_ms,
				const struct http_call *http)
{
	side->start_ms = now_ms - DEFAULT_RANGE_MS;
	side->end_ms = now_ms;
	enum rpc_code code =
		parse_query(call, side, names->query, http_call_query(http, names->query));
	if (code == RPC_ok)
		code = parse_time(call, names->from, http_call_query(http, names->from), now_ms,
				  &side->start_ms);
	if (code == RPC_ok)
		code = parse_time(call, names->until, http_call_query(http, names->until), now_ms,
				  &side->end_ms);
	if (code == RPC_ok)
		code = api_check_range(&call->job, side->start_ms, side->end_ms);
	return code;
}

/* What is no number counts as none, as in the real server. */
static enum rpc_code parse_nodes(struct render_call *call, const struct http_call *http)
{
	const char *text = http_call_query(http, "maxNodes");
	uint64_t n = 0;

	if (!text)
		text = http_call_query(http, "max-nodes");
	if (text && *text == '-')
		return api_check_nodes(&call->job, -1, &call->max_nodes);
	if (text && str_parse_u64(str_from(text), 10, INT64_MAX, &n) < 0)
		n = 0;
	return api_check_nodes(&call->job, (int64_t)n, &call->max_nodes);
}

static enum rpc_code parse_rest(struct render_call *call, const struct http_call *http)
{
	const char *group_by = http_call_query(http, "groupBy");
	const char *aggregation = http_call_query(http, "aggregation");
	const char *format = http_call_query(http, "format");

	if (format && strcmp(format, "dot") == 0)
		return api_job_fail(&call->job, RPC_unimplemented, "format \"dot\" is not served");
	if (aggregation && strcmp(aggregation, "avg") == 0)
		call->aggregation = QUERY_AVERAGE;
	if (group_by && *group_by) {
		call->group_by = strdup(group_by);
		if (!call->group_by)
			return api_job_fail_errno(&call->job, -ENOMEM);
	}
	return parse_nodes(call, http);
}

static enum rpc_code parse_sides(struct render_call *call, const struct side_names *names,
				 int64_t now_ms, const struct http_call *http)
{
	enum rpc_code code = RPC_ok;

	for (size_t i = 0; i < call->n_sides && code == RPC_ok; i++)
		code = parse_side(call, &call->sides[i], &names[i], now_ms, http);
	if (code != RPC_ok)
		return code;
	if (call->n_sides > 1 &&
	    strcmp(call->sides[0].profile_type, call->sides[1].profile_type) != 0)
		return api_job_fail(&call->job, RPC_invalid_argument, "profile types must match");
	call->job.start_ms = call->sides[0].start_ms;
	call->job.end_ms = call->sides[0].end_ms;
	for (size_t i = 1; i < call->n_sides; i++) {
		call->job.start_ms = MIN_OF(call->job.start_ms, call->sides[i].start_ms);
		call->job.end_ms = MAX_OF(call->job.end_ms, call->sides[i].end_ms);
	}
	return parse_rest(call, http);
}

static void handle(struct api_queue *queue, const struct side_names *names, size_t n_sides,
		   int64_t now_ms, const struct http_call *http, struct http_answer *answer)
{
	struct render_call *call = calloc(1, sizeof(*call));

	if (!call) {
		answer->body.failed = true;
		return;
	}
	api_job_init(&call->job);
	call->job.run = render_run;
	call->job.free = render_free;
	call->n_sides = n_sides;
	if (parse_sides(call, names, now_ms, http) == RPC_ok) {
		api_queue_put(queue, &call->job, http, answer);
		return;
	}
	api_job_answer(&call->job, answer);
	render_free(&call->job);
}

void render_handle(struct api_queue *queue, int64_t now_ms, const struct http_call *call,
		   struct http_answer *answer)
{
	static const struct side_names names[] = { { "query", "from", "until" } };

	handle(queue, names, ARRAY_SIZE(names), now_ms, call, answer);
}

void render_diff_handle(struct api_queue *queue, int64_t now_ms, const struct http_call *call,
			struct http_answer *answer)
{
	static const struct side_names names[] = {
		{ "leftQuery", "leftFrom", "leftUntil" },
		{ "rightQuery", "rightFrom", "rightUntil" },
	};

	handle(queue, names, ARRAY_SIZE(names), now_ms, call, answer);
}
