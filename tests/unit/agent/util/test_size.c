/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "agent/util/size.h"
#include "tests/support/unit.h"

static const struct size_case {
	const char *text;
	int result;
	uint64_t bytes;
} cases[] = {
	{ "0", 0, 0 },
	{ "4096", 0, 4096 },
	{ "4096B", 0, 4096 },
	{ "64MiB", 0, 64ULL << 20 },
	{ " 64 MiB ", 0, 64ULL << 20 },
	{ "64mib", 0, 64ULL << 20 },
	{ "64M", 0, 64ULL << 20 },
	{ "100MB", 0, 100000000 },
	{ "3k", 0, 3072 },
	{ "2GiB", 0, 2ULL << 30 },
	{ "8589934591GiB", 0, 8589934591ULL << 30 },
	{ "8589934592GiB", -ERANGE, 0 },
	{ "99999999999999999999", -EINVAL, 0 },
	{ "", -EINVAL, 0 },
	{ "MiB", -EINVAL, 0 },
	{ "-1", -EINVAL, 0 },
	{ "1.5MiB", -EINVAL, 0 },
	{ "64 MiBs", -EINVAL, 0 },
	{ "64 parsecs", -EINVAL, 0 },
};

static void test_size_parse(void **state)
{
	const struct size_case *c = *state;
	uint64_t bytes = 7;

	assert_int_equal(size_parse(str_from(c->text), &bytes), c->result);
	assert_int_equal(bytes, c->result == 0 ? c->bytes : 7);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_size_parse, cases, text),
};

TEST_MAIN(tests)
