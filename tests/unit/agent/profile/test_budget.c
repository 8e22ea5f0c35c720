/* SPDX-License-Identifier: Apache-2.0 */
/* How the memory limit is shared out. */
#include "agent/profile/budget.h"
#include "bpf/wire.h"
#include "tests/support/unit.h"

#define MIB ((size_t)1 << 20)

struct row {
	const char *name;
	size_t limit;
	size_t held; /* what it is taken for */
	uint32_t n_segments;
};

static const struct row rows[] = {
	{ "default", 0, 64 * MIB, 16 },
	{ "as_given", 64 * MIB, 64 * MIB, 16 },
	{ "least", BUDGET_MIN_BYTES, 8 * MIB, 2 },
	{ "below_the_least", 1, 8 * MIB, 2 },
	{ "most", BUDGET_MAX_BYTES, 2048 * MIB, 512 },
	{ "above_the_most", SIZE_MAX, 2048 * MIB, 512 },
	{ "odd", 100 * MIB + 12345, 100 * MIB + 12345, 25 },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	struct budget b;

	budget_split(row->limit, &b);
	assert_int_equal(b.limit_bytes, row->held);
	assert_int_equal(b.max_segments, row->n_segments);
}

/* All parts together stay within the limit, none is nothing, and mapping arrays have a part of the arena that tables leave alone. */
static void check_parts(size_t limit)
{
	struct budget b;

	budget_split(limit, &b);
	size_t arena = (size_t)b.max_segments * WIRE_SEGMENT_BYTES;
	assert_true(arena + b.work_bytes + b.symbol_bytes + b.kernel_symbol_bytes +
			    2 * b.interval_bytes + b.cache_bytes + b.ring_bytes <=
		    b.limit_bytes - 3 * (b.limit_bytes / 64));
	assert_true(b.max_segments >= 1 && b.max_segments <= WIRE_MAX_SEGMENTS);
	assert_true(b.table_bytes >= arena / 2 && b.table_bytes < arena);
	/* The largest mapping array there is. */
	assert_true(arena - b.table_bytes >=
		    WIRE_MAX_PROCESS_MAPPINGS * sizeof(struct wire_mapping));
	assert_true(b.work_bytes > MIB && b.symbol_bytes >= MIB && b.interval_bytes >= MIB / 2);
	assert_true(b.cache_bytes >= MIB / 8);
	/* An interval is named and encoded within one job's share; the arenas of names and addresses hold some chunks of 64 KiB. */
	assert_true(b.names_bytes + b.namer_bytes + b.encoder_bytes <= b.work_bytes);
	assert_true(b.names_bytes >= MIB / 2 && b.namer_bytes >= MIB / 2 && b.encoder_bytes >= MIB);
	/* 64,000 functions of an ordinary kernel: 11 bytes each. */
	assert_true(b.kernel_symbol_bytes >= 64000 * 11);
}

static void test_parts(void **state)
{
	(void)state;
	for (size_t limit = 0; limit <= 3000 * MIB; limit += 7 * MIB + 4097)
		check_parts(limit);
	check_parts(SIZE_MAX);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_parts),
};

TEST_MAIN(tests)
