/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of /pyroscope/render. Worker. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "agent/store/api_tree.h"
#include "agent/store/flamebearer.h"
#include "agent/store/json_text.h"
#include "agent/store/render_private.h"
#include "agent/store/render_time.h"
#include "agent/util/macro.h"

/* Parts of a profile type: name, type, unit. */
#define TYPE_PART 1
#define UNIT_PART 2

struct timeline {
	int64_t start_s, step_s;
	size_t n;
	double *values;
};

static struct str part_of(const char *profile_type, size_t part)
{
	struct str rest = str_from(profile_type), piece = STR_LIT("");

	for (size_t i = 0; i <= part; i++)
		if (!str_split(&rest, ':', &piece))
			return STR_LIT("");
	return piece;
}

/* In the words of the old server, which counted samples of 100 Hz. */
static void put_metadata(struct buf *out, const char *profile_type, const char *format)
{
	static const char *const counted[] = { "samples", "goroutine", "alloc_objects",
					       "inuse_objects" };
	struct str type = part_of(profile_type, TYPE_PART);
	struct str unit = part_of(profile_type, UNIT_PART);
	int64_t rate = 100;

	for (size_t i = 0; i < ARRAY_SIZE(counted); i++)
		if (str_eq(type, str_from(counted[i])))
			unit = STR_LIT("objects");
	if (str_eq(type, STR_LIT("cpu"))) {
		unit = STR_LIT("samples");
		rate = 1000000000;
	}
	(void)buf_printf(out,
			 ",\"metadata\":{\"format\":\"%s\",\"spyName\":\"\",\"sampleRate\":%" PRId64
			 ",\"units\":",
			 format, rate);
	(void)json_put_text(out, unit);
	(void)buf_append_str(out, ",\"name\":");
	(void)json_put_text(out, type);
	(void)buf_append_char(out, '}');
}

static int timeline_init(struct timeline *t, const struct render_side *side)
{
	t->step_s = render_step_s(side->end_ms - side->start_ms);
	int64_t first = side->start_ms / 1000 / t->step_s;
	int64_t last = side->end_ms / 1000 / t->step_s;
	t->start_s = first * t->step_s;
	t->n = (size_t)(last - first);
	t->values = calloc(t->n + 1, sizeof(*t->values));
	return t->values ? 0 : -ENOMEM;
}

static void timeline_add(struct timeline *t, const struct query_series *series)
{
	for (size_t i = 0; i < series->n_points; i++) {
		int64_t at = (series->points[i].time_ms / 1000 - t->start_s) / t->step_s;

		if (at >= 0 && (uint64_t)at < t->n)
			t->values[at] += series->points[i].value;
	}
}

static void put_timeline(struct buf *out, const struct timeline *t)
{
	(void)buf_printf(out, "{\"startTime\":%" PRId64 ",\"samples\":[", t->start_s);
	for (size_t i = 0; i < t->n && !out->failed; i++)
		(void)buf_printf(out, "%s%.0f", i ? "," : "", trunc(t->values[i]));
	(void)buf_printf(out, "],\"durationDelta\":%" PRId64 ",\"watermarks\":null}", t->step_s);
}

static struct str group_name(const struct query_series *series)
{
	return series->labels.n > 0 ? str_from(series->labels.items[0].value) : STR_LIT("*");
}

static int put_group(struct buf *out, const struct render_side *side,
		     const struct query_series *series)
{
	struct timeline t;
	int r = timeline_init(&t, side);

	if (r < 0)
		return r;
	timeline_add(&t, series);
	(void)json_put_text(out, group_name(series));
	(void)buf_append_char(out, ':');
	put_timeline(out, &t);
	free(t.values);
	return 0;
}

static int put_groups(struct buf *out, const struct render_call *call,
		      const struct query_series_list *list)
{
	int r = 0;

	if (!call->group_by) {
		(void)buf_append_str(out, ",\"groups\":null");
		return 0;
	}
	(void)buf_append_str(out, ",\"groups\":{");
	for (size_t i = 0; i < list->n && r == 0; i++) {
		if (i > 0)
			(void)buf_append_char(out, ',');
		r = put_group(out, &call->sides[0], &list->items[i]);
	}
	(void)buf_append_char(out, '}');
	return r;
}

static int put_times(struct buf *out, const struct render_call *call,
		     const struct query_series_list *list)
{
	struct timeline t;
	int r = timeline_init(&t, &call->sides[0]);

	if (r < 0)
		return r;
	for (size_t i = 0; i < list->n; i++)
		timeline_add(&t, &list->items[i]);
	(void)buf_append_str(out, ",\"timeline\":");
	put_timeline(out, &t);
	free(t.values);
	return put_groups(out, call, list);
}

static int write_times(struct render_call *call, const struct query *q)
{
	const char *const names[] = { call->group_by };
	const struct render_side *side = &call->sides[0];
	struct query_series_list list = { 0 };
	int r = query_series(q, names, call->group_by ? 1 : 0,
			     (double)render_step_s(side->end_ms - side->start_ms),
			     call->aggregation, 0, &list);

	if (r < 0)
		return r;
	r = put_times(&call->job.body, call, &list);
	query_series_list_fini(&list);
	return r;
}

static enum rpc_code begin_query(struct render_call *call, const struct render_side *side,
				 struct api_query *q)
{
	enum rpc_code code = api_query_init(q, &call->job, side->profile_type, &side->selector, 1);

	q->query.start_ms = side->start_ms;
	q->query.end_ms = side->end_ms;
	return code;
}

static enum rpc_code make_side(struct render_call *call, size_t i, struct call_tree **ret_tree)
{
	struct api_query q;
	enum rpc_code code = begin_query(call, &call->sides[i], &q);

	if (code == RPC_ok) {
		int r = call_tree_new(&call->job.memory, SIZE_MAX, ret_tree);

		if (r == 0)
			r = query_tree(&q.query, CALL_LEFT, *ret_tree);
		if (r < 0)
			code = api_job_fail_errno(&call->job, r);
	}
	api_query_fini(&q);
	return code;
}

static int make_flamebearer(struct render_call *call, struct call_tree *sides[CALL_SIDES],
			    struct call_tree **tree, struct flamebearer *ret)
{
	if (call->n_sides < CALL_SIDES) {
		int r = api_tree_cut(sides[CALL_LEFT], call->max_nodes);

		return r < 0 ? r : flamebearer_new(sides[CALL_LEFT], ret);
	}
	int r = call_tree_new(&call->job.memory, SIZE_MAX, tree);
	if (r == 0)
		r = api_tree_merge_cut(sides, call->max_nodes, *tree);
	return r < 0 ? r : flamebearer_new_diff(*tree, ret);
}

static int put_diff_rest(struct buf *out, const struct flamebearer *f)
{
	(void)buf_append_str(out, ",\"timeline\":null,\"groups\":null,\"heatmap\":null");
	return buf_printf(out, ",\"leftTicks\":%" PRId64 ",\"rightTicks\":%" PRId64 "}",
			  f->ticks[CALL_LEFT], f->ticks[CALL_RIGHT]);
}

static enum rpc_code put_single_rest(struct render_call *call)
{
	struct api_query q;
	enum rpc_code code = begin_query(call, &call->sides[0], &q);

	if (code == RPC_ok) {
		int r = write_times(call, &q.query);

		if (r == 0)
			r = buf_append_str(&call->job.body, ",\"heatmap\":null}");
		if (r < 0)
			code = api_job_fail_errno(&call->job, r);
	}
	api_query_fini(&q);
	return code;
}

static enum rpc_code put_answer(struct render_call *call, const struct flamebearer *f)
{
	struct buf *out = &call->job.body;
	bool single = call->n_sides < CALL_SIDES;

	(void)buf_append_str(out, "{\"version\":1,\"flamebearer\":");
	int r = flamebearer_json(f, out);
	put_metadata(out, call->sides[0].profile_type, single ? "single" : "double");
	if (r == 0 && !single)
		r = put_diff_rest(out, f);
	call->job.content_type = "application/json";
	if (r < 0)
		return api_job_fail_errno(&call->job, r);
	return single ? put_single_rest(call) : RPC_ok;
}

static enum rpc_code write_answer(struct render_call *call, struct call_tree *sides[CALL_SIDES])
{
	_cleanup_(call_tree_freep) struct call_tree *tree = NULL;
	struct flamebearer f = { 0 };
	int r = make_flamebearer(call, sides, &tree, &f);
	enum rpc_code code = r < 0 ? api_job_fail_errno(&call->job, r) : put_answer(call, &f);

	flamebearer_fini(&f);
	return code;
}

enum rpc_code render_write(struct render_call *call)
{
	struct call_tree *sides[CALL_SIDES] = { NULL };
	enum rpc_code code = RPC_ok;

	for (size_t i = 0; i < call->n_sides && code == RPC_ok; i++)
		code = make_side(call, i, &sides[i]);
	if (code == RPC_ok)
		code = write_answer(call, sides);
	call_tree_free(sides[CALL_LEFT]);
	call_tree_free(sides[CALL_RIGHT]);
	return code;
}
