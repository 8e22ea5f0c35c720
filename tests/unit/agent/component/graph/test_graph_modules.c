/* SPDX-License-Identifier: Apache-2.0 */
/* Modules in a graph: declares, their arguments and exports, what changes in them. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/graph/tiny_graph.h"

#define PIPE                                                                    \
	"declare \"pipe\" {\n"                                                  \
	"\targument \"in\" { }\n"                                               \
	"\targument \"more\" {\n"                                               \
	"\t\toptional = true\n"                                                 \
	"\t\tdefault  = \"d\"\n"                                                \
	"\t}\n"                                                                 \
	"\ttest.any \"x\" { text = argument.in.value + argument.more.value }\n" \
	"\texport \"out\" { value = test.any.x.text }\n"                        \
	"}\n"
#define USE(in) "pipe \"p\" { in = \"" in "\" }\n"
#define SINK "test.any \"sink\" { text = pipe.p.out }\n"

static void test_a_use(void **state)
{
	struct fixture *f = *state;

	assert_runs(f, SINK USE("1") PIPE);
	assert_events(f, "build pipe.p/test.any.x, build test.any.sink, run pipe.p/test.any.x=1d, "
			 "run test.any.sink=1d, ");
	/* The module's owner, what is in it, who depends on it. */
	assert_int_equal(graph_n(f->graph), 3);
	assert_string_equal(graph_component(f->graph, 0)->id, "pipe.p");
	assert_string_equal(graph_component(f->graph, 1)->id, "pipe.p/test.any.x");
	assert_string_equal(graph_component(f->graph, 2)->id, "test.any.sink");
	assert_int_equal(find(f, "pipe.p")->health.state, HEALTH_HEALTHY);
	graph_free(f->graph);
	f->graph = NULL;
	assert_events(f, "stop test.any.sink, stop pipe.p/test.any.x, ");
}

static void test_two_uses_share_nothing(void **state)
{
	struct fixture *f = *state;

	assert_runs(f, PIPE "pipe \"a\" { in = \"1\" }\npipe \"b\" {\n in = pipe.a.out\n more = "
			    "\"2\"\n}\n");
	assert_string_equal(text_of(find(f, "pipe.a/test.any.x")), "1d");
	assert_string_equal(text_of(find(f, "pipe.b/test.any.x")), "1d2");
}

static void test_reload(void **state)
{
	struct fixture *f = *state;

	assert_runs(f, PIPE USE("1") SINK);
	buf_reset(&f->events);
	assert_runs(f, SINK PIPE USE("1"));
	assert_events(f, "");
	/* Others are told in the same load what they will be given. */
	assert_runs(f, SINK PIPE USE("2"));
	spin(f);
	assert_events(f, "update pipe.p/test.any.x=2d, update test.any.sink=2d, ");
	assert_runs(f, PIPE);
	assert_events(f, "stop test.any.sink, stop pipe.p/test.any.x, ");
}

static void test_another_body(void **state)
{
	struct fixture *f = *state;
	const void *x;

	assert_runs(f, "declare \"m\" { test.any \"x\" { } }\nm \"m\" { }\n");
	x = find(f, "m.m/test.any.x")->state;
	buf_reset(&f->events);
	assert_runs(f,
		    "declare \"m\" {\n test.any \"x\" { }\n test.any \"y\" { }\n }\nm \"m\" { }\n");
	assert_events(f, "build m.m/test.any.y, run m.m/test.any.y=, ");
	assert_ptr_equal(find(f, "m.m/test.any.x")->state, x);
}

static void test_exports_go_through(void **state)
{
	struct fixture *f = *state;

	assert_runs(f, "test.any \"source\" { text = \"1\" }\n" PIPE
		       "pipe \"p\" { in = test.any.source.text }\n" SINK);
	buf_reset(&f->events);
	set_text(find(f, "test.any.source"), "2");
	spin(f);
	assert_events(f, "update pipe.p/test.any.x=2d, update test.any.sink=2d, ");
	/* From the inside. */
	set_text(find(f, "pipe.p/test.any.x"), "own");
	spin(f);
	assert_events(f, "update test.any.sink=own, ");
}

static void test_a_failed_load_restores_everything(void **state)
{
	struct fixture *f = *state;
	const void *x;

	assert_runs(f, PIPE USE("1") SINK);
	x = find(f, "pipe.p/test.any.x")->state;
	buf_reset(&f->events);
	assert_int_equal(load(f, PIPE USE("2") SINK "pipe \"q\" { in = \"3\" }\npipe \"r\" { }\n"),
			 RIVER_INVALID);
	assert_string_equal(buf_str(&f->messages),
			    "a:2:2: missing required argument \"in\" to module\n");
	assert_events(f, "build pipe.q/test.any.x, stop pipe.q/test.any.x, ");
	assert_ptr_equal(find(f, "pipe.p/test.any.x")->state, x);
	assert_string_equal(text_of(find(f, "test.any.sink")), "1d");
	set_text(find(f, "pipe.p/test.any.x"), "own");
	spin(f);
	assert_events(f, "update test.any.sink=own, ");
}

/* As if the component had changed by itself. */
static void set_value(struct fixture *f, struct component *c, const char *text)
{
	const struct river_scope scope = { 0 };
	const struct river_expr *e;
	struct river_arena arena;
	struct river_diags diags;

	river_arena_init(&arena, (size_t)1 << 20);
	river_diags_init(&diags, &arena);
	assert_int_equal(river_parse_expr("v", text, strlen(text), &arena, &diags, &e), RIVER_OK);
	assert_int_equal(river_eval(e, &scope, &arena, &diags, &((struct any *)c->state)->value),
			 RIVER_OK);
	component_exports_changed(c);
	spin(f);
	/* Dependants have copies. */
	((struct any *)c->state)->value = NULL;
	river_arena_fini(&arena);
}

static void test_bad_at_reevaluation(void **state)
{
	struct fixture *f = *state;

	struct component *x;

	assert_runs(f, "test.any \"source\" { value = [\"1\"] }\n"
		       "declare \"m\" {\n argument \"n\" { }\n test.any \"x\" { text = "
		       "argument.n.value[0] }\n}\n"
		       "m \"m\" { n = test.any.source.value }\n");
	x = find(f, "m.m/test.any.x");
	buf_reset(&f->events);
	assert_string_equal(x->health.message, "fine");
	set_value(f, find(f, "test.any.source"), "[]");
	assert_events(f, "");
	assert_string_equal(text_of(x), "1");
	assert_int_equal(x->health.state, HEALTH_UNHEALTHY);
	assert_string_equal(x->health.message, "0 index 0 is out of range of array with length 0");
	set_value(f, find(f, "test.any.source"), "[\"2\"]");
	assert_events(f, "update m.m/test.any.x=2, ");
	assert_string_equal(x->health.message, "fine");
}

static void test_nested(void **state)
{
	struct fixture *f = *state;

	assert_runs(f, "declare \"outer\" {\n"
		       "\tdeclare \"inner\" {\n"
		       "\t\targument \"a\" { }\n"
		       "\t\tleaf \"l\" { a = argument.a.value }\n"
		       "\t\texport \"e\" { value = leaf.l.e }\n"
		       "\t}\n"
		       "\targument \"a\" { }\n"
		       "\tinner \"i\" { a = argument.a.value + \"o\" }\n"
		       "\texport \"e\" { value = inner.i.e }\n"
		       "}\n"
		       "declare \"leaf\" {\n"
		       "\targument \"a\" { }\n"
		       "\ttest.any \"x\" { text = argument.a.value + \"l\" }\n"
		       "\texport \"e\" { value = test.any.x.text }\n"
		       "}\n"
		       "outer \"o\" { a = \"1\" }\n"
		       "test.any \"sink\" { text = outer.o.e }\n");
	assert_string_equal(text_of(find(f, "test.any.sink")), "1ol");
	assert_string_equal(find(f, "outer.o/inner.i/leaf.l/test.any.x")->path,
			    "/outer.o/inner.i/leaf.l");
	assert_string_equal(find(f, "test.any.sink")->path, "/");
	assert_true(graph_has_module(f->graph, "outer.o/inner.i"));
	assert_false(graph_has_module(f->graph, "outer.o/inner.j"));
}

static void test_without_a_label(void **state)
{
	struct fixture *f = *state;

	assert_runs(f, "declare \"m\" { export \"e\" { value = \"1\" } }\nm { }\n"
		       "test.any \"x\" { text = m.e }\n");
	assert_string_equal(text_of(find(f, "test.any.x")), "1");
}

static void test_module_path(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(load_as(f, "/some/where/c.alloy",
				 "declare \"m\" { export \"e\" { value = module_path } }\n"
				 "m \"m\" { }\n"
				 "test.any \"x\" { text = module_path + m.m.e }\n"),
			 RIVER_OK);
	assert_string_equal(text_of(find(f, "test.any.x")), "/some/where/some/where");
}

/* What is called as a name of the standard library hides it. */
static void test_shadow(void **state)
{
	struct fixture *f = *state;

	assert_runs(f,
		    "declare \"string\" { export \"e\" { value = \"mine\" } }\nstring \"s\" { }\n"
		    "test.any \"x\" { text = string.s.e }\n");
	assert_string_equal(text_of(find(f, "test.any.x")), "mine");
}

/* What will be exported is not known: nobody is blamed for it, in whatever module. */
static void test_unknown_exports(void **state)
{
	struct fixture *f = *state;

	assert_loads(f, "declare \"m\" {\n test.any \"x\" { text = \"unknown\" }\n export \"e\" { "
			"value = test.any.x.text }\n}\nm \"m\" { }\n"
			"test.any \"y\" { text = m.m.e }\ntest.any \"z\" { text = "
			"test.any.y.text }\n");
	assert_int_equal(load(f, "declare \"m\" {\n test.any \"x\" { text = \"unknown\" }\n export "
				 "\"e\" { value = test.any.x.text }\n}\nm \"m\" { }\n"
				 "test.any \"y\" {\n text = m.m.e\n banana = 1\n}\n"),
			 RIVER_INVALID);
	assert_string_equal(buf_str(&f->messages),
			    "a:8:2: unrecognized attribute name \"banana\"\n");
}

/* Configuration blocks are what they are, whatever is declared; an import may stand in a declare. */
static void test_names_that_mean_something(void **state)
{
	struct fixture *f = *state;

	assert_runs(
		f, "declare \"logging\" { argument \"a\" { } }\nlogging { text = \"1\" }\n"
		   "declare \"m\" {\n import.string \"i\" { content = \"declare \\\"x\\\" { export "
		   "\\\"e\\\" { value = 1 } }\" }\n i.x \"l\" { }\n export \"e\" { value = i.x.l.e "
		   "}\n}\nm \"m\" { }\ntest.any \"y\" { text = m.m.e }\n");
	assert_string_equal(text_of(find(f, "logging")), "1");
	assert_string_equal(text_of(find(f, "test.any.y")), "1");
}

static int put_dep(void *ctx, const struct component *dep)
{
	(void)buf_printf(ctx, "%s ", dep->local_id);
	return 0;
}

static int put_id(void *ctx, const char *id)
{
	(void)buf_printf(ctx, "%s ", id);
	return 0;
}

static void test_what_others_see(void **state)
{
	struct fixture *f = *state;
	_cleanup_buf_ struct buf of_pipe = BUF_INIT(100), of_sink = BUF_INIT(100),
				 modules = BUF_INIT(100);
	struct graph_view view;
	struct river_arena arena;
	const struct river_value *exports;

	assert_runs(f, PIPE USE("1") SINK "logging { }\n");
	assert_int_equal(graph_n(f->graph), 4);
	graph_view(f->graph, 0, &view);
	assert_string_equal(view.name, "pipe");
	assert_string_equal(view.local_id, "pipe.p");
	assert_string_equal(view.module_id, "");
	assert_int_equal(view.class, GRAPH_COMPONENT);
	assert_null(view.schema);
	assert_string_equal(river_value_key(view.args_object, 0), "in");
	graph_view(f->graph, 1, &view);
	assert_string_equal(view.local_id, "test.any.x");
	assert_string_equal(view.module_id, "pipe.p");
	assert_string_equal(((const struct any_args *)view.args)->text, "1d");
	assert_ptr_equal(view.schema, &any_schema);
	graph_view(f->graph, 3, &view);
	assert_int_equal(view.class, GRAPH_CONFIG);
	assert_int_equal(graph_each_dep(f->graph, 0, put_dep, &of_pipe), 0);
	assert_int_equal(graph_each_dep(f->graph, 2, put_dep, &of_sink), 0);
	assert_int_equal(graph_each_module(f->graph, 0, put_id, &modules), 0);
	assert_string_equal(buf_str(&of_pipe), "declare.pipe ");
	assert_string_equal(buf_str(&of_sink), "pipe.p ");
	assert_string_equal(buf_str(&modules), "pipe.p ");
	river_arena_init(&arena, (size_t)1 << 20);
	assert_int_equal(graph_exports(f->graph, 0, &arena, &exports), 0);
	assert_string_equal(river_value_get_string(river_value_find(exports, "out"), NULL), "1d");
	assert_int_equal(graph_exports(f->graph, 3, &arena, &exports), 0);
	assert_null(exports);
	river_arena_fini(&arena);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_a_use),
	FIXTURE_TEST(test_two_uses_share_nothing),
	FIXTURE_TEST(test_reload),
	FIXTURE_TEST(test_another_body),
	FIXTURE_TEST(test_exports_go_through),
	FIXTURE_TEST(test_a_failed_load_restores_everything),
	FIXTURE_TEST(test_bad_at_reevaluation),
	FIXTURE_TEST(test_nested),
	FIXTURE_TEST(test_without_a_label),
	FIXTURE_TEST(test_module_path),
	FIXTURE_TEST(test_shadow),
	FIXTURE_TEST(test_unknown_exports),
	FIXTURE_TEST(test_names_that_mean_something),
	FIXTURE_TEST(test_what_others_see),
};

TEST_MAIN(tests)
