/* SPDX-License-Identifier: Apache-2.0 */
/* How the memory limit is shared out. */
#include "agent/profile/budget.h"

#include "agent/unwind/object_tables.h"
#include "agent/util/macro.h"
#include "bpf/wire.h"

/* Files without unwind information take as much, a few of all. */
#define BYTES_AN_OPENED_FILE ((size_t)512 * 1024)

void budget_split(size_t limit_bytes, struct budget *ret_budget)
{
	size_t limit = limit_bytes ? limit_bytes : BUDGET_DEFAULT_BYTES;

	limit = MIN_OF(MAX_OF(limit, BUDGET_MIN_BYTES), BUDGET_MAX_BYTES);
	size_t share = limit / 32;
	size_t n_segments = MIN_OF(8 * share / WIRE_SEGMENT_BYTES, (size_t)WIRE_MAX_SEGMENTS);
	size_t arena_bytes = n_segments * WIRE_SEGMENT_BYTES;
	size_t work = 9 * share;
	*ret_budget = (struct budget){
		.limit_bytes = limit,
		.max_segments = (uint32_t)n_segments,
		.table_bytes = arena_bytes - arena_bytes / 8,
		.work_bytes = work,
		.names_bytes = work / 4,
		.namer_bytes = work / 4,
		.encoder_bytes = work / 2,
		.symbol_bytes = 4 * share,
		.kernel_symbol_bytes = 3 * share,
		.interval_bytes = 2 * share,
		.max_opened =
			MIN_OF(limit / BYTES_AN_OPENED_FILE, (size_t)OBJECT_TABLES_MAX_OPENED),
		.ring_bytes = 2 * share,
		.cache_bytes = share / 2,
		.sideband_bytes = share,
		.code_names_bytes = share / 2,
		.source_bytes = share / 4,
		.read_bytes = share,
		.trim_bytes = share,
	};
}
