/* SPDX-License-Identifier: Apache-2.0 */
/* SelectMergeProfile: one pprof of all. */
#include "agent/store/api/api_methods.h"
#include "agent/store/api/api_query.h"
#include "agent/store/api/api_select.h"
#include "agent/store/api/querier.pb-c.h"
#include "pprof/profile.pb-c.h"

#define REQUEST(type, call) ((const Querier__V1__##type##Request *)(call)->request)

enum rpc_code merge_profile_check(struct rpc_call *call)
{
	const Querier__V1__SelectMergeProfileRequest *r = REQUEST(SelectMergeProfile, call);

	return rpc_check_selection(call, r->start, r->end, r->profile_typeid);
}

/* The pprof is the message: as protobuf nothing is to be done. */
static enum rpc_code answer_profile(struct rpc_call *call, struct buf *pprof)
{
	struct proto_budget budget;

	if (call->codec == CONNECT_PROTO) {
		call->job.content_type = connect_content_type(call->codec);
		buf_fini(&call->job.body);
		call->job.body = *pprof;
		*pprof = BUF_INIT(0);
		return RPC_ok;
	}
	proto_budget_init(&budget, query_memory_left(&call->job.memory));
	ProtobufCMessage *profile = protobuf_c_message_unpack(
		&perftools__profiles__profile__descriptor, &budget.allocator, pprof->len,
		(const uint8_t *)buf_str(pprof));
	if (!profile)
		return api_job_fail_errno(&call->job, -ENOBUFS);
	enum rpc_code code = rpc_call_answer(call, profile);
	protobuf_c_message_free_unpacked(profile, &budget.allocator);
	return code;
}

static enum rpc_code run_merge_profile(struct rpc_call *call, struct api_query *q)
{
	const Querier__V1__SelectMergeProfileRequest *request = REQUEST(SelectMergeProfile, call);
	/* As JSON it is some six times as long. */
	_cleanup_buf_ struct buf pprof = BUF_INIT(
		call->codec == CONNECT_PROTO ? API_MAX_ANSWER_BYTES : API_MAX_ANSWER_BYTES / 4);
	const struct rpc_ids ids = { .profiles = request->profile_id_selector,
				     .n_profiles = request->n_profile_id_selector,
				     .traces = request->trace_id_selector,
				     .n_traces = request->n_trace_id_selector };
	enum rpc_code code = rpc_add_stacks(call, &q->query, request->stack_trace_selector);

	if (code == RPC_ok)
		code = rpc_add_ids(call, &q->query, &ids);
	if (code != RPC_ok)
		return code;
	int r = query_profile(&q->query, request->max_nodes > 0 ? (size_t)request->max_nodes : 0,
			      &pprof);
	return r < 0 ? api_job_fail_errno(&call->job, r) : answer_profile(call, &pprof);
}

enum rpc_code merge_profile_run(struct rpc_call *call)
{
	const Querier__V1__SelectMergeProfileRequest *r = REQUEST(SelectMergeProfile, call);
	struct api_query q;
	enum rpc_code code =
		api_query_init(&q, &call->job, r->profile_typeid, &r->label_selector, 1);

	if (code == RPC_ok)
		code = run_merge_profile(call, &q);
	api_query_fini(&q);
	return code;
}
