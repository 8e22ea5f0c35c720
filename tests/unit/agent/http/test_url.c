/* SPDX-License-Identifier: Apache-2.0 */
/* Table tests of the URL parser. */
#include <errno.h>

#include "agent/http/url.h"
#include "tests/support/unit.h"

struct row {
	const char *name;
	const char *input;
	enum url_problem problem;
	/* of URL_OK */
	bool https;
	const char *host;
	unsigned int port;
	const char *path;
	const char *query;
	const char *joined; /* with "/x.Y/Z" */
};

static const struct row rows[] = {
	{ "plain", "http://127.0.0.1:4040", URL_OK, false, "127.0.0.1", 4040, "", "",
	  "http://127.0.0.1:4040/x.Y/Z" },
	{ "trailing slash", "http://h:4040/", URL_OK, false, "h", 4040, "/", "",
	  "http://h:4040/x.Y/Z" },
	{ "prefix", "https://h/a/b", URL_OK, true, "h", 443, "/a/b", "", "https://h/a/b/x.Y/Z" },
	{ "prefix and slashes", "https://h/a//", URL_OK, true, "h", 443, "/a//", "",
	  "https://h/a/x.Y/Z" },
	{ "upper case scheme", "HTTPS://H", URL_OK, true, "H", 443, "", "", "HTTPS://H/x.Y/Z" },
	{ "default port", "http://localhost", URL_OK, false, "localhost", 80, "", "",
	  "http://localhost/x.Y/Z" },
	{ "ipv6", "http://[::1]:80/", URL_OK, false, "::1", 80, "/", "", "http://[::1]:80/x.Y/Z" },
	{ "ipv6 without port", "http://[fe80::1]", URL_OK, false, "fe80::1", 80, "", "",
	  "http://[fe80::1]/x.Y/Z" },
	{ "query", "http://h/p?a=b&c", URL_OK, false, "h", 80, "/p", "a=b&c",
	  "http://h/p/x.Y/Z?a=b&c" },
	{ "query without path", "http://h?a=b", URL_OK, false, "h", 80, "", "a=b",
	  "http://h/x.Y/Z?a=b" },
	{ "escape", "http://h/a%20b", URL_OK, false, "h", 80, "/a%20b", "",
	  "http://h/a%20b/x.Y/Z" },
	{ "at sign in path", "http://h/a@b", URL_OK, false, "h", 80, "/a@b", "",
	  "http://h/a@b/x.Y/Z" },
	{ "highest port", "http://h:65535", URL_OK, false, "h", 65535, "", "",
	  "http://h:65535/x.Y/Z" },
	{ "underscore", "http://my_host", URL_OK, false, "my_host", 80, "", "",
	  "http://my_host/x.Y/Z" },
	{ .name = "empty", .input = "", .problem = URL_EMPTY },
	{ .name = "no scheme", .input = "127.0.0.1:4040", .problem = URL_SCHEME },
	{ .name = "file", .input = "file:///etc/passwd", .problem = URL_SCHEME },
	{ .name = "scheme only", .input = "http:/", .problem = URL_SCHEME },
	{ .name = "leading blank", .input = " http://h", .problem = URL_SCHEME },
	{ .name = "no host", .input = "http://", .problem = URL_HOST },
	{ .name = "no host but port", .input = "http://:4040", .problem = URL_HOST },
	{ .name = "no host but path", .input = "http:///x", .problem = URL_HOST },
	{ .name = "user", .input = "http://u@h", .problem = URL_USERINFO },
	{ .name = "user and password", .input = "http://u:p@h:1/x", .problem = URL_USERINFO },
	{ .name = "two dots", .input = "http://a..b", .problem = URL_HOST },
	{ .name = "leading dot", .input = "http://.a", .problem = URL_HOST },
	{ .name = "bare ipv6", .input = "http://::1/", .problem = URL_HOST },
	{ .name = "open bracket", .input = "http://[::1", .problem = URL_HOST },
	{ .name = "not ipv6", .input = "http://[1.2.3.4]", .problem = URL_HOST },
	{ .name = "after bracket", .input = "http://[::1]x", .problem = URL_HOST },
	{ .name = "zone", .input = "http://[fe80::1%25eth0]", .problem = URL_HOST },
	{ .name = "port 0", .input = "http://h:0", .problem = URL_PORT },
	{ .name = "port empty", .input = "http://h:", .problem = URL_PORT },
	{ .name = "port too big", .input = "http://h:65536", .problem = URL_PORT },
	{ .name = "port not a number", .input = "http://h:4o40", .problem = URL_PORT },
	{ .name = "port signed", .input = "http://h:+80", .problem = URL_PORT },
	{ .name = "blank", .input = "http://h/a b", .problem = URL_CHARACTER },
	{ .name = "newline", .input = "http://h/a\r\nHost: x", .problem = URL_CHARACTER },
	{ .name = "not ascii", .input = "http://h\xc3\xa9", .problem = URL_CHARACTER },
	{ .name = "bad escape", .input = "http://h/%4g", .problem = URL_CHARACTER },
	{ .name = "cut escape", .input = "http://h/%4", .problem = URL_CHARACTER },
	{ .name = "backslash", .input = "http://h\\@evil", .problem = URL_CHARACTER },
	{ .name = "fragment", .input = "http://h/#x", .problem = URL_FRAGMENT },
};

static void assert_str(struct str s, const char *expected)
{
	assert_int_equal(s.n, strlen(expected));
	if (s.n > 0)
		assert_memory_equal(s.p, expected, s.n);
}

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf joined = BUF_INIT(2 * URL_MAX_BYTES);
	struct url url = { .port = 7 };

	assert_int_equal(url_parse(str_from(row->input), &url), row->problem);
	if (row->problem != URL_OK) {
		assert_int_equal(url.port, 7);
		return;
	}
	assert_int_equal(url.https, row->https);
	assert_str(url.host, row->host);
	assert_int_equal(url.port, row->port);
	assert_str(url.path, row->path);
	assert_str(url.query, row->query);
	assert_int_equal(url_join(&joined, &url, "/x.Y/Z"), 0);
	assert_string_equal(buf_str(&joined), row->joined);
}

static void test_lengths(void **state)
{
	char text[URL_MAX_BYTES + 2] = "http://h/";
	struct url url;

	(void)state;
	memset(text + 9, 'x', sizeof(text) - 9);
	assert_int_equal(url_parse((struct str){ text, URL_MAX_BYTES }, &url), URL_OK);
	assert_int_equal(url_parse((struct str){ text, URL_MAX_BYTES + 1 }, &url), URL_TOO_LONG);
	memset(text + 8, 'x', URL_MAX_HOST_BYTES);
	assert_int_equal(url_parse((struct str){ text, 7 + URL_MAX_HOST_BYTES }, &url), URL_OK);
	assert_int_equal(url_parse((struct str){ text, 8 + URL_MAX_HOST_BYTES }, &url), URL_HOST);
}

static void test_texts(void **state)
{
	(void)state;
	for (int p = 0; p < URL_PROBLEM_MAX; p++)
		assert_true(strlen(url_problem_text((enum url_problem)p)) > 10);
	assert_non_null(strstr(url_problem_text(URL_USERINFO), "basic_auth"));
}

static void test_join_ceiling(void **state)
{
	_cleanup_buf_ struct buf joined = BUF_INIT(12);
	struct url url;

	(void)state;
	assert_int_equal(url_parse(str_from("http://h/p?q"), &url), URL_OK);
	assert_int_equal(url_join(&joined, &url, "/x"), -ENOBUFS);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_lengths),
	TEST(test_texts),
	TEST(test_join_ceiling),
};

TEST_MAIN(tests)
