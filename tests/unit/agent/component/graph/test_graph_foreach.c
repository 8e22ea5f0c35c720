/* SPDX-License-Identifier: Apache-2.0 */
/* foreach: what it makes of its items, how that is called, and what happens when they change. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/graph/tiny_graph.h"

#define EACH(collection)                        \
	"foreach \"f\" {\n"                     \
	"\tcollection = " collection "\n"       \
	"\tvar = \"item\"\n"                    \
	"\ttemplate {\n"                        \
	"\t\ttest.any \"x\" { value = item }\n" \
	"\t}\n"                                 \
	"}\n"

static void test_ids(void **state)
{
	static const struct {
		const char *collection, *ids;
	} rows[] = {
		{ "[1, 2]", "foreach_1_1 foreach_2_1 " },
		{ "[1, 1, 1]", "foreach_1_1 foreach_1_2 foreach_1_3 " },
		{ "[\"a.b/c\", \"\xc3\xa4_1\", \"\"]",
		  "foreach_a_b_c_1 foreach_\xc3\xa4_1_1 foreach__1 " },
		{ "[true, false]", "foreach_true_1 foreach_false_1 " },
		{ "[3.14, -2, 2.0]", "foreach_3_140000_1 foreach__2_1 foreach_2_1 " },
		{ "[\"a\", \"a_1\"]", "foreach_a_1 foreach_a_1_1 " },
		{ "[]", "" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(4096), ids = BUF_INIT(4096);

		assert_int_equal(buf_printf(&text,
					    "foreach \"f\" {\ncollection = %s\nvar = \"v\"\n"
					    "template {\ntest.any \"x\" { }\n}\n}\n",
					    rows[i].collection),
				 0);
		assert_loads(f, buf_str(&text));
		for (size_t k = 1; k < graph_n(f->graph); k++) {
			struct graph_view view;

			graph_view(f->graph, k, &view);
			assert_string_equal(view.local_id, "test.any.x");
			assert_int_equal(strncmp(view.module_id, "foreach.f/", 10), 0);
			assert_int_equal(buf_printf(&ids, "%s ", view.module_id + 10), 0);
		}
		assert_string_equal(buf_str(&ids), rows[i].ids);
	}
}

/* Objects are called after one of their fields, or after all that is in them. */
static void test_ids_of_objects(void **state)
{
	struct fixture *f = *state;

	assert_loads(f, "foreach \"f\" {\ncollection = [{ n = \"a\", m = 1 }, { n = \"b\" }]\n"
			"var = \"v\"\nid = \"n\"\nenable_metrics = true\n"
			"template {\ntest.any \"x\" { text = v.n }\n}\n}\n");
	assert_string_equal(text_of(find(f, "foreach.f/foreach_a_1/test.any.x")), "a");
	assert_string_equal(text_of(find(f, "foreach.f/foreach_b_1/test.any.x")), "b");
	assert_loads(f, EACH("[{ a = 1 }, { a = 2 }, { a = 1 }]"));
	assert_int_equal(graph_n(f->graph), 4);
}

static void test_items_come_and_go(void **state)
{
	struct fixture *f = *state;

	assert_runs(f, EACH("[\"a\", \"b\"]"));
	assert_events(f, "build foreach.f/foreach_a_1/test.any.x, build "
			 "foreach.f/foreach_b_1/test.any.x, run foreach.f/foreach_a_1/test.any.x=, "
			 "run foreach.f/foreach_b_1/test.any.x=, ");
	assert_runs(f, EACH("[\"b\", \"c\"]"));
	assert_events(f,
		      "build foreach.f/foreach_c_1/test.any.x, stop "
		      "foreach.f/foreach_a_1/test.any.x, run foreach.f/foreach_c_1/test.any.x=, ");
}

/* A collection that changes while it runs. */
static void test_items_of_exports(void **state)
{
	struct fixture *f = *state;
	const void *same;

	assert_runs(f, "test.any \"source\" { text = \"1,2\" }\n"
		       "foreach \"f\" {\n\tcollection = string.split(test.any.source.text, \",\")\n"
		       "\tvar = \"item\"\n\ttemplate {\n"
		       "\t\ttest.any \"x\" { text = item + test.any.source.text }\n"
		       "\t\ttest.any \"y\" { text = test.any.x.text + item }\n\t}\n}\n");
	assert_int_equal(graph_n(f->graph), 6);
	assert_string_equal(text_of(find(f, "foreach.f/foreach_2_1/test.any.y")), "21,22");
	same = find(f, "foreach.f/foreach_2_1/test.any.x")->state;
	buf_reset(&f->events);
	set_text(find(f, "test.any.source"), "2,3");
	spin(f);
	assert_int_equal(graph_n(f->graph), 6);
	assert_ptr_equal(find(f, "foreach.f/foreach_2_1/test.any.x")->state, same);
	assert_string_equal(text_of(find(f, "foreach.f/foreach_2_1/test.any.y")), "22,32");
	assert_string_equal(text_of(find(f, "foreach.f/foreach_3_1/test.any.y")), "32,33");
	assert_int_equal(find(f, "foreach.f/foreach_3_1/test.any.y")->health.state, HEALTH_HEALTHY);
}

/* The template sees what is outside: components, declares, the item of an outer foreach. */
static void test_the_outside(void **state)
{
	struct fixture *f = *state;

	assert_runs(f, "foreach \"f\" {\n\tcollection = [\"1\"]\n\tvar = \"i\"\n\ttemplate {\n"
		       "\t\tforeach \"g\" {\n\t\t\tcollection = [\"2\"]\n\t\t\tvar = "
		       "\"k\"\n\t\t\ttemplate {\n"
		       "\t\t\t\tm \"m\" { a = i + k + test.any.o.text }\n"
		       "\t\t\t\ttest.any \"p\" { text = m.m.e + module_path }\n"
		       "\t\t\t}\n\t\t}\n\t}\n}\n"
		       "declare \"m\" {\n\targument \"a\" { }\n\texport \"e\" { value = "
		       "argument.a.value }\n}\n"
		       "test.any \"o\" { text = \"3\" }\n");
	assert_string_equal(
		text_of(find(f, "foreach.f/foreach_1_1/foreach.g/foreach_2_1/test.any.p")), "123.");
	buf_reset(&f->events);
	set_text(find(f, "test.any.o"), "4");
	spin(f);
	assert_events(f, "update foreach.f/foreach_1_1/foreach.g/foreach_2_1/test.any.p=124., ");
}

/* Inside a module. */
static void test_in_a_declare(void **state)
{
	struct fixture *f = *state;

	assert_runs(
		f, "declare \"m\" {\n\targument \"items\" { }\n\tforeach \"f\" {\n\t\tcollection = "
		   "argument.items.value\n\t\tvar = \"i\"\n\t\ttemplate {\n\t\t\ttest.any \"x\" { "
		   "text = i }\n\t\t}\n\t}\n}\nm \"m\" { items = [\"1\"] }\n");
	assert_string_equal(text_of(find(f, "m.m/foreach.f/foreach_1_1/test.any.x")), "1");
}

static void test_nobody_outside_sees_it(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(load(f, EACH("[1]") "test.any \"a\" { text = foreach.f.x }\n"),
			 RIVER_INVALID);
	assert_string_equal(buf_str(&f->messages),
			    "a:8:23: identifier \"foreach\" does not exist\n");
}

static void test_mistakes(void **state)
{
	static const struct {
		const char *text, *expected;
	} rows[] = {
		{ EACH("1"), "a:2:15: 1 should be array, got number\n" },
		{ EACH("x.y"), "a:2:15: component \"x.y\" does not exist or is out of scope\n" },
		{ "foreach \"f\" { }\n", "a:1:1: missing required attribute \"collection\"\n"
					 "a:1:1: missing required attribute \"var\"\n"
					 "a:1:1: missing required block \"template\"\n" },
		{ "foreach \"f\" {\ncollection = []\nvar = \"a b\"\ntemplate \"t\" { }\ntemplate { "
		  "}\n}\n",
		  "a:3:1: var must be a valid identifier\n"
		  "a:4:1: block \"template\" does not support specifying labels\n"
		  "a:5:1: block \"template\" may only be specified once\n" },
		{ "foreach { }\n", "a:1:1: block \"foreach\" requires non-empty label\n" },
		/* Once for each item, as each is a module of its own. */
		{ "foreach \"f\" {\ncollection = [1, 2]\nvar = \"v\"\ntemplate {\ntest.any \"x\" { "
		  "text = w }\n}\n}\n",
		  "a:5:23: component \"w\" does not exist or is out of scope\n"
		  "a:5:23: component \"w\" does not exist or is out of scope\n" },
		{ "foreach \"f\" {\ncollection = [1]\nvar = \"v\"\ntemplate {\nhttp { }\n}\n}\n",
		  "a:5:1: service blocks not allowed inside a module: \"http\"\n" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(load(f, rows[i].text), RIVER_INVALID);
		assert_string_equal(buf_str(&f->messages), rows[i].expected);
	}
}

/* Many modules of many components are as bounded as the components of a text. */
static void test_limit(void **state)
{
	struct fixture *f = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(65536);

	assert_int_equal(buf_append_str(&text, "declare \"d0\" { test.any \"x\" { } }\n"), 0);
	for (int i = 1; i < 20; i++)
		assert_int_equal(
			buf_printf(&text, "declare \"d%d\" {\n d%d \"a\" { }\n d%d \"b\" { }\n }\n",
				   i, i - 1, i - 1),
			0);
	assert_int_equal(buf_append_str(&text, "d19 \"x\" { }\n"), 0);
	assert_int_equal(load(f, buf_str(&text)), RIVER_INVALID);
	assert_non_null(strstr(buf_str(&f->messages), "there are more than 3000 components"));
	assert_int_equal(graph_n(f->graph), 0);
}

/* So are items. */
static void test_many_items(void **state)
{
	struct fixture *f = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);

	for (int i = 0; i < 2; i++) {
		assert_int_equal(buf_printf(&text, "foreach \"f%d\" {\ncollection = [", i), 0);
		for (int k = 0; k < GRAPH_MAX_COMPONENTS / 2; k++)
			assert_int_equal(buf_printf(&text, "%d,", k), 0);
		assert_int_equal(buf_append_str(&text, "]\nvar = \"v\"\ntemplate { }\n}\n"), 0);
	}
	assert_int_equal(load(f, buf_str(&text)), RIVER_INVALID);
	assert_string_equal(buf_str(&f->messages),
			    "a:6:1: Failed to evaluate node for config block: the collections have "
			    "too many items\n");
}

static const struct unit_test tests[] = {
	TEST_WITH(test_ids, setup_experimental, teardown),
	TEST_WITH(test_ids_of_objects, setup_experimental, teardown),
	TEST_WITH(test_items_come_and_go, setup_experimental, teardown),
	TEST_WITH(test_items_of_exports, setup_experimental, teardown),
	TEST_WITH(test_the_outside, setup_experimental, teardown),
	TEST_WITH(test_in_a_declare, setup_experimental, teardown),
	TEST_WITH(test_nobody_outside_sees_it, setup_experimental, teardown),
	TEST_WITH(test_mistakes, setup_experimental, teardown),
	TEST_WITH(test_limit, setup_experimental, teardown),
	TEST_WITH(test_many_items, setup_experimental, teardown),
};

TEST_MAIN(tests)
