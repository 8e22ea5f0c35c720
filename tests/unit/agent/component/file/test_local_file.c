/* SPDX-License-Identifier: Apache-2.0 */
/* local.file: what it exports, and when it reads again. */
#include "tests/support/loop_while.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/component/real_graph.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/util/file.h"

struct place {
	struct fixture *f;
	char dir[32];
	char path[64]; /* of the last name that was asked for */
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

static const char *at(struct place *p, const char *name)
{
	(void)snprintf(p->path, sizeof(p->path), "%s/%s", p->dir, name);
	return p->path;
}

static void put(struct place *p, const char *name, const char *text)
{
	_cleanup_close_ int fd = open(at(p, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(file_write_fd(fd, text, strlen(text)), 0);
}

static void move(struct place *p, const char *from, const char *to)
{
	char source[64];

	(void)snprintf(source, sizeof(source), "%s", at(p, from));
	assert_int_equal(rename(source, at(p, to)), 0);
}

static int load_file(struct place *p, const char *name, const char *more)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	(void)buf_printf(&text, "local.file \"x\" {\n\tfilename = \"%s/%s\"\n%s\n}\n", p->dir, name,
			 more);
	return load(p->f, buf_str(&text));
}

static void begin(struct place *p, const char *name, const char *more)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	assert_int_equal(load_file(p, name, more), RIVER_OK);
	assert_int_equal(graph_run(p->f->graph, &why), 0);
}

/* Of the component; a secret is read all the same. */
static void assert_content(struct place *p, const char *expected, bool secret)
{
	struct component *c = (struct component *)find(p->f, "local.file.x");
	const struct river_value *exports, *content;
	struct river_arena arena;

	river_arena_init(&arena, (size_t)64 << 20);
	assert_int_equal(c->kind->exports(c, &arena, &exports), 0);
	content = river_value_find(exports, "content");
	assert_non_null(content);
	assert_string_equal(river_value_get_secret_text(content, NULL), expected);
	assert_int_equal(river_value_is_secret(content), secret);
	river_arena_fini(&arena);
}

static bool has_content(struct place *p, const char *expected)
{
	struct component *c = (struct component *)find(p->f, "local.file.x");
	const struct river_value *exports;
	struct river_arena arena;

	river_arena_init(&arena, (size_t)64 << 20);
	assert_int_equal(c->kind->exports(c, &arena, &exports), 0);
	bool has = strcmp(river_value_get_secret_text(river_value_find(exports, "content"), NULL),
			  expected) == 0;
	river_arena_fini(&arena);
	return has;
}

static void wait_content(struct place *p, const char *expected)
{
	LOOP_WHILE(p->f->env.loop, !has_content(p, expected));
	assert_true(has_content(p, expected));
}

static void wait_health(struct place *p, enum health_state state)
{
	const struct component *c = find(p->f, "local.file.x");

	LOOP_WHILE(p->f->env.loop, c->health.state != state);
	assert_int_equal(c->health.state, state);
}

static void test_content(void **state)
{
	struct place *p = *state;
	_cleanup_buf_ struct buf metrics = BUF_INIT(1 << 20);

	put(p, "a", "text\n");
	begin(p, "a", "");
	assert_content(p, "text\n", false);
	assert_int_equal(telemetry_text(p->f->env.telemetry, &metrics), 0);
	assert_non_null(
		strstr(buf_str(&metrics),
		       "local_file_timestamp_last_accessed_unix_seconds{component_path=\"/\","
		       "component_id=\"local.file.x\"} 1"));
	assert_int_equal(load_file(p, "a", "is_secret = true"), RIVER_OK);
	assert_content(p, "text\n", true);
}

static void test_written_again(void **state)
{
	struct place *p = *state;

	put(p, "a", "1");
	begin(p, "a", "");
	put(p, "a", "22");
	wait_content(p, "22");
	put(p, "a", "");
	wait_content(p, "");
}

/* As editors do it, and again: the watch follows the new file. */
static void test_renamed_over(void **state)
{
	struct place *p = *state;

	put(p, "a", "1");
	begin(p, "a", "");
	for (int i = 2; i < 5; i++) {
		char text[2] = { (char)('0' + i), '\0' };

		put(p, "new", text);
		move(p, "new", "a");
		wait_content(p, text);
	}
	put(p, "a", "written");
	wait_content(p, "written");
}

/* ..data is a link to a directory and is replaced by a rename; the file is a link through it. */
static void test_config_map(void **state)
{
	struct place *p = *state;

	assert_int_equal(mkdir(at(p, "..1"), 0700), 0);
	assert_int_equal(mkdir(at(p, "..2"), 0700), 0);
	put(p, "..1/key", "1");
	put(p, "..2/key", "2");
	assert_int_equal(symlink("..1", at(p, "..data")), 0);
	assert_int_equal(symlink("..data/key", at(p, "key")), 0);
	begin(p, "key", "");
	assert_content(p, "1", false);
	assert_int_equal(symlink("..2", at(p, "..tmp")), 0);
	move(p, "..tmp", "..data");
	wait_content(p, "2");
	put(p, "..1/key", "3");
	assert_int_equal(symlink("..1", at(p, "..tmp")), 0);
	move(p, "..tmp", "..data");
	wait_content(p, "3");
}

static void test_gone_and_back(void **state)
{
	struct place *p = *state;
	char expected[128];

	put(p, "a", "1");
	begin(p, "a", "");
	assert_int_equal(unlink(at(p, "a")), 0);
	wait_health(p, HEALTH_UNHEALTHY);
	(void)snprintf(expected, sizeof(expected),
		       "failed to read file: open %s: no such file or directory", at(p, "a"));
	assert_string_equal(find(p->f, "local.file.x")->health.message, expected);
	assert_content(p, "1", false);
	put(p, "a", "2");
	wait_health(p, HEALTH_HEALTHY);
	wait_content(p, "2");
	assert_string_equal(find(p->f, "local.file.x")->health.message, "read file");
}

static void test_polled(void **state)
{
	struct place *p = *state;

	put(p, "a", "1");
	begin(p, "a", "detector = \"poll\"\npoll_frequency = \"10ms\"");
	put(p, "a", "2");
	wait_content(p, "2");
	assert_int_equal(unlink(at(p, "a")), 0);
	wait_health(p, HEALTH_UNHEALTHY);
	assert_content(p, "2", false);
}

static void test_other_file(void **state)
{
	struct place *p = *state;

	put(p, "a", "1");
	put(p, "b", "2");
	begin(p, "a", "");
	begin(p, "b", "");
	assert_content(p, "2", false);
	put(p, "b", "3");
	wait_content(p, "3");
	/* What was watched before is not. */
	put(p, "a", "4");
	for (int i = 0; i < 5; i++)
		assert_int_equal(loop_run_once(p->f->env.loop, 20), 0);
	assert_content(p, "3", false);
}

/* A load with a file that cannot be read is refused as a whole. */
static void test_other_file_is_missing(void **state)
{
	struct place *p = *state;

	put(p, "a", "1");
	begin(p, "a", "");
	assert_int_equal(load_file(p, "b", ""), RIVER_INVALID);
	assert_content(p, "1", false);
}

static void test_dependants(void **state)
{
	struct place *p = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(4096);
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	put(p, "a", "error");
	(void)buf_printf(&text,
			 "local.file \"x\" {\n\tfilename = \"%s\"\n}\nlogging {\n\tlevel = "
			 "local.file.x.content\n}\n",
			 at(p, "a"));
	assert_loads(p->f, buf_str(&text));
	assert_int_equal(graph_run(p->f->graph, &why), 0);
	assert_false(log_enabled(LOG_LEVEL_WARN));
	put(p, "new", "warn");
	move(p, "new", "a");
	LOOP_WHILE(p->f->env.loop, !log_enabled(LOG_LEVEL_WARN));
	assert_true(log_enabled(LOG_LEVEL_WARN));
}

static void refuse(struct place *p, const char *name, const char *problem)
{
	char expected[160];
	size_t n;

	assert_int_equal(load_file(p, name, ""), RIVER_INVALID);
	n = (size_t)snprintf(expected, sizeof(expected), "failed to read file: %s\n", problem);
	assert_true(p->f->messages.len > n);
	assert_string_equal(buf_str(&p->f->messages) + p->f->messages.len - n, expected);
}

static void test_refused(void **state)
{
	struct place *p = *state;
	char problem[128];

	(void)snprintf(problem, sizeof(problem), "open %s: no such file or directory", at(p, "a"));
	refuse(p, "a", problem);
	assert_int_equal(mkdir(at(p, "d"), 0700), 0);
	(void)snprintf(problem, sizeof(problem), "read %s: is a directory", at(p, "d"));
	refuse(p, "d", problem);
	/* Nobody will ever write to it. */
	assert_int_equal(mkfifo(at(p, "f"), 0600), 0);
	(void)snprintf(problem, sizeof(problem), "open %s: not a regular file", at(p, "f"));
	refuse(p, "f", problem);
	assert_int_equal(symlink("loop", at(p, "loop")), 0);
	(void)snprintf(problem, sizeof(problem), "open %s: too many levels of symbolic links",
		       at(p, "loop"));
	refuse(p, "loop", problem);
	put(p, "large", "");
	assert_int_equal(truncate(at(p, "large"), (16 << 20) + 1), 0);
	(void)snprintf(problem, sizeof(problem), "open %s: larger than 16777216 bytes",
		       at(p, "large"));
	refuse(p, "large", problem);
}

static const struct row {
	const char *name, *text, *expected;
} rows[] = {
	{ "no file name", "local.file \"x\" { }\n",
	  "a:1:1: missing required attribute \"filename\"\n" },
	{ "detector", "local.file \"x\" {\n\tfilename = \"/f\"\n\tdetector = \"magic\"\n}\n",
	  "a:3:13: \"magic\" unrecognized detector \"magic\", expected fsnotify or poll\n" },
	{ "frequency", "local.file \"x\" {\n\tfilename = \"/f\"\n\tpoll_frequency = \"0s\"\n}\n",
	  "a:3:2: poll_frequency must be greater than 0\n" },
	{ "label", "local.file { }\n", "a:1:1: component \"local.file\" must have a label\n" },
};

static void test_mistake(void **state)
{
	const struct row *row = *state;
	struct fixture *f;
	void *own;

	assert_int_equal(setup(&own), 0);
	f = own;
	assert_int_equal(load(f, row->text), RIVER_INVALID);
	assert_string_equal(buf_str(&f->messages), row->expected);
	(void)teardown(&own);
}

static const struct unit_test tests[] = {
	TEST_WITH(test_content, place_setup, place_teardown),
	TEST_WITH(test_written_again, place_setup, place_teardown),
	TEST_WITH(test_renamed_over, place_setup, place_teardown),
	TEST_WITH(test_config_map, place_setup, place_teardown),
	TEST_WITH(test_gone_and_back, place_setup, place_teardown),
	TEST_WITH(test_polled, place_setup, place_teardown),
	TEST_WITH(test_other_file, place_setup, place_teardown),
	TEST_WITH(test_other_file_is_missing, place_setup, place_teardown),
	TEST_WITH(test_dependants, place_setup, place_teardown),
	TEST_WITH(test_refused, place_setup, place_teardown),
	TEST_ROWS(test_mistake, rows, name),
};

TEST_MAIN(tests)
