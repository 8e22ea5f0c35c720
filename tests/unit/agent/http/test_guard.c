/* SPDX-License-Identifier: Apache-2.0 */
/* Which requests a web page may have caused, and what this host is called. */
#include <errno.h>

#include "agent/http/host_names.h"
#include "tests/support/unit.h"

#define OURS "127.0.0.1:12345"
#define EVIL "evil.example"

enum { GET, POST };

struct row {
	const char *name;
	int method;
	struct guard_request r;
	enum guard_verdict verdict;
};

#define RELOAD .effect = HTTP_CHANGES
#define PAGE .effect = HTTP_IS_PAGE

/* The agent is called "box.example" and "box"; "agent.example" is listed. */
static const struct row rows[] = {
	{ "script", GET, { .host = OURS }, GUARD_PASSES },
	{ "HTTP/1.0", GET, { .host = NULL }, GUARD_PASSES },
	{ "localhost", GET, { .host = "localhost:12345" }, GUARD_PASSES },
	{ "localhost, any case", GET, { .host = "LocalHost" }, GUARD_PASSES },
	{ "localhost with a dot", GET, { .host = "localhost.:1" }, GUARD_PASSES },
	{ "another port", GET, { .host = "127.0.0.1:9999" }, GUARD_PASSES },
	{ "another address", GET, { .host = "10.1.2.3" }, GUARD_PASSES },
	{ "IPv6", GET, { .host = "[::1]:12345" }, GUARD_PASSES },
	{ "IPv6 without a port", GET, { .host = "[fd00::1]" }, GUARD_PASSES },
	{ "own name", GET, { .host = "box.example:12345" }, GUARD_PASSES },
	{ "own name, short", GET, { .host = "BOX" }, GUARD_PASSES },
	{ "listed name", GET, { .host = "agent.example" }, GUARD_PASSES },
	{ "listed name with a dot", GET, { .host = "agent.example.:80" }, GUARD_PASSES },
	{ "rebound", GET, { .host = EVIL ":12345" }, GUARD_FOREIGN_HOST },
	{ "rebound page", GET, { PAGE, .host = EVIL }, GUARD_FOREIGN_HOST },
	{ "rebound push",
	  POST,
	  { .host = EVIL, .origin = "http://" EVIL, .site = "same-origin" },
	  GUARD_FOREIGN_HOST },
	{ "rebound, but a password is wanted", GET, { .host = EVIL, .any_host = true }, GUARD_PASSES },
	{ "below localhost", GET, { .host = "evil.localhost" }, GUARD_FOREIGN_HOST },
	{ "begins like ours", GET, { .host = "box.evil.example" }, GUARD_FOREIGN_HOST },
	{ "ends like ours", GET, { .host = "notbox" }, GUARD_FOREIGN_HOST },
	{ "begins like an address", GET, { .host = "127.0.0.1.evil.example" }, GUARD_FOREIGN_HOST },
	{ "short address", GET, { .host = "127.1" }, GUARD_FOREIGN_HOST },
	{ "number", GET, { .host = "2130706433" }, GUARD_FOREIGN_HOST },
	{ "empty", GET, { .host = "" }, GUARD_FOREIGN_HOST },
	{ "only a dot", GET, { .host = "." }, GUARD_FOREIGN_HOST },
	{ "only a port", GET, { .host = ":80" }, GUARD_FOREIGN_HOST },
	{ "port that is none", GET, { .host = "localhost:80.evil.example" }, GUARD_FOREIGN_HOST },
	{ "user name", GET, { .host = "localhost@evil.example" }, GUARD_FOREIGN_HOST },
	{ "open bracket", GET, { .host = "[::1" }, GUARD_FOREIGN_HOST },
	{ "behind the bracket", GET, { .host = "[::1].evil.example" }, GUARD_FOREIGN_HOST },
	{ "name in brackets", GET, { .host = "[evil.example]" }, GUARD_FOREIGN_HOST },
	{ "nothing in brackets", GET, { .host = "[]" }, GUARD_FOREIGN_HOST },
	{ "two names", GET, { .host = "localhost, evil.example" }, GUARD_FOREIGN_HOST },

	{ "read by our page", GET, { .host = OURS, .site = "same-origin" }, GUARD_PASSES },
	{ "typed address", GET, { .host = OURS, .site = "none" }, GUARD_PASSES },
	{ "read by a neighbour", GET, { .host = OURS, .site = "same-site" }, GUARD_PASSES },
	{ "read by another site", GET, { .host = OURS, .site = "cross-site" }, GUARD_OTHER_SITE },
	{ "read by a link from another site",
	  GET,
	  { .host = OURS, .site = "cross-site", .mode = "navigate", .dest = "document" },
	  GUARD_OTHER_SITE },
	{ "page by a link from another site",
	  GET,
	  { PAGE, .host = OURS, .site = "cross-site", .mode = "navigate", .dest = "document" },
	  GUARD_PASSES },
	{ "page in a frame of another site",
	  GET,
	  { PAGE, .host = OURS, .site = "cross-site", .mode = "navigate", .dest = "iframe" },
	  GUARD_OTHER_SITE },
	{ "page fetched by another site",
	  GET,
	  { PAGE, .host = OURS, .site = "cross-site", .mode = "no-cors", .dest = "empty" },
	  GUARD_OTHER_SITE },
	{ "page by a form of another site",
	  POST,
	  { PAGE, .host = OURS, .site = "cross-site", .mode = "navigate", .dest = "document" },
	  GUARD_OTHER_SITE },

	{ "push by a program", POST, { .host = OURS }, GUARD_PASSES },
	{ "push by our page", POST, { .host = OURS, .site = "same-origin" }, GUARD_PASSES },
	{ "push by our page behind a proxy",
	  POST,
	  { .host = OURS, .origin = "https://x.example", .site = "same-origin" },
	  GUARD_PASSES },
	{ "push by another site", POST, { .host = OURS, .site = "cross-site" }, GUARD_OTHER_SITE },
	{ "push by a neighbour", POST, { .host = OURS, .site = "same-site" }, GUARD_OTHER_SITE },
	{ "push by who knows", POST, { .host = OURS, .site = "" }, GUARD_OTHER_SITE },
	{ "push by our page, older browser",
	  POST,
	  { .host = OURS, .origin = "http://" OURS, .referer = "http://" EVIL },
	  GUARD_PASSES },
	{ "push by another site, older browser",
	  POST,
	  { .host = OURS, .origin = "http://" EVIL },
	  GUARD_OTHER_SITE },
	{ "push by another port, older browser",
	  POST,
	  { .host = OURS, .origin = "http://127.0.0.1:3000" },
	  GUARD_OTHER_SITE },
	{ "push by a page that hides", POST, { .host = OURS, .origin = "null" }, GUARD_OTHER_SITE },
	{ "push by an empty origin", POST, { .host = OURS, .origin = "" }, GUARD_OTHER_SITE },
	{ "push by an origin without a host", POST, { .host = OURS, .origin = "file://" }, GUARD_OTHER_SITE },
	{ "push by a listed page behind a proxy",
	  POST,
	  { .host = OURS, .origin = "https://agent.example:8443" },
	  GUARD_PASSES },
	{ "push by another page of this host",
	  POST,
	  { .host = OURS, .origin = "http://box.example:3000" },
	  GUARD_OTHER_SITE },
	{ "push by a user name like ours",
	  POST,
	  { .host = OURS, .origin = "http://" OURS "@evil.example" },
	  GUARD_OTHER_SITE },
	{ "push by our page, by its referer",
	  POST,
	  { .host = OURS, .referer = "http://" OURS "/?q=1" },
	  GUARD_PASSES },
	{ "push by another site, by its referer",
	  POST,
	  { .host = OURS, .referer = "http://evil.example/http://" OURS },
	  GUARD_OTHER_SITE },
	{ "push without a host", POST, { .origin = "http://" OURS }, GUARD_OTHER_SITE },

	{ "reload by a script", GET, { RELOAD, .host = OURS }, GUARD_PASSES },
	{ "reload by an image", GET, { RELOAD, .host = OURS, .site = "cross-site" }, GUARD_BROWSER },
	{ "reload by our page", GET, { RELOAD, .host = OURS, .site = "same-origin" }, GUARD_BROWSER },
	{ "reload by a typed address", GET, { RELOAD, .host = OURS, .site = "none" }, GUARD_BROWSER },
	{ "reload with a mode", GET, { RELOAD, .host = OURS, .mode = "no-cors" }, GUARD_BROWSER },
	{ "reload with a destination", GET, { RELOAD, .host = OURS, .dest = "image" }, GUARD_BROWSER },
	{ "reload with an origin",
	  GET,
	  { RELOAD, .host = OURS, .origin = "http://" OURS },
	  GUARD_BROWSER },
	{ "reload with another site's referer",
	  GET,
	  { RELOAD, .host = OURS, .referer = "http://" EVIL "/" },
	  GUARD_OTHER_SITE },
	{ "reload by POST", POST, { RELOAD, .host = OURS }, GUARD_PASSES },
	{ "reload by POST of our page", POST, { RELOAD, .host = OURS, .site = "same-origin" }, GUARD_PASSES },
	{ "reload with a password wanted, by an image",
	  GET,
	  { RELOAD, .host = OURS, .site = "cross-site", .any_host = true },
	  GUARD_BROWSER },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	struct guard_request r = row->r;
	struct guard g = { 0 };

	r.is_get = row->method == GET;
	assert_int_equal(host_names_add(&g, "box.example", (struct str){ NULL, 0 }), 0);
	assert_int_equal(guard_add_name(&g, STR_LIT("agent.example"), true), 0);
	assert_int_equal(guard_judge(&g, &r), row->verdict);
	guard_fini(&g);
}

struct names_row {
	const char *name, *hostname, *hosts, *names;
};

static const struct names_row names_rows[] = {
	{ "names none", "", "127.0.0.1 localhost evil.example\n", "" },
	{ "names short", "box", "", "box " },
	{ "names long", "box.example", "", "box.example box " },
	{ "names Debian", "box", "127.0.0.1 localhost\n127.0.1.1\tbox.example box\n",
	  "box box.example " },
	{ "names aliases", "box", "10.0.0.1 www BOX web # box2\n", "box www web " },
	{ "names of others", "box", "10.0.0.1 www\n10.0.0.2 boxer\n", "box " },
	{ "names comment", "box", "# box evil.example\n10.0.0.1 # box\n", "box " },
	{ "names address like ours", "box", "box evil.example\n", "box " },
	{ "names last line", "box", "1.1.1.1 box b.example", "box b.example " },
	{ "names carriage return", "box", "1.1.1.1 box b.example\r\n", "box b.example " },
	{ "names that are none", "box", "1.1.1.1 box b/x \xff\n", "box " },
	{ "names hostname that is none", "b x", "", "" },
	{ "names dot", "box.", "", "box " },
};

static void test_names(void **state)
{
	const struct names_row *row = *state;
	_cleanup_buf_ struct buf names = BUF_INIT(4096);
	struct guard g = { 0 };

	assert_int_equal(host_names_add(&g, row->hostname, str_from(row->hosts)), 0);
	for (size_t i = 0; i < g.n_names; i++) {
		assert_false(g.names[i].is_ours);
		(void)buf_printf(&names, "%s ", g.names[i].text);
	}
	assert_string_equal(buf_str(&names), row->names);
	guard_fini(&g);
}

static void test_names_are_bounded(void **state)
{
	struct guard g = { 0 };
	char name[GUARD_MAX_NAME_BYTES + 2];
	int r = 0;

	(void)state;
	for (int i = 0; i < GUARD_MAX_NAMES; i++) {
		(void)snprintf(name, sizeof(name), "n%d", i);
		assert_int_equal(guard_add_name(&g, str_from(name), false), 0);
		assert_int_equal(guard_add_name(&g, str_from(name), true), 0);
	}
	r = guard_add_name(&g, STR_LIT("more"), false);
	assert_int_equal(r, -ENOBUFS);
	guard_fini(&g);
	memset(name, 'a', sizeof(name));
	assert_int_equal(guard_add_name(&g, (struct str){ name, GUARD_MAX_NAME_BYTES }, false), 0);
	assert_int_equal(guard_add_name(&g, (struct str){ name, GUARD_MAX_NAME_BYTES + 1 }, false),
			 -EINVAL);
	guard_fini(&g);
}

static void test_allowed_hosts(void **state)
{
	(void)state;
	assert_null(http_hosts_problem(NULL));
	assert_null(http_hosts_problem("a"));
	assert_null(http_hosts_problem("a.example, b_c.example."));
	assert_non_null(http_hosts_problem("a:80"));
	assert_non_null(http_hosts_problem("a,,b"));
	assert_non_null(http_hosts_problem("a,"));
	assert_non_null(http_hosts_problem("http://a"));
	assert_non_null(http_hosts_problem("*"));
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST_ROWS(test_names, names_rows, name),
	TEST(test_names_are_bounded),
	TEST(test_allowed_hosts),
};

TEST_MAIN(tests)
