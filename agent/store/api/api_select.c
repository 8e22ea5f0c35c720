/* SPDX-License-Identifier: Apache-2.0 */
/* What methods that select values have in common. */
#include "agent/store/api/api_select.h"

#include "agent/store/api/api_query.h"
#include "agent/store/api/querier.pb-c.h"

enum rpc_code rpc_check_selection(struct rpc_call *call, int64_t start_ms, int64_t end_ms,
				  const char *profile_type)
{
	enum rpc_code code = api_check_range(&call->job, start_ms, end_ms);

	call->job.start_ms = start_ms;
	call->job.end_ms = end_ms;
	return code == RPC_ok ? api_check_profile_type(&call->job, profile_type) : code;
}

enum rpc_code rpc_add_call_site(struct rpc_call *call, struct query *q,
				const Querier__V1__StackTraceSelector *selector)
{
	if (!selector || selector->n_call_site == 0)
		return RPC_ok;
	const char **names = rpc_call_alloc(call, selector->n_call_site, sizeof(*names));
	if (!names)
		return call->job.code;
	for (size_t i = 0; i < selector->n_call_site; i++)
		names[i] = selector->call_site[i]->name;
	q->call_site = names;
	q->n_call_site = selector->n_call_site;
	return RPC_ok;
}
