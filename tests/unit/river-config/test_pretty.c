/* SPDX-License-Identifier: Apache-2.0 */
/* The list of diagnostics and its three forms, byte for byte. */
#include "tests/support/unit.h"
#include "tests/unit/river-config/river_test.h"

struct excerpt_row {
	const char *name;
	const char *text;
	unsigned int start_line, start_column, end_line, end_column;
	const char *message;
	const char *expected;
};

static struct river_pos pos_at(const char *text, unsigned int line, unsigned int column)
{
	struct river_pos pos = { .line = line, .column = column };
	const char *p = text;

	for (unsigned int i = 1; i < line; i++)
		p = strchr(p, '\n') + 1;
	pos.offset = line ? (uint32_t)(p - text) + column - 1 : 0;
	return pos;
}

static const struct excerpt_row excerpt_rows[] = {
	{ "one line", "discovery.process \"p\" {\n\tintervall = \"1s\"\n}\n", 2, 2, 2, 17,
	  "unrecognized attribute name \"intervall\"",
	  "Error: f:2:2: unrecognized attribute name \"intervall\"\n\n"
	  "1 | discovery.process \"p\" {\n"
	  "2 |     intervall = \"1s\"\n"
	  "  |     ^^^^^^^^^^^^^^^^\n"
	  "3 | }\n" },
	{ "several lines", "discovery.relabel \"r\" {\n}\n", 1, 1, 2, 1,
	  "missing required attribute \"targets\"",
	  "Error: f:1:1: missing required attribute \"targets\"\n\n"
	  "1 |   discovery.relabel \"r\" {\n"
	  "  |  _^^^^^^^^^^^^^^^^^^^^^^^\n"
	  "2 | | }\n"
	  "  | |_^\n"
	  "3 |   \n" },
	{ "tabs are never marked", "a {\n\tb = {\n\t\tc = 1,\n\t}\n}", 2, 2, 4, 2, "m",
	  "Error: f:2:2: m\n\n"
	  "1 |   a {\n"
	  "2 |       b = {\n"
	  "  |  _____^^^^^\n"
	  "3 | |         c = 1,\n"
	  "4 | |     }\n"
	  "  | |_____^\n"
	  "5 |   }\n" },
	{ "blanks are marked", "    a {\n  }  \nb", 1, 5, 2, 3, "m",
	  "Error: f:1:5: m\n\n"
	  "1 |       a {\n"
	  "  |  _____^^^\n"
	  "2 | |   }  \n"
	  "  | |_^^^\n"
	  "3 |   b\n" },
	{ "text behind a range of lines", "x = [ y\n\t\tz ] w", 1, 5, 2, 5, "m",
	  "Error: f:1:5: m\n\n"
	  "1 |   x = [ y\n"
	  "  |  _____^^^\n"
	  "2 | |         z ] w\n"
	  "  | |_________^^^\n" },
	{ "two lines apart, only first and last are marked", "a {\n\n\n}\n", 1, 1, 4, 1, "m",
	  "Error: f:1:1: m\n\n"
	  "1 |   a {\n"
	  "  |  _^^^\n"
	  "2 | | \n"
	  "3 | | \n"
	  "4 | | }\n"
	  "  | |_^\n"
	  "5 |   \n" },
	{ "range that ends behind its line", "ab\ncd", 1, 2, 1, 9, "m",
	  "Error: f:1:2: m\n\n1 | ab\n  |  ^\n2 | cd\n" },
	{ "carriage return inside of a line", "a\rb", 1, 3, 1, 3, "m",
	  "Error: f:1:3: m\n\n1 | ab\n  |   ^\n" },
	{ "last line, without a newline", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10", 10, 1, 10, 2, "m",
	  "Error: f:10:1: m\n\n 9 | 9\n10 | 10\n   | ^^\n" },
	{ "tab inside a range", "a\t= 1", 1, 1, 1, 5, "m",
	  "Error: f:1:1: m\n\n1 | a    = 1\n  | ^    ^^^\n" },
	{ "multi-byte characters", "\xc3\xa4 = \"\xe2\x82\xac\"", 1, 6, 1, 10, "m",
	  "Error: f:1:6: m\n\n1 | \xc3\xa4 = \"\xe2\x82\xac\"\n  |     ^^^\n" },
	{ "start without end", "a = *\n", 1, 5, 0, 0, "m",
	  "Error: f:1:5: m\n\n1 | a = *\n  |     ^\n2 | \n" },
	{ "behind the end of a line", "ab\ncd", 1, 3, 0, 0, "m",
	  "Error: f:1:3: m\n\n1 | ab\n  |   \n2 | cd\n" },
	{ "carriage returns", "a\r\nb\r\n", 1, 1, 1, 2, "m",
	  "Error: f:1:1: m\n\n1 | a\n  | ^^\n2 | b\n" },
	{ "vertical tab", "\vab", 1, 2, 1, 2, "m", "Error: f:1:2: m\n\n1 |     ab\n  |     ^\n" },
	{ "numbers get wider", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11", 9, 1, 9, 1, "m",
	  "Error: f:9:1: m\n\n 8 | 8\n 9 | 9\n   | ^\n10 | 10\n" },
	{ "no position", "a", 0, 0, 0, 0, "m", "Error: f: m\n" },
	{ "empty source", "", 1, 1, 0, 0, "m", "Error: f:1:1: m\n\n1 | \n  | \n" },
	{ "message of several lines", "a", 1, 1, 1, 1, "x\ny",
	  "Error: f:1:1: x\ny\n\n1 | a\n  | ^\n" },
	{ "first line of three", "a\nb\nc", 1, 1, 3, 1, "m",
	  "Error: f:1:1: m\n\n1 |   a\n  |  _^\n2 | | b\n3 | | c\n  | |_^\n" },
};

static void test_excerpt(void **state)
{
	const struct excerpt_row *row = *state;
	struct river_source source = { "f", row->text, strlen(row->text) };
	struct river_range range = {
		.file = "f",
		.start = pos_at(row->text, row->start_line, row->start_column),
		.end = pos_at(row->text, row->end_line, row->end_column),
	};
	struct output out = { .len = 0 };
	struct river_arena arena;
	struct river_diags diags;

	river_arena_init(&arena, TEST_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	assert_int_equal(river_diag_add(&diags, RIVER_SEVERITY_ERROR, &range, "%s", row->message),
			 0);
	river_diags_write_pretty(&diags, &source, 1, false, output_write, &out);
	assert_string_equal(out.data, row->expected);
	river_arena_fini(&arena);
}

/* Three diagnostics: two with a position, a warning without. */
static void fill(struct river_diags *diags, struct river_arena *arena)
{
	struct river_range a = { .file = "a", .start = { .line = 1, .column = 1 } };
	struct river_range b = { .file = "b", .start = { .line = 2, .column = 3, .offset = 4 } };

	river_diags_init(diags, arena);
	assert_int_equal(river_diag_add(diags, RIVER_SEVERITY_ERROR, &a, "one %d", 1), 0);
	assert_int_equal(river_diag_add(diags, RIVER_SEVERITY_ERROR, &b, "two"), 0);
	assert_int_equal(river_diag_add(diags, RIVER_SEVERITY_WARNING, NULL, "three"), 0);
}

static void test_several_files(void **state)
{
	const struct river_source sources[] = { { "b", "x\nyyz", 5 } };
	struct output out = { .len = 0 };
	struct river_arena arena;
	struct river_diags diags;

	(void)state;
	river_arena_init(&arena, TEST_ARENA_BYTES);
	fill(&diags, &arena);
	river_diags_write_pretty(&diags, sources, 1, false, output_write, &out);
	assert_string_equal(out.data, "Error: a:1:1: one 1\n\n"
				      "Error: b:2:3: two\n\n1 | x\n2 | yyz\n  |   ^\n\n"
				      "Warning: -: three\n");
	river_arena_fini(&arena);
}

static void test_color(void **state)
{
	struct output out = { .len = 0 };
	struct river_arena arena;
	struct river_diags diags;

	(void)state;
	river_arena_init(&arena, TEST_ARENA_BYTES);
	fill(&diags, &arena);
	river_diags_write_pretty(&diags, NULL, 0, true, output_write, &out);
	assert_string_equal(out.data, "\033[31;1mError: \033[0m\033[1ma:1:1: one 1\n\033[0m\n"
				      "\033[31;1mError: \033[0m\033[1mb:2:3: two\n\033[0m\n"
				      "\033[33;1mWarning: \033[0m\033[1m-: three\n\033[0m");
	river_arena_fini(&arena);
}

static void test_summary(void **state)
{
	struct output out = { .len = 0 };
	struct river_arena arena;
	struct river_diags diags;

	(void)state;
	river_arena_init(&arena, TEST_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	river_diags_write_summary(&diags, output_write, &out);
	assert_string_equal(out.data, "no errors");
	fill(&diags, &arena);
	out.len = 0;
	river_diags_write_summary(&diags, output_write, &out);
	assert_string_equal(out.data, "a:1:1: one 1 (and 2 more diagnostics)");
	diags.n_items = 1;
	out.len = 0;
	river_diags_write_summary(&diags, output_write, &out);
	assert_string_equal(out.data, "a:1:1: one 1");
	river_arena_fini(&arena);
}

/* What is beyond the ceiling is counted, not kept. */
static void test_ceiling(void **state)
{
	struct output out = { .len = 0 };
	struct river_arena arena;
	struct river_diags diags;

	(void)state;
	river_arena_init(&arena, TEST_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	for (int i = 0; i < RIVER_DIAGS_MAX + 7; i++)
		assert_int_equal(river_diag_add(&diags, RIVER_SEVERITY_ERROR, NULL, "%d", i), 0);
	assert_int_equal(diags.n_items, RIVER_DIAGS_MAX);
	assert_int_equal(diags.n_dropped, 7);
	assert_int_equal(diags.n_errors, RIVER_DIAGS_MAX + 7);
	river_diags_write_pretty(&diags, NULL, 0, false, output_write, &out);
	assert_non_null(strstr(out.data, "Error: -: 999\n\n(and 7 more diagnostics)\n"));
	river_arena_fini(&arena);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_excerpt, excerpt_rows, name),
	TEST(test_several_files),
	TEST(test_color),
	TEST(test_summary),
	TEST(test_ceiling),
};

TEST_MAIN(tests)
