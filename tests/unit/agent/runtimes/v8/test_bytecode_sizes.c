/* SPDX-License-Identifier: Apache-2.0 */
/* The table of how long V8's bytecodes are, among other bytes. */
#include <string.h>

#include "agent/runtimes/v8/bytecode_sizes.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

static const uint8_t first[3][17] = {
	{ 1, 1, 1, 1, 1, 2, 3, 4, 5, 5, 6, 2, 1, 2, 1, 1, 1 },
	{ 1, 1, 1, 1, 1, 3, 5, 7, 9, 7, 9, 3, 1, 3, 1, 1, 1 },
	{ 1, 1, 1, 1, 1, 5, 9, 13, 17, 11, 15, 5, 1, 5, 1, 1, 1 },
};

/* A row for each width of operands, of bytecodes with two of them. */
static void put(uint8_t *at, uint32_t n)
{
	for (size_t row = 0; row < ARRAY_SIZE(first); row++) {
		memset(at + row * n, 1 + (2 << row), n);
		memcpy(at + row * n, first[row], sizeof(first[row]));
	}
}

static void test_found(void **state)
{
	static const struct {
		uint32_t at, n;
		size_t n_bytes, n_seen;
		bool is_found;
	} rows[] = {
		{ 0, 197, 4096, 0, true },	    { 1001, 212, 4096, 0, true },
		{ 1000, 256, 1000 + 768, 0, true }, { 1000, 256, 1000 + 767, 0, false },
		{ 1000, 127, 4096, 0, false },	    { 1000, 257, 4096, 0, false },
		{ 1000, 212, 4096, 1000, true },    { 1000, 212, 4096, 1600, true },
		{ 1000, 212, 4096, 2000, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint8_t bytes[4096 + 1024];
		const struct v8_piece piece = { bytes, rows[i].n_bytes, rows[i].n_seen, 0 };
		uint32_t n = 0;
		size_t at = 0;

		memset(bytes, 1, sizeof(bytes));
		put(bytes + rows[i].at, rows[i].n);
		assert_int_equal(v8_bytecode_sizes_in_piece(&piece, &at, &n), rows[i].is_found);
		if (rows[i].is_found)
			assert_true(at == rows[i].at && n == rows[i].n);
	}
}

/* One that is not larger with wider operands, of no byte, or of more than any. */
static void test_no_sizes(void **state)
{
	static const struct {
		size_t at;
		uint8_t size;
	} rows[] = { { 20, 0 }, { 20, 6 }, { 220, 10 }, { 420, 4 }, { 420, 65 }, { 200, 2 } };
	uint8_t bytes[1024] = { 0 };
	const struct v8_piece piece = { bytes, sizeof(bytes), 0, 0 };
	uint32_t n;
	size_t at;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		put(bytes, 200);
		bytes[rows[i].at] = rows[i].size;
		assert_false(v8_bytecode_sizes_in_piece(&piece, &at, &n));
	}
	put(bytes, 200);
	assert_true(v8_bytecode_sizes_in_piece(&piece, &at, &n));
}

static const struct unit_test tests[] = {
	TEST(test_found),
	TEST(test_no_sizes),
};

TEST_MAIN(tests)
