/* SPDX-License-Identifier: Apache-2.0 */
/* Golden rows of the formatter, rule by rule: a text, and what it is laid out as, which is then laid out as itself. */
#include "tests/support/unit.h"
#include "tests/unit/river-config/river_test.h"

#include <errno.h>

/* Indentation, white space at ends of lines, the end of the file. */
static const struct row file_rows[] = {
	{ "nothing", "", "\n" },
	{ "white space", " \n\t\n \r\n", "\n" },
	{ "no line break at the end", "a = 1", "a = 1\n" },
	{ "many line breaks at the end", "a = 1\n\n\n \n", "a = 1\n" },
	{ "blank lines at the begin", "\n\n\na = 1\n", "a = 1\n" },
	{ "blanks at ends of lines", "a = 1  \t\nb = 2\t \n", "a = 1\nb = 2\n" },
	{ "wrong indentation", "  a {\n b {\n      c = 1\n\t\t}\n  }\n",
	  "a {\n\tb {\n\t\tc = 1\n\t}\n}\n" },
	{ "no indentation", "a {\nb {\nc {\nd = 1\n}\n}\n}\n",
	  "a {\n\tb {\n\t\tc {\n\t\t\td = 1\n\t\t}\n\t}\n}\n" },
	{ "carriage returns", "a {\r\n\tb = 1\r\n\r\n\tc = 2 // d\r\n}\r\n",
	  "a {\n\tb = 1\n\n\tc = 2 // d\n}\n" },
	{ "byte order mark",
	  "\xef\xbb\xbf"
	  "a = 1\n",
	  "a = 1\n" },
};

static const struct row block_rows[] = {
	{ "empty body", "a {}\n", "a { }\n" },
	{ "empty body over lines", "a {\n\n\n}\n", "a { }\n" },
	{ "body on one line", "a { b = 1 }\n", "a {\n\tb = 1\n}\n" },
	{ "label", "a  \"b\"{\n}\n", "a \"b\" { }\n" },
	{ "label of other letters", "a \"\xc3\xa4_1\" {\n}\n", "a \"\xc3\xa4_1\" { }\n" },
	{ "empty label", "a \"\" {\n}\n", "a { }\n" },
	{ "name of parts", "a . b.c \"d\" {\n}\n", "a.b.c \"d\" { }\n" },
	{ "block in a block", "a {\nb {}\n}\n", "a {\n\tb { }\n}\n" },
	{ "blank lines at ends of a body", "a {\n\n\nb = 1\n\n\n}\n", "a {\n\tb = 1\n}\n" },
};

static const struct row blank_line_rows[] = {
	{ "before a block", "a {\n}\nb {\n}\n", "a { }\n\nb { }\n" },
	{ "before a block after an attribute", "x {\na = 1\nb {\n}\n}\n",
	  "x {\n\ta = 1\n\n\tb { }\n}\n" },
	{ "not before the first block", "x {\n\n\nb {\n}\n}\n", "x {\n\tb { }\n}\n" },
	{ "not before an attribute after a block", "x {\nb {\n}\na = 1\n}\n",
	  "x {\n\tb { }\n\ta = 1\n}\n" },
	{ "kept before an attribute after a block", "x {\nb {\n}\n\na = 1\n}\n",
	  "x {\n\tb { }\n\n\ta = 1\n}\n" },
	{ "one is kept", "a = 1\n\nb = 2\n", "a = 1\n\nb = 2\n" },
	{ "many become one", "a = 1\n\n\n\nb = 2\n", "a = 1\n\nb = 2\n" },
	{ "many before a block", "a {\n}\n\n\n\nb {\n}\n", "a { }\n\nb { }\n" },
	{ "none is added", "a = 1\nb = 2\n", "a = 1\nb = 2\n" },
	{ "after a value of lines", "a = [\n1,\n]\n\n\nb = 2\n", "a = [\n\t1,\n]\n\nb = 2\n" },
};

static const struct row run_rows[] = {
	{ "attributes", "a=1\nlong  =2\nb\t= 3\n", "a    = 1\nlong = 2\nb    = 3\n" },
	{ "in a block", "x {\na=1\nlong=2\n}\n", "x {\n\ta    = 1\n\tlong = 2\n}\n" },
	{ "width in characters", "\xc3\xa4=1\nlong=2\n", "\xc3\xa4    = 1\nlong = 2\n" },
	{ "ends at a blank line", "a=1\nlong=2\n\nb=3\nlonger=4\n",
	  "a    = 1\nlong = 2\n\nb      = 3\nlonger = 4\n" },
	{ "ends at a block", "x {\na=1\nlong=2\nb {\n}\nlonger=4\nc=5\n}\n",
	  "x {\n\ta    = 1\n\tlong = 2\n\n\tb { }\n\tlonger = 4\n\tc      = 5\n}\n" },
	{ "ends behind a statement of lines", "a=1\nbb=[\n1,\n]\nccc=3\nd=4\n",
	  "a  = 1\nbb = [\n\t1,\n]\nccc = 3\nd   = 4\n" },
	{ "ends behind a raw string of lines", "aaa=1\nb=`x\ny`\nccccc=3\n",
	  "aaa = 1\nb   = `x\ny`\nccccc = 3\n" },
	{ "is not ended by a statement that becomes one line", "a=1 +\n2\nlong=3\n",
	  "a    = 1 + 2\nlong = 3\n" },
	{ "objects on lines below each other", "a={b=1}\nlong={longer=2}\n",
	  "a    = {b      = 1}\nlong = {longer = 2}\n" },
	{ "fewer cells end a column", "a={b=1}\nlong=1\nc={longer=2}\n",
	  "a    = {b = 1}\nlong = 1\nc    = {longer = 2}\n" },
	/* Levels of indentation are columns too: empty cells, filled with tabulators of eight. */
	{ "first field beside its brace", "aaaaaaaaa = {b=1,\nlonger=2}\n",
	  "aaaaaaaaa = {b   = 1,\n\t\tlonger = 2}\n" },
	{ "first field beside its brace in a block", "x {\nshort=1\na={b=1,\nlonger=2,\n}\n}\n",
	  "x {\n\tshort = 1\n\ta     = {b   = 1,\n\t\tlonger = 2,\n\t}\n}\n" },
	{ "levels have runs of their own", "a=1\nlong {\nb=2\nlonger=3\n}\n",
	  "a = 1\n\nlong {\n\tb      = 2\n\tlonger = 3\n}\n" },
};

static const struct row array_rows[] = {
	{ "on one line", "a = [ 1,2 , 3 ]\n", "a = [1, 2, 3]\n" },
	{ "trailing comma on one line", "a = [1, 2,]\n", "a = [1, 2]\n" },
	{ "empty", "a = [ ]\n", "a = []\n" },
	{ "empty over lines", "a = [\n\n]\n", "a = []\n" },
	{ "over lines", "a = [\n1,\n2,\n]\n", "a = [\n\t1,\n\t2,\n]\n" },
	{ "several on a line", "a = [\n1,2,\n3,\n]\n", "a = [\n\t1, 2,\n\t3,\n]\n" },
	{ "first beside the bracket", "a = [1,\n2,\n]\n", "a = [1,\n\t2,\n]\n" },
	{ "last beside the bracket", "a = [\n1,\n2]\n", "a = [\n\t1,\n\t2]\n" },
	{ "only the bracket on a line", "a = [1,\n]\n", "a = [1,\n]\n" },
	{ "blank lines between", "a = [\n\n1,\n\n\n2,\n\n]\n", "a = [\n\t1,\n\t2,\n]\n" },
	{ "in an array", "a = [\n[\n1,\n],\n[2],\n]\n", "a = [\n\t[\n\t\t1,\n\t],\n\t[2],\n]\n" },
	{ "brackets together", "a = [{\nb=1,\n},{\nc=2,\n}]\n",
	  "a = [{\n\tb = 1,\n}, {\n\tc = 2,\n}]\n" },
	{ "brackets together in a block", "x {\na = [[\n1,\n]]\n}\n",
	  "x {\n\ta = [[\n\t\t1,\n\t]]\n}\n" },
	{ "behind a string of lines", "a = [`b\nc`, 1]\n", "a = [`b\nc`, 1]\n" },
};

static const struct row object_rows[] = {
	{ "on one line", "a = { b=1,c = 2 , }\n", "a = {b = 1, c = 2}\n" },
	{ "empty", "a = {\n}\n", "a = {}\n" },
	{ "over lines", "a = {\nb=1,\nlong=2,\n}\n", "a = {\n\tb    = 1,\n\tlong = 2,\n}\n" },
	{ "several on a line", "a = {\nb=1,long=2,\nc=3,\n}\n",
	  "a = {\n\tb = 1, long = 2,\n\tc = 3,\n}\n" },
	{ "first beside the brace", "a = {b=1,\nc=2,\n}\n", "a = {b = 1,\n\tc    = 2,\n}\n" },
	{ "last beside the brace", "a = {\nb=1,\nc=2}\n", "a = {\n\tb = 1,\n\tc = 2}\n" },
	{ "a value of lines ends the run", "a = {\nb=1,\nlong={\nc=1,\n},\nlonger=2,\nd=3,\n}\n",
	  "a = {\n\tb    = 1,\n\tlong = {\n\t\tc = 1,\n\t},\n\tlonger = 2,\n\td      = 3,\n}\n" },
	{ "blank lines between", "a = {\n\nb=1,\n\n\nlong=2,\n\n}\n",
	  "a = {\n\tb    = 1,\n\tlong = 2,\n}\n" },
	{ "last value of lines beside the brace", "a = {b=[\n1,\n]}\n",
	  "a = {b = [\n\t\t1,\n\t],\n}\n" },
	{ "next name beside the end of a value of lines", "a = {b=[\n1,\n],c=2}\n",
	  "a = {b = [\n\t\t1,\n\t],\n\tc = 2}\n" },
	{ "value below its name", "a = {b =\n1}\n", "a = {b = 1,\n}\n" },
	{ "quoted keys", "a = {\"b\"=1,\"c d\"=2,\"\"=3}\n",
	  "a = {\"b\" = 1, \"c d\" = 2, \"\" = 3}\n" },
	{ "quoted keys of other letters", "a = {\"\xc3\xa4\"=1}\n", "a = {\"\xc3\xa4\" = 1}\n" },
	{ "raw key", "a = {`b c`=1}\n", "a = {\"b c\" = 1}\n" },
	{ "escapes in a key are no others afterwards", "a = {\"b\\n\\\"\"=1,`c\\n`=2}\n",
	  "a = {\"b\\n\\\"\" = 1, `c\\n` = 2}\n" },
	{ "in an array in a block",
	  "x \"y\" {\ntargets = [\n{\"__address__\"=\"a\",\"b\"=\"c\"},\n{\n\"d\"=1,\n},\n]\n}\n",
	  "x \"y\" {\n\ttargets = [\n\t\t{\"__address__\" = \"a\", \"b\" = \"c\"},\n\t\t{\n"
	  "\t\t\t\"d\" = 1,\n\t\t},\n\t]\n}\n" },
};

static const struct row call_rows[] = {
	{ "no argument", "a = f( )\n", "a = f()\n" },
	{ "on one line", "a = f( 1,2 , )\n", "a = f(1, 2)\n" },
	{ "over lines", "a = f(\n1,\n2,\n)\n", "a = f(\n\t1,\n\t2,\n)\n" },
	{ "first beside the bracket", "a = f(1,\n2)\n", "a = f(1,\n\t2)\n" },
	{ "only the bracket on a line", "a = f(1,\n)\n", "a = f(1,\n)\n" },
	{ "of an object of lines", "a = f({\nb=1,\n},2)\n", "a = f({\n\tb = 1,\n}, 2)\n" },
	{ "in a call", "a = f(\ng(\n1,\n),\n)\n", "a = f(\n\tg(\n\t\t1,\n\t),\n)\n" },
	{ "over lines in a block", "x {\na = f(\n1,\n)\n}\n", "x {\n\ta = f(\n\t\t1,\n\t)\n}\n" },
};

static const struct row expression_rows[] = {
	{ "binary", "a = 1+2*3-4/5%6^7\n", "a = 1 + 2 * 3 - 4 / 5 % 6 ^ 7\n" },
	{ "comparisons", "a = b==1&&c!=2||d<=3&&e>4\n",
	  "a = b == 1 && c != 2 || d <= 3 && e > 4\n" },
	{ "binary over lines", "a = 1 +\n  2 +\n\n  3\n", "a = 1 + 2 + 3\n" },
	{ "unary", "a = - 1 + ! true\n", "a = -1 + !true\n" },
	{ "unary of unary", "a = - - 1 - -2\n", "a = --1 - -2\n" },
	{ "parentheses", "a = ( ( 1+2 ) )*3\n", "a = ((1 + 2)) * 3\n" },
	{ "postfix", "a = b . c [ 0 ] ( 1 ) . d\n", "a = b.c[0](1).d\n" },
	{ "member of a number", "a = 1 .b\n", "a = 1 .b\n" },
	{ "value below its name", "a =\n\n1\n", "a = 1\n" },
	{ "literals", "a = [0017, 1.50, .5, 1E+3, null, true]\n",
	  "a = [0017, 1.50, .5, 1E+3, null, true]\n" },
	{ "strings", "a = \"\\t\\x41\\u00e4 // \\\" /* \"\n",
	  "a = \"\\t\\x41\\u00e4 // \\\" /* \"\n" },
	{ "raw string", "x {\na = `b\n\tc\t d  \n\n  // e`\n}\n",
	  "x {\n\ta = `b\n\tc\t d  \n\n  // e`\n}\n" },
	{ "tabulators in a raw string are no cells", "a = `b\tc`\nlong = `d\te`\n",
	  "a    = `b\tc`\nlong = `d\te`\n" },
};

static const struct row comment_rows[] = {
	{ "alone", "// a", "// a\n" },
	{ "of lines alone", "/* a\n  b */\n\n", "/* a\n  b */\n" },
	{ "at the begin", "// a\nb = 1\n", "// a\nb = 1\n" },
	{ "at the begin, apart", "\n// a\n\n\nb = 1\n", "// a\n\nb = 1\n" },
	{ "at the end", "a = 1\n// b\n", "a = 1\n// b\n" },
	{ "at the end, apart", "a = 1\n\n\n// b\n\n\n", "a = 1\n\n// b\n" },
	{ "behind", "a = 1 // b\n", "a = 1 // b\n" },
	{ "behind, touching", "a = 1//b\n", "a = 1 //b\n" },
	{ "behind lines of a run", "a = 1 // b\nlong = 222    // c\n",
	  "a    = 1   // b\nlong = 222 // c\n" },
	{ "a line without one ends the column", "a = 1 // b\nc = 22\nd = 333 // e\n",
	  "a = 1 // b\nc = 22\nd = 333 // e\n" },
	{ "tabulators in one are no cells", "a = 1 // b\tc\nlong = 2 // d\te\n",
	  "a    = 1 // b\tc\nlong = 2 // d\te\n" },
	{ "blanks inside are kept", "//a   b  c\nd = 1\n", "//a   b  c\nd = 1\n" },
	{ "above a statement of a body", "x {\n  // a\nb = 1\n\n\n// c\n  // d\ne = 2\n}\n",
	  "x {\n\t// a\n\tb = 1\n\n\t// c\n\t// d\n\te = 2\n}\n" },
	{ "above a block it takes the place of the blank line", "a {\n}\n// b\nc {\n}\n",
	  "a { }\n// b\nc { }\n" },
	{ "apart from a block", "a {\n}\n\n// b\n\nc {\n}\n", "a { }\n\n// b\n\nc { }\n" },
	{ "blank lines between some", "// a\n// b\n\n\n// c\nd = 1\n",
	  "// a\n// b\n\n// c\nd = 1\n" },
	{ "behind the brace of a block", "a { // b\nc = 1\n}\n", "a { // b\n\tc = 1\n}\n" },
	{ "behind a block", "a {\nb = 1\n} // c\n", "a {\n\tb = 1\n} // c\n" },
	{ "alone in a block", "a {\n// b\n}\n", "a {\n\t// b\n}\n" },
	{ "at the end of a block", "a {\nb = 1\n// c\n}\n", "a {\n\tb = 1\n\t// c\n}\n" },
	{ "at the end of a block, apart", "a {\nb = 1\n\n\n// c\n\n}\n",
	  "a {\n\tb = 1\n\n\t// c\n\n}\n" },
	{ "within a line", "a = /* b */ 1\n", "a = /* b */ 1\n" },
	{ "within the name of a block", "a . /* b */ c {\n}\n", "a.c /* b */ { }\n" },
	{ "within the name of a block over lines", "a.\nb /* c */ {\n}\n", "a.b /* c */ { }\n" },
	{ "within an array on one line", "a = [1, /* b */ 2]\n", "a = [1, /* b */ 2]\n" },
	{ "before a statement on its line", "/* a */ b = 1\n", "/* a */ b = 1\n" },
	{ "behind elements", "a = [ // b\n1, // c\n222, // d\n]\n",
	  "a = [ // b\n\t1, // c\n\t222, // d\n]\n" },
	{ "above elements", "a = [\n// b\n1,\n// c\n2,\n]\n",
	  "a = [\n\t// b\n\t1,\n\t// c\n\t2,\n]\n" },
	{ "below elements", "a = [\n1,\n// b\n]\n", "a = [\n\t1,\n\t// b\n]\n" },
	{ "behind fields", "a = {\nb=1, // c\nlong=22, // d\n}\n",
	  "a = {\n\tb    = 1,  // c\n\tlong = 22, // d\n}\n" },
	{ "above fields", "a = {\n// b\nc=1,\n// d\nlong=2,\n}\n",
	  "a = {\n\t// b\n\tc = 1,\n\t// d\n\tlong = 2,\n}\n" },
	{ "below fields", "a = {\nb=1,\n// c\n}\n", "a = {\n\tb = 1,\n\t// c\n}\n" },
	{ "behind arguments", "a = f(\n1, // b\n2, // c\n)\n",
	  "a = f(\n\t1, // b\n\t2, // c\n)\n" },
	{ "of lines is kept as it is", "x {\n/* a\n   b\n\tc */\nd = 1\n}\n",
	  "x {\n\t/* a\n   b\n\tc */\n\td = 1\n}\n" },
	{ "with carriage returns", "// a\r\nb = 1 // c\r\n/* d\r\n e */\r\n",
	  "// a\nb = 1 // c\n/* d\n e */\n" },
	{ "blank lines inside", "/* a\n\n\nb */\nc = 1\n", "/* a\n\n\nb */\nc = 1\n" },
};

static int format(const char *text, struct river_diags *diags, struct output *out)
{
	out->len = 0;
	out->data[0] = '\0';
	return river_format("t", text, strlen(text), diags->arena, diags, output_write, out);
}

static void test_row(void **state)
{
	static struct output out, again;
	const struct row *row = *state;
	struct river_arena arena;
	struct river_diags diags;

	river_arena_init(&arena, TEST_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	assert_int_equal(format(row->input, &diags, &out), RIVER_OK);
	assert_string_equal(out.data, row->expected);
	assert_int_equal(format(row->expected, &diags, &again), RIVER_OK);
	assert_string_equal(again.data, row->expected);
	assert_int_equal(diags.n_items, 0);
	river_arena_fini(&arena);
}

static const struct row mistake_rows[] = {
	{ "no value", "a = 1\nb =\n", "t:3:1: expected expression, got EOF\n" },
	{ "two mistakes", "a \"b\" = 1\nc = #\n",
	  "t:1:3: attribute names may not have labels\nt:2:5: illegal character U+0023 '#'\n"
	  "t:2:5: expected expression, got ILLEGAL\n" },
	{ "comma missing", "a = [\n1\n]\n", "t:2:2: missing ',' in expression list\n" },
};

static void test_mistake(void **state)
{
	static struct output out, said;
	const struct row *row = *state;
	struct river_arena arena;
	struct river_diags diags;

	river_arena_init(&arena, TEST_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	assert_int_equal(format(row->input, &diags, &out), RIVER_INVALID);
	assert_string_equal(out.data, "");
	said.len = 0;
	output_diags(&said, &diags);
	assert_string_equal(said.data, row->expected);
	river_arena_fini(&arena);
}

/* Whatever allocation fails: a fault and no half of a text. */
static void test_no_memory(void **state)
{
	const char *text = "a { // b\nc = [\n1, `d`,\n]\n}\n";
	static struct output out;
	int r = -1;

	(void)state;
	for (size_t max_bytes = 0; r != RIVER_OK && max_bytes < TEST_ARENA_BYTES;
	     max_bytes += 512) {
		struct river_arena arena;
		struct river_diags diags;

		river_arena_init(&arena, max_bytes);
		river_diags_init(&diags, &arena);
		r = format(text, &diags, &out);
		if (r != RIVER_OK) {
			assert_int_equal(r, -ENOMEM);
			assert_string_equal(out.data, "");
		}
		river_arena_fini(&arena);
	}
	assert_int_equal(r, RIVER_OK);
	assert_string_equal(out.data, "a { // b\n\tc = [\n\t\t1, `d`,\n\t]\n}\n");
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, file_rows, name),
	TEST_ROWS(test_row, block_rows, name),
	TEST_ROWS(test_row, blank_line_rows, name),
	TEST_ROWS(test_row, run_rows, name),
	TEST_ROWS(test_row, array_rows, name),
	TEST_ROWS(test_row, object_rows, name),
	TEST_ROWS(test_row, call_rows, name),
	TEST_ROWS(test_row, expression_rows, name),
	TEST_ROWS(test_row, comment_rows, name),
	TEST_ROWS(test_mistake, mistake_rows, name),
	TEST(test_no_memory),
};

TEST_MAIN(tests)
