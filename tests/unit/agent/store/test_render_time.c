/* SPDX-License-Identifier: Apache-2.0 */
/* Times as people write them into URLs, and the steps of timelines as the real server has them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "agent/store/render_time.h"
#include "agent/util/macro.h"

#define NOW INT64_C(1700000000123)

struct time_row {
	const char *text;
	int64_t ms; /* -1: not a time */
};

static const struct time_row time_rows[] = {
	{ "now", NOW },
	{ "now-1h", NOW - 3600000 },
	{ "now-90m", NOW - 5400000 },
	{ "now-1500ms", NOW - 1500 },
	{ "now-2s", NOW - 2000 },
	{ "now-1d", NOW - 86400000 },
	{ "now-1w", NOW - 7 * 86400000 },
	{ "now-1M", NOW - 30 * 86400000LL },
	{ "now-1y", NOW - 365 * 86400000LL },
	{ "now-1h30m", NOW - 5400000 },
	{ "1700000000", 1700000000000 },
	{ "1700000000123", 1700000000123 },
	{ "1700000000123456", 1700000000123 },
	{ "1700000000123456789", 1700000000123 },
	{ "0", 0 },
	{ "", -1 },
	{ "now-", -1 },
	{ "now-h", -1 },
	{ "now-1", -1 },
	{ "now-1x", -1 },
	{ "now-1h3", -1 },
	{ "now-1000y", -1 },
	{ "now-99999999999999999999h", -1 },
	{ "now+1h", -1 },
	{ "now ", -1 },
	{ "-1", -1 },
	{ "1.5", -1 },
	{ "xyz", -1 },
	{ "99999999999999999999", -1 },
};

static void test_time(void **state)
{
	const struct time_row *row = *state;
	int64_t ms = -1;

	assert_int_equal(render_parse_time(str_from(row->text), NOW, &ms), row->ms >= 0);
	assert_true(ms == row->ms);
}

/* Range in seconds, and the step that the real server took for it. */
static void test_steps(void **state)
{
	static const int64_t steps[][2] = {
		{ 0, 15 },     { 3600, 15 },  { 22500, 15 }, { 22515, 15 },
		{ 30000, 20 }, { 43200, 30 }, { 80000, 60 }, { 86400, 60 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		assert_int_equal(render_step_s(steps[i][0] * 1000), steps[i][1]);
	/* However long it is, the points stay few. */
	for (int64_t s = 1; s < INT64_MAX / 2000; s *= 3)
		assert_true(s / render_step_s(s * 1000) < 2300);
}

int main(void)
{
	struct CMUnitTest tests[ARRAY_SIZE(time_rows) + 1];
	size_t n = 0;

	for (; n < ARRAY_SIZE(time_rows); n++)
		tests[n] = (struct CMUnitTest){ .name = time_rows[n].text,
						.test_func = test_time,
						.initial_state = (void *)&time_rows[n] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_steps);
	return cmocka_run_group_tests_name("agent/store/render_time", tests, NULL, NULL);
}
