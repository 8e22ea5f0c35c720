/* SPDX-License-Identifier: Apache-2.0 */
/* Labels as the messages of several methods have them. */
#include "agent/store/api/api_pairs.h"

#include "agent/store/api/querier.pb-c.h"

Querier__V1__LabelPair **rpc_call_pairs(struct rpc_call *call, const struct query_label *labels,
					size_t n)
{
	Querier__V1__LabelPair **pointers = rpc_call_alloc(call, n, sizeof(*pointers));
	Querier__V1__LabelPair *pairs = rpc_call_alloc(call, n, sizeof(*pairs));

	for (size_t i = 0; pointers && pairs && i < n; i++) {
		querier__v1__label_pair__init(&pairs[i]);
		pairs[i].name = (char *)labels[i].name;
		pairs[i].value = (char *)labels[i].value;
		pointers[i] = &pairs[i];
	}
	return pairs ? pointers : NULL;
}
