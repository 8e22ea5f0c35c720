/* SPDX-License-Identifier: Apache-2.0 */
/* discovery.relabel in a graph: what it exports and when, what it makes of what others export, what it says about itself. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/real_graph.h"

#include "agent/component/discovery/relabel_args.h"
#include "agent/component/graph/node.h"

#define RELABEL(name, targets, rules) \
	"discovery.relabel \"" name "\" {\n\ttargets = " targets "\n" rules "}\n"
#define RULE(text) "\trule {\n" text "\t}\n"
#define NAME_RULE                                \
	RULE("\t\tsource_labels = [\"exe\"]\n"   \
	     "\t\tregex = \"(?:.*/)?([^/]+)\"\n" \
	     "\t\ttarget_label = \"service_name\"\n")
#define DROP_RULE                                       \
	RULE("\t\tsource_labels = [\"service_name\"]\n" \
	     "\t\tregex = \"sh\"\n"                     \
	     "\t\taction = \"drop\"\n")
#define ALL_NAMES_RULE RULE("\t\tregex = \".*\"\n\t\taction = \"labeldrop\"\n")

static void append_target(struct buf *out, const struct river_value *target)
{
	(void)buf_append_char(out, '{');
	for (size_t i = 0; i < river_value_len(target); i++)
		(void)buf_printf(out, "%s%s=%s", i ? " " : "", river_value_key(target, i),
				 river_value_get_string(river_value_member(target, i), NULL));
	(void)buf_append_char(out, '}');
}

static const struct river_value *exports_of(const struct fixture *f, const char *id,
					    struct river_arena *arena)
{
	struct component *c = (struct component *)find(f, id);
	const struct river_value *exports = NULL;

	assert_int_equal(c->kind->exports(c, arena, &exports), 0);
	assert_int_equal(river_value_len(exports), 2);
	return exports;
}

/* Its targets, as "{name=value name=value}{…}". */
static void assert_output(const struct fixture *f, const char *id, const char *expected)
{
	_cleanup_buf_ struct buf text = BUF_INIT((size_t)1 << 20);
	struct river_arena arena;

	river_arena_init(&arena, (size_t)1 << 20);
	const struct river_value *output = river_value_find(exports_of(f, id, &arena), "output");
	for (size_t i = 0; i < river_value_len(output); i++)
		append_target(&text, river_value_item(output, i));
	river_arena_fini(&arena);
	assert_string_equal(buf_str(&text), expected);
}

#define ID_A "discovery.relabel.a"
#define ID_B "discovery.relabel.b"

static void test_output(void **state)
{
	struct fixture *f = *state;

	assert_loads(f, RELABEL("a",
				"[{ exe = \"/bin/sh\" }, { exe = \"/bin/env\", n = 1 }, { n = 2 }]",
				NAME_RULE DROP_RULE));
	assert_output(f, ID_A, "{exe=/bin/env n=1 service_name=env}{n=2}");
	assert_int_equal(find(f, ID_A)->health.state, HEALTH_HEALTHY);
	assert_string_equal(find(f, ID_A)->health.message, "2 of 3 targets kept");
}

/* A target without labels is one all the same; one without a value has no label. */
static void test_no_labels(void **state)
{
	struct fixture *f = *state;

	assert_loads(f, RELABEL("a", "[{ n = 1 }, { }, { e = \"\" }]", ALL_NAMES_RULE));
	assert_output(f, ID_A, "{}{}{}");
	assert_loads(f, RELABEL("a", "[]", NAME_RULE));
	assert_output(f, ID_A, "");
}

/* Two of them, in the order of what they need and not in that of the file. */
static void test_chain(void **state)
{
	struct fixture *f = *state;

	assert_loads(f, RELABEL("b", ID_A ".output", DROP_RULE)
				RELABEL("a", "[{ exe = \"sh\" }, { exe = \"env\" }]", NAME_RULE));
	assert_output(f, ID_B, "{exe=env service_name=env}");
	/* Other targets of the first reach the second. */
	assert_loads(f, RELABEL("b", ID_A ".output", DROP_RULE)
				RELABEL("a", "[{ exe = \"x/y\" }]", NAME_RULE));
	graph_settle(f->graph);
	assert_output(f, ID_B, "{exe=x/y service_name=y}");
	/* So do other rules. */
	assert_loads(f, RELABEL("b", ID_A ".output", DROP_RULE)
				RELABEL("a", "[{ exe = \"x/y\" }]", ALL_NAMES_RULE));
	graph_settle(f->graph);
	assert_output(f, ID_B, "{}");
}

static struct relabel_export *rules_of(const struct fixture *f)
{
	struct river_arena arena;
	struct relabel_export *rules;

	river_arena_init(&arena, (size_t)1 << 20);
	rules = river_value_get_capsule(river_value_find(exports_of(f, ID_A, &arena), "rules"),
					RELABEL_RULES_CAPSULE);
	river_arena_fini(&arena);
	assert_non_null(rules);
	assert_non_null(rules->rules);
	return rules;
}

/* The rules of now are behind the same pointer. */
static void test_rules_stay_where_they_are(void **state)
{
	struct fixture *f = *state;
	struct relabel_export *first;

	assert_loads(f, RELABEL("a", "[]", NAME_RULE));
	first = rules_of(f);
	assert_loads(f, RELABEL("a", "[]", DROP_RULE));
	assert_ptr_equal(rules_of(f), first);
}

static bool is_marked(const struct fixture *f)
{
	return CONTAINER_OF((struct component *)find(f, ID_A), struct node, c)->exports_dirty;
}

/* Other targets, or other rules, that come to the same are no news for those who use them. */
static void test_exports_change_when_they_differ(void **state)
{
	struct fixture *f = *state;

	assert_loads(f, RELABEL("a", "[{ n = 1 }]", ALL_NAMES_RULE));
	graph_settle(f->graph);
	assert_false(is_marked(f));
	assert_loads(f, RELABEL("a", "[{ n = 2 }]", ALL_NAMES_RULE));
	assert_false(is_marked(f));
	assert_loads(f, RELABEL("a", "[{ n = 2 }]", ALL_NAMES_RULE ALL_NAMES_RULE));
	assert_false(is_marked(f));
	assert_loads(f, RELABEL("a", "[{ n = 2 }]", ""));
	assert_true(is_marked(f));
	graph_settle(f->graph);
	assert_loads(f, RELABEL("a", "[{ n = 2 }, { n = 2 }]", ""));
	assert_true(is_marked(f));
}

struct mistake {
	const char *text;
	const char *messages;
};

static const struct mistake mistakes[] = {
	{ "discovery.relabel \"a\" { }", "a:1:1: missing required attribute \"targets\"\n" },
	{ "discovery.relabel { targets = [] }",
	  "a:1:1: component \"discovery.relabel\" must have a label\n" },
	{ RELABEL("a", "[{ n = [] }]", ""), "a:2:19: [] should be string, got array\n" },
	{ RELABEL("a", "[]", RULE("\t\tregex = \"(\"\n")),
	  "a:4:11: \"(\" error parsing regexp: missing closing parenthesis: `(`\n" },
	{ RELABEL("a", "[]", RULE("") RULE("\t\taction = \"hashmod\"\n")),
	  "a:3:2: relabel configuration for replace action requires 'target_label' value\n"
	  "a:5:2: relabel configuration for hashmod requires non-zero modulus\n" },
	{ RELABEL("a", "[]", "\trule \"x\" { action = \"keep\" }\n"),
	  "a:3:2: block \"rule\" does not support specifying labels\n" },
	{ RELABEL("a", "[]", "\trules = []\n"), "a:3:2: unrecognized attribute name \"rules\"\n" },
	{ RELABEL("a", "discovery.relabel.a.output", ""), "-: cannot reference self\n" },
};

static void test_mistake(void **state)
{
	const struct mistake *m = *state;
	struct fixture *f;
	void *made = NULL;

	assert_int_equal(setup(&made), 0);
	f = made;
	assert_int_equal(load(f, m->text), RIVER_INVALID);
	assert_string_equal(buf_str(&f->messages), m->messages);
	assert_int_equal(teardown(&made), 0);
}

/* A regex that gives up is no match, and the component says so until it is well again. */
static void test_lossy(void **state)
{
	struct fixture *f = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	log_configure(LOG_LEVEL_ERROR, LOG_FORMAT_LOGFMT);
	(void)buf_append_str(&text, "discovery.relabel \"a\" {\n\ttargets = [{ a = \"");
	for (int i = 0; i < 200; i++)
		(void)buf_append_char(&text, 'a');
	(void)buf_append_str(&text, "\" }]\n\trule {\n\t\tsource_labels = [\"a\"]\n"
				    "\t\tregex = \"(?:a|aa)*(?:a|aa)*[cd]\"\n"
				    "\t\taction = \"drop\"\n\t}\n}\n");
	assert_loads(f, buf_str(&text));
	assert_int_equal(find(f, ID_A)->health.state, HEALTH_UNHEALTHY);
	assert_string_equal(find(f, ID_A)->health.message,
			    "1 of 1 targets kept; a regex took too long 1 times and counted as no "
			    "match");
	assert_loads(f, RELABEL("a", "[]", ""));
	assert_int_equal(find(f, ID_A)->health.state, HEALTH_HEALTHY);
}

/* From the processes of this host: this one is among them, by its name. */
static void test_processes(void **state)
{
	struct fixture *f = *state;
	const struct river_value *output;
	struct river_arena arena;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	size_t n_named = 0;

	assert_loads(f, DISCOVERY RELABEL("a", "discovery.process.all.targets",
					  RULE("\t\tsource_labels = [\"__meta_process_exe\"]\n"
					       "\t\tregex = \"(?:.*/)?([^/]+)\"\n"
					       "\t\ttarget_label = \"service_name\"\n")
						  RULE("\t\tsource_labels = [\"service_name\"]\n"
						       "\t\tregex = \"test_relabel.*\"\n"
						       "\t\taction = \"keep\"\n")));
	assert_output(f, ID_A, "");
	assert_int_equal(graph_run(f->graph, &why), 0);
	graph_settle(f->graph);
	river_arena_init(&arena, (size_t)16 << 20);
	output = river_value_find(exports_of(f, ID_A, &arena), "output");
	for (size_t i = 0; i < river_value_len(output); i++) {
		const struct river_value *name =
			river_value_find(river_value_item(output, i), "service_name");

		n_named += strcmp(river_value_get_string(name, NULL), "test_relabel") == 0;
	}
	river_arena_fini(&arena);
	assert_true(n_named > 0);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_output),
	FIXTURE_TEST(test_no_labels),
	FIXTURE_TEST(test_chain),
	FIXTURE_TEST(test_rules_stay_where_they_are),
	FIXTURE_TEST(test_exports_change_when_they_differ),
	FIXTURE_TEST(test_lossy),
	FIXTURE_TEST(test_processes),
	TEST_ROWS(test_mistake, mistakes, messages),
};

TEST_MAIN(tests)
