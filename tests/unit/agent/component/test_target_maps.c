/* SPDX-License-Identifier: Apache-2.0 */
/* Targets on their way: label sets go through components, modules and expressions as they are; where somebody looks into one it is a map. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/real_graph.h"

#include "agent/component/target_maps.h"

#define ARENA_BYTES ((size_t)1 << 20)
#define RELABEL(name, targets) \
	"discovery.relabel \"" name "\" {\n\ttargets = " targets "\n" RULE "}\n"
#define RULE                                      \
	"\trule {\n\t\tsource_labels = [\"a\"]\n" \
	"\t\ttarget_label = \"made_of_a\"\n\t}\n"

/* What a component exports, as long as `arena` lives. */
static const struct river_value *output_of(const struct fixture *f, const char *id,
					   struct river_arena *arena)
{
	struct component *c = (struct component *)find(f, id);
	const struct river_value *exports = NULL;

	assert_int_equal(c->kind->exports(c, arena, &exports), 0);
	return river_value_find(exports, "output");
}

static const struct labels *set_of(const struct fixture *f, const char *id, size_t i)
{
	struct river_arena arena;

	river_arena_init(&arena, ARENA_BYTES);
	const struct river_value *item = river_value_item(output_of(f, id, &arena), i);
	assert_non_null(item);
	const struct labels *set = river_value_get_foreign(item, &target_foreign);
	river_arena_fini(&arena);
	assert_non_null(set);
	return set;
}

static void assert_label(const struct fixture *f, const char *id, size_t i, const char *name,
			 const char *value)
{
	const char *found = labels_get(set_of(f, id, i), name);

	if (value)
		assert_string_equal(found, value);
	else
		assert_null(found);
}

#define A "discovery.relabel.a"
#define B "discovery.relabel.b"

/* A target that did not change is the same object after a load, at the end of a chain as well. */
static void test_same_objects(void **state)
{
	struct fixture *f = *state;
	const struct labels *first[2], *second[2];

	assert_loads(f, RELABEL("a", "[{ a = 1 }, { a = 2 }]") RELABEL("b", A ".output"));
	for (size_t i = 0; i < 2; i++) {
		first[i] = set_of(f, A, i);
		second[i] = set_of(f, B, i);
	}
	assert_loads(f,
		     RELABEL("a", "[{ a = 3 }, { a = 2 }, { a = 1 }]") RELABEL("b", A ".output"));
	graph_settle(f->graph);
	assert_ptr_equal(set_of(f, A, 2), first[0]);
	assert_ptr_equal(set_of(f, A, 1), first[1]);
	assert_ptr_equal(set_of(f, B, 2), second[0]);
	assert_ptr_equal(set_of(f, B, 1), second[1]);
	assert_label(f, B, 0, "made_of_a", "3");
}

/* Other rules, other results: nothing is remembered over them. */
static void test_other_rules(void **state)
{
	struct fixture *f = *state;

	assert_loads(f, RELABEL("a", "[{ a = 1 }]"));
	assert_label(f, A, 0, "made_of_a", "1");
	assert_loads(f, "discovery.relabel \"a\" {\n\ttargets = [{ a = 1 }]\n"
			"\trule {\n\t\ttarget_label = \"b\"\n\t\treplacement = \"x\"\n\t}\n}\n");
	assert_label(f, A, 0, "made_of_a", NULL);
	assert_label(f, A, 0, "b", "x");
	assert_loads(f, RELABEL("a", "[{ a = 1 }]"));
	assert_label(f, A, 0, "b", NULL);
}

static void test_expressions(void **state)
{
	struct fixture *f = *state;

	assert_loads(f, RELABEL("a", "[{ a = \"x\" }, { a = \"y\" }]")
				RELABEL("b", "array.concat(" A ".output, [{ a = " A
					     ".output[1].made_of_a + \"z\" }])"));
	assert_ptr_equal(set_of(f, B, 0), set_of(f, A, 0));
	assert_ptr_equal(set_of(f, B, 1), set_of(f, A, 1));
	assert_label(f, B, 2, "made_of_a", "yz");
}

static void test_modules(void **state)
{
	struct fixture *f = *state;

	assert_loads(
		f, "declare \"m\" {\n\targument \"t\" { }\n"
		   "\tdiscovery.relabel \"in\" {\n\t\ttargets = argument.t.value\n\t}\n"
		   "\texport \"out\" {\n\t\tvalue = discovery.relabel.in.output\n\t}\n}\n" RELABEL(
			   "a", "[{ a = 1 }, { a = 2 }]") "m \"use\" {\n\tt = " A
							  ".output\n}\n" RELABEL("b", "m.use.out"));
	assert_ptr_equal(set_of(f, "m.use/discovery.relabel.in", 1), set_of(f, A, 1));
	assert_ptr_equal(set_of(f, B, 0), set_of(f, A, 0));
}

static void test_foreach(void **state)
{
	struct fixture *f = *state;
	_cleanup_buf_ struct buf why = BUF_INIT(1000);

	f->env.stability = STABILITY_EXPERIMENTAL;
	assert_loads(f, RELABEL("a", "[{ a = \"x\" }]") "foreach \"each\" {\n\tcollection = " A
							".output\n\tvar = \"t\"\n"
							"\tid = \"a\"\n"
							"\ttemplate {\n\t\tdiscovery.relabel "
							"\"in\" {\n\t\t\ttargets = [t]\n\t\t}\n"
							"\t}\n}\n");
	assert_label(f, "foreach.each/foreach_x_1/discovery.relabel.in", 0, "made_of_a", "x");
}

/* Who keeps a value keeps what is in it. */
static void test_kept_values(void **state)
{
	struct fixture *f = *state;
	struct river_arena before, after;

	river_arena_init(&before, ARENA_BYTES);
	river_arena_init(&after, ARENA_BYTES);
	assert_loads(f, RELABEL("a", "[{ a = 1 }, { a = 2 }]"));
	const struct river_value *output = output_of(f, A, &before);
	const struct river_value *copy = river_value_copy(&after, output);
	assert_loads(f, RELABEL("a", "[]"));
	assert_string_equal(
		river_value_get_string(river_value_find(river_value_item(output, 1), "made_of_a"),
				       NULL),
		"2");
	river_arena_fini(&before);
	assert_string_equal(river_value_get_string(
				    river_value_find(river_value_item(copy, 0), "made_of_a"), NULL),
			    "1");
	river_arena_fini(&after);
}

/* As with any list of maps. */
static void test_mistakes(void **state)
{
	struct fixture *f = *state;
	_cleanup_buf_ struct buf text = BUF_INIT((size_t)1 << 20);

	assert_int_equal(load(f, RELABEL("a", "[{ a = [] }]")), RIVER_INVALID);
	assert_non_null(strstr(buf_str(&f->messages), "[] should be string, got array"));
	assert_int_equal(load(f, RELABEL("a", "[1]")), RIVER_INVALID);
	assert_non_null(strstr(buf_str(&f->messages), "1 should be object, got number"));
	(void)buf_append_str(&text, "discovery.relabel \"a\" {\n\ttargets = [{");
	for (unsigned int i = 0; i <= LABELS_RAW_MAX; i++)
		(void)buf_printf(&text, "l%u = 1, ", i);
	(void)buf_append_str(&text, "}]\n}\n");
	assert_int_equal(load(f, buf_str(&text)), RIVER_INVALID);
	assert_non_null(strstr(buf_str(&f->messages), "a target has more than 512 labels"));
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_same_objects),
	FIXTURE_TEST(test_other_rules),
	FIXTURE_TEST(test_expressions),
	FIXTURE_TEST(test_modules),
	FIXTURE_TEST(test_foreach),
	FIXTURE_TEST(test_kept_values),
	FIXTURE_TEST(test_mistakes),
};

TEST_MAIN(tests)
