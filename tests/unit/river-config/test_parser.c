/* SPDX-License-Identifier: Apache-2.0 */
/* Trees, messages of the parser and how it goes on after them. */
#include "tests/support/unit.h"
#include "tests/unit/river-config/river_test.h"

#include <stdio.h>

#include "river-config/ast.h"

static void dump_expr(struct output *out, const struct river_expr *e);

static void dump_list(struct output *out, const struct river_expr *const *items, size_t n_items)
{
	for (size_t i = 0; i < n_items; i++) {
		output_str(out, " ");
		dump_expr(out, items[i]);
	}
}

/* Fully bracketed, so that precedence shows. */
static void dump_expr(struct output *out, const struct river_expr *e)
{
	switch (e->kind) {
	case RIVER_EXPR_LITERAL:
		output_write(out, e->literal.text, e->literal.len);
		return;
	case RIVER_EXPR_IDENT:
		output_str(out, e->ident);
		return;
	case RIVER_EXPR_ARRAY:
		output_str(out, "[");
		dump_list(out, e->array.items, e->array.n_items);
		output_str(out, "]");
		return;
	case RIVER_EXPR_OBJECT:
		output_str(out, "{");
		for (size_t i = 0; i < e->object.n_fields; i++) {
			output_str(out, e->object.fields[i].quote ? " q:" : " ");
			output_str(out, e->object.fields[i].key.text);
			output_str(out, "=");
			dump_expr(out, e->object.fields[i].value);
		}
		output_str(out, "}");
		return;
	case RIVER_EXPR_PAREN:
		output_str(out, "(paren ");
		dump_expr(out, e->inner);
		break;
	case RIVER_EXPR_UNARY:
		output_str(out, "(");
		output_str(out, river_token_name(e->op));
		output_str(out, " ");
		dump_expr(out, e->inner);
		break;
	case RIVER_EXPR_BINARY:
		output_str(out, "(");
		dump_expr(out, e->binary.left);
		output_str(out, " ");
		output_str(out, river_token_name(e->op));
		output_str(out, " ");
		dump_expr(out, e->binary.right);
		break;
	case RIVER_EXPR_ACCESS:
		output_str(out, "(");
		dump_expr(out, e->access.of);
		output_str(out, " . ");
		output_str(out, e->access.name.text);
		break;
	case RIVER_EXPR_INDEX:
		output_str(out, "(");
		dump_expr(out, e->index.of);
		output_str(out, " at ");
		dump_expr(out, e->index.index);
		break;
	case RIVER_EXPR_CALL:
		output_str(out, "(call ");
		dump_expr(out, e->call.function);
		dump_list(out, e->call.args, e->call.n_args);
		break;
	}
	output_str(out, ")");
}

static void dump_body(struct output *out, const struct river_body *body)
{
	for (size_t i = 0; i < body->n_stmts; i++) {
		const struct river_stmt *stmt = body->stmts[i];

		output_str(out, stmt->name);
		if (stmt->kind == RIVER_STMT_ATTRIBUTE) {
			output_str(out, " = ");
			dump_expr(out, stmt->value);
			output_str(out, "; ");
			continue;
		}
		if (stmt->label) {
			output_str(out, " \"");
			output_str(out, stmt->label);
			output_str(out, "\"");
		}
		output_str(out, " { ");
		dump_body(out, &stmt->body);
		output_str(out, "} ");
	}
}

static void test_parse(void **state)
{
	const struct row *row = *state;
	struct output out = { .len = 0 };
	const struct river_file *file = NULL;
	struct river_arena arena;
	struct river_diags diags;
	int r;

	river_arena_init(&arena, TEST_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	r = river_parse("t", row->input, strlen(row->input), &arena, &diags, &file);
	assert_int_equal(r, diags.n_errors ? RIVER_INVALID : RIVER_OK);
	assert_non_null(file);
	dump_body(&out, &file->body);
	output_str(&out, "\n");
	output_diags(&out, &diags);
	assert_string_equal(out.data, row->expected);
	river_arena_fini(&arena);
}

static const struct row tree_rows[] = {
	{ "empty file", "", "\n" },
	{ "attribute", "a = 1", "a = 1; \n" },
	{ "statements", "a = 1\n\nb = \"x\"\n", "a = 1; b = \"x\"; \n" },
	{ "block", "a.b.c \"l\" {\n\tx = 1\n\n\ty {\n\t}\n}\n", "a.b.c \"l\" { x = 1; y { } } \n" },
	{ "empty label is none", "a \"\" { }", "a { } \n" },
	{ "one-line block", "a { x = 1 }", "a { x = 1; } \n" },
	{ "precedence", "a = 1 || 2 && 3 == 4 + 5 * 6 ^ 7",
	  "a = (1 || (2 && (3 == (4 + (5 * (6 ^ 7)))))); \n" },
	{ "precedence, falling", "a = 7 ^ 6 * 5 + 4 < 3 && 2 || 1",
	  "a = ((((((7 ^ 6) * 5) + 4) < 3) && 2) || 1); \n" },
	{ "left associative", "a = 1 - 2 - 3 / 4 / 5 % 6",
	  "a = ((1 - 2) - (((3 / 4) / 5) % 6)); \n" },
	{ "power is right associative", "a = 2 ^ 3 ^ 4", "a = (2 ^ (3 ^ 4)); \n" },
	{ "unary binds tighter than power", "a = -2 ^ 2", "a = ((- 2) ^ 2); \n" },
	{ "unary nests", "a = !!-b", "a = (! (! (- b))); \n" },
	{ "postfix binds tightest", "a = -b.c[1](2, 3).d",
	  "a = (- ((call ((b . c) at 1) 2 3) . d)); \n" },
	{ "parentheses", "a = (1 + 2) * 3", "a = ((paren (1 + 2)) * 3); \n" },
	{ "parenthesis over lines", "a = (\n1 +\n2)", "a = (paren (1 + 2)); \n" },
	{ "arrays", "a = [1, [], [2,],]", "a = [ 1 [] [ 2]]; \n" },
	{ "objects", "a = { b = 1, \"c d\" = 2, \"\" = 3, }", "a = { b=1 q:c d=2 \"\"=3}; \n" },
	{ "key escapes stay", "a = { \"x\\ty\" = 1 }", "a = { q:x\\ty=1}; \n" },
	{ "call without arguments", "a = f()", "a = (call f); \n" },
	{ "trailing comma in a call", "a = f(1,\n\t2,\n)", "a = (call f 1 2); \n" },
	{ "comments anywhere", "// x\na /* y */ = /* z */ 1 // w\nb { // v\n}", "a = 1; b { } \n" },
	{ "windows line ends", "a = 1\r\nb = 2\r\n", "a = 1; b = 2; \n" },
	{ "carriage returns in keys stay", "a = {`b\rc` = 1}", "a = { q:b\rc=1}; \n" },
	{ "statements in one-line blocks", "a { b { c = 1 } }", "a { b { c = 1; } } \n" },
	{ "names over lines", "a.\nb { }", "a.b { } \n" },
	{ "newline behind an operator", "a = 1 +\n2\nb = !\ntrue\nc =\n3",
	  "a = (1 + 2); b = (! true); c = 3; \n" },
	{ "nested unary and power", "a = -2 ^ -3 ^ !b", "a = ((- 2) ^ ((- 3) ^ (! b))); \n" },
	{ "postfix of literals", "a = \"x\".y\nb = [1][0]\nc = {d = 1}.d\ne = 1(2)",
	  "a = (\"x\" . y); b = ([ 1] at 0); c = ({ d=1} . d); e = (call 1 2); \n" },
	{ "comparisons are left associative", "a = 1 < 2 == 3 != 4",
	  "a = (((1 < 2) == 3) != 4); \n" },
	{ "a comment for an end of line", "a = 1 /* x\n*/ b = 2", "a = 1; b = 2; \n" },
	{ "a comment inside of a list", "a = [1, // one\n2, /* two */\n]", "a = [ 1 2]; \n" },
	{ "keyed by keywords in quotes", "a = {\"true\" = 1, \"null\" = 2}",
	  "a = { q:true=1 q:null=2}; \n" },
	{ "unicode names", "\xc3\xa4 = \xc3\xb6.\xc3\xbc", "\xc3\xa4 = (\xc3\xb6 . \xc3\xbc); \n" },
};

static const struct row error_rows[] = {
	{ "two statements on a line", "a = 1 b = 2\nc = 3",
	  "a = 1; c = 3; \nt:1:7: expected TERMINATOR, got IDENT\n" },
	{ "no name", "= 1\nb = 2",
	  "\nt:1:1: expected identifier, got =\nt:2:1: expected TERMINATOR, got IDENT\n" },
	{ "keyword as name", "true = 1", "\nt:1:1: expected identifier, got BOOL\n" },
	{ "name alone", "a\n}\n",
	  "\nt:1:2: expected block label, got TERMINATOR\nt:2:1: expected attribute assignment or "
	  "block body, got }\n" },
	{ "dotted name alone", "a.b\n}\n",
	  "\nt:1:4: expected block label, got TERMINATOR\nt:2:1: expected block body, got }\n" },
	{ "label that is no string", "a b { }",
	  "a { } \nt:1:3: expected block label, got IDENT\n" },
	{ "raw string as label", "a `b` { }",
	  "a \"b\" { } \nt:1:3: expected block label to be a double quoted string, but got "
	  "\"`b`\"\n" },
	{ "label that is no identifier", "a \"b-c\" { }",
	  "a \"b-c\" { } \nt:1:3: expected block label to be a valid identifier, but got "
	  "\"b-c\"\n" },
	{ "label, then no body", "a \"b\"\nc = 1",
	  "\nt:1:6: expected block body, got TERMINATOR\nt:2:1: expected TERMINATOR, got IDENT\n" },
	{ "keyword as label", "a \"true\" { }",
	  "a \"true\" { } \nt:1:3: expected block label to be a valid identifier, but got "
	  "\"true\"\n" },
	{ "null as label", "a \"null\" { }",
	  "a \"null\" { } \nt:1:3: expected block label to be a valid identifier, but got "
	  "\"null\"\n" },
	{ "label that begins with a digit", "a \"1b\" { }",
	  "a \"1b\" { } \nt:1:3: expected block label to be a valid identifier, but got \"1b\"\n" },
	{ "label with a blank", "a \" b\" { }",
	  "a \" b\" { } \nt:1:3: expected block label to be a valid identifier, but got \" b\"\n" },
	{ "label with an escape", "a \"b\\n\" { }",
	  "a \"b\\n\" { } \nt:1:3: expected block label to be a valid identifier, but got "
	  "\"b\\\\n\"\n" },
	{ "empty raw string as label", "a `` { }",
	  "a { } \nt:1:3: expected block label to be a double quoted string, but got \"``\"\n" },
	{ "empty label, then no body", "a \"\" b",
	  "\nt:1:6: expected attribute assignment or block body, got IDENT\n" },
	{ "label, then no body on the line", "a \"b\" c",
	  "\nt:1:7: expected block body, got IDENT\n" },
	{ "number as label", "a 1 { }", "a { } \nt:1:3: expected block label, got NUMBER\n" },
	{ "two labels", "a \"b\" \"c\" { }\n", "\nt:1:7: expected block body, got STRING\n" },
	{ "empty name part", "a..b { }", "a.b { } \nt:1:3: expected identifier, got .\n" },
	{ "name that ends in a dot", "a. = 1\nb = 2",
	  "a = 1; b = 2; \nt:1:4: expected identifier, got =\n" },
	{ "keyword in a name", "a.true { }\n", "a { } \nt:1:3: expected identifier, got BOOL\n" },
	{ "not a statement", "{ }\na = 1\nb = 2",
	  "b = 2; \nt:1:1: expected identifier, got {\nt:2:1: "
	  "expected TERMINATOR, got IDENT\n" },
	{ "brace too many", "a { }\n}\nb { }\nc { }",
	  "a { } c { } \nt:2:1: expected identifier, got }\nt:3:1: expected TERMINATOR, got "
	  "IDENT\n" },
	{ "dotted attribute with a label", "a.b \"c\" = 1",
	  "a = 1; \nt:1:1: attribute names may only consist of a single identifier with no "
	  "\".\"\n" },
	{ "attribute with an empty label", "a \"\" = 1",
	  "a = 1; \nt:1:3: attribute names may not have labels\n" },
	{ "errors with a range are not filtered", "a = * ; b.c = 1\nd \"e\" = ]",
	  "a = null; d = null; \nt:1:5: expected expression, got *\nt:1:7: illegal character "
	  "U+003B ';'\n"
	  "t:2:3: attribute names may not have labels\nt:2:9: expected expression, got ]\n" },
	{ "dotted attribute", "a.b = 1\nc = 2",
	  "a = 1; c = 2; \nt:1:1: attribute names may only consist of a single identifier with no "
	  "\".\"\n" },
	{ "attribute with label", "a \"b\" = 1",
	  "a = 1; \nt:1:3: attribute names may not have labels\n" },
	{ "value missing", "a =\nb = 2", "a = b; \nt:2:3: expected TERMINATOR, got =\n" },
	{ "expression missing", "a = * 1\nb = 2",
	  "a = null; b = 2; \nt:1:5: expected expression, got *\n" },
	{ "operand missing", "a = [1 +, 2]",
	  "a = [ (1 + null) 2]; \nt:1:9: expected expression, got ,\n" },
	{ "comma missing in a list", "a = [1 2]",
	  "a = [ 1]; \nt:1:8: missing ',' in expression list\n" },
	{ "closing bracket on a new line", "a = [\n\t1,\n\t2\n]",
	  "a = [ 1 2]; \nt:3:3: missing ',' in expression list\n" },
	{ "closing brace on a new line", "a = {\n\tb = 1\n}",
	  "a = { b=1}; \nt:2:7: missing ',' in field list\n" },
	{ "field name", "a = { 1 = 2 }",
	  "a = { =2}; \nt:1:7: expected field name (string or identifier), got NUMBER\n" },
	{ "field without value", "a = { b }", "a = { b=null}; \nt:1:9: expected =, got }\n" },
	{ "array not closed", "a = [1, 2",
	  "a = [ 1 2]; \nt:1:10: missing ',' in expression list\n" },
	{ "array not closed, last line", "a = [1,\n", "a = [ 1]; \nt:2:1: expected ], got EOF\n" },
	{ "block not closed", "a {\n\tb = 1\n", "a { b = 1; } \nt:3:1: expected }, got EOF\n" },
	{ "parenthesis not closed", "a = (1\nb = 2",
	  "a = (paren 1); \nt:1:7: expected ), got TERMINATOR\nt:2:1: expected TERMINATOR, got "
	  "IDENT\n" },
	{ "member name", "a = b.1", "a = b; \nt:1:6: expected TERMINATOR, got FLOAT\n" },
	{ "member name is an operator", "a = b.+",
	  "a = (b . +); \nt:1:7: expected IDENT, got +\n" },
	{ "block as expression", "a = b \"c\" {\n\td = 1\n}\ne = 2",
	  "a = b; e = 2; \nt:1:5: cannot use a block as an expression\n" },
	{ "block as expression without label", "a = b {\n}\n",
	  "a = b; \nt:1:5: cannot use a block as an expression\n" },
	{ "skipping counts parentheses", "a = 1 b (\n1\n)\nc = 3",
	  "a = 1; c = 3; \nt:1:7: expected TERMINATOR, got IDENT\n" },
	{ "skipping counts brackets of arrays", "a = 1 b [\n1\n]\nc = 3",
	  "a = 1; c = 3; \nt:1:7: expected TERMINATOR, got IDENT\n" },
	{ "skipping counts braces", "a = 1 b = {\nx\n}\nc = 3",
	  "a = 1; c = 3; \nt:1:7: expected TERMINATOR, got IDENT\n" },
	{ "two blocks as expressions", "a = b { } { }\nc = 1",
	  "a = b; c = 1; \nt:1:5: cannot use a block as an expression\nt:1:5: cannot use a block "
	  "as an "
	  "expression\n" },
	{ "block as expression, then a member", "a = b { }.c",
	  "a = (b . c); \nt:1:5: cannot use a block as an "
	  "expression\n" },
	{ "block as expression, not closed", "a = b {\nc = 1\n",
	  "a = b; \nt:3:1: expected }, got EOF\n" },
	{ "block as expression with mistakes inside", "a = b {\n\tc = *\n}\nd = 1",
	  "a = b; d = 1; \nt:2:6: expected expression, got *\nt:1:5: cannot use a block as an "
	  "expression\n" },
	{ "call not closed", "a = f(1\nb = 2\nc = 3",
	  "a = (call f 1 b 2 c 3); \nt:1:8: missing ',' in expression list\nt:2:3: missing ',' in "
	  "expression list\n"
	  "t:3:3: missing ',' in expression list\n" },
	{ "index missing", "a = b[]", "a = (b at null); \nt:1:7: expected expression, got ]\n" },
	{ "two indexes", "a = b[1, 2]\nc = 1",
	  "a = (b at 1); c = 1; \nt:1:8: expected ], got ,\n" },
	{ "comma first", "a = [, 1]", "a = [ null 1]; \nt:1:6: expected expression, got ,\n" },
	{ "two commas", "a = [1,, 2]", "a = [ 1 null 2]; \nt:1:8: expected expression, got ,\n" },
	{ "colon for equals in an object", "a = {\"b\": 1}",
	  "a = { q:b=1}; \nt:1:9: illegal character U+003A ':'\nt:1:9: expected =, got ILLEGAL\n" },
	{ "keyword as key", "a = {true = 1}",
	  "a = { =1}; \nt:1:6: expected field name (string or identifier), got BOOL\n" },
	{ "parentheses without anything", "a = ()",
	  "a = (paren null); \nt:1:6: expected expression, got )\n" },
	{ "conditional operator", "a = b ? 1 : 2\nc = 1",
	  "a = b; c = 1; \nt:1:7: illegal character U+003F '?'\nt:1:7: expected TERMINATOR, got "
	  "ILLEGAL\n"
	  "t:1:11: illegal character U+003A ':'\n" },
	{ "hexadecimal number", "a = 0x1F\nb = 1",
	  "a = 0; b = 1; \nt:1:6: expected TERMINATOR, got IDENT\n" },
	{ "hash comment", "# x\na { }\nb { }",
	  "a { } b { } \nt:1:1: illegal character U+0023 '#'\nt:1:1: expected identifier, got "
	  "ILLEGAL\n" },
	{ "hash comment alone", "#\na { }\nb { }",
	  "b { } \nt:1:1: illegal character U+0023 '#'\nt:1:1: expected identifier, got "
	  "ILLEGAL\nt:2:1: "
	  "expected TERMINATOR, got IDENT\n" },
	{ "two strings", "a = \"x\" \"y\"\nb = 1",
	  "a = \"x\"; \nt:1:12: expected {, got TERMINATOR\n" },
	{ "one error a line", "a = * 1 *\n2\nb = * 1",
	  "a = null; b = null; \nt:1:5: expected expression, got *\nt:3:5: expected expression, "
	  "got *\n" },
	{ "errors in several statements", "a {\n\tb = ]\n\tc = 1\n}\nd = )\n",
	  "a { b = null; c = 1; } d = null; \nt:2:6: expected expression, got ]\nt:5:5: expected "
	  "expression, got )\n" },
	{ "skipping counts brackets", "a = 1 {\n\tb = [\n\t\t2,\n\t]\n} x\nc = 3",
	  "a = 1; c = 3; \nt:1:5: cannot use a block as an expression\nt:5:3: expected TERMINATOR, "
	  "got IDENT\n" },
	{ "scanner errors are not filtered", "a = 1 # #\n",
	  "a = 1; \nt:1:7: illegal character U+0023 '#'\nt:1:7: expected TERMINATOR, got ILLEGAL\n"
	  "t:1:9: illegal character U+0023 '#'\n" },
};

/* Start and end of what is wrong; an end is missing where only a place is known. */
static void test_error_range(void **state)
{
	const struct row *row = *state;
	struct output out = { .len = 0 };
	const struct river_file *file;
	struct river_arena arena;
	struct river_diags diags;
	char text[64];

	river_arena_init(&arena, TEST_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	assert_true(river_parse("t", row->input, strlen(row->input), &arena, &diags, &file) >= 0);
	river_file_require_blocks(file, &diags);
	for (size_t i = 0; i < diags.n_items; i++) {
		const struct river_range *range = &diags.items[i].range;

		snprintf(text, sizeof(text), "%u:%u-%u:%u ", range->start.line, range->start.column,
			 range->end.line, range->end.column);
		output_str(&out, text);
	}
	assert_string_equal(out.data, row->expected);
	river_arena_fini(&arena);
}

static const struct row range_rows[] = {
	{ "range: top level", "abc = 1", "1:1-1:3 " },
	{ "range: scanner", "a { b = # }", "1:9-0:0 1:9-0:0 " },
	{ "range: dotted attribute", "a { bc.de = 1 }", "1:5-1:9 " },
	{ "range: dotted attribute, blanks", "a { bc . de = 1 }", "1:5-1:9 " },
	{ "range: dotted attribute, lines", "a { bc.\nde = 1 }", "1:5-2:1 " },
	{ "range: label", "a { b \"cd\" = 1 }", "1:7-1:10 " },
	{ "range: empty label", "a { b \"\" = 1 }", "1:7-1:8 " },
	{ "range: misplaced block", "a { b = c.d \"e\" {\n\tf = 1\n} }", "1:9-3:1 " },
	{ "range: expected", "a { b = }", "1:9-0:0 " },
};

static void test_example(void **state)
{
	static const char text[] =
		"logging {\n\tlevel = \"debug\"\n}\n"
		"pyroscope.ebpf \"instance\" {\n"
		"\tforward_to = [pyroscope.write.endpoint.receiver]\n"
		"\tdefault_target = "
		"{\n\t\t\"__name__\"=\"host_cpu\",\n\t\t\"service_name\"=\"host_cpu\", \n\t}\n"
		"        targets = [\n\t\t{\"__container_id__\"=\"<64 hex>\", \n"
		"\t\t \"service_name\"=\"grafana\", \n\t\t \"__name__\"=\"grafana_cpu\"},\n\t]\n"
		"\ttargets_only = false\n\tcollect_interval = \"5s\"\n\tsample_rate = 100\n}\n"
		"pyroscope.write \"endpoint\" {\n\tendpoint {\n        url = "
		"\"http://127.0.0.1:4040\"\n    }\n}\n";
	static const char expected[] =
		"logging { level = \"debug\"; } "
		"pyroscope.ebpf \"instance\" { "
		"forward_to = [ (((pyroscope . write) . endpoint) . receiver)]; "
		"default_target = { q:__name__=\"host_cpu\" q:service_name=\"host_cpu\"}; "
		"targets = [ { q:__container_id__=\"<64 hex>\" q:service_name=\"grafana\" "
		"q:__name__=\"grafana_cpu\"}]; "
		"targets_only = false; collect_interval = \"5s\"; sample_rate = 100; } "
		"pyroscope.write \"endpoint\" { endpoint { url = \"http://127.0.0.1:4040\"; } } \n";
	const struct row row = { "example", text, expected };
	void *test = (void *)&row;

	(void)state;
	test_parse(&test);
}

static void check_range(const struct river_range *range, const char *expected)
{
	char text[64];

	snprintf(text, sizeof(text), "%u:%u-%u:%u", range->start.line, range->start.column,
		 range->end.line, range->end.column);
	assert_string_equal(text, expected);
}

static void test_ranges(void **state)
{
	static const char text[] = "a.bc \"lab\" {\n\tx = y.z[0] + 12\n}\n";
	const struct river_file *file;
	const struct river_stmt *block, *attribute;
	struct river_arena arena;
	struct river_diags diags;

	(void)state;
	river_arena_init(&arena, TEST_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	assert_int_equal(river_parse("t", text, strlen(text), &arena, &diags, &file), RIVER_OK);
	block = file->body.stmts[0];
	check_range(&block->range, "1:1-3:1");
	check_range(&block->name_range, "1:1-1:4");
	check_range(&block->label_range, "1:6-1:10");
	check_range(&block->head_range, "1:1-1:12");
	check_range(&block->parts[1].range, "1:3-1:4");
	attribute = block->body.stmts[0];
	check_range(&attribute->range, "2:2-2:16");
	check_range(river_expr_range(attribute->value), "2:6-2:16");
	check_range(river_expr_range(attribute->value->binary.left), "2:6-2:11");
	check_range(river_expr_range(attribute->value->binary.left->index.of), "2:6-2:8");
	river_arena_fini(&arena);
}

static void test_comments(void **state)
{
	static const char text[] = "// one\r\na = /* two */ 1 // three\n/* fo\r\nur *\r\r/ \r*/";
	const struct river_file *file;
	struct river_arena arena;
	struct river_diags diags;

	(void)state;
	river_arena_init(&arena, TEST_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	assert_int_equal(river_parse("t", text, strlen(text), &arena, &diags, &file), RIVER_OK);
	assert_int_equal(file->n_comments, 4);
	assert_string_equal(file->comments[0].text, "// one");
	assert_string_equal(file->comments[3].text, "/* fo\nur *\r/ */");
	assert_string_equal(file->comments[1].text, "/* two */");
	check_range(&file->comments[2].range, "2:17-2:24");
	river_arena_fini(&arena);
}

static void test_top_level(void **state)
{
	static const char text[] = "a = 1\nb { x = 1 }\nc = 2";
	struct output out = { .len = 0 };
	const struct river_file *file;
	struct river_arena arena;
	struct river_diags diags;

	(void)state;
	river_arena_init(&arena, TEST_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	assert_int_equal(river_parse("t", text, strlen(text), &arena, &diags, &file), RIVER_OK);
	assert_int_equal(river_file_require_blocks(file, &diags), RIVER_INVALID);
	output_diags(&out, &diags);
	assert_string_equal(out.data,
			    "t:1:1: unrecognized attribute a\nt:3:1: unrecognized attribute c\n");
	river_arena_fini(&arena);
}

static void parse_one(const char *text, struct output *out)
{
	const struct river_expr *e = NULL;
	struct river_arena arena;
	struct river_diags diags;

	river_arena_init(&arena, TEST_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	out->len = 0;
	if (river_parse_expr("t", text, strlen(text), &arena, &diags, &e) == RIVER_OK)
		dump_expr(out, e);
	else
		output_diags(out, &diags);
	river_arena_fini(&arena);
}

static void test_one_expression(void **state)
{
	struct output out;

	(void)state;
	parse_one("1 + 2", &out);
	assert_string_equal(out.data, "(1 + 2)");
	parse_one("1 + 2\n", &out);
	assert_string_equal(out.data, "(1 + 2)");
	parse_one("1 2", &out);
	assert_string_equal(out.data, "t:1:3: expected TERMINATOR, got NUMBER\n");
	parse_one("", &out);
	assert_string_equal(out.data, "t:1:1: expected expression, got EOF\n");
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_parse, tree_rows, name),
	TEST_ROWS(test_parse, error_rows, name),
	TEST_ROWS(test_error_range, range_rows, name),
	TEST(test_example),
	TEST(test_ranges),
	TEST(test_comments),
	TEST(test_top_level),
	TEST(test_one_expression),
};

TEST_MAIN(tests)
