/* SPDX-License-Identifier: Apache-2.0 */
/* Where a function is, as it is sent: lines and a column in one number. */
#include "agent/runtimes/runtime.h"
#include "bpf/runtimes/v8.h"
#include "tests/support/unit.h"

extern const struct runtime runtime_v8;

static uint32_t line_of(uint32_t position)
{
	return runtime_v8.line(&(struct runtime_lines){ .first_line = 10 }, position);
}

static void test_both(void **state)
{
	static const struct {
		uint32_t lines;
		uint64_t column;
	} rows[] = {
		{ 0, 1 },
		{ 0, 4095 },
		{ 0, 4096 },
		{ 0, (1 << 20) - 1 },
		{ 1022, 4096 },
		{ (1 << 18) - 1, 4095 },
		{ 1022, (1 << 20) - 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t position = v8_position_of(rows[i].lines, rows[i].column);

		assert_int_not_equal(position, UINT32_MAX);
		assert_int_equal(line_of(position), 10 + rows[i].lines);
		assert_int_equal(runtime_v8.column(position), rows[i].column);
	}
}

static void test_no_room_for_the_column(void **state)
{
	static const struct {
		uint32_t lines;
		uint64_t column;
	} rows[] = {
		{ 0, 1 << 20 },		 { 0, 1ULL << 32 | 1 }, { 1023, 4096 },
		{ 1023, (1 << 20) - 1 }, { 1 << 18, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t position = v8_position_of(rows[i].lines, rows[i].column);

		assert_int_equal(line_of(position), 10 + rows[i].lines);
		assert_int_equal(runtime_v8.column(position), 0);
	}
}

static void test_lines_alone(void **state)
{
	(void)state;
	assert_int_equal(line_of(0), 10);
	assert_int_equal(line_of((1 << 30) - 1), 10 + (1 << 30) - 1);
	assert_int_equal(runtime_v8.column((1 << 30) - 1), 0);
	/* What nobody sends, and what is not known. */
	assert_int_equal(line_of(1 << 30), 0);
	assert_int_equal(line_of(UINT32_MAX), 0);
	assert_int_equal(runtime_v8.column(UINT32_MAX), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both),
		cmocka_unit_test(test_no_room_for_the_column),
		cmocka_unit_test(test_lines_alone),
	};

	return cmocka_run_group_tests_name("agent/runtimes/v8/position", tests, NULL, NULL);
}
