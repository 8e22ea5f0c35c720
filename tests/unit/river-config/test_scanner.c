/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens and the errors of the scanner. */
#include "tests/support/unit.h"
#include "tests/unit/river-config/river_test.h"

#include <stdio.h>

#include "river-config/scanner.h"

/* Per token `KIND` or `KIND(text)`, blanks between; then a line for every error. */
static void scan(const char *text, size_t len, struct output *out)
{
	struct river_arena arena;
	struct river_diags diags;
	struct river_scanner s;
	struct river_token token;

	river_arena_init(&arena, TEST_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	river_scanner_init(&s, "t", text, len, &diags);
	do {
		token = river_scanner_next(&s);
		output_str(out, river_token_name(token.kind));
		if (token.kind != RIVER_TOKEN_EOF && token.kind != RIVER_TOKEN_TERMINATOR &&
		    strcmp(river_token_name(token.kind), "=") != 0) {
			output_str(out, "(");
			output_write(out, token.text, token.len);
			output_str(out, ")");
		}
		output_str(out, token.kind == RIVER_TOKEN_EOF ? "" : " ");
	} while (token.kind != RIVER_TOKEN_EOF);
	output_str(out, "\n");
	output_diags(out, &diags);
	river_arena_fini(&arena);
}

static const struct row token_rows[] = {
	{ "nothing", "", "EOF\n" },
	{ "blanks and newlines", " \t\r\n\n ", "EOF\n" },
	{ "identifiers", "a _b c9 \xc3\xa4\xe4\xb8\xad\xd9\xa3",
	  "IDENT(a) IDENT(_b) IDENT(c9) IDENT(\xc3\xa4\xe4\xb8\xad\xd9\xa3) TERMINATOR EOF\n" },
	{ "keywords", "true false null nullx True",
	  "BOOL(true) BOOL(false) NULL(null) IDENT(nullx) IDENT(True) TERMINATOR EOF\n" },
	{ "numbers", "0 12 1.5 .5 1. 1e3 1E+3 2.5e-3",
	  "NUMBER(0) NUMBER(12) FLOAT(1.5) FLOAT(.5) FLOAT(1.) FLOAT(1e3) FLOAT(1E+3) "
	  "FLOAT(2.5e-3) "
	  "TERMINATOR EOF\n" },
	{ "hexadecimal is two tokens", "0x1F", "NUMBER(0) IDENT(x1F) TERMINATOR EOF\n" },
	{ "operators", "|| && ! == != < <= > >= + - * / % ^ { ( [ , .",
	  "||(||) &&(&&) !(!) ==(==) !=(!=) <(<) <=(<=) >(>) >=(>=) +(+) -(-) *(*) /(/) %(%) ^(^) "
	  "{({) "
	  "((() [([) ,(,) .(.) EOF\n" },
	{ "closing brackets end statements", ")\n]\n}\n",
	  ")()) TERMINATOR ](]) TERMINATOR }(}) TERMINATOR EOF\n" },
	{ "opening brackets do not", "{\n[\n(\n,\n=\n", "{({) [([) ((() ,(,) = EOF\n" },
	{ "string escapes", "\"\\a\\b\\f\\n\\r\\t\\v\\\\\\\" \\101 \\x41 \\u00e4 \\U0001F600\"",
	  "STRING(\"\\a\\b\\f\\n\\r\\t\\v\\\\\\\" \\101 \\x41 \\u00e4 \\U0001F600\") TERMINATOR "
	  "EOF\n" },
	{ "raw string", "`a\n\\b`", "STRING(`a\n\\b`) TERMINATOR EOF\n" },
	{ "byte order mark at the start",
	  "\xef\xbb\xbf"
	  "a",
	  "IDENT(a) TERMINATOR EOF\n" },
	{ "terminator before a line comment", "a // x\nb",
	  "IDENT(a) TERMINATOR COMMENT(// x) IDENT(b) TERMINATOR EOF\n" },
	{ "no terminator when none is due", "= // x\nb",
	  "= COMMENT(// x) IDENT(b) TERMINATOR EOF\n" },
	{ "block comment in a line", "a /* x */ b",
	  "IDENT(a) COMMENT(/* x */) IDENT(b) TERMINATOR EOF\n" },
	{ "block comment with a newline", "a /* x\n */ b",
	  "IDENT(a) TERMINATOR COMMENT(/* x\n */) IDENT(b) TERMINATOR EOF\n" },
	{ "block comments to the end of the line", "a /* x */ /* y */ \nb",
	  "IDENT(a) TERMINATOR COMMENT(/* x */) COMMENT(/* y */) IDENT(b) TERMINATOR EOF\n" },
	{ "block comment, then a line comment", "a /* x */ // y\nb",
	  "IDENT(a) TERMINATOR COMMENT(/* x */) COMMENT(// y) IDENT(b) TERMINATOR EOF\n" },
	{ "block comment at the end of the file", "a /* x */",
	  "IDENT(a) TERMINATOR COMMENT(/* x */) EOF\n" },
	{ "comment followed by a division", "a /* x */ / 2",
	  "IDENT(a) COMMENT(/* x */) /(/) NUMBER(2) TERMINATOR EOF\n" },
	{ "block comments, then more", "a /* x */ /* y */ b",
	  "IDENT(a) COMMENT(/* x */) COMMENT(/* y */) IDENT(b) TERMINATOR EOF\n" },
	{ "second block comment has the newline", "a /* x */ /* y\n */ b",
	  "IDENT(a) TERMINATOR COMMENT(/* x */) COMMENT(/* y\n */) IDENT(b) TERMINATOR EOF\n" },
	{ "block comments with nothing between", "a/*x*//*y*/\nb",
	  "IDENT(a) TERMINATOR COMMENT(/*x*/) COMMENT(/*y*/) IDENT(b) TERMINATOR EOF\n" },
	{ "block comment, blanks, carriage return", "a /* x */ \t\r\nb",
	  "IDENT(a) TERMINATOR COMMENT(/* x */) IDENT(b) TERMINATOR EOF\n" },
	{ "one terminator before many comments", "a // x\n// y\n/* z */\nb",
	  "IDENT(a) TERMINATOR COMMENT(// x) COMMENT(// y) COMMENT(/* z */) IDENT(b) TERMINATOR "
	  "EOF\n" },
	{ "stars end a comment", "/***/ a /* **/",
	  "COMMENT(/***/) IDENT(a) TERMINATOR COMMENT(/* **/) EOF\n" },
	{ "terminators after every kind", "1\n1.\n\"\"\n``\nnull\ntrue\n",
	  "NUMBER(1) TERMINATOR FLOAT(1.) TERMINATOR STRING(\"\") TERMINATOR STRING(``) TERMINATOR "
	  "NULL(null) TERMINATOR BOOL(true) TERMINATOR EOF\n" },
	{ "no terminators after operators", "+\n-\n*\n/\n%\n^\n==\n!\n.\n||\n&&\n",
	  "+(+) -(-) *(*) /(/) %(%) ^(^) ==(==) !(!) .(.) ||(||) &&(&&) EOF\n" },
	{ "one terminator for many newlines", "a\n\n\n", "IDENT(a) TERMINATOR EOF\n" },
	{ "digits do not begin a word", "9a \xd9\xa3",
	  "NUMBER(9) IDENT(a) ILLEGAL(\xd9\xa3) TERMINATOR EOF\nt:1:4: illegal character U+0663 "
	  "'\xd9\xa3'\n" },
	{ "points and digits", "1.2.3 1..2 a.1 .e1",
	  "FLOAT(1.2) FLOAT(.3) FLOAT(1.) FLOAT(.2) IDENT(a) FLOAT(.1) .(.) IDENT(e1) TERMINATOR "
	  "EOF\n" },
	{ "operators without blanks", "a==-b!=!c<=d",
	  "IDENT(a) ==(==) -(-) IDENT(b) !=(!=) !(!) IDENT(c) <=(<=) IDENT(d) TERMINATOR EOF\n" },
	{ "raw string has no escapes", "`\\` `\r`", "STRING(`\\`) STRING(`\r`) TERMINATOR EOF\n" },
	{ "comments do not nest", "/* /* */ a", "COMMENT(/* /* */) IDENT(a) TERMINATOR EOF\n" },
	{ "carriage return ends no comment text", "// x\r\n", "COMMENT(// x) EOF\n" },
};

static const struct row error_rows[] = {
	{ "number sign", "a #",
	  "IDENT(a) ILLEGAL(#) TERMINATOR EOF\nt:1:3: illegal character U+0023 '#'\n" },
	{ "illegal letter-like", "\xe2\x82\xac",
	  "ILLEGAL(\xe2\x82\xac) EOF\nt:1:1: illegal character U+20AC '\xe2\x82\xac'\n" },
	{ "illegal keeps the state", "a @\nb",
	  "IDENT(a) ILLEGAL(@) TERMINATOR IDENT(b) TERMINATOR EOF\nt:1:3: illegal character U+0040 "
	  "'@'\n" },
	{ "single quotes", "a = 'b'\nc",
	  "IDENT(a) = ILLEGAL('b') TERMINATOR IDENT(c) TERMINATOR EOF\n"
	  "t:1:5: illegal single-quoted string; use double quotes\n" },
	{ "single quote not terminated", "a = 'b\nc",
	  "IDENT(a) = ILLEGAL('b) TERMINATOR IDENT(c) TERMINATOR EOF\n"
	  "t:1:5: illegal single-quoted string; use double quotes\n"
	  "t:1:5: string literal not terminated\n" },
	{ "single quote at the end", "'",
	  "ILLEGAL(') TERMINATOR EOF\nt:1:1: illegal single-quoted string; use double quotes\n"
	  "t:1:1: string literal not terminated\n" },
	{ "escape between single quotes", "'\\n\\q' 1",
	  "ILLEGAL('\\n\\q') NUMBER(1) TERMINATOR EOF\n"
	  "t:1:1: illegal single-quoted string; use double quotes\n"
	  "t:1:5: unknown escape sequence\n" },
	{ "single quote does not escape itself", "'a\\'b",
	  "ILLEGAL('a\\') IDENT(b) TERMINATOR EOF\n"
	  "t:1:1: illegal single-quoted string; use double quotes\n"
	  "t:1:4: unknown escape sequence\n" },
	{ "illegal keeps the state after a comment", "a /* x */ #\nb",
	  "IDENT(a) COMMENT(/* x */) ILLEGAL(#) IDENT(b) TERMINATOR EOF\n"
	  "t:1:11: illegal character U+0023 '#'\n" },
	{ "illegal without anything due", "= #\nb",
	  "= ILLEGAL(#) IDENT(b) TERMINATOR EOF\nt:1:3: illegal character U+0023 '#'\n" },
	{ "unprintable character", "a \x07",
	  "IDENT(a) ILLEGAL(\x07) TERMINATOR EOF\nt:1:3: illegal character U+0007\n" },
	{ "form feed is no white space", "\f",
	  "ILLEGAL(\f) EOF\nt:1:1: illegal character U+000C\n" },
	{ "no-break space is no white space", "\xc2\xa0",
	  "ILLEGAL(\xc2\xa0) EOF\nt:1:1: illegal character U+00A0\n" },
	{ "beyond the first plane", "\xf0\x9f\x98\x80",
	  "ILLEGAL(\xf0\x9f\x98\x80) EOF\nt:1:1: illegal character U+1F600 '\xf0\x9f\x98\x80'\n" },
	{ "other operators of other languages", "? : ; ~ @ $ \\",
	  "ILLEGAL(?) ILLEGAL(:) ILLEGAL(;) ILLEGAL(~) ILLEGAL(@) ILLEGAL($) ILLEGAL(\\) EOF\n"
	  "t:1:1: illegal character U+003F '?'\nt:1:3: illegal character U+003A ':'\n"
	  "t:1:5: illegal character U+003B ';'\nt:1:7: illegal character U+007E '~'\n"
	  "t:1:9: illegal character U+0040 '@'\nt:1:11: illegal character U+0024 '$'\n"
	  "t:1:13: illegal character U+005C '\\'\n" },
	{ "invalid UTF-8 outside of a string", "\x80",
	  "ILLEGAL(\x80) EOF\nt:1:1: illegal UTF-8 encoding\n"
	  "t:1:1: illegal character U+FFFD '\xef\xbf\xbd'\n" },
	{ "invalid UTF-8 in a comment", "// \xff\n",
	  "COMMENT(// \xff) EOF\nt:1:4: illegal UTF-8 encoding\n" },
	{ "two byte order marks", "\xef\xbb\xbf\xef\xbb\xbf",
	  "ILLEGAL(\xef\xbb\xbf) EOF\nt:1:4: illegal byte order mark\n" },
	{ "byte order mark in a string", "\"\xef\xbb\xbf\"",
	  "STRING(\"\xef\xbb\xbf\") TERMINATOR EOF\nt:1:2: illegal byte order mark\n" },
	{ "newline in an escape", "\"\\\n",
	  "STRING(\"\\) TERMINATOR EOF\nt:1:3: unknown escape sequence\nt:1:1: string literal not "
	  "terminated\n" },
	{ "newline inside of an escape", "\"\\x4\n",
	  "STRING(\"\\x4) TERMINATOR EOF\nt:1:3: illegal character U+000A in escape sequence\n"
	  "t:1:1: string literal not terminated\n" },
	{ "quote inside of an escape", "\"\\u00\"",
	  "STRING(\"\\u00\") TERMINATOR EOF\nt:1:3: illegal character U+0022 '\"' in escape "
	  "sequence\n" },
	{ "two escapes", "\"\\q\\w\"",
	  "STRING(\"\\q\\w\") TERMINATOR EOF\nt:1:3: unknown escape sequence\nt:1:5: unknown "
	  "escape "
	  "sequence\n" },
	{ "upper case letters are no escapes", "\"\\N\"",
	  "STRING(\"\\N\") TERMINATOR EOF\nt:1:3: unknown escape sequence\n" },
	{ "bar at the end of a line", "a |\nb",
	  "IDENT(a) ||(|) IDENT(b) TERMINATOR EOF\nt:1:4: missing second | in ||\n" },
	{ "ampersand at the end of the file", "&", "&&(&) EOF\nt:1:2: missing second & in &&\n" },
	{ "exponent of a fraction", "1.5e",
	  "FLOAT(1.5e) TERMINATOR EOF\nt:1:1: exponent has no digits\n" },
	{ "exponent without digits, then a word", "1ex",
	  "FLOAT(1e) IDENT(x) TERMINATOR EOF\nt:1:1: exponent has no digits\n" },
	{ "comment not terminated, nothing due", "= /* b",
	  "= COMMENT(/* b) EOF\nt:1:3: block comment not terminated\n" },
	{ "comment of three characters", "a /*/",
	  "IDENT(a) TERMINATOR COMMENT(/*/) EOF\nt:1:3: block comment not terminated\n" },
	{ "string not terminated", "\"abc\nd",
	  "STRING(\"abc) TERMINATOR IDENT(d) TERMINATOR EOF\nt:1:1: string literal not "
	  "terminated\n" },
	{ "raw string not terminated", "x `abc\n",
	  "IDENT(x) STRING(`abc\n) TERMINATOR EOF\nt:1:3: string literal not terminated\n" },
	{ "unknown escape", "\"\\q\"",
	  "STRING(\"\\q\") TERMINATOR EOF\nt:1:3: unknown escape sequence\n" },
	{ "escaped single quote", "\"\\'\"",
	  "STRING(\"\\'\") TERMINATOR EOF\nt:1:3: unknown escape sequence\n" },
	{ "bad digit in escape", "\"\\x4g\"",
	  "STRING(\"\\x4g\") TERMINATOR EOF\nt:1:3: illegal character U+0067 'g' in escape "
	  "sequence\n" },
	{ "octal digit 8", "\"\\18\"",
	  "STRING(\"\\18\") TERMINATOR EOF\nt:1:3: illegal character U+0038 '8' in escape "
	  "sequence\n" },
	{ "octal too large", "\"\\400\"",
	  "STRING(\"\\400\") TERMINATOR EOF\nt:1:3: escape sequence is invalid Unicode code "
	  "point\n" },
	{ "surrogate", "\"\\ud800\"",
	  "STRING(\"\\ud800\") TERMINATOR EOF\nt:1:3: escape sequence is invalid Unicode code "
	  "point\n" },
	{ "beyond Unicode", "\"\\U00110000\"",
	  "STRING(\"\\U00110000\") TERMINATOR EOF\nt:1:3: escape sequence is invalid Unicode code "
	  "point\n" },
	{ "escape at the end", "\"\\",
	  "STRING(\"\\) TERMINATOR EOF\nt:1:3: escape sequence not terminated\nt:1:1: string "
	  "literal not terminated\n" },
	{ "escape cut off", "\"\\u12",
	  "STRING(\"\\u12) TERMINATOR EOF\nt:1:3: escape sequence not terminated\nt:1:1: string "
	  "literal not terminated\n" },
	{ "one bar", "a | b",
	  "IDENT(a) ||(|) IDENT(b) TERMINATOR EOF\nt:1:4: missing second | in ||\n" },
	{ "one ampersand", "a &b",
	  "IDENT(a) &&(&) IDENT(b) TERMINATOR EOF\nt:1:4: missing second & in &&\n" },
	{ "no exponent", "  1e+", "FLOAT(1e+) TERMINATOR EOF\nt:1:3: exponent has no digits\n" },
	{ "comment not terminated", "a /* b",
	  "IDENT(a) TERMINATOR COMMENT(/* b) EOF\nt:1:3: block comment not terminated\n" },
	{ "invalid UTF-8", "a = \"\xff\"\nb",
	  "IDENT(a) = STRING(\"\xff\") TERMINATOR IDENT(b) TERMINATOR EOF\nt:1:6: illegal UTF-8 "
	  "encoding\n" },
	{ "overlong UTF-8", "\"\xc0\x80\"",
	  "STRING(\"\xc0\x80\") TERMINATOR EOF\nt:1:2: illegal UTF-8 encoding\nt:1:3: illegal "
	  "UTF-8 encoding\n" },
	{ "byte order mark inside", "a\n\xef\xbb\xbf",
	  "IDENT(a) TERMINATOR ILLEGAL(\xef\xbb\xbf) EOF\nt:2:1: illegal byte order mark\n" },
	{ "columns are bytes, lines count", "\xc3\xa4\n\t\xc3\xa4 #",
	  "IDENT(\xc3\xa4) TERMINATOR IDENT(\xc3\xa4) ILLEGAL(#) TERMINATOR EOF\nt:2:5: illegal "
	  "character U+0023 '#'\n" },
};

static void test_scan(void **state)
{
	const struct row *row = *state;
	struct output out = { .len = 0 };

	scan(row->input, strlen(row->input), &out);
	assert_string_equal(out.data, row->expected);
}

static void test_nul(void **state)
{
	struct output out = { .len = 0 };

	(void)state;
	scan("a\0b", 3, &out);
	assert_int_equal(memcmp(out.data, "IDENT(a) ILLEGAL(\0) IDENT(b) TERMINATOR EOF\n", 44), 0);
	assert_string_equal(out.data + 44,
			    "t:1:2: illegal character NUL\nt:1:2: illegal character U+0000\n");
}

/* Start and end of tokens over several lines. */
static void test_positions(void **state)
{
	const char text[] = "ab = `x\ny`\n";
	struct river_arena arena;
	struct river_diags diags;
	struct river_scanner s;
	struct river_token token;

	(void)state;
	river_arena_init(&arena, TEST_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	river_scanner_init(&s, "t", text, strlen(text), &diags);
	token = river_scanner_next(&s);
	assert_int_equal(token.start.column, 1);
	assert_int_equal(token.end.column, 2);
	river_scanner_next(&s);
	token = river_scanner_next(&s);
	assert_int_equal(token.start.line, 1);
	assert_int_equal(token.start.column, 6);
	assert_int_equal(token.end.line, 2);
	assert_int_equal(token.end.column, 2);
	assert_int_equal(token.end.offset, 9);
	token = river_scanner_next(&s);
	assert_int_equal(token.kind, RIVER_TOKEN_TERMINATOR);
	assert_int_equal(token.start.line, 2);
	assert_int_equal(token.start.column, 3);
	river_arena_fini(&arena);
}

/* Pieces of a random text: what may stand between two tokens, as the model below sees it. */
enum gap_kind { GAP_BLANK, GAP_NEWLINE, GAP_LINE_COMMENT, GAP_BLOCK_COMMENT, GAP_LONG_COMMENT };

struct piece {
	const char *text;
	enum gap_kind gap;
	enum river_token_kind kind; /* of a token */
	bool ends_statement;
};

static const struct piece gap_pieces[] = {
	{ .text = " ", .gap = GAP_BLANK },
	{ .text = "\t\r", .gap = GAP_BLANK },
	{ .text = "\n", .gap = GAP_NEWLINE },
	{ .text = "// c */\n", .gap = GAP_LINE_COMMENT },
	{ .text = "/* // */", .gap = GAP_BLOCK_COMMENT },
	{ .text = "/***/", .gap = GAP_BLOCK_COMMENT },
	{ .text = "/* x\n */", .gap = GAP_LONG_COMMENT },
};

static const struct piece token_pieces[] = {
	{ .text = "a", .kind = RIVER_TOKEN_IDENT, .ends_statement = true },
	{ .text = "7", .kind = RIVER_TOKEN_NUMBER, .ends_statement = true },
	{ .text = "1.5", .kind = RIVER_TOKEN_FLOAT, .ends_statement = true },
	{ .text = "\"/*\"", .kind = RIVER_TOKEN_STRING, .ends_statement = true },
	{ .text = "`\n`", .kind = RIVER_TOKEN_STRING, .ends_statement = true },
	{ .text = "true", .kind = RIVER_TOKEN_BOOL, .ends_statement = true },
	{ .text = "null", .kind = RIVER_TOKEN_NULL, .ends_statement = true },
	{ .text = ")", .kind = RIVER_TOKEN_RPAREN, .ends_statement = true },
	{ .text = "]", .kind = RIVER_TOKEN_RBRACK, .ends_statement = true },
	{ .text = "}", .kind = RIVER_TOKEN_RCURLY, .ends_statement = true },
	{ .text = "(", .kind = RIVER_TOKEN_LPAREN },
	{ .text = "{", .kind = RIVER_TOKEN_LCURLY },
	{ .text = ",", .kind = RIVER_TOKEN_COMMA },
	{ .text = "+", .kind = RIVER_TOKEN_ADD },
};

/* xorshift64*: the same texts on every run. */
static unsigned int pick(uint64_t *state, unsigned int n)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (unsigned int)((*state * 2685821657736338717ULL) >> 33) % n;
}

#define GAP_PIECES_MAX 5

/* Whether the gap from piece i on has the end of the line before any token; at_end: the file ends. */
static bool line_ends(const struct piece *const *gap, size_t n, size_t i, bool at_end)
{
	for (; i < n; i++)
		if (gap[i]->gap != GAP_BLANK && gap[i]->gap != GAP_BLOCK_COMMENT)
			return true;
	return at_end;
}

/* The tokens that a gap makes, by the rule: `due` as the token before left it. */
static void expect_gap(const struct piece *const *gap, size_t n, bool due, bool at_end,
		       struct output *out)
{
	for (size_t i = 0; i < n; i++) {
		bool comment = gap[i]->gap >= GAP_LINE_COMMENT;

		if (due &&
		    (gap[i]->gap == GAP_NEWLINE || (comment && line_ends(gap, n, i, at_end))))
			output_str(out, "TERMINATOR ");
		if (gap[i]->gap != GAP_BLANK)
			due = false;
		if (comment)
			output_str(out, "COMMENT ");
	}
	if (due && at_end)
		output_str(out, "TERMINATOR ");
}

static void put_gap(uint64_t *state, bool due, bool at_end, struct output *text,
		    struct output *expected)
{
	const struct piece *gap[GAP_PIECES_MAX];
	size_t n = 1 + pick(state, GAP_PIECES_MAX - 1);

	gap[0] = &gap_pieces[0]; /* so that two words stay two */
	for (size_t i = 1; i < n; i++)
		gap[i] = &gap_pieces[pick(state, ARRAY_LEN(gap_pieces))];
	for (size_t i = 0; i < n; i++)
		output_str(text, gap[i]->text);
	expect_gap(gap, n, due, at_end, expected);
}

static void kinds_of(const char *text, size_t len, struct output *out)
{
	struct river_arena arena;
	struct river_diags diags;
	struct river_scanner s;
	struct river_token token;

	river_arena_init(&arena, TEST_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	river_scanner_init(&s, "t", text, len, &diags);
	while ((token = river_scanner_next(&s)).kind != RIVER_TOKEN_EOF) {
		output_str(out, river_token_name(token.kind));
		output_str(out, " ");
	}
	assert_int_equal(diags.n_items, 0);
	river_arena_fini(&arena);
}

/* Random tokens with random gaps, against a model that knows the pieces instead of the characters. */
static void test_terminators(void **state)
{
	static struct output text, expected, found;
	uint64_t random = 88172645463325252ULL;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		bool due = false;
		unsigned int n = 1 + pick(&random, 4);

		text.len = expected.len = found.len = 0;
		found.data[0] = '\0';
		put_gap(&random, false, false, &text, &expected);
		while (n-- > 0) {
			const struct piece *token =
				&token_pieces[pick(&random, ARRAY_LEN(token_pieces))];

			output_str(&text, token->text);
			output_str(&expected, river_token_name(token->kind));
			output_str(&expected, " ");
			due = token->ends_statement;
			put_gap(&random, due, n == 0, &text, &expected);
		}
		kinds_of(text.data, text.len, &found);
		if (strcmp(found.data, expected.data) != 0)
			fail_msg("%s: %s, not %s", text.data, found.data, expected.data);
	}
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_scan, token_rows, name),
	TEST_ROWS(test_scan, error_rows, name),
	TEST(test_nul),
	TEST(test_positions),
	TEST(test_terminators),
};

TEST_MAIN(tests)
