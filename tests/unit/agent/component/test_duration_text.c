/* SPDX-License-Identifier: Apache-2.0 */
/* Durations as Go's printer spells them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "agent/component/duration_text.h"
#include "agent/util/macro.h"

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

int main(void)
{
	struct CMUnitTest tests[ARRAY_SIZE(rows)];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].expected, test_row, NULL, NULL,
						(void *)&rows[i] };
	return cmocka_run_group_tests_name("agent/component/duration_text", tests, NULL, NULL);
}
