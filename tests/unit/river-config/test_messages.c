/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration to exact diagnostics, the form with excerpts: each message at its place, in the order
 * of one load (parser, top level, bodies).
 */
#include "tests/support/unit.h"
#include "tests/unit/river-config/river_test.h"

struct rule {
	const char *label;
	struct river_strings pair;
};

struct component {
	struct river_strings targets;
	int64_t timeout_ns;
	struct rule rule;
	struct river_blocks rules;
};

static const struct river_field rule_fields[] = {
	RIVER_FIELD_STRING_LIST(struct rule, pair, "pair", .length = 2),
};
static const struct river_schema rule_schema = RIVER_SCHEMA(struct rule, "rule", rule_fields);

static const struct river_field named_fields[] = {
	RIVER_FIELD_LABEL(struct rule, label),
};
static const struct river_schema named_schema = RIVER_SCHEMA(struct rule, "named", named_fields);

static const char *validate_timeout(const void *field, struct river_arena *arena)
{
	(void)arena;
	return *(const int64_t *)field < 0 ? "timeout must be greater than 0" : NULL;
}

static const struct river_field fields[] = {
	RIVER_FIELD_STRING_LIST(struct component, targets, "targets", .flags = RIVER_REQUIRED),
	RIVER_FIELD_DURATION(struct component, timeout_ns, "timeout", .validate = validate_timeout),
	RIVER_FIELD_BLOCK(struct component, rule, "rule", &rule_schema),
	RIVER_FIELD_BLOCKS(struct component, rules, "named", &named_schema),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "old", RIVER_DEPRECATED, .note = "use targets"),
};
static const struct river_schema schema = RIVER_SCHEMA(struct component, "component", fields);

static void load(const char *text, struct river_arena *arena, struct river_diags *diags)
{
	const struct river_scope scope = { .version = "1" };
	const struct river_file *file;
	struct component x;

	if (river_parse("a.alloy", text, strlen(text), arena, diags, &file) != RIVER_OK)
		return;
	river_file_require_blocks(file, diags);
	for (size_t i = 0; i < file->body.n_stmts; i++)
		if (file->body.stmts[i]->kind == RIVER_STMT_BLOCK)
			river_decode_block(file->body.stmts[i], &schema, &scope, arena, diags, &x);
}

static void test_load(void **state)
{
	const struct row *row = *state;
	struct river_source source = { "a.alloy", row->input, strlen(row->input) };
	struct output out = { .len = 0 };
	struct river_arena arena;
	struct river_diags diags;

	river_arena_init(&arena, TEST_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	load(row->input, &arena, &diags);
	river_diags_write_pretty(&diags, &source, 1, false, output_write, &out);
	assert_string_equal(out.data, row->expected);
	river_arena_fini(&arena);
}

#define HEAD "Error: a.alloy:"

static const struct row rows[] = {
	{ "nothing wrong", "c {\n\ttargets = []\n}\n", "" },
	{ "scanner", "c {\n\ttargets = []\n\t# no comment\n}\n",
	  HEAD "3:2: illegal character U+0023 '#'\n\n"
	       "2 |     targets = []\n"
	       "3 |     # no comment\n"
	       "  |     ^\n"
	       "4 | }\n"
	       "\n" HEAD "3:2: expected identifier, got ILLEGAL\n\n"
	       "2 |     targets = []\n"
	       "3 |     # no comment\n"
	       "  |     ^\n"
	       "4 | }\n" },
	{ "parser, behind the end of the line", "c {\n\ttargets = [\n\t\t1\n\t]\n}\n",
	  HEAD "3:4: missing ',' in expression list\n\n"
	       "2 |     targets = [\n"
	       "3 |         1\n"
	       "  |          \n"
	       "4 |     ]\n" },
	{ "parser, at the end of the file", "c {\n",
	  HEAD "2:1: expected }, got EOF\n\n1 | c {\n2 | \n  | \n" },
	{ "parser, with a range", "a.b = 1\n",
	  HEAD "1:1: attribute names may only consist of a single identifier with no \".\"\n\n"
	       "1 | a.b = 1\n"
	       "  | ^^^\n"
	       "2 | \n" },
	{ "label of an attribute", "c {\n\ttargets \"x\" = []\n}",
	  HEAD "2:10: attribute names may not have labels\n\n"
	       "1 | c {\n"
	       "2 |     targets \"x\" = []\n"
	       "  |             ^^^\n"
	       "3 | }\n" },
	{ "block as expression", "c {\n\trule = rule {\n\t\tpair = []\n\t}\n}\n",
	  HEAD "2:9: cannot use a block as an expression\n\n"
	       "1 |   c {\n"
	       "2 |       rule = rule {\n"
	       "  |  ____________^^^^^^\n"
	       "3 | |         pair = []\n"
	       "4 | |     }\n"
	       "  | |_____^\n"
	       "5 |   }\n" },
	{ "top level", "abc = 1\n",
	  HEAD "1:1: unrecognized attribute abc\n\n1 | abc = 1\n  | ^^^\n2 | \n" },
	{ "unknown names", "c {\n\ttargets = []\n\tintervall = \"1s\"\n\trules { }\n}\n",
	  HEAD "3:2: unrecognized attribute name \"intervall\"\n\n"
	       "2 |     targets = []\n"
	       "3 |     intervall = \"1s\"\n"
	       "  |     ^^^^^^^^^^^^^^^^\n"
	       "4 |     rules { }\n"
	       "\n" HEAD "4:2: unrecognized block name \"rules\"\n\n"
	       "3 |     intervall = \"1s\"\n"
	       "4 |     rules { }\n"
	       "  |     ^^^^^^^^^\n"
	       "5 | }\n" },
	{ "given twice", "c {\n\ttargets = []\n\ttargets = [\n\t]\n}\n",
	  HEAD "3:2: attribute \"targets\" may only be provided once\n\n"
	       "2 |       targets = []\n"
	       "3 |       targets = [\n"
	       "  |  _____^^^^^^^^^^^\n"
	       "4 | |     ]\n"
	       "  | |_____^\n"
	       "5 |   }\n" },
	{ "block for attribute and the other way", "c {\n\ttargets { }\n\trule = {}\n}\n",
	  HEAD "2:2: \"targets\" must be an attribute, but is used as a block\n\n"
	       "1 | c {\n"
	       "2 |     targets { }\n"
	       "  |     ^^^^^^^^^^^\n"
	       "3 |     rule = {}\n"
	       "\n" HEAD "3:2: \"rule\" must be a block, but is used as an attribute\n\n"
	       "2 |     targets { }\n"
	       "3 |     rule = {}\n"
	       "  |     ^^^^^^^^^\n"
	       "4 | }\n" },
	{ "block twice", "c {\n\ttargets = []\n\trule {\n\t}\n\trule { }\n}\n",
	  HEAD "3:2: block \"rule\" may only be specified once\n\n"
	       "2 |       targets = []\n"
	       "3 |       rule {\n"
	       "  |  _____^^^^^^\n"
	       "4 | |     }\n"
	       "  | |_____^\n"
	       "5 |       rule { }\n" },
	{ "labels", "c {\n\ttargets = []\n\tnamed { }\n\trule \"x\" {\n\t}\n}\n",
	  HEAD "3:2: block \"named\" requires non-empty label\n\n"
	       "2 |     targets = []\n"
	       "3 |     named { }\n"
	       "  |     ^^^^^^^\n"
	       "4 |     rule \"x\" {\n"
	       "\n" HEAD "4:2: block \"rule\" does not support specifying labels\n\n"
	       "3 |     named { }\n"
	       "4 |     rule \"x\" {\n"
	       "  |     ^^^^^^^^^^\n"
	       "5 |     }\n" },
	{ "missing", "discovery.relabel \"r\" {\n}\n",
	  HEAD "1:1: missing required attribute \"targets\"\n\n"
	       "1 |   discovery.relabel \"r\" {\n"
	       "  |  _^^^^^^^^^^^^^^^^^^^^^^^\n"
	       "2 | | }\n"
	       "  | |_^\n"
	       "3 |   \n" },
	{ "fixed length", "c {\n\ttargets = []\n\trule {\n\t\tpair = [\"a\"]\n\t}\n}\n",
	  HEAD "4:10: [\"a\"] array must have exactly 2 elements, got 1\n\n"
	       "3 |     rule {\n"
	       "4 |         pair = [\"a\"]\n"
	       "  |                ^^^^^\n"
	       "5 |     }\n" },
	{ "type inside of a list", "c {\n\ttargets = [\n\t\t\"a\",\n\t\ttrue,\n\t]\n}\n",
	  HEAD "4:3: true should be string, got bool\n\n"
	       "3 |         \"a\",\n"
	       "4 |         true,\n"
	       "  |         ^^^^\n"
	       "5 |     ]\n" },
	{ "type over lines, the text laid out anew", "c {\n\ttargets = {\n\t\ta=1,\n\t}\n}\n",
	  HEAD "2:12: {\n\ta = 1,\n} should be array, got object\n\n"
	       "1 |   c {\n"
	       "2 |       targets = {\n"
	       "  |  _______________^\n"
	       "3 | |         a=1,\n"
	       "4 | |     }\n"
	       "  | |_____^\n"
	       "5 |   }\n" },
	{ "name that does not exist", "c {\n\ttargets = [env.x, nope.y]\n}\n",
	  HEAD "2:13: env cannot access field \"x\" on value of type function\n\n"
	       "1 | c {\n"
	       "2 |     targets = [env.x, nope.y]\n"
	       "  |                ^^^\n"
	       "3 | }\n" },
	{ "identifier", "c {\n\ttargets = nope.y\n}\n",
	  HEAD "2:12: identifier \"nope\" does not exist\n\n"
	       "1 | c {\n"
	       "2 |     targets = nope.y\n"
	       "  |               ^^^^\n"
	       "3 | }\n" },
	{ "field", "c {\n\ttargets = constants.y\n}\n",
	  HEAD "2:22: field \"y\" does not exist\n\n"
	       "1 | c {\n"
	       "2 |     targets = constants.y\n"
	       "  |                         ^\n"
	       "3 | }\n" },
	{ "division", "c {\n\ttargets = [1 / (2 - 2)]\n}\n",
	  HEAD "2:17: (2 - 2) divide by zero error\n\n"
	       "1 | c {\n"
	       "2 |     targets = [1 / (2 - 2)]\n"
	       "  |                    ^^^^^^^\n"
	       "3 | }\n" },
	{ "validation of an attribute", "c {\n\ttargets = []\n\ttimeout = \"-1s\"\n}\n",
	  HEAD "3:2: timeout must be greater than 0\n\n"
	       "2 |     targets = []\n"
	       "3 |     timeout = \"-1s\"\n"
	       "  |     ^^^^^^^^^^^^^^^\n"
	       "4 | }\n" },
	{ "deprecated", "c {\n\ttargets = []\n\told = 1\n}\n",
	  "Warning: a.alloy:3:2: \"old\" is deprecated: use targets\n\n"
	  "2 |     targets = []\n"
	  "3 |     old = 1\n"
	  "  |     ^^^\n"
	  "4 | }\n" },
	{ "windows line ends", "c {\r\n\ttargets = 1\r\n}\r\n",
	  HEAD "2:12: 1 should be array, got number\n\n"
	       "1 | c {\n"
	       "2 |     targets = 1\n"
	       "  |               ^\n"
	       "3 | }\n" },
	{ "windows line ends, several lines", "c {\r\n}\r\n",
	  HEAD "1:1: missing required attribute \"targets\"\n\n"
	       "1 |   c {\n"
	       "  |  _^^^^\n"
	       "2 | | }\n"
	       "  | |_^\n"
	       "3 |   \n" },
	{ "characters of several bytes", "c {\n\ttargets = [\"\xc3\xa4\", \xe4\xb8\xad]\n}\n",
	  HEAD "2:19: identifier \"\xe4\xb8\xad\" does not exist\n\n"
	       "1 | c {\n"
	       "2 |     targets = [\"\xc3\xa4\", \xe4\xb8\xad]\n"
	       "  |                     ^\n"
	       "3 | }\n" },
	{ "byte order mark",
	  "\xef\xbb\xbf"
	  "x = 1",
	  HEAD "1:4: unrecognized attribute x\n\n1 | \xef\xbb\xbfx = 1\n  |  ^\n" },
	{ "invalid bytes in the excerpt", "a = \"\xff\"",
	  HEAD "1:6: illegal UTF-8 encoding\n\n1 | a = \"\xef\xbf\xbd\"\n  |      ^\n" },
	{ "ninth line", "\n\n\n\n\n\n\n\nx = 1\n",
	  HEAD "9:1: unrecognized attribute x\n\n 8 | \n 9 | x = 1\n   | ^\n10 | \n" },
	{ "range from the ninth to the eleventh line", "\n\n\n\n\n\n\n\nc {\n\n}",
	  HEAD "9:1: missing required attribute \"targets\"\n\n"
	       " 8 |   \n 9 |   c {\n   |  _^^^\n10 | | \n11 | | }\n   | |_^\n" },
	{ "two blocks, each with its mistakes", "c {\n\ttargets = 1\n}\n\nd \"x\" {\n\ty = 1\n}",
	  HEAD "2:12: 1 should be array, got number\n\n"
	       "1 | c {\n2 |     targets = 1\n  |               ^\n3 | }\n"
	       "\n" HEAD "6:2: unrecognized attribute name \"y\"\n\n"
	       "5 | d \"x\" {\n6 |     y = 1\n  |     ^^^^^\n7 | }\n"
	       "\n" HEAD "5:1: missing required attribute \"targets\"\n\n"
	       "4 |   \n5 |   d \"x\" {\n  |  _^^^^^^^\n6 | |     y = 1\n7 | | }\n  | |_^\n" },
};

static const struct unit_test tests[] = {
	TEST_ROWS(test_load, rows, name),
};

TEST_MAIN(tests)
