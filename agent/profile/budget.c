/* SPDX-License-Identifier: Apache-2.0 */
/* How the memory limit is shared out. */
#include "agent/profile/budget.h"

#include "agent/util/macro.h"
#include "bpf/wire.h"

void budget_split(size_t limit_bytes, struct budget *ret_budget)
{
	size_t limit = limit_bytes ? limit_bytes : BUDGET_DEFAULT_BYTES;

	limit = MIN_OF(MAX_OF(limit, BUDGET_MIN_BYTES), BUDGET_MAX_BYTES);
	size_t share = limit / 16;
	size_t n_segments = MIN_OF(5 * share / WIRE_SEGMENT_BYTES, (size_t)WIRE_MAX_SEGMENTS);
	size_t arena_bytes = n_segments * WIRE_SEGMENT_BYTES;
	*ret_budget = (struct budget){
		.limit_bytes = limit,
		.max_segments = (uint32_t)n_segments,
		.table_bytes = arena_bytes - arena_bytes / 8,
		.build_bytes = 5 * share,
		.symbol_bytes = 2 * share,
		.interval_bytes = 3 * share / 2,
		.cache_bytes = share / 2,
	};
}
