/* SPDX-License-Identifier: Apache-2.0 */
/* What is Pyroscope's own in a push. */
#include "agent/push/protocol.h"
#include "agent/util/clock.h"
#include "tests/support/unit.h"

static void test_our_headers(void **state)
{
	(void)state;
	assert_true(push_header_is_ours(&push_pyroscope, "content-type"));
	assert_true(push_header_is_ours(&push_pyroscope, "Connect-Timeout-Ms"));
	assert_true(push_header_is_ours(&push_pyroscope, "user-agent"));
	assert_false(push_header_is_ours(&push_pyroscope, "X-Scope-OrgID"));
	assert_false(push_header_is_ours(&push_pyroscope, "Authorization"));
}

/* Ten digits at most, and never 0, which would be no time at all. */
static void test_timeouts(void **state)
{
	static const struct {
		uint64_t ns;
		const char *ms;
	} rows[] = { { 0, "1" },
		     { 999999, "1" },
		     { 10 * NS_PER_S, "10000" },
		     { UINT64_MAX, "9999999999" } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct push_headers h;

		push_pyroscope.headers(rows[i].ns, &h);
		assert_int_equal(h.n, 3);
		assert_string_equal(h.items[2].name, "Connect-Timeout-Ms");
		assert_string_equal(h.items[2].value, rows[i].ms);
	}
}

static const struct unit_test tests[] = {
	TEST(test_our_headers),
	TEST(test_timeouts),
};

TEST_MAIN(tests)
