/* SPDX-License-Identifier: Apache-2.0 */
/* Table tests of texts in XML: escaped, repaired, cut. */
#include <string.h>

#include "agent/draw/xml_text.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"
#include "tests/support/xml_check.h"

struct row {
	const char *name;
	const char *text;
	size_t columns;
	const char *expected;
};

#define MANY 1000

static const struct row rows[] = {
	{ "plain", "main", MANY, "main" },
	{ "nothing", "", MANY, "" },
	{ "markup", "</script><b>\"&'", MANY, "&lt;/script&gt;&lt;b&gt;&quot;&amp;'" },
	{ "an entity stays a text", "&amp;", MANY, "&amp;amp;" },
	{ "templates", "std::vector<a, b>::at", MANY, "std::vector&lt;a, b&gt;::at" },
	{ "control characters", "a\x01\n\t\x7f", MANY,
	  "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	{ "no UTF-8", "a\xff\xc3", MANY, "a\xef\xbf\xbd\xef\xbf\xbd" },
	{ "a surrogate", "\xed\xa0\x80", MANY, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	{ "U+FFFE and U+FFFF", "\xef\xbf\xbe\xef\xbf\xbf", MANY, "\xef\xbf\xbd\xef\xbf\xbd" },
	{ "U+FFFD itself", "\xef\xbf\xbd", MANY, "\xef\xbf\xbd" },
	{ "fits exactly", "abcd", 4, "abcd" },
	{ "cut", "abcde", 4, "abc\xe2\x80\xa6" },
	{ "cut before an entity", "ab<cd", 3, "ab\xe2\x80\xa6" },
	{ "cut behind an entity", "ab<cd", 4, "ab&lt;\xe2\x80\xa6" },
	{ "cut between characters", "\xc3\xa4\xc3\xb6\xc3\xbc", 2, "\xc3\xa4\xe2\x80\xa6" },
	{ "wide characters count twice", "\xe6\xbc\xa2\xe5\xad\x97", 3,
	  "\xe6\xbc\xa2\xe2\x80\xa6" },
	{ "wide characters that fit", "\xe6\xbc\xa2\xe5\xad\x97", 4, "\xe6\xbc\xa2\xe5\xad\x97" },
	{ "one column", "abc", 1, "\xe2\x80\xa6" },
	{ "no column", "abc", 0, "" },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf out = BUF_INIT(4096);
	_cleanup_buf_ struct buf document = BUF_INIT(4096);

	assert_int_equal(xml_text(&out, row->text, row->columns), 0);
	assert_string_equal(buf_str(&out), row->expected);
	assert_int_equal(buf_printf(&document, "<a b=\"%s\">%s</a>", buf_str(&out), buf_str(&out)),
			 0);
	assert_true(xml_is_well_formed(buf_str(&document), document.len));
}

static void test_ceiling(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(3);

	(void)state;
	assert_int_not_equal(xml_text(&out, "abc<", MANY), 0);
	assert_true(out.failed);
}

/* The judge of these tests knows what is wrong. */
static void test_judge(void **state)
{
	static const char *const wrong[] = { "",
					     "<a>",
					     "<a></b>",
					     "<a/><a/>",
					     "<a b=c/>",
					     "<a>&x;</a>",
					     "<a>&</a>",
					     "<a><</a>",
					     "<a>\x01</a>",
					     "<a>\xff</a>",
					     "<a b=\"<\"/>",
					     "a<b/>",
					     "<a b=\"c/>",
					     "<a></a",
					     "<a>\xef\xbf\xbf</a>" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_false(xml_is_well_formed(wrong[i], strlen(wrong[i])));
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_ceiling),
	TEST(test_judge),
};

TEST_MAIN(tests)
