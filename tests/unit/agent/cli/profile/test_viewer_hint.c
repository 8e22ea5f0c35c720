/* SPDX-License-Identifier: Apache-2.0 */
/* Table tests of how to look at a file. */
#include "agent/cli/profile/viewer_hint.h"
#include "tests/support/unit.h"

struct row {
	const char *name;
	struct viewer_hint look;
	const char *expected;
};

static const struct row rows[] = {
	{ "html",
	  { PROFILE_HTML, "x.html", "/tmp/x.html", 1 },
	  "open it in a browser: file:///tmp/x.html" },
	{ "svg", { PROFILE_SVG, "x.svg", "/x.svg", 1 }, "open it in a browser: file:///x.svg" },
	{ "what a URL cannot have",
	  { PROFILE_HTML, "a", "/a b#?%\"<\xc3\xa4~", 1 },
	  "open it in a browser: file:///a%20b%23%3F%25%22%3C%C3%A4~" },
	{ "pprof",
	  { PROFILE_PPROF, "a.pprof", "/a", 1 },
	  "look at it: go tool pprof -http=: a.pprof" },
	{ "parts",
	  { PROFILE_PPROF, "a b", "/a b", 3 },
	  "look at it: go tool pprof -http=: 'a b' 'a b'.*" },
	{ "folded", { PROFILE_FOLDED, "a", "/a", 1 }, "draw it: flamegraph.pl a > a.svg" },
	{ "table", { PROFILE_TABLE, "a", "/a", 1 }, "read it: less a" },
	{ "speedscope",
	  { PROFILE_SPEEDSCOPE, "a", "/a", 1 },
	  "drop it on https://www.speedscope.app, or: npx speedscope a" },
	{ "otlp",
	  { PROFILE_OTLP, "a", "/a", 1 },
	  "send it: curl -H 'Content-Type: application/x-protobuf' --data-binary @a "
	  "http://localhost:4318/v1development/profiles" },
	{ "what a shell would do something with",
	  { PROFILE_TABLE, "$(a)'b", "/a", 1 },
	  "read it: less '$(a)'\\''b'" },
	{ "no flag", { PROFILE_TABLE, "-a", "/-a", 1 }, "read it: less ./-a" },
	{ "no flag, quoted", { PROFILE_TABLE, "-a b", "/-a b", 1 }, "read it: less ./'-a b'" },
	{ "a device", { PROFILE_HTML, "/dev/null", "/dev/null", 1 }, "" },
	{ "a link to a device", { PROFILE_HTML, "null", "/dev/null", 1 }, "" },
	{ "standard output", { PROFILE_HTML, NULL, NULL, 1 }, "" },
	{ "not written", { PROFILE_HTML, "a", "/a", 0 }, "" },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	viewer_hint_text(&row->look, &out);
	assert_string_equal(buf_str(&out), row->expected);
}

/* Whoever adds a format says how to look at it. */
static void test_every_format(void **state)
{
	(void)state;
	for (unsigned int i = PROFILE_FORMAT_UNSET + 1; i < PROFILE_FORMAT_MAX; i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(4096);
		const struct viewer_hint l = { i, "a", "/a", 1 };

		viewer_hint_text(&l, &out);
		assert_true(out.len > 0);
	}
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_every_format),
};

TEST_MAIN(tests)
