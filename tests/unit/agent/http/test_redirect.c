/* SPDX-License-Identifier: Apache-2.0 */
/* Where a redirect may lead. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/http/redirect.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

struct row {
	const char *from, *to;
	enum redirect_verdict bare, with_headers;
};

#define GO REDIRECT_FOLLOWED
#define CLEAR REDIRECT_IN_CLEAR
#define ELSE REDIRECT_ELSEWHERE

static const struct row rows[] = {
	{ "http://a/x", "http://a/y?z#f", GO, GO },
	{ "http://a:80/", "http://a/", GO, GO },
	{ "https://a", "https://A:443/", GO, GO },
	{ "http://a/", "https://a/", GO, GO },
	{ "http://a:80", "https://a:443", GO, GO },
	{ "http://[::1]:1/", "http://[::1]:1/x", GO, GO },
	{ "http://a/", "http://b/", GO, ELSE },
	{ "http://a/", "http://a.b/", GO, ELSE },
	{ "http://a:1/", "http://a:2/", GO, ELSE },
	{ "http://a:4040/", "https://a:4041/", GO, ELSE },
	{ "http://a/", "https://a:444/", GO, ELSE },
	{ "http://a:81/", "https://a/", GO, ELSE },
	{ "https://a/", "https://b/", GO, ELSE },
	{ "https://a/", "https://a:444/", GO, ELSE },
	{ "http://a@b/", "http://b/", GO, GO },
	{ "http://a/", "http://a@b/", GO, ELSE },
	{ "https://a/", "http://a/", CLEAR, CLEAR },
	{ "https://a:1/", "http://a:1/", CLEAR, CLEAR },
	{ "https://a/", "http://b/", CLEAR, CLEAR },
};

static void test_verdicts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct origin from, to;

		print_message("%s → %s\n", rows[i].from, rows[i].to);
		assert_int_equal(origin_parse(rows[i].from, &from), 0);
		assert_int_equal(origin_parse(rows[i].to, &to), 0);
		assert_int_equal(redirect_judge(&from, &to, false), rows[i].bare);
		assert_int_equal(redirect_judge(&from, &to, true), rows[i].with_headers);
	}
}

static void test_no_origin(void **state)
{
	static const char *const texts[] = { "", "/path", "host", "file:///etc/passwd", "ftp://a/",
					     "http://", "https://a:99999/", "gopher://a/" };
	char long_url[URL_MAX_HOST_BYTES + 32];
	struct origin o;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		print_message("%s\n", texts[i]);
		assert_int_equal(origin_parse(texts[i], &o), -EINVAL);
	}
	memset(long_url, 'a', sizeof(long_url));
	memcpy(long_url, "http://", strlen("http://"));
	long_url[sizeof(long_url) - 1] = '\0';
	assert_int_equal(origin_parse(long_url, &o), -EINVAL);
}

static void test_headers(void **state)
{
	(void)state;
	assert_true(redirect_keeps_header("content-type"));
	assert_true(redirect_keeps_header("Accept"));
	assert_false(redirect_keeps_header("X-Scope-OrgID"));
	assert_false(redirect_keeps_header("Authorization"));
	assert_false(redirect_keeps_header("Cookie"));
	assert_false(redirect_keeps_header("Content-Type-Options"));
}

static const struct unit_test tests[] = {
	TEST(test_verdicts),
	TEST(test_no_origin),
	TEST(test_headers),
};

TEST_MAIN(tests)
