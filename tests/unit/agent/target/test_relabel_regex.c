/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions: what is one and what it matches, what is none and why, how long it may take. */
#include <stdlib.h>
#include <string.h>

#include "agent/target/relabel_template.h"
#include "tests/support/unit.h"

#define MESSAGE_MAX 4096

/* What it captured, "[whole][1][2]", with - for a group that took no part; NULL: no match. */
struct match_row {
	const char *regex;
	const char *text;
	const char *expected;
};

static const struct match_row match_rows[] = {
	/* anchored, over the whole */
	{ "a", "a", "[a]" },
	{ "a", "ab", NULL },
	{ "a", "ba", NULL },
	{ "a|b", "b", "[b]" },
	{ "a|b", "ab", NULL },
	{ "", "", "[]" },
	{ "", "a", NULL },
	{ ".*", "", "[]" },
	{ "(.*)", "a b", "[a b][a b]" },
	{ "(.+)", "", NULL },
	{ "^a$", "a", "[a]" },
	{ "a\\z", "a", "[a]" },
	{ "\\Aa", "a", "[a]" },
	{ "a", "a\n", NULL },
	{ "a$", "a\n", NULL },
	/* the dot, lines */
	{ "a.b", "a\nb", "[a\nb]" },
	{ "(?-s:a.b)", "a\nb", NULL },
	{ "(?-s)a.b", "a\tb", "[a\tb]" },
	{ "a.b",
	  "a\xc3\xa9"
	  "b",
	  "[a\xc3\xa9"
	  "b]" },
	{ "(?m)a$\n^b", "a\nb", "[a\nb]" },
	{ "a$\n^b", "a\nb", NULL },
	{ "(?m)a\n^", "a\n", "[a\n]" },
	{ "(?m)$\n^$\n", "\n\n", "[\n\n]" },
	/* groups */
	{ "(a)(b)?", "a", "[a][a][-]" },
	{ "(a)|(b)", "b", "[b][-][b]" },
	{ "(?P<x>a)(?<y>b)", "ab", "[ab][a][b]" },
	{ "(?:a)(b)", "ab", "[ab][b]" },
	{ "(a*?)(a*)", "aaa", "[aaa][][aaa]" },
	{ "(?U)(a*)(a*?)", "aaa", "[aaa][][aaa]" },
	{ "(a|ab)(c|bcd)(d*)", "abcd", "[abcd][a][bcd][]" },
	/* repetitions */
	{ "a{2}", "aa", "[aa]" },
	{ "a{2,}", "aaaa", "[aaaa]" },
	{ "a{1,2}", "aaa", NULL },
	{ "a{,2}", "a{,2}", "[a{,2}]" },
	{ "a{", "a{", "[a{]" },
	{ "x{0}a", "a", "[a]" },
	{ "(?:ab)+", "abab", "[abab]" },
	{ "(?:\\b)?a", "a", "[a]" },
	/* loops over groups that may take nothing: the last iteration does */
	{ "(a*)+", "aa", "[aa][]" },
	{ "(a*)*", "", "[][]" },
	{ "(?:(a*)|b)+c", "abc", "[abc][]" },
	/* flags */
	{ "(?i)a", "A", "[A]" },
	{ "(?i:a)b", "AB", NULL },
	{ "a(?i)b|c", "C", "[C]" },
	{ "(?i)(?-i)a", "A", NULL },
	{ "(?i)\xc3\xa9", "\xc3\x89", "[\xc3\x89]" },
	{ "(?i)k", "\xe2\x84\xaa", "[\xe2\x84\xaa]" },
	{ "\\w", "\xc5\xbf", NULL },
	/* classes */
	{ "[a-c]+", "abc", "[abc]" },
	{ "[^a]", "\n", "[\n]" },
	{ "[]a]+", "a]", "[a]]" },
	{ "[^]a]", "b", "[b]" },
	{ "[a-]+", "a-", "[a-]" },
	{ "[\\d-x]+", "1-x", "[1-x]" },
	{ "[[:alpha:]_]+", "aZ_", "[aZ_]" },
	{ "[[:alpha:]]", "\xc3\xa9", NULL },
	{ "[[:^alpha:]]", "\xc3\xa9", "[\xc3\xa9]" },
	{ "[[:word:]]+", "a_1", "[a_1]" },
	{ "[[:space:]]", "\v", "[\v]" },
	{ "\\v", "\n", NULL },
	{ "[[:cntrl:]]", "\x7f", "[\x7f]" },
	{ "[[:ascii:]]", "\xc3\xa9", NULL },
	{ "[[:a]+", "[:a", "[[:a]" },
	{ "\\d", "\xd9\xa3", NULL },
	{ "\\D", "\xd9\xa3", "[\xd9\xa3]" },
	{ "\\pN", "\xd9\xa3", "[\xd9\xa3]" },
	{ "\\p{Greek}+", "\xce\xb1", "[\xce\xb1]" },
	{ "\\p{^Greek}", "a", "[a]" },
	{ "\\P{Greek}", "\xce\xb1", NULL },
	{ "[\\p{L}\\d]+", "a1", "[a1]" },
	{ "\\P{Any}", "a", NULL },
	/* characters */
	{ "\\.\\_\\-\\/", "._-/", "[._-/]" },
	{ "\\x41\\x{42}\\012", "AB\n", "[AB\n]" },
	{ "\\a\\f\\n\\r\\t\\v", "\a\f\n\r\t\v", "[\a\f\n\r\t\v]" },
	{ "\\Qa.b(\\E+", "a.b((", "[a.b((]" },
	{ "a#b c", "a#b c", "[a#b c]" },
	{ "\\bfoo\\b.bar", "foo bar", "[foo bar]" },
	{ "\\Qa.b", "a.b", "[a.b]" },
	{ "[\\w-.]+", "a-.", "[a-.]" },
	{ "[[:alpha:]-_]+", "a-_", "[a-_]" },
	/* text that is no UTF-8: each byte is a character, and stays what it is */
	{ "(.)(.)", "\xff\xfe", "[\xff\xfe][\xff][\xfe]" },
	{ "a(.*)b",
	  "a\xff"
	  "b",
	  "[a\xff"
	  "b][\xff]" },
	{ "\xc3\xa9(.*)", "\xc3\xa9\xff", "[\xc3\xa9\xff][\xff]" },
	{ "[a-z]", "\xff", NULL },
};

static struct relabel_regex *compile(const char *text)
{
	_cleanup_buf_ struct buf why = BUF_INIT(MESSAGE_MAX);
	struct relabel_regex *re = NULL;
	int r = relabel_regex_new(text, &why, &re);

	assert_string_equal(buf_str(&why), "");
	assert_int_equal(r, 0);
	return re;
}

static void test_match(void **state)
{
	const struct match_row *row = *state;
	_cleanup_(relabel_regex_freep) struct relabel_regex *re = compile(row->regex);
	_cleanup_buf_ struct buf got = BUF_INIT(MESSAGE_MAX);
	struct relabel_pass pass = RELABEL_PASS_INIT;
	struct relabel_spans spans;

	if (!relabel_regex_match(re, row->text, strlen(row->text), &pass, &spans)) {
		assert_null(row->expected);
		return;
	}
	for (size_t i = 0; i <= relabel_regex_n_groups(re); i++) {
		const size_t *span = &spans.offsets[2 * i];

		if (i >= spans.n || span[0] == RELABEL_NO_OFFSET)
			(void)buf_append_str(&got, "[-]");
		else
			(void)buf_printf(&got, "[%.*s]", (int)(span[1] - span[0]),
					 row->text + span[0]);
	}
	assert_string_equal(buf_str(&got), row->expected ? row->expected : "no match");
	assert_int_equal(pass.n_given_up, 0);
}

struct refuse_row {
	const char *regex;
	const char *message; /* behind "error parsing regexp: " */
};

#define PERL "invalid or unsupported Perl syntax: "
#define ESCAPE "invalid escape sequence: "

static const struct refuse_row refuse_rows[] = {
	{ "(a", "missing closing parenthesis: `(a`" },
	{ "a)", "unmatched closing parenthesis: `a)`" },
	{ "[a", "missing closing ]: `[a`" },
	{ "[a-", "missing closing ]: `[a-`" },
	{ "[]", "missing closing ]: `[]`" },
	{ "[z-a]", "range out of order in character class: `[z-a]`" },
	{ "[[:foo:]]", "unknown POSIX class name: `[[:foo:]]`" },
	{ "\\p{Foo}", "unknown property after \\P or \\p: `\\p{Foo}`" },
	{ "\\p{L", "missing closing }: `\\p{L`" },
	{ "*", "missing argument to repetition operator: `*`" },
	{ "a|*", "missing argument to repetition operator: `*`" },
	{ "(?i)*?", "missing argument to repetition operator: `*?`" },
	{ "a**", "invalid nested repetition operator: `**`" },
	{ "a{2}{3}", "invalid nested repetition operator: `{2}{3}`" },
	{ "a{1001}", "invalid repeat count: `{1001}`" },
	{ "a{1001,}", "invalid repeat count: `{1001,}`" },
	{ "a{1,1001}?", "invalid repeat count: `{1,1001}`" },
	{ "a{99999999999999999999}", "invalid repeat count: `{99999999999999999999}`" },
	{ "a{3,2}", "numbers out of order in {} quantifier: `a{3,2}`" },
	{ "\\8", ESCAPE "`\\8`" },
	{ "\\xzz", ESCAPE "`\\xzz`" },
	{ "[\\b]", ESCAPE "`\\b`" },
	{ "a\\", "trailing backslash at end of expression: `\\`" },
	{ "\xff", "UTF-8 error: illegal byte (0xfe or 0xff): `\xff`" },
	{ "(?P<a-b>x)", "invalid named capture: `(?P<a-`" },
	{ "(?P<>x)", "invalid named capture: `(?P<>`" },
	{ "(?P<n", "invalid named capture: `(?P<n`" },
	/* what PCRE2 knows and RE2 does not */
	{ "(a)\\1", ESCAPE "`\\1`" },
	{ "(?P<n>a)\\k<n>", ESCAPE "`\\k`" },
	{ "(?P<n>a)(?P=n)", PERL "`(?P`" },
	{ "a(?=b)", PERL "`(?=`" },
	{ "a(?!b)", PERL "`(?!`" },
	{ "(?<=a)b", "invalid named capture: `(?<=`" },
	{ "a++", "invalid nested repetition operator: `++`" },
	{ "a*+", "invalid nested repetition operator: `*+`" },
	{ "(?>a)", PERL "`(?>`" },
	{ "(?R)", PERL "`(?R`" },
	{ "(?1)", PERL "`(?1`" },
	{ "(?&n)", PERL "`(?&`" },
	{ "(?(1)a|b)", PERL "`(?(`" },
	{ "(?C1)", PERL "`(?C`" },
	{ "(?#a)", PERL "`(?#`" },
	{ "(?|a|b)", PERL "`(?|`" },
	{ "(?x)a", PERL "`(?x`" },
	{ "(*ACCEPT)", "missing argument to repetition operator: `*`" },
	{ "\\K", ESCAPE "`\\K`" },
	{ "\\R", ESCAPE "`\\R`" },
	{ "\\X", ESCAPE "`\\X`" },
	{ "\\C", ESCAPE "`\\C`" },
	{ "\\G", ESCAPE "`\\G`" },
	{ "\\Z", ESCAPE "`\\Z`" },
	{ "\\h", ESCAPE "`\\h`" },
	{ "\\N", ESCAPE "`\\N`" },
	{ "\\g1", ESCAPE "`\\g`" },
	{ "\\cA", ESCAPE "`\\c`" },
	{ "\\e", ESCAPE "`\\e`" },
};

static void test_refuse(void **state)
{
	const struct refuse_row *row = *state;
	_cleanup_(relabel_regex_freep) struct relabel_regex *re = NULL;
	_cleanup_buf_ struct buf why = BUF_INIT(MESSAGE_MAX), expected = BUF_INIT(MESSAGE_MAX);

	assert_int_equal(relabel_regex_new(row->regex, &why, &re), RELABEL_WRONG);
	(void)buf_printf(&expected, "error parsing regexp: %s", row->message);
	assert_string_equal(buf_str(&why), buf_str(&expected));
	assert_null(re);
}

/* `n` times the text; to be freed. */
static char *repeated(const char *text, size_t n)
{
	size_t len = strlen(text);
	char *s = malloc(n * len + 1);

	assert_non_null(s);
	for (size_t i = 0; i < n; i++)
		memcpy(s + i * len, text, len);
	s[n * len] = '\0';
	return s;
}

static void assert_too_much(const char *text, const char *message)
{
	_cleanup_buf_ struct buf why = BUF_INIT((size_t)1 << 20);
	struct relabel_regex *re = NULL;

	assert_int_equal(relabel_regex_new(text, &why, &re), RELABEL_WRONG);
	assert_non_null(strstr(buf_str(&why), message));
}

#define EIGHT "(a?)*(a?)*(a?)*(a?)*(a?)*(a?)*(a?)*(a?)*"

static void test_ceilings(void **state)
{
	_cleanup_free_ char *deep = repeated("(", 300);
	static const char loops[] = "(" EIGHT EIGHT EIGHT EIGHT EIGHT "[bc])+";
	_cleanup_free_ char *closed = repeated("(?:)", 5000);
	_cleanup_free_ char *longer = repeated("a", 64 * 1024 + 1);
	/* Repetitions are unrolled: it fits while it is text. */
	_cleanup_free_ char *unrolled = repeated("(?:[ac\xc3\xa9]x){1000}", 100);

	(void)state;
	/* 2^40 ways to match nothing: the compiler does not try them. */
	relabel_regex_free(compile(loops));
	assert_too_much(deep, "parentheses are too deeply nested");
	assert_too_much(longer, "regular expression is too large");
	assert_too_much(unrolled, "regular expression is too large");
	relabel_regex_free(compile(closed));
}

static void test_no_pattern_hangs(void **state)
{
	_cleanup_(relabel_regex_freep) struct relabel_regex *re = compile("(?:a|aa)*(?:a|aa)*[cd]");
	_cleanup_free_ char *text = repeated("a", 200);
	struct relabel_pass pass = RELABEL_PASS_INIT;
	size_t n = 0;

	(void)state;
	/* Every match is counted, and the budget is spent after some. */
	for (; n < 500; n++)
		assert_false(relabel_regex_match(re, text, strlen(text), &pass, NULL));
	assert_int_equal(pass.n_given_up, n);
	assert_true(pass.n_steps < RELABEL_MATCH_STEPS);
	/* Quick ones go on. */
	assert_true(relabel_regex_match(re, "aac", 3, &pass, NULL));
	assert_int_equal(pass.n_given_up, n);
}

/* A way back for every character, on a long text: memory has a ceiling, too. */
static void test_long_text(void **state)
{
	_cleanup_(relabel_regex_freep) struct relabel_regex *re = compile("(?:a|b)*");
	_cleanup_free_ char *text = repeated("a", 60000);
	struct relabel_pass pass = RELABEL_PASS_INIT;
	bool matched = relabel_regex_match(re, text, strlen(text), &pass, NULL);

	(void)state;
	assert_true(matched != (pass.n_given_up > 0));
}

struct template_row {
	const char *template;
	const char *expected;
};

/* After (?P<first>a)(b)?(?P<_2>c) has matched "ac". */
static const struct template_row template_rows[] = {
	{ "", "" },
	{ "x", "x" },
	{ "$1", "a" },
	{ "${1}", "a" },
	{ "$0", "ac" },
	{ "$2", "" },
	{ "<$3>", "<c>" },
	{ "$1-$3", "a-c" },
	{ "$1x", "" },
	{ "${1}x", "ax" },
	{ "$1_", "" },
	{ "$1\xc3\xa9", "" },
	{ "$1\xe2\x82\xac", "a\xe2\x82\xac" },
	{ "$10", "" },
	{ "$01", "" },
	{ "$4", "" },
	{ "$99999999999999999999", "" },
	{ "$first", "a" },
	{ "${first}!", "a!" },
	{ "$firstx", "" },
	{ "$_2", "c" },
	{ "$nobody", "" },
	{ "$$", "$" },
	{ "$$1", "$1" },
	{ "$$$1", "$a" },
	{ "$", "$" },
	{ "a$", "a$" },
	{ "$ 1", "$ 1" },
	{ "${1", "${1" },
	{ "${}", "${}" },
	{ "${1 }", "${1 }" },
	{ "${1$1", "${1a" },
	{ "$-$1", "$-a" },
};

static void test_template(void **state)
{
	const struct template_row *row = *state;
	_cleanup_(relabel_regex_freep) struct relabel_regex *re =
		compile("(?P<first>a)(b)?(?P<_2>c)");
	_cleanup_(relabel_template_fini) struct relabel_template t;
	_cleanup_buf_ struct buf got = BUF_INIT(MESSAGE_MAX);
	struct relabel_pass pass = RELABEL_PASS_INIT;
	struct relabel_spans spans;

	assert_int_equal(relabel_template_init(&t, row->template), 0);
	assert_true(relabel_regex_match(re, "ac", 2, &pass, &spans));
	assert_int_equal(relabel_template_append(&t, re, "ac", &spans, &got), 0);
	assert_string_equal(buf_str(&got), row->expected);
}

static const struct unit_test tests[] = {
	TEST(test_ceilings),
	TEST(test_no_pattern_hangs),
	TEST(test_long_text),
	TEST_ROWS(test_match, match_rows, regex),
	TEST_ROWS(test_refuse, refuse_rows, regex),
	TEST_ROWS(test_template, template_rows, template),
};

TEST_MAIN(tests)
