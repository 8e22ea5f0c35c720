/* SPDX-License-Identifier: Apache-2.0 */
/* discovery.file: follows its files at once. */
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/component/discovery/discovered.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/util/file.h"

#define NAME "discovery.file.x"
#define LIST(address) "[{\"targets\":[\"" address "\"]}]"

struct place {
	struct fixture *f;
	char dir[40];
};

static int place_setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	void *f = NULL;

	assert_non_null(p);
	assert_int_equal(setup(&f), 0);
	p->f = f;
	temp_dir_make(p->dir);
	*state = p;
	return 0;
}

static int place_teardown(void **state)
{
	struct place *p = *state;
	void *f = p->f;

	(void)teardown(&f);
	assert_int_equal(temp_dir_remove(p->dir), 0);
	free(p);
	return 0;
}

static void put(struct place *p, const char *name, const char *text)
{
	char path[80];

	(void)snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(file_write_fd(fd, text, strlen(text)), 0);
}

static void move(struct place *p, const char *from, const char *to)
{
	char source[80], target[80];

	(void)snprintf(source, sizeof(source), "%s/%s", p->dir, from);
	(void)snprintf(target, sizeof(target), "%s/%s", p->dir, to);
	assert_int_equal(rename(source, target), 0);
}

static void load_files(struct place *p, const char *first, const char *second)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	(void)buf_printf(&text, "discovery.file \"x\" {\n\tfiles = [\"%s/%s\", \"%s/%s\"]\n}\n",
			 p->dir, first, p->dir, second);
	assert_loads(p->f, buf_str(&text));
}

static void begin(struct place *p, const char *first, const char *second)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	load_files(p, first, second);
	assert_addresses(p->f, NAME, "");
	assert_int_equal(graph_run(p->f->graph, &why), 0);
}

static void test_follows_a_file(void **state)
{
	struct place *p = *state;

	put(p, "a.json", LIST("1"));
	begin(p, "a.json", "b.json");
	wait_found(p->f, NAME, "1", "1 targets from 1 files");
	put(p, "a.json", LIST("2"));
	wait_found(p->f, NAME, "2", "1 targets from 1 files");
	put(p, "new", LIST("3"));
	move(p, "new", "a.json");
	wait_found(p->f, NAME, "3", "1 targets from 1 files");
	/* One that was not there. */
	put(p, "b.json", LIST("4"));
	wait_found(p->f, NAME, "3 4", "2 targets from 2 files");
	move(p, "a.json", "gone");
	wait_found(p->f, NAME, "4", "1 targets from 1 files");
}

static void test_follows_a_pattern(void **state)
{
	struct place *p = *state;

	begin(p, "*.json", "*.yml");
	wait_found(p->f, NAME, "", "0 targets from 0 files");
	put(p, "b.json", LIST("2"));
	wait_found(p->f, NAME, "2", "1 targets from 1 files");
	put(p, "a.yml", "- targets: ['1']\n");
	wait_found(p->f, NAME, "1 2", "2 targets from 2 files");
	put(p, "b.json", LIST("3"));
	wait_found(p->f, NAME, "1 3", "2 targets from 2 files");
	move(p, "b.json", "gone");
	wait_found(p->f, NAME, "1", "1 targets from 1 files");
}

static void test_follows_a_directory_to_come(void **state)
{
	struct place *p = *state;
	char dir[80];

	begin(p, "d/*.json", "d/e/*.json");
	(void)snprintf(dir, sizeof(dir), "%s/d", p->dir);
	assert_int_equal(mkdir(dir, 0700), 0);
	put(p, "d/a.json", LIST("1"));
	wait_found(p->f, NAME, "1", "1 targets from 1 files");
	put(p, "d/b.json", LIST("2"));
	wait_found(p->f, NAME, "1 2", "2 targets from 2 files");
}

static void test_broken(void **state)
{
	_cleanup_buf_ struct buf message = BUF_INIT(4096);
	struct place *p = *state;

	put(p, "a.json", LIST("1"));
	begin(p, "*.json", "b.yml");
	wait_found(p->f, NAME, "1", "1 targets from 1 files");
	put(p, "a.json", "[7]");
	(void)buf_printf(&message,
			 "%s/a.json: group 1: is a number, expected a mapping with targets and "
			 "labels",
			 p->dir);
	wait_found(p->f, NAME, "1", buf_str(&message));
	assert_int_equal(find(p->f, NAME)->health.state, HEALTH_UNHEALTHY);
	put(p, "b.yml", "[");
	(void)buf_append_str(&message, "; and 1 more files");
	wait_found(p->f, NAME, "1", buf_str(&message));
	put(p, "a.json", LIST("2"));
	put(p, "b.yml", "");
	wait_found(p->f, NAME, "2", "1 targets from 2 files");
	assert_int_equal(find(p->f, NAME)->health.state, HEALTH_HEALTHY);
}

/* What both arguments have in common is not lost on the way. */
static void test_other_arguments(void **state)
{
	struct place *p = *state;

	put(p, "a.json", LIST("1"));
	put(p, "b.json", LIST("2"));
	begin(p, "a.json", "c.json");
	wait_found(p->f, NAME, "1", "1 targets from 1 files");
	put(p, "a.json", "[7]");
	load_files(p, "a.json", "b.json");
	assert_addresses(p->f, NAME, "1 2");
	put(p, "b.json", LIST("3"));
	put(p, "a.json", LIST("4"));
	wait_found(p->f, NAME, "4 3", "2 targets from 2 files");
}

/* Without a watch. */
static void test_refreshed(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(10000);
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	struct place *p = *state;

	(void)buf_append_str(&text, "discovery.file \"x\" {\n\trefresh_interval = \"20ms\"\n"
				    "\tfiles = [");
	for (int i = 0; i < 40; i++)
		(void)buf_printf(&text, "\"%s/%02d.json\", ", p->dir, i);
	(void)buf_append_str(&text, "]\n}\n");
	assert_loads(p->f, buf_str(&text));
	assert_int_equal(graph_run(p->f->graph, &why), 0);
	put(p, "39.json", LIST("1"));
	wait_found(p->f, NAME, "1", "1 targets from 1 files");
}

static void test_debug_info(void **state)
{
	const struct river_value *info, *files;
	struct place *p = *state;
	struct river_arena arena;

	put(p, "a.json", LIST("1"));
	put(p, "b.json", "7");
	begin(p, "a.json", "b.json");
	struct component *c = (struct component *)find(p->f, NAME);
	river_arena_init(&arena, (size_t)1 << 20);
	assert_int_equal(c->kind->debug_info(c, &arena, &info), 0);
	files = river_value_find(info, "files");
	assert_int_equal(river_value_len(files), 2);
	assert_int_equal(
		river_value_get_int(river_value_find(river_value_item(files, 0), "targets")), 1);
	assert_string_equal(river_value_get_string(
				    river_value_find(river_value_item(files, 1), "problem"), NULL),
			    "this is a number, expected a list of target groups");
	river_arena_fini(&arena);
}

static const struct mistake mistakes[] = {
	{ "no files", "discovery.file \"x\" { }\n",
	  "a:1:1: missing required attribute \"files\"\n" },
	{ "empty files", "discovery.file \"x\" {\n\tfiles = []\n}\n",
	  "a:2:2: files must contain at least one path name\n" },
	{ "extension", "discovery.file \"x\" {\n\tfiles = [\"a.json\", \"b.txt\"]\n}\n",
	  "a:2:2: path name \"b.txt\" is not valid for file discovery\n" },
	{ "glob", "discovery.file \"x\" {\n\tfiles = [\"/a/*/b.json\"]\n}\n",
	  "a:2:2: path name \"/a/*/b.json\" is not valid for file discovery\n" },
	{ "interval",
	  "discovery.file \"x\" {\n\tfiles = [\"a.json\"]\n\trefresh_interval = \"0s\"\n}\n",
	  "a:3:2: refresh_interval must be greater than 0\n" },
};

static const struct unit_test tests[] = {
	TEST_WITH(test_follows_a_file, place_setup, place_teardown),
	TEST_WITH(test_follows_a_pattern, place_setup, place_teardown),
	TEST_WITH(test_follows_a_directory_to_come, place_setup, place_teardown),
	TEST_WITH(test_broken, place_setup, place_teardown),
	TEST_WITH(test_other_arguments, place_setup, place_teardown),
	TEST_WITH(test_refreshed, place_setup, place_teardown),
	TEST_WITH(test_debug_info, place_setup, place_teardown),
	TEST_ROWS(test_mistake, mistakes, name),
};

TEST_MAIN(tests)
