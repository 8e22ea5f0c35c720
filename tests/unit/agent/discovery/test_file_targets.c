/* SPDX-License-Identifier: Apache-2.0 */
/* Targets of real files: written, replaced, broken, removed. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/discovery/file_targets.h"
#include "agent/util/buf.h"
#include "agent/util/file.h"
#include "agent/util/macro.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

struct place {
	struct file_targets targets;
	char dir[40];
	char paths[4][80]; /* of the names that were asked for last */
	unsigned int n_paths;
};

static void set_up(struct place *p)
{
	file_targets_init(&p->targets);
	temp_dir_make(p->dir);
}

static void tear_down(struct place *p)
{

	file_targets_fini(&p->targets);
	assert_int_equal(temp_dir_remove(p->dir), 0);
}

FIXTURE(struct place, set_up, tear_down)

static const char *at(struct place *p, const char *name)
{
	char *path = p->paths[p->n_paths++ % ARRAY_SIZE(p->paths)];

	(void)snprintf(path, sizeof(p->paths[0]), "%s/%s", p->dir, name);
	return path;
}

static void put(struct place *p, const char *name, const char *text)
{
	_cleanup_close_ int fd = open(at(p, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(file_write_fd(fd, text, strlen(text)), 0);
}

static bool refresh(struct place *p, const char *first, const char *second)
{
	const char *patterns[] = { at(p, first), second ? at(p, second) : NULL };
	bool changed;

	assert_int_equal(file_targets_refresh(&p->targets, patterns, second ? 2 : 1, &changed), 0);
	return changed;
}

/* Addresses, with the file's name: "1@a.json 2@a.json". */
static void assert_targets(struct place *p, const char *expected)
{
	_cleanup_target_list_ struct target_list list = { 0 };
	_cleanup_buf_ struct buf text = BUF_INIT(10000);

	assert_int_equal(file_targets_get(&p->targets, &list), 0);
	assert_int_equal(list.n, p->targets.n_targets);
	for (size_t i = 0; i < list.n; i++) {
		const char *path = labels_get(list.items[i], "__meta_filepath");

		assert_memory_equal(path, p->dir, strlen(p->dir));
		(void)buf_printf(&text, "%s%s@%s", i > 0 ? " " : "",
				 labels_get(list.items[i], "__address__"),
				 path + strlen(p->dir) + 1);
	}
	assert_string_equal(buf_str(&text), expected);
}

#define LIST(address) "[{\"targets\":[\"" address "\"],\"labels\":{\"x\":\"y\"}}]"

static void test_both_formats(void **state)
{
	struct place *p = *state;

	put(p, "a.json", LIST("1"));
	put(p, "b.yml", "- targets: ['2', '3']\n");
	put(p, "c.yaml", "- targets: ['4']\n");
	put(p, "d.JSON", LIST("5"));
	put(p, "e.txt", LIST("6"));
	put(p, ".f.json", LIST("7"));
	assert_true(refresh(p, "*.json", "[b-c].y*ml"));
	assert_targets(p, "7@.f.json 1@a.json 2@b.yml 3@b.yml 4@c.yaml");
	assert_true(refresh(p, "d.JSON", NULL));
	assert_targets(p, "5@d.JSON");
}

static void test_order_is_of_paths(void **state)
{
	struct place *p = *state;

	put(p, "b.json", LIST("1"));
	put(p, "a.json", "[{\"targets\":[\"9\",\"1\"]},{\"targets\":[\"5\"]}]");
	assert_true(refresh(p, "b.json", "a.json"));
	assert_targets(p, "9@a.json 1@a.json 5@a.json 1@b.json");
	assert_false(refresh(p, "*.json", "b.json"));
	assert_targets(p, "9@a.json 1@a.json 5@a.json 1@b.json");
}

static void test_absent_is_no_problem(void **state)
{
	struct place *p = *state;

	assert_false(refresh(p, "a.json", "no/*.json"));
	assert_int_equal(p->targets.n_files, 0);
	put(p, "a.json", LIST("1"));
	assert_true(refresh(p, "a.json", NULL));
	assert_targets(p, "1@a.json");
}

static void test_replaced(void **state)
{
	struct place *p = *state;

	put(p, "a.json", LIST("1"));
	assert_true(refresh(p, "*.json", NULL));
	assert_false(refresh(p, "*.json", NULL));
	put(p, "new", LIST("2"));
	assert_int_equal(rename(at(p, "new"), at(p, "a.json")), 0);
	assert_true(refresh(p, "*.json", NULL));
	assert_targets(p, "2@a.json");
	/* Written otherwise, but the same. */
	put(p, "a.json", " " LIST("2") "\n");
	assert_false(refresh(p, "*.json", NULL));
}

static void test_removed(void **state)
{
	struct place *p = *state;

	put(p, "a.json", LIST("1"));
	put(p, "b.json", LIST("2"));
	assert_true(refresh(p, "*.json", NULL));
	assert_int_equal(unlink(at(p, "a.json")), 0);
	assert_true(refresh(p, "*.json", NULL));
	assert_targets(p, "2@b.json");
	/* Not asked for any more. */
	assert_true(refresh(p, "c.json", NULL));
	assert_targets(p, "");
}

static const struct file_targets_file *only_file(const struct place *p)
{
	assert_int_equal(p->targets.n_files, 1);
	return &p->targets.files[0];
}

static void test_broken_keeps_the_last(void **state)
{
	struct place *p = *state;

	put(p, "a.json", LIST("1"));
	assert_true(refresh(p, "*.json", NULL));
	put(p, "a.json", "[\n{");
	assert_false(refresh(p, "*.json", NULL));
	assert_targets(p, "1@a.json");
	assert_string_equal(only_file(p)->problem,
			    "line 2, column 1: string or '}' expected near end of file");
	assert_true(only_file(p)->problem_is_new);
	/* Told once. */
	assert_false(refresh(p, "*.json", NULL));
	assert_false(only_file(p)->problem_is_new);
	assert_non_null(only_file(p)->problem);
	put(p, "a.json", "[7]");
	assert_false(refresh(p, "*.json", NULL));
	assert_true(only_file(p)->problem_is_new);
	/* Back to what it was, and on. */
	put(p, "a.json", LIST("1"));
	assert_false(refresh(p, "*.json", NULL));
	assert_null(only_file(p)->problem);
	put(p, "a.json", LIST("2"));
	assert_true(refresh(p, "*.json", NULL));
	assert_targets(p, "2@a.json");
}

static void test_broken_from_the_beginning(void **state)
{
	struct place *p = *state;

	put(p, "a.yml", "- targets: ['1'");
	put(p, "b.yml", "- targets: ['2']");
	assert_true(refresh(p, "*.yml", NULL));
	assert_targets(p, "2@b.yml");
	/* Gone with its problem. */
	assert_int_equal(unlink(at(p, "a.yml")), 0);
	assert_false(refresh(p, "*.yml", NULL));
	assert_null(only_file(p)->problem);
}

static void test_unreadable(void **state)
{
	struct place *p = *state;

	put(p, "a.json", LIST("1"));
	assert_true(refresh(p, "*.json", NULL));
	assert_int_equal(unlink(at(p, "a.json")), 0);
	assert_int_equal(mkdir(at(p, "a.json"), 0700), 0);
	assert_false(refresh(p, "*.json", NULL));
	assert_targets(p, "1@a.json");
	assert_string_equal(only_file(p)->problem, "Is a directory");
	assert_true(only_file(p)->problem_is_new);
	assert_false(refresh(p, "*.json", NULL));
	assert_false(only_file(p)->problem_is_new);
	assert_int_equal(rmdir(at(p, "a.json")), 0);
	assert_int_equal(mkfifo(at(p, "a.json"), 0600), 0);
	assert_false(refresh(p, "*.json", NULL));
	assert_string_equal(only_file(p)->problem, "not a regular file");
	assert_int_equal(unlink(at(p, "a.json")), 0);
	assert_int_equal(symlink("nowhere", at(p, "a.json")), 0);
	assert_false(refresh(p, "*.json", NULL));
	assert_string_equal(only_file(p)->problem, "No such file or directory");
	assert_targets(p, "1@a.json");
}

static void test_too_large(void **state)
{
	struct place *p = *state;

	put(p, "a.json", LIST("1"));
	assert_int_equal(truncate(at(p, "a.json"), (off_t)FILE_TARGETS_MAX_BYTES + 1), 0);
	assert_false(refresh(p, "*.json", NULL));
	assert_string_equal(only_file(p)->problem, "larger than 16777216 bytes");
}

static void put_many(struct place *p, const char *name, size_t n)
{
	_cleanup_buf_ struct buf text = BUF_INIT(FILE_TARGETS_MAX_BYTES);

	(void)buf_append_str(&text, "[{\"targets\":[\"x\"");
	for (size_t i = 1; i < n; i++)
		(void)buf_append_str(&text, ",\"x\"");
	(void)buf_append_str(&text, "]}]");
	put(p, name, buf_str(&text));
}

static void test_too_many_targets(void **state)
{
	struct place *p = *state;

	put_many(p, "a.json", TARGET_LIST_MAX);
	put(p, "b.json", LIST("1"));
	assert_true(refresh(p, "*.json", NULL));
	assert_int_equal(p->targets.n_targets, TARGET_LIST_MAX);
	assert_string_equal(p->targets.files[1].problem, "more than 100000 targets in all files");
	/* As soon as there is room. */
	put(p, "a.json", LIST("2"));
	assert_true(refresh(p, "*.json", NULL));
	assert_targets(p, "2@a.json 1@b.json");
}

static void test_too_many_files(void **state)
{
	struct place *p = *state;
	char name[32];

	for (int i = 0; i <= FILE_TARGETS_MAX_FILES; i++) {
		(void)snprintf(name, sizeof(name), "%05d.json", i);
		put(p, name, "[]");
	}
	(void)refresh(p, "*.json", NULL);
	assert_int_equal(p->targets.n_files, FILE_TARGETS_MAX_FILES);
	assert_int_equal(p->targets.n_files_left_out, 1);
	assert_int_equal(unlink(at(p, "00000.json")), 0);
	(void)refresh(p, "*.json", NULL);
	assert_int_equal(p->targets.n_files, FILE_TARGETS_MAX_FILES);
	assert_int_equal(p->targets.n_files_left_out, 0);
}

static const struct path_row {
	const char *path;
	bool ok;
} paths[] = {
	{ "a.json", true },	 { "/a/b.yml", true },	{ "a.yaml", true },
	{ "A.JSON", true },	 { "a.YML", true },	{ "a.YAML", true },
	{ "*.json", true },	 { "/a/b*.yml", true }, { "/a/[bc]/?.yml", true },
	{ "/a/*b*c.yml", true }, { ".json", true },	{ "a.Json", false },
	{ "a.txt", false },	 { "a", false },	{ "", false },
	{ "json", false },	 { "*", false },	{ "/a/*/b.json", false },
	{ "a.json/", false },	 { "*/a.yml", false },	{ "a.json*", false },
};

static void test_path(void **state)
{
	const struct path_row *row = *state;

	assert_int_equal(file_targets_path_ok(row->path), row->ok);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_both_formats),
	FIXTURE_TEST(test_order_is_of_paths),
	FIXTURE_TEST(test_absent_is_no_problem),
	FIXTURE_TEST(test_replaced),
	FIXTURE_TEST(test_removed),
	FIXTURE_TEST(test_broken_keeps_the_last),
	FIXTURE_TEST(test_broken_from_the_beginning),
	FIXTURE_TEST(test_unreadable),
	FIXTURE_TEST(test_too_large),
	FIXTURE_TEST(test_too_many_targets),
	FIXTURE_TEST(test_too_many_files),
	TEST_ROWS(test_path, paths, path),
};

TEST_MAIN(tests)
