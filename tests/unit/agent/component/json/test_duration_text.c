/* SPDX-License-Identifier: Apache-2.0 */
/* Durations as Go's printer spells them. */
#include "agent/component/json/duration_text.h"
#include "tests/support/unit.h"

static const struct row {
	const char *expected;
	int64_t ns;
} rows[] = {
	{ "0s", 0 },
	{ "1ns", 1 },
	{ "1.5\u00b5s", 1500 },
	{ "500ms", 500000000 },
	{ "1.5s", 1500000000 },
	{ "1m0s", 60000000000 },
	{ "1h0m0.000000001s", 3600000000001 },
	{ "-15s", -15000000000 },
	{ "-2562047h47m16.854775808s", INT64_MIN },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	char text[DURATION_TEXT_BYTES];

	assert_string_equal(duration_text(row->ns, text), row->expected);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, expected),
};

TEST_MAIN(tests)
