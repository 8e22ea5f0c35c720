/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any bytes as a jitdump that grows, look-ups in it, and a name read from a file that changed. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/symbol/jitdump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_up(const struct jitdump *d, const struct bytes *b, uint64_t pc)
{
	_cleanup_buf_ struct buf name = BUF_INIT(JITDUMP_MAX_NAME_BYTES);

	if (jitdump_name(d, b, pc, pc, UINT64_MAX, &name) == 0)
		assert(name.len > 0 && name.len <= JITDUMP_MAX_NAME_BYTES);
}

static void check(const struct jitdump *d, const struct bytes *b)
{
	const struct code_ranges *r = &d->ranges;

	assert(r->n == r->n_settled && r->n <= r->max && d->n_loads <= d->max_loads);
	for (size_t i = 0; i < r->n; i++) {
		const struct code_range *range = &r->items[i];

		assert(range->n_bytes > 0 && (range->begin + range->n_bytes) >> 63 == 0);
		assert(i == 0 || range[-1].begin + range[-1].n_bytes <= range->begin);
		look_up(d, b, range->begin);
		look_up(d, b, range->begin + range->n_bytes);
	}
}

/* The first byte tells how much is there at first, and how little memory there is. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jitdump d;
	uint64_t n_read;

	if (size < 1)
		return 0;
	size_t n = size - 1;
	struct bytes part = bytes_from_memory(data + 1, n * (data[0] & 15) / 15);
	struct bytes all = bytes_from_memory(data + 1, n);
	jitdump_init(&d, data[0] & 16 ? 200 : (size_t)1 << 20);
	(void)jitdump_read(&d, &part, data[0] & 32 ? 16 : UINT64_MAX, &n_read);
	check(&d, &part);
	(void)jitdump_read(&d, &all, UINT64_MAX, &n_read);
	check(&d, &all);
	check(&d, &part);
	jitdump_fini(&d);
	return 0;
}
