/* SPDX-License-Identifier: Apache-2.0 */
/* Directories are made private, and one user at a time has one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/util/cleanup.h"
#include "agent/util/locked_dir.h"
#include "tests/support/unit.h"

static void test_made_and_locked(void **state)
{
	char top[] = "/tmp/test_locked_dir.XXXXXX", path[64];
	_cleanup_close_ int fd = -1;
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(top));
	(void)snprintf(path, sizeof(path), "%s/a/b", top);
	assert_int_equal(locked_dir_open(path), -ENOENT);
	fd = locked_dir_make(path);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(locked_dir_open(path), -EBUSY);
	assert_int_equal(locked_dir_make(path), -EBUSY);
	assert_int_equal(close(TAKE_FD(fd)), 0);
	fd = locked_dir_open(path);
	assert_true(fd >= 0);
	assert_int_equal(rmdir(path), 0);
	(void)snprintf(path, sizeof(path), "%s/a", top);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(top), 0);
}

static const struct unit_test tests[] = {
	TEST(test_made_and_locked),
};

TEST_MAIN(tests)
