/* SPDX-License-Identifier: Apache-2.0 */
/* Table test of Retry-After; "now" is 1994-11-06 08:49:37 UTC and half a second. */
#include "agent/http/retry_after.h"
#include "agent/util/clock.h"
#include "tests/support/unit.h"

#define NOW_NS (784111777ULL * NS_PER_S + NS_PER_S / 2)

static const struct row {
	const char *input;
	bool ok;
	uint64_t wait_s;
} rows[] = {
	{ "0", true, 0 },
	{ "120", true, 120 },
	{ " 5 ", true, 5 },
	{ "31536000", true, RETRY_AFTER_MAX_S },
	{ "99999999999999999999999", true, RETRY_AFTER_MAX_S },
	{ "Sun, 06 Nov 1994 08:49:37 GMT", true, 0 },
	{ "Sun, 06 Nov 1994 08:49:38 GMT", true, 1 },
	{ "Sun, 06 Nov 1994 09:49:37 GMT", true, 3600 },
	{ "Sun, 06 Nov 1994 08:49:00 GMT", true, 0 },
	{ "Thu, 01 Jan 1970 00:00:00 GMT", true, 0 },
	{ "Fri, 31 Dec 9999 23:59:60 GMT", true, RETRY_AFTER_MAX_S },
	{ "Fri, 31 Dec 1969 23:59:59 GMT", false, 0 },
	{ "", false, 0 },
	{ "-1", false, 0 },
	{ "1.5", false, 0 },
	{ "soon", false, 0 },
	{ "120s", false, 0 },
	{ "99999999999999999999999x", false, 0 },
	{ "Sunday, 06-Nov-94 08:49:37 GMT", false, 0 },
	{ "Sun Nov  6 08:49:37 1994", false, 0 },
	{ "Sun, 06 Nov 1994 08:49:37", false, 0 },
	{ "Sun, 06 Nov 1994 08:49:37 UTC", false, 0 },
	{ "Sun, 06 Nov 1994 24:00:00 GMT", false, 0 },
	{ "Sun, 06 Nov 1994 08:60:00 GMT", false, 0 },
	{ "Sun, 00 Nov 1994 08:49:37 GMT", false, 0 },
	{ "Sun, 32 Nov 1994 08:49:37 GMT", false, 0 },
	{ "Sun, 06 Foo 1994 08:49:37 GMT", false, 0 },
	{ "Sun, 06 Nov 1994 08:49:37 GMT+1", false, 0 },
	{ "Sun, 06 No", false, 0 },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	uint64_t wait_ns = 7;

	assert_int_equal(retry_after_parse(str_from(row->input), NOW_NS, &wait_ns), row->ok);
	assert_int_equal(wait_ns, row->ok ? row->wait_s * NS_PER_S : 7);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, input),
};

TEST_MAIN(tests)
