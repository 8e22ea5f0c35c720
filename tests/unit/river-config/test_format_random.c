/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties of the formatter over random programs with comments in every place that may have one: the result means the same, every comment is
 * in it in its order, and formatting it again changes nothing.
 */
#include "tests/support/unit.h"
#include "tests/unit/river-config/river_test.h"

#include <stdio.h>

#include "tests/support/river_same.h"

#define N_PROGRAMS 4000
#define DEPTH 3

/* Of which so many are shown when they fail. */
#define SHOWN_MAX 3

struct generator {
	uint64_t state;
	struct output *out;
	unsigned int n_comments;
	unsigned int rarity; /* a place in so many has a comment */
	bool due;	     /* a line break would end the statement here */
};

/* xorshift64*: the same programs on every run. */
static unsigned int pick(struct generator *g, unsigned int n)
{
	g->state ^= g->state >> 12;
	g->state ^= g->state << 25;
	g->state ^= g->state >> 27;
	return (unsigned int)((g->state * 2685821657736338717ULL) >> 33) % n;
}

struct comment {
	const char *before;
	const char *after; /* its number */
};

static void put_comment(struct generator *g, const struct comment *c)
{
	char number[16];

	(void)snprintf(number, sizeof(number), "%u", ++g->n_comments);
	output_str(g->out, c->before);
	output_str(g->out, number);
	output_str(g->out, c->after);
}

/* Blanks, and what is not ended by a line break. */
static void put_narrow_gap(struct generator *g)
{
	static const char *const blanks[] = { "", "", "", " ", "\t", "  " };
	static const struct comment comments[] = { { " /* ", " */ " }, { " /*\t", "*/" } };

	output_str(g->out, blanks[pick(g, ARRAY_LEN(blanks))]);
	if (pick(g, g->rarity) == 0)
		put_comment(g, &comments[pick(g, ARRAY_LEN(comments))]);
}

static void put_lines(struct generator *g)
{
	static const char *const lines[] = { "\n", "\n", "\n\t", "\n\n", "\n\n\n  ", " \n" };

	output_str(g->out, lines[pick(g, ARRAY_LEN(lines))]);
}

static void put_wide_comment(struct generator *g)
{
	static const struct comment comments[] = {
		{ " // ", "\n" },	{ " //", "\t|\n\n" },	   { " /* ", " */\n" },
		{ " /* ", "\n\tb */" }, { "\n/* ", "\n\n b */ " },
	};

	put_comment(g, &comments[pick(g, ARRAY_LEN(comments))]);
}

static void put_wide_gap(struct generator *g)
{
	if (pick(g, 3) == 0)
		put_lines(g);
	while (pick(g, g->rarity) == 0)
		put_wide_comment(g);
	put_narrow_gap(g);
}

/* Before the next token. */
static void put_gap(struct generator *g)
{
	if (g->due)
		put_narrow_gap(g);
	else
		put_wide_gap(g);
}

static void put_token(struct generator *g, const char *text)
{
	char last = text[strlen(text) - 1];

	put_gap(g);
	output_str(g->out, text);
	g->due = !strchr("=+-*/%^&|!<>.,([{", last);
}

static void put_one_of(struct generator *g, const char *const *texts, unsigned int n)
{
	put_token(g, texts[pick(g, n)]);
}

static void put_expr(struct generator *g, unsigned int depth);

static void put_key(struct generator *g)
{
	static const char *const keys[] = { "a",     "long_name", "\"quoted key\"", "\"\"",
					    "`raw`", "\xc3\xa4",  "\"e\\n\"",	    "\"\\\\\"",
					    "`\\`",  "`\"`" };

	put_one_of(g, keys, ARRAY_LEN(keys));
	put_token(g, "=");
}

/* Elements, arguments or fields. A comma before the bracket allows a line break there. */
static void put_list(struct generator *g, const char *open, const char *close, bool keys,
		     unsigned int depth)
{
	unsigned int n = pick(g, 4);

	put_token(g, open);
	for (unsigned int i = 0; i < n; i++) {
		if (keys)
			put_key(g);
		put_expr(g, depth);
		if (i + 1 < n || pick(g, 2))
			put_token(g, ",");
	}
	put_token(g, close);
}

static void put_leaf(struct generator *g)
{
	static const char *const leaves[] = {
		"1",	    "2.5",    ".5",	  "1e3",  "017",
		"1 .x",	    "true",   "null",	  "name", "\xc3\xa4",
		"\"text\"", "\"//\"", "\"\\\"\"", "`/*`", "`raw\n\tlines`",
	};

	put_one_of(g, leaves, ARRAY_LEN(leaves));
}

static void put_binary(struct generator *g, unsigned int depth)
{
	static const char *const operators[] = { "||", "&&", "==", "!=", "<", "<=", ">",
						 ">=", "+",  "-",  "*",	 "/", "%",  "^" };

	put_expr(g, depth);
	put_one_of(g, operators, ARRAY_LEN(operators));
	put_expr(g, depth);
}

static void put_postfix(struct generator *g, unsigned int depth)
{
	put_token(g, "f");
	switch (pick(g, 3)) {
	case 0:
		put_token(g, ".");
		put_token(g, "member");
		break;
	case 1:
		put_token(g, "[");
		put_expr(g, depth);
		put_token(g, "]");
		break;
	default:
		put_list(g, "(", ")", false, depth);
		break;
	}
}

static void put_expr(struct generator *g, unsigned int depth)
{
	switch (depth ? pick(g, 10) : 0) {
	case 1:
	case 2:
		put_list(g, "[", "]", false, depth - 1);
		break;
	case 3:
	case 4:
		put_list(g, "{", "}", true, depth - 1);
		break;
	case 5:
		put_binary(g, depth - 1);
		break;
	case 6:
		put_token(g, "(");
		put_expr(g, depth - 1);
		put_token(g, ")");
		break;
	case 7:
		put_token(g, pick(g, 2) ? "!" : "-");
		put_expr(g, depth - 1);
		break;
	case 8:
		put_postfix(g, depth - 1);
		break;
	default:
		put_leaf(g);
		break;
	}
}

static void put_body(struct generator *g, unsigned int depth);

static void put_block(struct generator *g, unsigned int depth)
{
	static const char *const labels[] = { "\"label\"", "\"\xc3\xa4\"", "\"\"" };

	put_token(g, "block");
	if (pick(g, 3) == 0) {
		put_token(g, ".");
		put_token(g, "part");
	}
	if (pick(g, 2) == 0)
		put_one_of(g, labels, ARRAY_LEN(labels));
	put_token(g, "{");
	put_body(g, depth);
	put_token(g, "}");
}

static void put_stmt(struct generator *g, unsigned int depth)
{
	static const char *const names[] = { "a", "name", "long_name", "\xc3\xa4" };

	if (depth > 0 && pick(g, 3) == 0) {
		put_block(g, depth - 1);
		return;
	}
	put_one_of(g, names, ARRAY_LEN(names));
	put_token(g, "=");
	put_expr(g, depth);
}

static void end_stmt(struct generator *g)
{
	static const struct comment comment = { "// ", "" };

	put_narrow_gap(g);
	if (pick(g, g->rarity) == 0)
		put_comment(g, &comment);
	output_str(g->out, "\n");
	g->due = false;
}

static void put_body(struct generator *g, unsigned int depth)
{
	unsigned int n = pick(g, 4);

	for (unsigned int i = 0; i < n; i++) {
		put_stmt(g, depth);
		if (i + 1 < n || pick(g, 2)) {
			end_stmt(g);
		}
	}
	/* The first of these, or the brace, ends the statement. */
	if (pick(g, 2))
		put_gap(g);
}

static const struct river_file *parse(const struct output *text, struct river_arena *arena)
{
	const struct river_file *file = NULL;
	struct river_diags diags;

	river_diags_init(&diags, arena);
	return river_parse("t", text->data, text->len, arena, &diags, &file) == RIVER_OK ? file
											 : NULL;
}

static int format(const struct output *text, struct river_arena *arena, struct output *out)
{
	struct river_diags diags;

	out->len = 0;
	out->data[0] = '\0';
	river_diags_init(&diags, arena);
	return river_format("t", text->data, text->len, arena, &diags, output_write, out);
}

/* What is wrong with how it is formatted, or NULL. */
static const char *check(const struct output *source, struct river_arena *arena)
{
	static struct output first, second;
	const struct river_file *before = parse(source, arena);
	const struct river_file *after;

	if (!before)
		return "the generator is wrong";
	if (format(source, arena, &first) != RIVER_OK)
		return "cannot be formatted";
	after = parse(&first, arena);
	if (!after)
		return "the result cannot be parsed";
	if (!river_same_body(&before->body, &after->body))
		return "the result means something else";
	if (!river_same_comments(before, after))
		return "comments were lost or have moved";
	if (format(&first, arena, &second) != RIVER_OK || first.len != second.len ||
	    memcmp(first.data, second.data, first.len) != 0)
		return "formatting it again changes it";
	return NULL;
}

static void test_random(void **state)
{
	static struct output source;
	struct generator g = { .state = 88172645463325252ULL, .out = &source };
	unsigned int n_failed = 0;

	(void)state;
	for (unsigned int i = 0; i < N_PROGRAMS; i++) {
		struct river_arena arena;

		river_arena_init(&arena, TEST_ARENA_BYTES);
		g.rarity = 2 + i % 16;
		g.due = false;
		source.len = 0;
		put_body(&g, 1 + i % DEPTH);
		const char *wrong = check(&source, &arena);

		if (wrong && n_failed++ < SHOWN_MAX)
			print_error("%s:\n%s\n", wrong, source.data);
		river_arena_fini(&arena);
	}
	assert_int_equal(n_failed, 0);
}

static const struct unit_test tests[] = {
	TEST(test_random),
};

TEST_MAIN(tests)
