/* SPDX-License-Identifier: Apache-2.0 */
/* Results in files, in a directory of their own. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/cli/output.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/cli/place.h"

static void write_text(const char *path, const char *text)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	assert_int_equal(output_check(path, &why), 0);
	assert_int_equal(output_write(path, text, strlen(text), &why), 0);
	assert_string_equal(buf_str(&why), "");
}

static void test_write_and_replace(void **state)
{
	const struct place *p = *state;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	write_text(p->file, "a longer text");
	assert_content(p->file, "a longer text");
	write_text(p->file, "short");
	assert_content(p->file, "short");
	assert_int_equal(output_append(p->file, " and more", 9, &why), 0);
	assert_content(p->file, "short and more");
}

/* Whoever has the old file open keeps it whole. */
static void test_replace_leaves_the_old_file(void **state)
{
	const struct place *p = *state;

	write_text(p->file, "old");
	assert_int_equal(link(p->file, p->second), 0);
	write_text(p->file, "new");
	assert_content(p->second, "old");
}

static void test_link_is_written_through(void **state)
{
	const struct place *p = *state;
	struct stat st;

	write_text(p->second, "a longer text");
	assert_int_equal(symlink(p->second, p->file), 0);
	write_text(p->file, "short");
	assert_content(p->second, "short");
	assert_int_equal(lstat(p->file, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
}

static void test_device_stays_a_device(void **state)
{
	struct stat st;

	(void)state;
	write_text("/dev/null", "text");
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
}

/* A left-over of another run is in nobody's way, and a link in its place leads nowhere. */
static void test_temporary_is_not_followed(void **state)
{
	const struct place *p = *state;
	char temporary[128];

	(void)snprintf(temporary, sizeof(temporary), "%s.tmp", p->file);
	write_text(p->second, "untouched");
	assert_int_equal(symlink(p->second, temporary), 0);
	write_text(p->file, "text");
	assert_content(p->file, "text");
	assert_content(p->second, "untouched");
}

static void assert_refused(const char *path, int r, const char *expected)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	assert_int_equal(output_check(path, &why), r);
	assert_string_equal(buf_str(&why), expected);
}

static void test_check(void **state)
{
	const struct place *p = *state;
	char below[128], expected[256];

	assert_refused("/no/such/directory/out", -ENOENT,
		       "cannot write /no/such/directory/out: No such file or directory");
	assert_refused("/tmp", -EISDIR, "cannot write /tmp: Is a directory");
	write_text(p->file, "text");
	(void)snprintf(below, sizeof(below), "%s/x", p->file);
	(void)snprintf(expected, sizeof(expected), "cannot write %s: Not a directory", below);
	assert_refused(below, -ENOTDIR, expected);
	assert_refused(NULL, 0, "");
}

static void test_full_device(void **state)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	(void)state;
	assert_int_equal(output_write("/dev/full", "text", 4, &why), -ENOSPC);
	assert_string_equal(buf_str(&why), "cannot write /dev/full: No space left on device");
}

static const struct unit_test tests[] = {
	TEST_WITH(test_write_and_replace, place_setup, place_teardown),
	TEST_WITH(test_replace_leaves_the_old_file, place_setup, place_teardown),
	TEST_WITH(test_link_is_written_through, place_setup, place_teardown),
	TEST_WITH(test_device_stays_a_device, place_setup, place_teardown),
	TEST_WITH(test_temporary_is_not_followed, place_setup, place_teardown),
	TEST_WITH(test_check, place_setup, place_teardown),
	TEST_WITH(test_full_device, place_setup, place_teardown),
};

TEST_MAIN(tests)
