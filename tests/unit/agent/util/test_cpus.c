/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of CPUs as the kernel prints them. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "agent/util/cpus.h"
#include "tests/support/unit.h"

struct row {
	const char *name;
	const char *text;
	int expected;
	size_t n;
	unsigned int ids[8];
};

static const struct row rows[] = {
	{ "one", "0", 0, 1, { 0 } },
	{ "range", "0-3", 0, 4, { 0, 1, 2, 3 } },
	{ "range_of_one", "5-5", 0, 1, { 5 } },
	{ "list", "0-1,5,8-9\n", 0, 5, { 0, 1, 5, 8, 9 } },
	{ "any_order", "9,0,5-6", 0, 4, { 0, 5, 6, 9 } },
	{ "overlapping", "0-2,1-3,2", 0, 4, { 0, 1, 2, 3 } },
	{ "blanks_around", " 1 , 2 ", 0, 2, { 1, 2 } },
	{ "highest", "8191", 0, 1, { CPUS_MAX - 1 } },
	{ "empty", "", 0, 0, { 0 } },
	{ "line_break_only", "\n", 0, 0, { 0 } },
	{ "beyond_the_highest", "8192", -ERANGE, 0, { 0 } },
	{ "range_beyond_the_highest", "0-8192", -ERANGE, 0, { 0 } },
	{ "overflow", "99999999999999999999999", -ERANGE, 0, { 0 } },
	{ "backwards", "3-1", -EINVAL, 0, { 0 } },
	{ "word", "abc", -EINVAL, 0, { 0 } },
	{ "negative", "-1", -EINVAL, 0, { 0 } },
	{ "open_range", "1-", -EINVAL, 0, { 0 } },
	{ "two_dashes", "1-2-3", -EINVAL, 0, { 0 } },
	{ "blank_in_range", "1 - 2", -EINVAL, 0, { 0 } },
	{ "empty_piece", "1,,2", -EINVAL, 0, { 0 } },
	{ "comma_at_the_end", "1,", -EINVAL, 0, { 0 } },
	{ "comma_only", ",", -EINVAL, 0, { 0 } },
	{ "stride", "0-8:2", -EINVAL, 0, { 0 } },
	{ "hexadecimal", "0x1", -EINVAL, 0, { 0 } },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_cpus_ struct cpus c = { 0 };

	assert_int_equal(cpus_parse(str_from(row->text), &c), row->expected);
	assert_int_equal(c.n, row->n);
	if (row->n > 0)
		assert_memory_equal(c.ids, row->ids, row->n * sizeof(row->ids[0]));
	for (size_t i = 0; i < row->n; i++)
		assert_true(cpus_has(&c, row->ids[i]));
	assert_false(cpus_has(&c, 4));
}

static void test_all(void **state)
{
	_cleanup_cpus_ struct cpus c = { 0 };

	(void)state;
	assert_int_equal(cpus_parse(STR_LIT("0-8191"), &c), 0);
	assert_int_equal(c.n, CPUS_MAX);
	for (size_t i = 0; i < c.n; i++)
		assert_int_equal(c.ids[i], i);
}

static void test_online(void **state)
{
	_cleanup_cpus_ struct cpus c = { 0 };

	(void)state;
	if (access("/sys/devices/system/cpu/online", R_OK) < 0) {
		print_message("skip: /sys/devices/system/cpu/online is not readable\n");
		skip();
	}
	assert_int_equal(cpus_online(&c), 0);
	assert_int_equal(c.n, sysconf(_SC_NPROCESSORS_ONLN));
	cpus_fini(&c);
	cpus_fini(&c);
	cpus_fini(NULL);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_all),
	TEST(test_online),
};

TEST_MAIN(tests)
