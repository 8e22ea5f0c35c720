/* SPDX-License-Identifier: Apache-2.0 */
/* Whose debug files are believed. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/object/debug_owner.h"
#include "agent/util/cleanup.h"
#include "tests/support/unit.h"

#define ROOT 0
#define ALICE 1000
#define BOB 1001

struct row {
	const char *name;
	struct stat object, debug;
	bool expected;
};

#define FILE_OF(uid, gid, mode)                                               \
	{                                                                     \
		.st_uid = (uid), .st_gid = (gid), .st_mode = S_IFREG | (mode) \
	}

static const struct row rows[] = {
	{ "root of root's", FILE_OF(ROOT, ROOT, 0755), FILE_OF(ROOT, ROOT, 0644), true },
	{ "root of a user's", FILE_OF(ALICE, ALICE, 0755), FILE_OF(ROOT, ROOT, 0644), true },
	{ "a user of his own", FILE_OF(ALICE, ALICE, 0755), FILE_OF(ALICE, ALICE, 0644), true },
	{ "a user of root's", FILE_OF(ROOT, ROOT, 0755), FILE_OF(ALICE, ALICE, 0644), false },
	{ "a user of another's", FILE_OF(BOB, BOB, 0755), FILE_OF(ALICE, ALICE, 0644), false },
	{ "anybody may write it", FILE_OF(ROOT, ROOT, 0755), FILE_OF(ROOT, ROOT, 0646), false },
	{ "anybody may write both", FILE_OF(ALICE, ALICE, 0777), FILE_OF(ROOT, ALICE, 0666), true },
	{ "a group may write it", FILE_OF(ROOT, ROOT, 0755), FILE_OF(ROOT, ROOT, 0664), false },
	{ "a group may write both", FILE_OF(ALICE, BOB, 0775), FILE_OF(ALICE, BOB, 0664), true },
	{ "another group may", FILE_OF(ALICE, ALICE, 0775), FILE_OF(ALICE, BOB, 0664), false },
	{ "nobody may write either", FILE_OF(ROOT, ROOT, 0555), FILE_OF(ROOT, BOB, 0444), true },
};

static void by_stat(void **state)
{
	const struct row *row = *state;

	assert_int_equal(debug_owner_may_tell(&row->object, &row->debug), row->expected);
}

static int temp_file(void)
{
	char path[] = "/tmp/xagent-debug-owner-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(unlink(path), 0);
	return fd;
}

static void by_descriptor(void **state)
{
	_cleanup_close_ int object = temp_file();
	_cleanup_close_ int debug = temp_file();

	(void)state;
	assert_true(debug_owner_may_tell_fd(object, debug));
	assert_true(debug_owner_may_tell_fd(-1, debug));
	assert_int_equal(fchmod(debug, 0606), 0);
	assert_false(debug_owner_may_tell_fd(object, debug));
	assert_false(debug_owner_may_tell_fd(object, -1));
	assert_int_equal(fchmod(debug, 0600), 0);
	if (fchown(debug, ALICE, ALICE) == 0)
		assert_false(debug_owner_may_tell_fd(object, debug));
}

static const struct unit_test tests[] = {
	TEST_ROWS(by_stat, rows, name),
	TEST(by_descriptor),
};

TEST_MAIN(tests)
