/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of code objects, by tables that CPython's compilers have made, and by others that nobody makes. */
#include "agent/runtimes/python/lines.h"
#include "bpf/runtimes/python.h"
#include "tests/support/unit.h"

struct row {
	const char *name;
	uint8_t format;
	uint32_t first_line;
	const char *table;
	size_t n;
	uint32_t position;
	uint32_t expected;
};

#define TABLE(text) (text), sizeof(text) - 1

/* def f(x):	# line 10
 *	y = x	# 11, bytes 0 to 3
 *	return y	# 13, from byte 4 on */
#define LNOTAB TABLE("\x00\x01\x04\x02")
/* 10: bytes 0 and 1; 9: 2 to 5; none: 6 and 7; 300 lines further on in three steps: 8 and 9 */
#define LINETABLE TABLE("\x02\x00\x04\xff\x02\x80\x00\x7f\x00\x7f\x02\x2e")
/* RESUME on line 10 without columns; two units on 12 with columns; one unit without a line; two units, long form, line 9; three units, short form */
#define LOCATIONS TABLE("\xe8\x00\xe1\x04\x05\x07\xf8\xf1\x07\x00\x01\x01\x82\x10")

static const struct row rows[] = {
	{ "lnotab_first", PYTHON_LNOTAB, 10, LNOTAB, 0, 11 },
	{ "lnotab_last_byte_of_a_line", PYTHON_LNOTAB, 10, LNOTAB, 3, 11 },
	{ "lnotab_next_line", PYTHON_LNOTAB, 10, LNOTAB, 4, 13 },
	{ "lnotab_far_behind", PYTHON_LNOTAB, 10, LNOTAB, 1000000, 13 },
	{ "lnotab_empty", PYTHON_LNOTAB, 10, TABLE(""), 6, 10 },
	{ "lnotab_half_a_pair", PYTHON_LNOTAB, 10, TABLE("\x00\x01\x02"), 6, 11 },
	{ "lnotab_back", PYTHON_LNOTAB, 10, TABLE("\x02\xfe"), 2, 8 },
	{ "lnotab_before_the_file", PYTHON_LNOTAB, 10, TABLE("\x00\x80"), 2, 0 },
	{ "linetable_first", PYTHON_LINETABLE, 10, LINETABLE, 0, 10 },
	{ "linetable_back", PYTHON_LINETABLE, 10, LINETABLE, 4, 9 },
	{ "linetable_no_line", PYTHON_LINETABLE, 10, LINETABLE, 6, 0 },
	{ "linetable_far", PYTHON_LINETABLE, 10, LINETABLE, 8, 309 },
	{ "linetable_behind", PYTHON_LINETABLE, 10, LINETABLE, 10, 0 },
	{ "linetable_empty", PYTHON_LINETABLE, 10, TABLE(""), 0, 0 },
	{ "locations_no_columns", PYTHON_LOCATIONS, 10, LOCATIONS, 0, 10 },
	{ "locations_one_line", PYTHON_LOCATIONS, 10, LOCATIONS, 2, 12 },
	{ "locations_one_line_end", PYTHON_LOCATIONS, 10, LOCATIONS, 5, 12 },
	{ "locations_none", PYTHON_LOCATIONS, 10, LOCATIONS, 6, 0 },
	{ "locations_long", PYTHON_LOCATIONS, 10, LOCATIONS, 8, 9 },
	{ "locations_short", PYTHON_LOCATIONS, 10, LOCATIONS, 12, 9 },
	{ "locations_behind", PYTHON_LOCATIONS, 10, LOCATIONS, 18, 0 },
	{ "locations_empty", PYTHON_LOCATIONS, 10, TABLE(""), 0, 0 },
	/* A number without an end, and bytes that begin nothing. */
	{ "locations_endless", PYTHON_LOCATIONS, 10,
	  TABLE("\xf0\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f"), 0, 0 },
	{ "locations_cut", PYTHON_LOCATIONS, 10, TABLE("\xe8"), 0, 10 },
	{ "locations_no_begin", PYTHON_LOCATIONS, 10, TABLE("\x00\x00\x00"), 0, 10 },
	{ "no_table", PYTHON_NO_LINES, 10, TABLE("\x00\x01"), 0, 0 },
	{ "no_format", 9, 10, TABLE("\x00\x01"), 0, 0 },
	{ "position_not_known", PYTHON_LOCATIONS, 10, LOCATIONS, UINT32_MAX, 0 },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	const struct runtime_lines lines = { .first_line = row->first_line,
					     .table = (const uint8_t *)row->table,
					     .n = row->n,
					     .format = row->format };

	assert_int_equal(python_line(&lines, row->position), row->expected);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
};

TEST_MAIN(tests)
