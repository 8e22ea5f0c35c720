/* SPDX-License-Identifier: Apache-2.0 */
/* Selectors: what is one, what is wrong with what is none, and which series they take. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/query/selector.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/store/query/query_context.h"

/* `taken`: the values of the label `s` of the series that are taken. */
struct take_row {
	const char *selector;
	const char *taken;
};

/* s=a host=a x=1 | s=b host=b/c | s=c host=ä weird=a"b'c`d\e | s=d with two lines */
static const struct take_row take_rows[] = {
	{ "", "abcd" },
	{ "{}", "abcd" },
	{ " \t\r\n{ } ", "abcd" },
	{ "{host=\"a\"}", "a" },
	{ "{host=\"a\",}", "a" },
	{ "{ host = \"a\" , x = \"1\" }", "a" },
	{ "{host='a'}", "a" },
	{ "{host=`a`}", "a" },
	{ "{host!=\"a\"}", "bcd" },
	{ "{host=\"a\",host=\"b/c\"}", "" },
	{ "{host=\"a\",host!=\"b/c\"}", "a" },
	{ "{host=\"nobody\"}", "" },
	{ "{host=\"\xc3\xa4\"}", "c" },
	/* expressions match the whole value */
	{ "{host=~\"a|b/c\"}", "ab" },
	{ "{host=~\"b\"}", "" },
	{ "{host=~\"b.*\"}", "b" },
	{ "{host=~\"^a$\"}", "a" },
	{ "{host=~\"(?i)A\"}", "a" },
	{ "{host!~\"a\"}", "bcd" },
	{ "{host!~\"a|b.c\"}", "cd" },
	{ "{host=~`b\\/c`}", "b" },
	{ "{host=~\"b\\\\/c\"}", "b" },
	{ "{host=~\"line.two\"}", "d" },
	{ "{host=~\".\"}", "ac" },
	/* a label that is not there is empty */
	{ "{x=\"\"}", "bcd" },
	{ "{x!=\"\"}", "a" },
	{ "{x!=\"1\"}", "bcd" },
	{ "{x=~\"\"}", "bcd" },
	{ "{x=~\".*\"}", "abcd" },
	{ "{x=~\".+\"}", "a" },
	{ "{x!~\".+\"}", "bcd" },
	{ "{nope=\"\"}", "abcd" },
	{ "{nope!=\"\"}", "" },
	{ "{nope=~\".*\"}", "abcd" },
	{ "{nope!~\"a?\"}", "" },
	/* strings */
	{ "{host=\"\\x61\"}", "a" },
	{ "{host=\"\\141\"}", "a" },
	{ "{host=\"\\u0061\"}", "a" },
	{ "{host=\"\\U00000061\"}", "a" },
	{ "{host=\"\\u00e4\"}", "c" },
	{ "{host=\"line\\ntwo\"}", "d" },
	{ "{host=`line\ntwo`}", "d" },
	{ "{host=`line\\ntwo`}", "" },
	{ "{weird=\"a\\\"b'c`d\\\\e\"}", "c" },
	{ "{weird='a\"b\\'c`d\\\\e'}", "c" },
	{ "{host=\"\\xff\"}", "" },
	{ "{host=\"a\\x00\"}", "" },
	{ "{host!=\"a\\000\"}", "abcd" },
	{ "{host=\"a#\"}", "" },
	/* names in quotes */
	{ "{\"host\"=\"a\"}", "a" },
	{ "{'host'=`a`,\"x\"=\"1\"}", "a" },
	{ "{\"a.b\"=\"dotted\"}", "b" },
	{ "{\"process_cpu\"}", "abc" },
	{ "{\"process_cpu\",host=\"a\"}", "a" },
	{ "{host=\"a\", `process_cpu` , }", "a" },
	{ "{\"\"=\"\"}", "abcd" },
	/* what stands before the braces */
	{ "process_cpu", "abc" },
	{ "process_cpu{}", "abc" },
	{ "process_cpu {host=\"a\"}", "a" },
	{ "memory{}", "d" },
	{ "process_cpu{__name__=\"memory\"}", "" },
	{ CPU "{}", "abc" },
	{ CPU "{host=\"a\"}", "a" },
	{ "nope{}", "" },
	/* comments */
	{ "{host=\"a\"}# comment", "a" },
	{ "{host=\"a\", # comment }\n x=\"1\"}", "a" },
	{ "{__profile_type__=\"" CPU "\"}", "abc" },
	{ "{_=\"\",A1_b=\"\"}", "abcd" },
};

struct fixture {
	struct context context;
};

static void set_up(struct fixture *f)
{
	struct context *w = &f->context;

	context_init(w);
	context_put(w, 0, "s=a,host=a,x=1", 1, "f 1");
	context_put(w, 0, "s=b,host=b/c,a.b=dotted", 1, "f 1");
	context_put(w, 0, "s=c,host=\xc3\xa4,weird=a\"b'c`d\\e", 1, "f 1");
	context_put_type(w, 0, "s=d,host=line\ntwo", "memory:inuse_space:bytes:space:bytes", 1,
			 "f 1");
	context_close(w);
}

static void tear_down(struct fixture *f)
{
	context_fini(&f->context);
}

FIXTURE(struct fixture, set_up, tear_down)

static void taken_by(struct selector *s, const struct segment *segment, char *ret_taken)
{
	_cleanup_(selector_on_freep) struct selector_on *on = NULL;
	char found[256] = "";

	assert_int_equal(selector_on_new(s, segment, &on), 0);
	for (size_t i = 0; i < segment_n_series(segment); i++)
		found[(unsigned char)segment_series_label(segment, i, "s")[0]] =
			selector_on_match(on, i);
	for (int c = 'a'; c <= 'd'; c++)
		if (found[c])
			*ret_taken++ = (char)c;
	*ret_taken = '\0';
}

static void test_take(void **state)
{
	const struct take_row *row = *state;
	_cleanup_(selector_freep) struct selector *s = NULL;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	struct fixture *f;
	char taken[8];
	void *made;

	assert_int_equal(setup(&made), 0);
	f = made;
	if (selector_new(row->selector, &why, &s) != SELECTOR_PARSED)
		fail_msg("%s", buf_str(&why));
	taken_by(s, f->context.segments[0], taken);
	assert_string_equal(taken, row->taken);
	(void)teardown(&made);
}

struct wrong_row {
	const char *selector;
	const char *why;
};

static const struct wrong_row wrong_rows[] = {
	{ "{",
	  "1:2: parse error: unexpected end of input inside braces, expected identifier or \"}\"" },
	{ "{host=\"a\"",
	  "1:10: parse error: unexpected end of input inside braces, expected \",\" or \"}\"" },
	{ "{host=\"a\",,}",
	  "1:11: parse error: unexpected \",\" in label matching, expected identifier or \"}\"" },
	{ "{,}",
	  "1:2: parse error: unexpected \",\" in label matching, expected identifier or \"}\"" },
	{ "{host}", "1:6: parse error: unexpected \"}\" in label matching, expected label matching "
		    "operator" },
	{ "{host=}", "1:7: parse error: unexpected \"}\" in label matching, expected string" },
	{ "{host=a}",
	  "1:7: parse error: unexpected identifier \"a\" in label matching, expected string" },
	{ "{host==\"a\"}",
	  "1:7: parse error: unexpected \"=\" in label matching, expected string" },
	{ "{host>\"a\"}", "1:6: parse error: unexpected \">\" in label matching, expected label "
			  "matching operator" },
	{ "{1a=\"a\"}",
	  "1:2: parse error: unexpected \"1\" in label matching, expected identifier or \"}\"" },
	{ "{a.b=\"a\"}", "1:3: parse error: unexpected \".\" in label matching, expected label "
			 "matching operator" },
	{ "{a:b=\"a\"}", "1:3: parse error: unexpected \":\" in label matching, expected label "
			 "matching operator" },
	{ "{h\xc3\xb6s=\"a\"}", "1:3: parse error: unexpected \"\xc3\xb6\" in label matching, "
				"expected label matching operator" },
	{ "{host=\"a\" x=\"1\"}", "1:11: parse error: unexpected identifier \"x\" in label "
				  "matching, expected \",\" or \"}\"" },
	{ "{host=\"a\" \"x\"}",
	  "1:11: parse error: unexpected string in label matching, expected \",\" or \"}\"" },
	{ "{host=\"a\"}x", "1:11: parse error: unexpected identifier \"x\"" },
	{ "{host=\"a\"}{}", "1:11: parse error: unexpected \"{\"" },
	{ "{host=\"a\"}[5m]", "1:11: parse error: unexpected \"[\"" },
	{ "host=\"a\"", "1:5: parse error: unexpected \"=\"" },
	{ "sum({host=\"a\"})", "1:4: parse error: unexpected \"(\"" },
	{ "a b", "1:3: parse error: unexpected identifier \"b\"" },
	{ "\"foo\"", "1:1: parse error: unexpected string" },
	{ "5", "1:1: parse error: unexpected \"5\"" },
	{ "{\n\n  host", "3:7: parse error: unexpected end of input inside braces, expected label "
			 "matching operator" },
	/* strings */
	{ "{host=\"a\n\"}", "1:7: parse error: unterminated quoted string" },
	{ "{host='a", "1:7: parse error: unterminated quoted string" },
	{ "{host=\"a\\", "1:7: parse error: unterminated quoted string" },
	{ "{host=`a", "1:7: parse error: unterminated raw string" },
	{ "{host=`a``}",
	  "1:10: parse error: unexpected string in label matching, expected \",\" or \"}\"" },
	{ "{host=~\"b\\/c\"}", "1:8: parse error: unknown escape sequence `\\/`" },
	{ "{host=\"\\'\"}", "1:7: parse error: unknown escape sequence `\\'`" },
	{ "{host='\\\"'}", "1:7: parse error: unknown escape sequence `\\\"`" },
	{ "{host=\"\\xg1\"}", "1:7: parse error: unknown escape sequence `\\x`" },
	{ "{host=\"\\x6\"}", "1:7: parse error: unknown escape sequence `\\x`" },
	{ "{host=\"\\400\"}", "1:7: parse error: unknown escape sequence `\\4`" },
	{ "{host=\"\\ud800\"}", "1:7: parse error: unknown escape sequence `\\u`" },
	{ "{host=\"\\U00110000\"}", "1:7: parse error: unknown escape sequence `\\U`" },
	{ "{\"a\\x00\"=\"b\"}", "1:2: parse error: a label name with a NUL byte" },
	{ "{a=~\"\\x00\"}", "1:2: parse error: a regular expression with a NUL byte" },
	/* expressions: the place is that of the matcher */
	{ "{host=~\"(\"}",
	  "1:2: parse error: error parsing regexp: missing closing parenthesis: `(`" },
	{ "{a=\"\",host=~\"a(?=b)\"}",
	  "1:7: parse error: error parsing regexp: invalid or unsupported Perl syntax: `(?=`" },
	{ "{host!~`*`}",
	  "1:2: parse error: error parsing regexp: missing argument to repetition operator: `*`" },
};

static void test_wrong(void **state)
{
	const struct wrong_row *row = *state;
	_cleanup_(selector_freep) struct selector *s = NULL;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	assert_int_equal(selector_new(row->selector, &why, &s), SELECTOR_WRONG);
	assert_string_equal(buf_str(&why), row->why);
	assert_null(s);
}

static void test_head(void **state)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	struct selector *s;

	(void)state;
	assert_int_equal(selector_new(" " CPU " {a=\"b\"}", &why, &s), SELECTOR_PARSED);
	assert_string_equal(selector_head(s), CPU);
	selector_free(s);
	assert_int_equal(selector_new("{a=\"b\"}", &why, &s), SELECTOR_PARSED);
	assert_null(selector_head(s));
	selector_free(s);
	selector_free(NULL);
	selector_on_free(NULL);
}

static void test_matchers_ceiling(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096), why = BUF_INIT(4096);
	struct selector *s;

	(void)state;
	(void)buf_append_char(&text, '{');
	for (size_t i = 0; i < SELECTOR_MATCHERS_MAX; i++)
		(void)buf_append_str(&text, "a=\"\",");
	size_t n = text.len;
	(void)buf_append_char(&text, '}');
	assert_int_equal(selector_new(buf_str(&text), &why, &s), SELECTOR_PARSED);
	selector_free(s);
	text.len = n;
	(void)buf_append_str(&text, "a=\"\"}");
	assert_int_equal(selector_new(buf_str(&text), &why, &s), SELECTOR_WRONG);
	assert_string_equal(buf_str(&why), "1:322: parse error: more than 64 matchers");
}

static void test_length_ceiling(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(2 * SELECTOR_TEXT_MAX), why = BUF_INIT(4096);
	struct selector *s;

	(void)state;
	(void)buf_append_str(&text, "{a=\"");
	while (text.len < SELECTOR_TEXT_MAX - 2)
		(void)buf_append_char(&text, 'x');
	(void)buf_append_str(&text, "\"}");
	assert_int_equal(selector_new(buf_str(&text), &why, &s), SELECTOR_PARSED);
	selector_free(s);
	(void)buf_append_char(&text, ' ');
	assert_int_equal(selector_new(buf_str(&text), &why, &s), SELECTOR_WRONG);
	assert_string_equal(buf_str(&why), "1:1: parse error: longer than 65536 bytes");
}

/* What is not known is no answer, neither yes nor no. */
static void test_given_up(void **state)
{
	static const char *const selectors[] = { "{host=~\"(x+x+)+y\"}", "{host!~\"(x+x+)+y\"}" };
	struct context w;

	(void)state;
	context_init(&w);
	context_put(&w, 0, "host=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxyz", 1, "f 1");
	context_close(&w);
	for (size_t i = 0; i < ARRAY_SIZE(selectors); i++) {
		_cleanup_(selector_freep) struct selector *s = NULL;
		_cleanup_buf_ struct buf why = BUF_INIT(4096);
		struct selector_on *on = NULL;

		assert_int_equal(selector_new(selectors[i], &why, &s), SELECTOR_PARSED);
		assert_int_equal(selector_on_new(s, w.segments[0], &on), -ETIMEDOUT);
		assert_null(on);
	}
	context_fini(&w);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_take, take_rows, selector),
	TEST_ROWS(test_wrong, wrong_rows, selector),
	TEST(test_head),
	TEST(test_matchers_ceiling),
	TEST(test_length_ceiling),
	TEST(test_given_up),
};

TEST_MAIN(tests)
