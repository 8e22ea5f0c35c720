/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks `rule`: what is accepted, what is refused and in which words, in which order. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/decode.h"

#include "agent/component/discovery/relabel_args.h"

struct row {
	const char *text;
	const char *messages; /* "" when it is accepted */
};

#define AT "a:1:1: "
#define VALUE(column) "a:1:" column ": "

static const struct row rows[] = {
	/* accepted, but that the default action wants a target */
	{ "", "-: relabel configuration for replace action requires 'target_label' value\n" },
	{ "target_label = \"a\"", "" },
	{ "target_label = \"a_$1\"", "" },
	{ "target_label = \"${1}\"", "" },
	{ "action = \"REPLACE\"\ntarget_label = \"a\"", "" },
	{ "action = \"keep\"", "" },
	{ "action = \"drop\"\nregex = \"(?P<x>a+)\\\\d\"", "" },
	{ "action = \"hashmod\"\nmodulus = 8\ntarget_label = \"a\"", "" },
	{ "action = \"labelmap\"", "" },
	{ "action = \"labelmap\"\nregex = \"a(.*)\"\nreplacement = \"b_${1}\"", "" },
	{ "action = \"labeldrop\"\nregex = \"a\"", "" },
	{ "action = \"labelkeep\"", "" },
	{ "action = \"lowercase\"\nsource_labels = [\"a\"]\ntarget_label = \"a\"", "" },
	{ "action = \"uppercase\"\nregex = \"x\"\ntarget_label = \"a$1\"", "" },
	{ "action = \"keepequal\"\nsource_labels = [\"a\"]\ntarget_label = \"b\"", "" },
	{ "action = \"dropequal\"\nsource_labels = []\ntarget_label = \"b\"", "" },
	/* what is the default may be given */
	{ "action = \"keepequal\"\ntarget_label = \"b\"\nregex = \"(.*)\"\nmodulus = 0\n"
	  "separator = \";\"\nreplacement = \"$1\"",
	  "" },
	{ "action = \"labeldrop\"\ntarget_label = \"\"\nmodulus = 0\nseparator = \";\"", "" },
	/* of a value */
	{ "action = \"replac\"", VALUE("10") "\"replac\" unrecognized action type \"replac\"\n" },
	{ "action = \"\"", VALUE("10") "\"\" unrecognized action type \"\"\n" },
	{ "action = \"a\\\"b\"", VALUE("10") "\"a\\\"b\" unrecognized action type \"a\\\"b\"\n" },
	{ "regex = \"(\"\ntarget_label = \"a\"",
	  VALUE("9") "\"(\" error parsing regexp: missing closing parenthesis: `(`\n" },
	{ "regex = \"a(?=b)\"\ntarget_label = \"a\"",
	  VALUE("9") "\"a(?=b)\" error parsing regexp: invalid or unsupported Perl syntax: "
		     "`(?=`\n" },
	{ "action = \"x\"\nregex = \"*\"",
	  VALUE("10") "\"x\" unrecognized action type \"x\"\n"
		      "a:2:9: \"*\" error parsing regexp: missing argument to repetition "
		      "operator: `*`\n" },
	{ "regex = true", VALUE("9") "true should be string, got bool\n" },
	{ "source_labels = \"a\"", VALUE("17") "\"a\" should be array, got string\n" },
	{ "labels = [\"a\"]", AT "unrecognized attribute name \"labels\"\n" },
	/* of the block */
	{ "action = null", "-: relabel action cannot be empty\n" },
	{ "action = \"hashmod\"",
	  "-: relabel configuration for hashmod requires non-zero modulus\n" },
	{ "action = \"hashmod\"\nmodulus = 1",
	  "-: relabel configuration for hashmod action requires 'target_label' value\n" },
	{ "action = \"hashmod\"\nmodulus = 1\ntarget_label = \"$1\"",
	  "-: \"$1\" is invalid 'target_label' for hashmod action\n" },
	{ "action = \"lowercase\"",
	  "-: relabel configuration for lowercase action requires 'target_label' value\n" },
	{ "action = \"uppercase\"",
	  "-: relabel configuration for uppercase action requires 'target_label' value\n" },
	{ "action = \"keepequal\"",
	  "-: relabel configuration for keepequal action requires 'target_label' value\n" },
	{ "action = \"dropequal\"",
	  "-: relabel configuration for dropequal action requires 'target_label' value\n" },
	{ "target_label = \"a-b\"", "-: \"a-b\" is invalid 'target_label' for replace action\n" },
	{ "target_label = \"9a\"", "-: \"9a\" is invalid 'target_label' for replace action\n" },
	{ "target_label = \"a$\"", "-: \"a$\" is invalid 'target_label' for replace action\n" },
	{ "target_label = \"\\u00e9\\n\"",
	  "-: \"\xc3\xa9\\n\" is invalid 'target_label' for replace action\n" },
	{ "action = \"Lowercase\"\ntarget_label = \"a b\"",
	  "-: \"a b\" is invalid 'target_label' for lowercase action\n" },
	{ "action = \"dropequal\"\ntarget_label = \"a.b\"",
	  "-: \"a.b\" is invalid 'target_label' for dropequal action\n" },
	{ "action = \"lowercase\"\ntarget_label = \"a\"\nreplacement = \"b\"",
	  "-: 'replacement' can not be set for lowercase action\n" },
	{ "action = \"uppercase\"\ntarget_label = \"a\"\nreplacement = \"\"",
	  "-: 'replacement' can not be set for uppercase action\n" },
	{ "action = \"keepequal\"\ntarget_label = \"a\"\nreplacement = \"b\"\nregex = \"c\"",
	  "-: 'replacement' can not be set for keepequal action\n" },
	{ "action = \"labelmap\"\nreplacement = \"a-$1\"",
	  "-: \"a-$1\" is invalid 'replacement' for labelmap action\n" },
	{ "action = \"labelmap\"\nreplacement = \"\"",
	  "-: \"\" is invalid 'replacement' for labelmap action\n" },
#define TWO " action requires only 'source_labels' and 'target_label', and no other fields\n"
	{ "action = \"keepequal\"\ntarget_label = \"a\"\nregex = \"b\"", "-: keepequal" TWO },
	{ "action = \"dropequal\"\ntarget_label = \"a\"\nmodulus = 1", "-: dropequal" TWO },
	{ "action = \"dropequal\"\ntarget_label = \"a\"\nseparator = \"\"", "-: dropequal" TWO },
#define ONE " action requires only 'regex', and no other fields\n"
	{ "action = \"labeldrop\"\nsource_labels = [\"a\"]", "-: labeldrop" ONE },
	{ "action = \"labeldrop\"\nsource_labels = []", "-: labeldrop" ONE },
	{ "action = \"labeldrop\"\ntarget_label = \"a\"", "-: labeldrop" ONE },
	{ "action = \"labelkeep\"\nmodulus = 1", "-: labelkeep" ONE },
	{ "action = \"labelkeep\"\nseparator = \",\"", "-: labelkeep" ONE },
	{ "action = \"labelkeep\"\nreplacement = \"a\"", "-: labelkeep" ONE },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	struct relabel_rule_args args;
	struct decoded d;

	decode(&d, &relabel_rule_schema, &(struct river_scope){ 0 }, row->text, &args);
	assert_string_equal(buf_str(&d.messages), row->messages);
	decoded_fini(&d);
}

static void test_defaults(void **state)
{
	struct relabel_rule_args args;
	struct decoded d;

	(void)state;
	decode(&d, &relabel_rule_schema, &(struct river_scope){ 0 }, "target_label = \"a\"", &args);
	assert_int_equal(args.source_labels.n_items, 0);
	assert_string_equal(args.separator, ";");
	assert_string_equal(args.regex, "(.*)");
	assert_int_equal(args.modulus, 0);
	assert_string_equal(args.replacement, "$1");
	assert_string_equal(args.action, "replace");
	decoded_fini(&d);
}

static const struct unit_test tests[] = {
	TEST(test_defaults),
	TEST_ROWS(test_row, rows, text),
};

TEST_MAIN(tests)
