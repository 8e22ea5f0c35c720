/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any bytes as a perf map that grows, look-ups in it, and a name read from a file that changed. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "agent/symbol/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_up(const struct perf_map *m, const struct bytes *b, uint64_t pc)
{
	_cleanup_buf_ struct buf name = BUF_INIT(PERF_MAP_MAX_NAME_BYTES);

	if (perf_map_name(m, b, pc, pc & 0xff, &name) == 0)
		assert(name.len > 0 && name.len <= PERF_MAP_MAX_NAME_BYTES);
}

static void check(const struct perf_map *m, const struct bytes *b)
{
	const struct code_ranges *r = &m->ranges;

	assert(r->n == r->n_settled && r->n <= r->max);
	for (size_t i = 0; i < r->n; i++) {
		const struct code_range *range = &r->items[i];

		assert(range->n_bytes > 0 && (range->begin + range->n_bytes) >> 63 == 0);
		assert(i == 0 || range[-1].begin + range[-1].n_bytes <= range->begin);
		assert(code_ranges_find(r, range->begin) == range);
		look_up(m, b, range->begin);
		look_up(m, b, range->begin + range->n_bytes);
	}
}

/* The first byte tells how much is there at first, and how little memory there is. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_map m;
	uint64_t n_read;

	if (size < 1)
		return 0;
	const char *text = (const char *)data + 1;
	size_t n = size - 1;
	struct bytes part = bytes_from_memory(text, n * (data[0] & 15) / 15);
	struct bytes all = bytes_from_memory(text, n);
	perf_map_init(&m, data[0] & 16 ? 200 : (size_t)1 << 20);
	(void)perf_map_read(&m, &part, data[0] & 32 ? 16 : UINT64_MAX, &n_read);
	check(&m, &part);
	(void)perf_map_read(&m, &all, UINT64_MAX, &n_read);
	check(&m, &all);
	check(&m, &part);
	perf_map_fini(&m);
	return 0;
}
