/* SPDX-License-Identifier: Apache-2.0 */
/* Table tests of durations. */
#include <errno.h>

#include "agent/cli/duration.h"
#include "tests/support/unit.h"

#define S 1000000000ULL

struct row {
	const char *input;
	int r;
	uint64_t ns;
};

static const struct row rows[] = {
	{ "10", 0, 10 * S },
	{ "0", 0, 0 },
	{ "1.5", 0, 1500000000 },
	{ "0.25", 0, 250000000 },
	{ "1.000001", 0, 1000001000 },
	{ "500ms", 0, 500000000 },
	{ "1.5s", 0, 1500000000 },
	{ "2m", 0, 120 * S },
	{ "1h30m", 0, 5400 * S },
	{ "1m0.5s", 0, 60500000000 },
	{ "10us", 0, 10000 },
	{ "10\u00b5s", 0, 10000 },
	{ "10\u03bcs", 0, 10000 },
	{ "7ns", 0, 7 },
	{ "0.5ns", 0, 0 },
	{ "31622400", 0, DURATION_MAX_NS },
	{ "8784h", 0, DURATION_MAX_NS },
	{ "31622401", -ERANGE, 0 },
	{ "8784h0.1s", -ERANGE, 0 },
	{ "31622400000000001ns", -ERANGE, 0 },
	{ "99999999999999999999", -ERANGE, 0 },
	{ "", -EINVAL, 0 },
	{ "s", -EINVAL, 0 },
	{ "x", -EINVAL, 0 },
	{ "-1", -EINVAL, 0 },
	{ "+1", -EINVAL, 0 },
	{ ".5", -EINVAL, 0 },
	{ "1.", -EINVAL, 0 },
	{ "1.s", -EINVAL, 0 },
	{ "1.0000001", -EINVAL, 0 },
	{ "1d", -EINVAL, 0 },
	{ "1 s", -EINVAL, 0 },
	{ "1m30", -EINVAL, 0 },
	{ "1ms2", -EINVAL, 0 },
	{ "1s ", -EINVAL, 0 },
	{ "1e3", -EINVAL, 0 },
	{ "0x10", -EINVAL, 0 },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	uint64_t ns = 42;

	assert_int_equal(duration_parse(str_from(row->input), &ns), row->r);
	assert_int_equal(ns, row->r < 0 ? 42 : row->ns);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, input),
};

TEST_MAIN(tests)
