/* SPDX-License-Identifier: Apache-2.0 */
/* SelectMergeStacktraces, SelectMergeSpanProfile and Diff: values over stacks. */
#include "agent/store/api/api_methods.h"
#include "agent/store/api/api_query.h"
#include "agent/store/api/api_select.h"
#include "agent/store/api/api_tree.h"
#include "agent/store/api/querier.pb-c.h"
#include "agent/store/tree/flamebearer.h"
#include "agent/util/macro.h"

#define REQUEST(type, call) ((const Querier__V1__##type##Request *)(call)->request)

static enum rpc_code check_stacktraces(struct rpc_call *call,
				       const Querier__V1__SelectMergeStacktracesRequest *r)
{
	enum rpc_code code = rpc_check_selection(call, r->start, r->end, r->profile_typeid);
	size_t max_nodes;

	return code == RPC_ok ? api_check_nodes(&call->job, r->max_nodes, &max_nodes) : code;
}

enum rpc_code stacktraces_check(struct rpc_call *call)
{
	return check_stacktraces(call, REQUEST(SelectMergeStacktraces, call));
}

/* What one request selects. by_span: without a span that is nothing. */
static enum rpc_code add_to_tree(struct rpc_call *call,
				 const Querier__V1__SelectMergeStacktracesRequest *r, bool by_span,
				 struct call_tree *tree)
{
	const struct rpc_ids ids = { r->profile_id_selector, r->n_profile_id_selector,
				     r->trace_id_selector,   r->n_trace_id_selector,
				     r->span_selector,	     r->n_span_selector };
	struct api_query q;
	enum rpc_code code =
		api_query_init(&q, &call->job, r->profile_typeid, &r->label_selector, 1);

	q.query.start_ms = r->start;
	q.query.end_ms = r->end;
	if (code == RPC_ok)
		code = rpc_add_stacks(call, &q.query, r->stack_trace_selector);
	if (code == RPC_ok)
		code = rpc_add_ids(call, &q.query, &ids);
	q.query.by_span |= by_span;
	if (code == RPC_ok) {
		int error = query_tree(&q.query, CALL_LEFT, tree);

		code = error < 0 ? api_job_fail_errno(&call->job, error) : RPC_ok;
	}
	api_query_fini(&q);
	return code;
}

static enum rpc_code finish_tree(struct rpc_call *call, int64_t asked_nodes, struct call_tree *tree)
{
	size_t max_nodes = 0;
	enum rpc_code code = api_check_nodes(&call->job, asked_nodes, &max_nodes);

	if (code != RPC_ok)
		return code;
	int r = api_tree_cut(tree, max_nodes);
	return r < 0 ? api_job_fail_errno(&call->job, r) : RPC_ok;
}

static Querier__V1__Level **make_levels(struct rpc_call *call, const struct flamebearer *f)
{
	Querier__V1__Level **pointers = rpc_call_alloc(call, f->n_levels, sizeof(*pointers));
	Querier__V1__Level *levels = rpc_call_alloc(call, f->n_levels, sizeof(*levels));

	for (size_t i = 0; pointers && levels && i < f->n_levels; i++) {
		querier__v1__level__init(&levels[i]);
		levels[i].values = f->levels[i].values;
		levels[i].n_values = f->levels[i].n;
		pointers[i] = &levels[i];
	}
	return levels ? pointers : NULL;
}

static enum rpc_code answer_flame_graph(struct rpc_call *call, const struct flamebearer *f)
{
	Querier__V1__SelectMergeStacktracesResponse response =
		QUERIER__V1__SELECT_MERGE_STACKTRACES_RESPONSE__INIT;
	Querier__V1__FlameGraph graph = QUERIER__V1__FLAME_GRAPH__INIT;

	graph.names = (char **)f->names;
	graph.n_names = f->n_names;
	graph.levels = make_levels(call, f);
	graph.n_levels = f->n_levels;
	graph.total = f->total;
	graph.max_self = f->max_self;
	response.flamegraph = &graph;
	return graph.levels ? rpc_call_answer(call, &response.base) : call->job.code;
}

static enum rpc_code answer_tree_bytes(struct rpc_call *call, const struct call_tree *tree)
{
	Querier__V1__SelectMergeStacktracesResponse response =
		QUERIER__V1__SELECT_MERGE_STACKTRACES_RESPONSE__INIT;
	_cleanup_buf_ struct buf bytes = BUF_INIT(query_memory_left(&call->job.memory));
	int r = call_tree_bytes(tree, &bytes);

	if (r < 0)
		return api_job_fail_errno(&call->job, r);
	response.tree.data = (uint8_t *)bytes.data;
	response.tree.len = bytes.len;
	return rpc_call_answer(call, &response.base);
}

static enum rpc_code answer_stacktraces(struct rpc_call *call, Querier__V1__ProfileFormat format,
					const struct call_tree *tree)
{
	struct flamebearer f = { 0 };

	if (format == QUERIER__V1__PROFILE_FORMAT__PROFILE_FORMAT_TREE)
		return answer_tree_bytes(call, tree);
	int r = flamebearer_new(tree, &f);
	if (r < 0)
		return api_job_fail_errno(&call->job, r);
	enum rpc_code code = answer_flame_graph(call, &f);
	flamebearer_fini(&f);
	return code;
}

static enum rpc_code run_stacktraces(struct rpc_call *call,
				     const Querier__V1__SelectMergeStacktracesRequest *request,
				     bool by_span)
{
	_cleanup_(call_tree_freep) struct call_tree *tree = NULL;
	int r = call_tree_new(&call->job.memory, SIZE_MAX, &tree);

	if (r < 0)
		return api_job_fail_errno(&call->job, r);
	enum rpc_code code = add_to_tree(call, request, by_span, tree);
	if (code == RPC_ok)
		code = finish_tree(call, request->max_nodes, tree);
	return code == RPC_ok ? answer_stacktraces(call, request->format, tree) : code;
}

enum rpc_code stacktraces_run(struct rpc_call *call)
{
	return run_stacktraces(call, REQUEST(SelectMergeStacktraces, call), false);
}

/* The older form of a question for spans, whose answer has the same fields. */
static void as_stacktraces(const Querier__V1__SelectMergeSpanProfileRequest *from,
			   Querier__V1__SelectMergeStacktracesRequest *ret_to)
{
	querier__v1__select_merge_stacktraces_request__init(ret_to);
	ret_to->profile_typeid = from->profile_typeid;
	ret_to->label_selector = from->label_selector;
	ret_to->start = from->start;
	ret_to->end = from->end;
	ret_to->max_nodes = from->max_nodes;
	ret_to->format = from->format;
	ret_to->span_selector = from->span_selector;
	ret_to->n_span_selector = from->n_span_selector;
}

enum rpc_code span_profile_check(struct rpc_call *call)
{
	Querier__V1__SelectMergeStacktracesRequest r;

	as_stacktraces(REQUEST(SelectMergeSpanProfile, call), &r);
	return check_stacktraces(call, &r);
}

enum rpc_code span_profile_run(struct rpc_call *call)
{
	Querier__V1__SelectMergeStacktracesRequest r;

	as_stacktraces(REQUEST(SelectMergeSpanProfile, call), &r);
	return run_stacktraces(call, &r, true);
}

/* Both sides have to say their time. */
enum rpc_code diff_check(struct rpc_call *call)
{
	const Querier__V1__DiffRequest *r = REQUEST(Diff, call);

	if (!r->left || !r->right)
		return api_check_range(&call->job, 0, 0);
	enum rpc_code code = check_stacktraces(call, r->left);
	if (code == RPC_ok)
		code = check_stacktraces(call, r->right);
	if (r->left->start < call->job.start_ms)
		call->job.start_ms = r->left->start;
	if (r->left->end > call->job.end_ms)
		call->job.end_ms = r->left->end;
	return code;
}

static enum rpc_code answer_diff(struct rpc_call *call, const struct flamebearer *f)
{
	Querier__V1__DiffResponse response = QUERIER__V1__DIFF_RESPONSE__INIT;
	Querier__V1__FlameGraphDiff graph = QUERIER__V1__FLAME_GRAPH_DIFF__INIT;

	graph.names = (char **)f->names;
	graph.n_names = f->n_names;
	graph.levels = make_levels(call, f);
	graph.n_levels = f->n_levels;
	graph.total = f->total;
	graph.max_self = f->max_self;
	graph.left_ticks = f->ticks[CALL_LEFT];
	graph.right_ticks = f->ticks[CALL_RIGHT];
	response.flamegraph = &graph;
	return graph.levels ? rpc_call_answer(call, &response.base) : call->job.code;
}

static enum rpc_code add_diff_side(struct rpc_call *call,
				   const Querier__V1__SelectMergeStacktracesRequest *r,
				   struct call_tree **ret_tree)
{
	int error = call_tree_new(&call->job.memory, SIZE_MAX, ret_tree);

	return error < 0 ? api_job_fail_errno(&call->job, error)
			 : add_to_tree(call, r, false, *ret_tree);
}

/* Whoever asks for more nodes gets them, as in the real server. */
static enum rpc_code put_together(struct rpc_call *call, struct call_tree *sides[CALL_SIDES])
{
	const Querier__V1__DiffRequest *request = REQUEST(Diff, call);
	_cleanup_(call_tree_freep) struct call_tree *tree = NULL;
	struct flamebearer f = { 0 };
	size_t max_nodes = 0;
	enum rpc_code code = api_check_nodes(
		&call->job, MAX_OF(request->left->max_nodes, request->right->max_nodes),
		&max_nodes);

	if (code != RPC_ok)
		return code;
	int r = call_tree_new(&call->job.memory, SIZE_MAX, &tree);
	if (r < 0)
		return api_job_fail_errno(&call->job, r);
	r = api_tree_merge_cut(sides, max_nodes, tree);
	if (r < 0)
		return api_job_fail_errno(&call->job, r);
	r = flamebearer_new_diff(tree, &f);
	if (r < 0)
		return api_job_fail_errno(&call->job, r);
	code = answer_diff(call, &f);
	flamebearer_fini(&f);
	return code;
}

enum rpc_code diff_run(struct rpc_call *call)
{
	const Querier__V1__DiffRequest *request = REQUEST(Diff, call);
	struct call_tree *sides[CALL_SIDES] = { NULL };
	enum rpc_code code = add_diff_side(call, request->left, &sides[CALL_LEFT]);

	if (code == RPC_ok)
		code = add_diff_side(call, request->right, &sides[CALL_RIGHT]);
	if (code == RPC_ok)
		code = put_together(call, sides);
	call_tree_free(sides[CALL_LEFT]);
	call_tree_free(sides[CALL_RIGHT]);
	return code;
}
