/* SPDX-License-Identifier: Apache-2.0 */
/* Imported modules: where they come from, and what happens when they change. */
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/component/graph/tiny_graph.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Rounds of the loop, each of which waits up to 100 ms: far more than a change takes to be seen. */
#define ROUNDS 100

#define DECLARE(name, text)                                                                   \
	"declare \"" name "\" {\n\ttest.any \"x\" { text = \"" text "\" }\n\texport \"e\" { " \
	"value = test.any.x.text }\n}\n"
#define SINK "test.any \"sink\" { text = i.m.m.e }\n"

struct directory {
	char path[32];
	struct buf config;
};

static void directory_init(struct directory *d)
{
	temp_dir_make(d->path);
	buf_init(&d->config, 65536);
}

static void directory_fini(struct directory *d)
{
	assert_int_equal(temp_dir_remove(d->path), 0);
	buf_fini(&d->config);
}

/* As editors do: another file in the place of the old one. */
static void put_file(const struct directory *d, const char *name, const char *text)
{
	_cleanup_buf_ struct buf path = BUF_INIT(1000), temporary = BUF_INIT(1000);

	assert_int_equal(buf_printf(&path, "%s/%s", d->path, name), 0);
	assert_int_equal(buf_printf(&temporary, "%s/%s.tmp", d->path, name), 0);
	FILE *file = fopen(buf_str(&temporary), "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(rename(buf_str(&temporary), buf_str(&path)), 0);
}

/* `name` in the directory as namespace i, and a use of its m. */
static const char *config(struct directory *d, const char *name, const char *more)
{
	buf_reset(&d->config);
	assert_int_equal(buf_printf(&d->config,
				    "import.file \"i\" {\n\tfilename = \"%s/%s\"\n%s\n}\n"
				    "i.m \"m\" { }\n" SINK "test.any \"other\" { }\n",
				    d->path, name, more),
			 0);
	return buf_str(&d->config);
}

static void spin_until(struct fixture *f, const struct health *health, const char *expected)
{
	for (int i = 0; i < ROUNDS && !strstr(buf_str(&f->events), expected); i++) {
		assert_int_equal(loop_run_once(f->env.loop, 100), 0);
		if (health && health->state == HEALTH_UNHEALTHY)
			return;
	}
}

static void test_a_file_that_changes(void **state)
{
	struct fixture *f = *state;
	struct directory d;
	const void *sink;

	directory_init(&d);
	put_file(&d, "m.alloy", DECLARE("m", "1"));
	assert_runs(f, config(&d, "m.alloy", ""));
	assert_string_equal(text_of(find(f, "test.any.sink")), "1");
	assert_string_equal(find(f, "import.file.i")->health.message, "imported");
	sink = find(f, "test.any.other")->state;
	buf_reset(&f->events);
	put_file(&d, "m.alloy", DECLARE("m", "2"));
	spin_until(f, NULL, "sink");
	spin(f);
	/* Nobody else is touched. */
	assert_events(f, "update i.m.m/test.any.x=2, update test.any.sink=2, ");
	assert_ptr_equal(find(f, "test.any.other")->state, sink);
	directory_fini(&d);
}

static void test_a_file_that_is_polled(void **state)
{
	struct fixture *f = *state;
	struct directory d;

	directory_init(&d);
	put_file(&d, "m.alloy", DECLARE("m", "1"));
	assert_runs(f, config(&d, "m.alloy", "detector = \"poll\"\npoll_frequency = \"10ms\""));
	buf_reset(&f->events);
	put_file(&d, "m.alloy", DECLARE("m", "2"));
	spin_until(f, NULL, "sink");
	assert_events(f, "update i.m.m/test.any.x=2, update test.any.sink=2, ");
	directory_fini(&d);
}

/* What runs goes on, and is well again with the next good one. */
static void test_a_file_that_becomes_bad(void **state)
{
	struct fixture *f = *state;
	struct directory d;
	const struct component *import;

	directory_init(&d);
	put_file(&d, "m.alloy", DECLARE("m", "1"));
	assert_runs(f, config(&d, "m.alloy", ""));
	buf_reset(&f->events);
	import = find(f, "import.file.i");
	put_file(&d, "m.alloy", "declare \"m\" { test.any { } }\n");
	spin_until(f, &import->health, "never");
	assert_events(f, "");
	assert_int_equal(import->health.state, HEALTH_UNHEALTHY);
	assert_non_null(strstr(import->health.message, "/m.alloy:1:15: component \"test.any\" must "
						       "have a label"));
	put_file(&d, "m.alloy", DECLARE("m", "2"));
	import = NULL;
	spin_until(f, NULL, "sink");
	assert_events(f, "update i.m.m/test.any.x=2, update test.any.sink=2, ");
	assert_int_equal(find(f, "import.file.i")->health.state, HEALTH_HEALTHY);
	directory_fini(&d);
}

static void test_a_file_that_is_gone(void **state)
{
	struct fixture *f = *state;
	struct directory d;
	const struct component *import;
	_cleanup_buf_ struct buf path = BUF_INIT(1000);

	directory_init(&d);
	put_file(&d, "m.alloy", DECLARE("m", "1"));
	assert_runs(f, config(&d, "m.alloy", ""));
	import = find(f, "import.file.i");
	assert_int_equal(buf_printf(&path, "%s/m.alloy", d.path), 0);
	assert_int_equal(unlink(buf_str(&path)), 0);
	spin_until(f, &import->health, "never");
	assert_int_equal(import->health.state, HEALTH_UNHEALTHY);
	assert_string_equal(text_of(find(f, "test.any.sink")), "1");
	directory_fini(&d);
}

/* All of its files are one module, and each is known by its own name. */
static void test_a_directory(void **state)
{
	struct fixture *f = *state;
	struct directory d, elsewhere;
	_cleanup_buf_ struct buf from = BUF_INIT(1000), to = BUF_INIT(1000);

	directory_init(&d);
	put_file(&d, "a.alloy", DECLARE("leaf", "1"));
	put_file(&d, "b.alloy",
		 "declare \"m\" {\n leaf \"l\" { }\n export \"e\" { value = "
		 "leaf.l.e + module_path }\n}\n");
	put_file(&d, "c.txt", "not looked at");
	assert_runs(f, config(&d, ".", ""));
	const char *sum = text_of(find(f, "test.any.sink"));
	assert_int_equal(sum[0], '1');
	assert_int_equal(strncmp(sum + 1, d.path, strlen(d.path)), 0);
	buf_reset(&f->events);
	/* What is not written there comes there all the same. */
	directory_init(&elsewhere);
	put_file(&elsewhere, "a.alloy", DECLARE("leaf", "2"));
	assert_int_equal(buf_printf(&from, "%s/a.alloy", elsewhere.path), 0);
	assert_int_equal(buf_printf(&to, "%s/a.alloy", d.path), 0);
	assert_int_equal(rename(buf_str(&from), buf_str(&to)), 0);
	spin_until(f, NULL, "update i.m.m/leaf.l/test.any.x=2, ");
	assert_non_null(strstr(buf_str(&f->events), "update i.m.m/leaf.l/test.any.x=2, "));
	directory_fini(&elsewhere);
	directory_fini(&d);
}

/* An import of an import; its names are not those of who imports it. */
static void test_an_import_of_an_import(void **state)
{
	struct fixture *f = *state;
	struct directory d;

	directory_init(&d);
	put_file(&d, "leaf.alloy", DECLARE("m", "1"));
	put_file(&d, "m.alloy",
		 "import.file \"leafs\" { filename = module_path + \"/leaf.alloy\" }\n"
		 "declare \"m\" {\n leafs.m \"l\" { }\n export \"e\" { value = leafs.m.l.e }\n}\n");
	assert_runs(f, config(&d, "m.alloy", ""));
	assert_string_equal(text_of(find(f, "test.any.sink")), "1");
	buf_reset(&f->events);
	put_file(&d, "leaf.alloy", DECLARE("m", "2"));
	spin_until(f, NULL, "sink");
	assert_events(f, "update i.m.m/leafs.m.l/test.any.x=2, update test.any.sink=2, ");
	assert_int_equal(load(f, "import.string \"i\" { content = \"declare \\\"m\\\" { }\" }\n"
				 "leafs.m \"x\" { }\n"),
			 RIVER_INVALID);
	directory_fini(&d);
}

static void test_an_import_of_itself(void **state)
{
	struct fixture *f = *state;
	struct directory d;

	directory_init(&d);
	put_file(&d, "m.alloy", "import.file \"i\" { filename = module_path + \"/m.alloy\" }\n");
	assert_int_equal(load(f, config(&d, "m.alloy", "")), RIVER_INVALID);
	assert_non_null(strstr(buf_str(&f->messages), "modules are nested too deeply"));
	assert_int_equal(graph_n(f->graph), 0);
	directory_fini(&d);
}

/* From what another component exports. */
static void test_a_string(void **state)
{
	struct fixture *f = *state;

	assert_runs(f,
		    "test.any \"source\" { text = \"declare \\\"m\\\" { export \\\"e\\\" { value = "
		    "1 } }\" }\n"
		    "import.string \"i\" { content = test.any.source.text }\n"
		    "i.m \"m\" { }\n" SINK);
	assert_string_equal(text_of(find(f, "test.any.sink")), "1");
	buf_reset(&f->events);
	set_text(find(f, "test.any.source"),
		 "declare \"m\" {\n test.any \"y\" { }\n export \"e\" { value = 2 }\n}");
	spin(f);
	assert_events(f, "build i.m.m/test.any.y, update test.any.sink=2, run i.m.m/test.any.y=, ");
	set_text(find(f, "test.any.source"), "declare \"m\" { banana { } }");
	spin(f);
	assert_events(f, "");
	assert_string_equal(find(f, "import.string.i")->health.message,
			    "import_string:1:15: cannot find the definition of component name "
			    "\"banana\"");
	assert_string_equal(text_of(find(f, "test.any.sink")), "2");
	set_text(find(f, "test.any.source"), "declare \"m\" { export \"e\" { value = 3 } }");
	spin(f);
	assert_events(f, "update test.any.sink=3, stop i.m.m/test.any.y, ");
	assert_int_equal(find(f, "import.string.i")->health.state, HEALTH_HEALTHY);
}

/* Validation has no side effects: nothing is watched before it runs. */
static void test_no_watch_before_run(void **state)
{
	struct fixture *f = *state;
	struct directory d;

	directory_init(&d);
	put_file(&d, "m.alloy", DECLARE("m", "1"));
	assert_loads(f, config(&d, "m.alloy", ""));
	assert_null(find(f, "import.file.i")->state);
	directory_fini(&d);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_a_file_that_changes),
	FIXTURE_TEST(test_a_file_that_is_polled),
	FIXTURE_TEST(test_a_file_that_becomes_bad),
	FIXTURE_TEST(test_a_file_that_is_gone),
	FIXTURE_TEST(test_a_directory),
	FIXTURE_TEST(test_an_import_of_an_import),
	FIXTURE_TEST(test_an_import_of_itself),
	FIXTURE_TEST(test_a_string),
	FIXTURE_TEST(test_no_watch_before_run),
};

TEST_MAIN(tests)
