/* SPDX-License-Identifier: Apache-2.0 */
/* The way to a file, link by link, in a folder of our own. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/cli/run/symlink_walk.h"
#include "agent/util/buf.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

/* Rows begin in this folder:  real/f, data -> real, f -> data/f, up -> data/../f, loop -> loop, gone -> nowhere, top -> /, abs -> its own real/f */
static char dir[] = "/tmp/test_path_steps.XXXXXX";

static int setup(void **state)
{
	char absolute[PATH_MAX];

	(void)state;
	if (!mkdtemp(dir) || chdir(dir) < 0 || mkdir("real", 0700) < 0)
		return -1;
	int fd = open("real/f", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	(void)snprintf(absolute, sizeof(absolute), "%s/real/f", dir);
	if (fd < 0 || close(fd) < 0)
		return -1;
	return symlink("real", "data") | symlink("data/f", "f") | symlink("data/../f", "up") |
	       symlink("loop", "loop") | symlink("nowhere", "gone") | symlink(absolute, "abs") |
	       symlink("..", "real/back");
}

static int teardown(void **state)
{
	static const char *const names[] = { "real/back", "real/f", "abs", "gone",
					     "loop",	  "up",	    "f",   "data" };
	int r = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		r |= unlink(names[i]);
	return r | rmdir("real") | chdir("/") | rmdir(dir);
}

struct seen {
	const char *dir; /* what is left out of the text */
	struct buf text;
};

static void put_step(const char *at, const char *name, int last, void *data)
{
	struct seen *seen = data;
	size_t n = strlen(seen->dir);

	if (strncmp(at, seen->dir, n) == 0)
		(void)buf_printf(&seen->text, "%s/%s%s ", at + n, name, last ? "!" : "");
}

static const struct row {
	const char *path, *steps;
	int result;
} rows[] = {
	{ "real/f", "/real /real/f! ", 0 },
	{ "./real//f", "/real /real/f! ", 0 },
	{ "real/", "/real! ", 0 },
	{ "f", "/f /data /real /real/f! ", 0 },
	{ "up", "/up /data /real /f /data /real /real/f! ", 0 },
	{ "abs", "/abs /real /real/f! ", 0 },
	{ "real/back/real/f", "/real /real/back /real /real/f! ", 0 },
	{ "real/../real/f", "/real /real /real/f! ", 0 },
	{ "nobody", "/nobody! ", -ENOENT },
	{ "nobody/f", "/nobody ", -ENOENT },
	{ "gone", "/gone /nowhere! ", -ENOENT },
	{ "real/f/x", "/real /real/f /real/f/x! ", -ENOTDIR },
	{ "", "", -ENOENT },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	struct seen seen = { .dir = dir, .text = BUF_INIT(65536) };

	int r = symlink_walk(row->path, put_step, &seen);
	assert_string_equal(buf_str(&seen.text), row->steps);
	assert_int_equal(r, row->result);
	buf_fini(&seen.text);
}

static void count(const char *at, const char *name, int last, void *data)
{
	(void)at;
	(void)name;
	(void)last;
	++*(unsigned int *)data;
}

static void test_loop_ends(void **state)
{
	unsigned int n = 0;

	(void)state;
	assert_int_equal(symlink_walk("loop", count, &n), -ELOOP);
	assert_int_equal(n, SYMLINK_WALK_MAX_LINKS + 1);
}

static void test_from_the_root(void **state)
{
	struct seen seen = { .dir = "", .text = BUF_INIT(4096) };

	(void)state;
	assert_int_equal(symlink_walk("/../proc/./version", put_step, &seen), 0);
	assert_string_equal(buf_str(&seen.text), "//proc /proc/version! ");
	buf_fini(&seen.text);
}

static void test_too_long(void **state)
{
	char path[PATH_MAX + 8];
	unsigned int n = 0;

	(void)state;
	memset(path, 'a', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(symlink_walk(path, count, &n), -ENAMETOOLONG);
	path[NAME_MAX + 2] = '\0';
	assert_int_equal(symlink_walk(path, count, &n), -ENAMETOOLONG);
	assert_int_equal(n, 0);
}

static const struct unit_test tests[] = {
	TEST(test_loop_ends),
	TEST(test_from_the_root),
	TEST(test_too_long),
	TEST_ROWS(test_row, rows, path),
};

TEST_MAIN_WITH(tests, setup, teardown)
