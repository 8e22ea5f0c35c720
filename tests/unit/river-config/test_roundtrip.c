/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties over random programs: what is printed parses again, prints the same, and means the
 * same; a value written in the language's own syntax evaluates to itself.
 */
#include "tests/support/unit.h"
#include "tests/unit/river-config/river_test.h"

#include <stdio.h>

#define N_PROGRAMS 3000
#define DEPTH 4

struct generator {
	uint64_t state;
	struct output *out;
};

/* xorshift64*: the same programs on every run. */
static unsigned int pick(struct generator *g, unsigned int n)
{
	g->state ^= g->state >> 12;
	g->state ^= g->state << 25;
	g->state ^= g->state >> 27;
	return (unsigned int)((g->state * 2685821657736338717ULL) >> 33) % n;
}

static void put_one_of(struct generator *g, const char *const *texts, unsigned int n)
{
	output_str(g->out, texts[pick(g, n)]);
}

static void put_expr(struct generator *g, unsigned int depth);

static void put_gap(struct generator *g)
{
	static const char *const gaps[] = { "", "", " ", "\n", "\n\t", "\n\n" };

	put_one_of(g, gaps, ARRAY_LEN(gaps));
}

static void put_list(struct generator *g, const char *open, const char *close, unsigned int depth)
{
	unsigned int n = pick(g, 4);

	output_str(g->out, open);
	put_gap(g);
	for (unsigned int i = 0; i < n; i++) {
		put_expr(g, depth);
		output_str(g->out, i + 1 < n || pick(g, 2) ? "," : "");
		if (i + 1 < n)
			put_gap(g);
	}
	if (g->out->data[g->out->len - 1] == ',')
		put_gap(g);
	output_str(g->out, close);
}

static void put_object(struct generator *g, unsigned int depth)
{
	static const char *const keys[] = { "a",     "long_name", "\"quoted key\"", "\"\"",
					    "`raw`", "\xc3\xa4",  "\"e\\n\"" };
	unsigned int n = pick(g, 4);

	output_str(g->out, "{");
	put_gap(g);
	for (unsigned int i = 0; i < n; i++) {
		put_one_of(g, keys, ARRAY_LEN(keys));
		output_str(g->out, pick(g, 2) ? "=" : " =\n");
		put_expr(g, depth);
		output_str(g->out, i + 1 < n || pick(g, 2) ? "," : "");
		if (i + 1 < n)
			put_gap(g);
	}
	if (g->out->data[g->out->len - 1] == ',')
		put_gap(g);
	output_str(g->out, "}");
}

static void put_binary(struct generator *g, unsigned int depth)
{
	static const char *const operators[] = { "||", "&&", "==", "!=", "<", "<=", ">",
						 ">=", "+",  "-",  "*",	 "/", "%",  "^" };

	put_expr(g, depth);
	put_one_of(g, operators, ARRAY_LEN(operators));
	put_gap(g);
	put_expr(g, depth);
}

static void put_leaf(struct generator *g)
{
	static const char *const leaves[] = {
		"1",
		"0",
		"2.5",
		"1e3",
		".5",
		"017",
		"true",
		"false",
		"null",
		"\"text\"",
		"\"e\\t\\\"\\u00e4\"",
		"`raw\nlines`",
		"obj",
		"secret",
		"sys",
		"env",
		"18446744073709551615",
	};

	put_one_of(g, leaves, ARRAY_LEN(leaves));
}

static void put_expr(struct generator *g, unsigned int depth)
{
	switch (depth ? pick(g, 12) : 0) {
	case 1:
	case 2:
		put_list(g, "[", "]", depth - 1);
		break;
	case 3:
	case 4:
		put_object(g, depth - 1);
		break;
	case 5:
	case 6:
		put_binary(g, depth - 1);
		break;
	case 7:
		output_str(g->out, "(");
		put_expr(g, depth - 1);
		output_str(g->out, ")");
		break;
	case 8:
		output_str(g->out, pick(g, 2) ? "!" : "-");
		put_expr(g, depth - 1);
		break;
	case 9:
		output_str(g->out, "coalesce");
		put_list(g, "(", ")", depth - 1);
		break;
	case 10:
		output_str(g->out, pick(g, 2) ? "obj.list[" : "obj[");
		put_expr(g, depth - 1);
		output_str(g->out, "]");
		break;
	default:
		put_leaf(g);
		break;
	}
}

static const struct river_value *test_lookup(void *ctx, struct river_arena *a, const char *name)
{
	const struct river_value *item = river_value_string(a, "x", 1);
	const struct river_member member = { "list", river_value_array(a, &item, 1) };

	(void)ctx;
	if (strcmp(name, "secret") == 0)
		return river_value_secret(a, "pass", 4);
	return strcmp(name, "obj") == 0 ? river_value_object(a, &member, 1) : NULL;
}

static const struct river_scope scope = { .lookup = test_lookup };

/* The value as text; that there is none is an outcome too, but its text shows the expression as it is laid out. */
static void evaluate(const struct river_expr *e, struct river_arena *arena, struct output *out)
{
	const struct river_value *value;
	struct river_diags diags;

	river_diags_init(&diags, arena);
	out->len = 0;
	if (river_eval(e, &scope, arena, &diags, &value) == RIVER_OK)
		assert_int_equal(
			river_value_write(value, RIVER_LAYOUT_LINE, arena, output_write, out), 0);
	else
		output_str(out, "none");
}

static void print(const struct river_expr *e, struct river_arena *arena, struct output *out)
{
	out->len = 0;
	assert_int_equal(river_expr_write(e, arena, output_write, out), 0);
}

static const struct river_expr *parse(const char *text, struct river_arena *arena)
{
	const struct river_expr *e = NULL;
	struct river_diags diags;

	river_diags_init(&diags, arena);
	if (river_parse_expr("t", text, strlen(text), arena, &diags, &e) != RIVER_OK)
		fail_msg("%s: %s", text, diags.items[0].message);
	return e;
}

/* The value of the only attribute of a text. */
static const struct river_expr *parse_attribute(const char *text, struct river_arena *arena)
{
	const struct river_file *file;
	struct river_diags diags;

	river_diags_init(&diags, arena);
	if (river_parse("t", text, strlen(text), arena, &diags, &file) != RIVER_OK)
		fail_msg("%s: %s", text, diags.items[0].message);
	assert_int_equal(file->body.n_stmts, 1);
	return file->body.stmts[0]->value;
}

static void format(const struct output *text, struct river_arena *arena, struct output *out)
{
	struct river_diags diags;

	river_diags_init(&diags, arena);
	out->len = 0;
	assert_int_equal(river_format("t", text->data, text->len, arena, &diags, output_write, out),
			 0);
}

static void test_print_is_fixed(void **state)
{
	static struct output source, first, second, value, value_again;
	struct generator g = { .state = 88172645463325252ULL, .out = &source };

	(void)state;
	for (int i = 0; i < N_PROGRAMS; i++) {
		struct river_arena arena;

		river_arena_init(&arena, TEST_ARENA_BYTES);
		source.len = 0;
		output_str(&source, "v = ");
		put_expr(&g, DEPTH);
		format(&source, &arena, &first);
		format(&first, &arena, &second);
		evaluate(parse_attribute(source.data, &arena), &arena, &value);
		evaluate(parse_attribute(first.data, &arena), &arena, &value_again);
		assert_string_equal(first.data, second.data);
		assert_string_equal(value.data, value_again.data);
		river_arena_fini(&arena);
	}
}

/* Literals only: names of functions and secrets do not come back from their text. */
static void test_value_comes_back(void **state)
{
	static const char *const texts[] = {
		"null",
		"[]",
		"{}",
		"-1",
		"18446744073709551615",
		"0.1",
		"-1.5e-300",
		"1e300",
		"\"\\x00\\xff\\u2028\\\"\"",
		"{a = [1, {b = null, \"c d\" = true}], \xc3\xa4 = `x\ny`}",
		"9007199254740993",
		"[[[[[[{a = {}}]]]]]]",
	};
	static struct output written;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		const struct river_value *value, *again;
		struct river_arena arena;
		struct river_diags diags;

		river_arena_init(&arena, TEST_ARENA_BYTES);
		river_diags_init(&diags, &arena);
		for (int layout = RIVER_LAYOUT_LINE; layout <= RIVER_LAYOUT_LINES; layout++) {
			assert_int_equal(
				river_eval(parse(texts[i], &arena), &scope, &arena, &diags, &value),
				RIVER_OK);
			written.len = 0;
			river_value_write(value, layout, &arena, output_write, &written);
			assert_int_equal(river_eval(parse(written.data, &arena), &scope, &arena,
						    &diags, &again),
					 RIVER_OK);
			assert_true(river_value_equal(value, again));
		}
		river_arena_fini(&arena);
	}
}

static const struct row layout_rows[] = {
	{ "blanks", "1+2*-3", "1 + 2 * -3" },
	{ "line breaks of operators go", "1 +\n2", "1 + 2" },
	{ "array on one line", "[ 1,2 , 3 ]", "[1, 2, 3]" },
	{ "array over lines", "[\n1, 2,\n 3,\n]", "[\n\t1, 2,\n\t3,\n]" },
	{ "array closed on its last line", "[\n1,\n2]", "[\n\t1,\n\t2]" },
	{ "empty brackets", "[\n\n]", "[]" },
	{ "object on one line", "{a=1,\"b\"=2}", "{a = 1, \"b\" = 2}" },
	{ "object over lines", "{\na=1,\nlong=2,\nm={\nx=1,\n},\nn=3,\n}",
	  "{\n\ta    = 1,\n\tlong = 2,\n\tm    = {\n\t\tx = 1,\n\t},\n\tn = 3,\n}" },
	{ "object whose last value spans lines", "{a=[\n1,\n]}", "{a = [\n\t\t1,\n\t],\n}" },
	{ "call", "f( 1,2 )", "f(1, 2)" },
	{ "call over lines", "f(1,\n2,\n)", "f(1,\n\t2,\n)" },
	{ "member of a number", "1 .x", "1 .x" },
	{ "postfix", "a . b [ 0 ] ( ) . c", "a.b[0]().c" },
	{ "literals verbatim", "`a\n\tb` + \"\\x41\" + 0017", "`a\n\tb` + \"\\x41\" + 0017" },
};

static void test_layout(void **state)
{
	const struct row *row = *state;
	struct output out = { .len = 0 };
	struct river_arena arena;

	river_arena_init(&arena, TEST_ARENA_BYTES);
	print(parse(row->input, &arena), &arena, &out);
	assert_string_equal(out.data, row->expected);
	river_arena_fini(&arena);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_layout, layout_rows, name),
	TEST(test_print_is_fixed),
	TEST(test_value_comes_back),
};

TEST_MAIN(tests)
