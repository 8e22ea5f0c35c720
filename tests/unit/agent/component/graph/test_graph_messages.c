/* SPDX-License-Identifier: Apache-2.0 */
/* What the graph says about mistakes, and where: from and to. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/graph/tiny_graph.h"

static const struct row {
	const char *name;
	const char *text;
	const char *expected; /* from-to: message, one a line */
} rows[] = {
	{ "missing, up to the start of the last name",
	  "test.any \"a\" {\n\ttext = test.any.b.text\n}\n",
	  "2:9-2:20: component \"test.any.b.text\" does not exist or is out of scope\n" },
	{ "missing, one name", "test.any \"a\" {\n\ttext = banana\n}\n",
	  "2:9-2:9: component \"banana\" does not exist or is out of scope\n" },
	{ "an index ends a reference", "test.any \"a\" {\n\ttext = test.any[\"b\"].text\n}\n",
	  "2:9-2:14: component \"test.any\" does not exist or is out of scope\n" },
	{ "a call ends a reference", "test.any \"a\" {\n\ttext = foo.bar(test.any.c).baz\n}\n",
	  "2:9-2:13: component \"foo.bar\" does not exist or is out of scope\n"
	  "2:17-2:26: component \"test.any.c\" does not exist or is out of scope\n" },
	{ "each time it is named", "test.any \"a\" {\n\tvalue = [x.y, x.y]\n}\n",
	  "2:11-2:13: component \"x.y\" does not exist or is out of scope\n"
	  "2:16-2:18: component \"x.y\" does not exist or is out of scope\n" },
	{ "in a nested block", "test.any \"a\" {\n\tfoo {\n\t\tbar = x.y\n\t}\n}\n",
	  "2:2-4:2: unrecognized block name \"foo\"\n"
	  "3:9-3:11: component \"x.y\" does not exist or is out of scope\n" },
	{ "wrong syntax in the order it is found", "test.any \"a\" {\n\ttext = \"a\\q\n}\n",
	  "2:12-0:0: unknown escape sequence\n2:9-0:0: string literal not terminated\n" },
	{ "a namespace is no component", "test.any \"a\" {\n\ttext = sys.banana\n}\n",
	  "2:13-2:18: field \"banana\" does not exist\n" },
	{ "a component has no such export",
	  "test.any \"a\" {\n\ttext = test.any.b.banana\n}\ntest.any \"b\" { }\n",
	  "2:20-2:25: field \"banana\" does not exist\n" },
	{ "a component has no exports",
	  "test.any \"a\" {\n\ttext = test.silent.b.banana\n}\ntest.silent \"b\" { }\n",
	  "2:23-2:28: field \"banana\" does not exist\n" },
	{ "a configuration block has no value",
	  "test.any \"a\" {\n\ttext = logging.text\n}\nlogging { }\n",
	  "2:9-2:15: identifier \"logging\" does not exist\n" },
	{ "unknown", "test.anyy \"a\" { }\n",
	  "1:1-1:9: cannot find the definition of component name \"test.anyy\"\n" },
	{ "no label", "test.any { }\n", "1:1-1:8: component \"test.any\" must have a label\n" },
	{ "empty label", "test.any \"\" { }\n",
	  "1:1-1:8: component \"test.any\" must have a label\n" },
	{ "label on a configuration block", "logging \"x\" { }\n",
	  "1:1-1:13: block \"logging\" requires empty label\n" },
	{ "label on a service", "http \"x\" { }\n",
	  "1:1-1:10: block \"http\" requires empty label\n" },
	{ "twice", "test.any \"a\" { }\n\n  test.any \"a\" {\n}\n",
	  "3:3-3:12: block test.any.a already declared at a:1:1\n" },
	{ "configuration block twice", "logging { }\nlogging { }\n",
	  "2:1-2:7: block logging already declared at a:1:1\n" },
	{ "service twice", "http { }\nhttp {\n}\n", "2:1-3:1: duplicate definition of \"http\"\n" },
	{ "declare twice", "declare \"a\" { }\ndeclare \"a\" { }\n",
	  "2:1-2:9: block declare.a already declared at a:1:1\n" },
	{ "itself", "test.any \"a\" {\n\ttext = test.any.a.text\n}\n",
	  "-: cannot reference self\n" },
	{ "a cycle of two",
	  "test.any \"b\" { text = test.any.a.text }\ntest.any \"a\" { text = test.any.b.text }\n",
	  "-: cycle detected: test.any.b, test.any.a\n" },
	{ "a cycle of three, entered from outside",
	  "test.any \"x\" { text = test.any.b.text }\ntest.any \"a\" { text = test.any.b.text }\n"
	  "test.any \"b\" { text = test.any.c.text }\ntest.any \"c\" { text = test.any.a.text }\n",
	  "-: cycle detected: test.any.b, test.any.c, test.any.a\n" },
	{ "two cycles, and more",
	  "test.any \"a\" { text = test.any.b.text }\ntest.any \"b\" { text = test.any.a.text }\n"
	  "test.any \"c\" { text = test.any.d.text }\ntest.any \"d\" { text = test.any.c.text }\n"
	  "test.any \"e\" { text = test.any.e.text }\ntest.any \"f\" { banana = 1 }\n",
	  "6:16-6:25: unrecognized attribute name \"banana\"\n"
	  "-: cycle detected: test.any.a, test.any.b\n"
	  "-: cycle detected: test.any.c, test.any.d\n"
	  "-: cannot reference self\n" },
	{ "build", "test.any \"a\" {\n\ttext = \"fail\"\n}\n",
	  "1:1-3:1: Failed to build component: it was told to\n" },
	{ "build of a configuration block", "logging {\n\ttext = \"fail\"\n}\n",
	  "1:1-3:1: Failed to evaluate node for config block: it was told to\n" },
	{ "build of a service", "http {\n\ttext = \"fail\"\n}\n",
	  "1:1-3:1: Failed to evaluate service: it was told to\n" },
	{ "not yet for everybody", "test.new \"a\" { }\n",
	  "1:1-1:8: component \"test.new\" is at stability level \"experimental\", which is below "
	  "the minimum allowed stability level \"generally-available\". Use --stability.level "
	  "command-line flag to enable \"experimental\" features\n" },
	{ "foreach is not yet for everybody", "foreach \"f\" {\n\tbanana = 1\n}\n",
	  "1:1-1:7: foreach is at stability level \"experimental\", which is below the minimum "
	  "allowed stability level \"generally-available\". Use --stability.level command-line "
	  "flag to enable \"experimental\" features\n" },
	{ "declare of declares", "declare \"declare\" { }\n",
	  "1:1-1:7: 'declare' is not a valid label for a declare block\n" },
	{ "declare without a label", "declare { }\n",
	  "1:1-1:9: block \"declare\" requires non-empty label\n" },
	{ "import without a label", "import.string { content = \"\" }\n",
	  "1:1-1:15: block \"import.string\" requires non-empty label\n" },
	{ "argument outside", "argument \"a\" {\n}\nexport \"b\" { }\n",
	  "1:1-2:1: argument blocks only allowed inside a module\n"
	  "3:1-3:14: export blocks only allowed inside a module\n" },
	{ "service in a module", "declare \"m\" {\n\thttp { }\n}\nm \"x\" { }\n",
	  "2:2-2:9: service blocks not allowed inside a module: \"http\"\n" },
	{ "logging in a module", "declare \"m\" {\n\tlogging { }\n}\nm \"x\" { }\n",
	  "2:2-2:12: logging block not allowed inside a module\n" },
	{ "a declare that is not used is not looked at",
	  "declare \"m\" {\n\thttp { }\n}\nbanana { }\n",
	  "4:1-4:6: cannot find the definition of component name \"banana\"\n" },
	{ "missing argument", "declare \"m\" {\n\targument \"n\" {\n\t}\n}\nm \"x\" { }\n",
	  "2:2-3:2: missing required argument \"n\" to module\n" },
	{ "a default alone does not make it optional",
	  "declare \"m\" {\n\targument \"n\" { default = 1 }\n}\nm \"x\" { }\n",
	  "2:2-2:29: missing required argument \"n\" to module\n" },
	{ "an argument that there is not", "declare \"m\" { }\nm \"x\" {\n\ta = 1\n}\n",
	  "3:2-3:6: Provided argument \"a\" is not defined in the module\n" },
	{ "an argument twice",
	  "declare \"m\" { argument \"a\" { } }\nm \"x\" {\n\ta = 1\n\ta = 2\n}\n",
	  "4:2-4:6: attribute \"a\" may only be provided once\n" },
	{ "a block for a module", "declare \"m\" { }\nm \"x\" {\n\ta { }\n}\n",
	  "3:2-3:6: nested blocks not supported here\n" },
	{ "an argument that was not declared",
	  "declare \"m\" {\n\texport \"e\" { value = argument.a.value }\n}\nm \"x\" { }\n",
	  "2:23-2:34: component \"argument.a.value\" does not exist or is out of scope\n" },
	{ "modules do not see the outside",
	  "test.any \"a\" { }\ndeclare \"m\" {\n\texport \"e\" { value = test.any.a.text }\n}\nm "
	  "\"x\" { }\n",
	  "3:23-3:34: component \"test.any.a.text\" does not exist or is out of scope\n" },
	{ "the outside does not see modules",
	  "declare \"m\" {\n\ttest.any \"a\" { }\n}\nm \"x\" { }\ntest.any \"b\" { text = m.x.text "
	  "}\n",
	  "5:27-5:30: field \"text\" does not exist\n" },
	{ "an export without a value", "declare \"m\" {\n\texport \"e\" { }\n}\nm \"x\" { }\n",
	  "2:2-2:15: missing required attribute \"value\"\n" },
	{ "a declare that uses itself", "declare \"m\" {\n\tm \"x\" { }\n}\n",
	  "-: cannot reference self\n" },
	{ "declares that use each other",
	  "declare \"m\" {\n\tn \"x\" { }\n}\ndeclare \"n\" {\n\tm \"x\" { }\n}\nm \"x\" { }\n",
	  "-: cycle detected: declare.m, declare.n\n" },
	{ "a declare of a declare that uses it",
	  "declare \"m\" {\n\tdeclare \"i\" {\n\t\tm \"x\" { }\n\t}\n\ti \"x\" { }\n}\nm \"x\" { "
	  "}\n",
	  "-: cannot reference self\n" },
	{ "an inner declare is not seen outside",
	  "declare \"m\" {\n\tdeclare \"i\" { }\n}\ni \"x\" { }\n",
	  "4:1-4:1: cannot find the definition of component name \"i\"\n" },
	{ "what follows from a module that is wrong is not another mistake",
	  "declare \"m\" {\n\texport \"e\" { value = banana }\n}\nm \"x\" { }\ntest.any \"a\" { "
	  "text = m.x.e }\n",
	  "2:23-2:23: component \"banana\" does not exist or is out of scope\n" },
	{ "an import that cannot be read",
	  "import.file \"i\" {\n\tfilename = \"/nonexistent/x\"\n}\n",
	  "1:1-3:1: Failed to evaluate node for config block: failed to read file: open "
	  "/nonexistent/x: no such file or directory\n" },
	{ "an import with a mistake",
	  "import.string \"i\" {\n\tcontent = \"declare {\"\n}\ni.m \"x\" { }\n",
	  "1:10-0:0: expected }, got EOF\n" },
	{ "an import of a component",
	  "import.string \"i\" {\n\tcontent = \"test.any \\\"a\\\" { }\"\n}\n",
	  "1:1-1:14: only declare and import blocks are allowed in a module\n" },
	{ "an import without that declare",
	  "import.string \"i\" {\n\tcontent = \"\"\n}\ni.m \"x\" {\n}\n",
	  "4:1-5:1: Failed to build component: loading custom component config: custom component "
	  "config not found in the registry, namespace: \"i\", componentName: \"m\"\n" },
	{ "import.http", "import.http \"i\" {\n\turl = \"http://h\"\n}\ni.m \"x\" { }\n",
	  "1:1-1:11: import.http is not supported; use import.file or import.string\n" },
	{ "import.git",
	  "import.git \"i\" {\n\trepository = \"r\"\n\tpath = x.y\n\tbasic_auth { }\n}\n",
	  "1:1-1:10: import.git is not supported; use import.file or import.string\n"
	  "3:9-3:11: component \"x.y\" does not exist or is out of scope\n" },
	{ "import.file arguments",
	  "import.file \"i\" {\n\tdetector = \"x\"\n\tpoll_frequency = \"0s\"\n}\n",
	  "1:1-4:1: missing required attribute \"filename\"\n"
	  "2:2-2:15: detector must be one of fsnotify, poll\n"
	  "3:2-3:22: poll_frequency must be greater than 0\n" },
};

static void put_pos(struct buf *out, const struct river_pos *pos)
{
	(void)buf_printf(out, "%u:%u", pos->line, pos->column);
}

static void put_diag(struct buf *out, const struct river_diag *diag)
{
	if (diag->range.start.line) {
		put_pos(out, &diag->range.start);
		(void)buf_append_char(out, '-');
		put_pos(out, &diag->range.end);
	} else {
		(void)buf_append_char(out, '-');
	}
	(void)buf_printf(out, ": %s\n", diag->message);
}

static void test_message(void **state)
{
	const struct row *row = *state;
	struct river_source source = { "a", row->text, strlen(row->text) };
	struct river_arena arena;
	struct river_diags diags;
	void *fixture;
	struct fixture *f;

	assert_int_equal(setup(&fixture), 0);
	f = fixture;
	river_arena_init(&arena, (size_t)16 << 20);
	river_diags_init(&diags, &arena);
	int r = graph_load(f->graph, &source, 1, &diags);
	for (size_t i = 0; i < diags.n_items; i++)
		put_diag(&f->messages, &diags.items[i]);
	assert_string_equal(buf_str(&f->messages), row->expected);
	assert_int_equal(r, RIVER_INVALID);
	assert_int_equal(graph_n(f->graph), 0);
	river_arena_fini(&arena);
	/* Nothing is left of it. */
	assert_loads(f, "test.any \"a\" { }\n");
	assert_int_equal(teardown(&fixture), 0);
}

/* By file, then by place. */
static void test_of_many_files(void **state)
{
	struct fixture *f = *state;
	struct river_source sources[] = {
		{ "d/a.alloy", "test.any \"a\" { x = 1 }\n", 23 },
		{ "d/b.alloy", "banana { }\ntest.any \"a\" { }\n", 28 },
	};
	struct river_arena arena;
	struct river_diags diags;

	river_arena_init(&arena, (size_t)1 << 20);
	river_diags_init(&diags, &arena);
	assert_int_equal(graph_load(f->graph, sources, 2, &diags), RIVER_INVALID);
	for (size_t i = 0; i < diags.n_items; i++) {
		river_diag_write(&diags.items[i], write_buf, &f->messages);
		(void)buf_append_char(&f->messages, '\n');
	}
	assert_string_equal(
		buf_str(&f->messages),
		"d/a.alloy:1:16: unrecognized attribute name \"x\"\n"
		"d/b.alloy:1:1: cannot find the definition of component name \"banana\"\n"
		"d/b.alloy:2:1: block test.any.a already declared at d/a.alloy:1:1\n");
	river_arena_fini(&arena);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_message, rows, name),
	FIXTURE_TEST(test_of_many_files),
};

TEST_MAIN(tests)
