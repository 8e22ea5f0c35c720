/* SPDX-License-Identifier: Apache-2.0 */
/* Spools of endpoints that are in no configuration any more. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/push/spool/spool_sweep.h"
#include "agent/util/clock.h"
#include "agent/util/cleanup.h"
#include "agent/util/locked_dir.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

#define PATH_BYTES 256
#define OLD_S 1000
#define BEFORE_NS (2000 * NS_PER_S)
#define OWN "0000000000000001"
#define GONE "0000000000000002"
#define SEGMENT "spool-0000000000000001.seg"
#define OTHER_SEGMENT "spool-0000000000000002.seg"

struct fixture {
	char directory[TEMP_DIR_BYTES];
};

static const char *path_of(const struct fixture *f, const char *name)
{
	static char path[PATH_BYTES];

	(void)snprintf(path, sizeof(path), "%s/%s", f->directory, name);
	return path;
}

static void make_file(const struct fixture *f, const char *name)
{
	_cleanup_close_ int fd = open(path_of(f, name), O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "12345", 5), 5);
}

static void make_old(const struct fixture *f, const char *name)
{
	const struct timespec times[2] = { { .tv_sec = OLD_S }, { .tv_sec = OLD_S } };

	assert_int_equal(utimensat(AT_FDCWD, path_of(f, name), times, AT_SYMLINK_NOFOLLOW), 0);
}

static bool is_there(const struct fixture *f, const char *name)
{
	struct stat st;

	return lstat(path_of(f, name), &st) == 0;
}

static struct spool_swept sweep(const struct fixture *f)
{
	struct spool_swept swept;

	spool_sweep(f->directory, BEFORE_NS, &swept);
	return swept;
}

static void set_up(struct fixture *f)
{
	temp_dir_make(f->directory);
	for (int i = 0; i < 2; i++)
		assert_int_equal(mkdir(path_of(f, i ? GONE : OWN), 0700), 0);
}

static void tear_down(struct fixture *f)
{
	assert_int_equal(temp_dir_remove(f->directory), 0);
}

FIXTURE(struct fixture, set_up, tear_down)

/* All of it, the directory with it. */
static void test_gone(void **state)
{
	const struct fixture *f = *state;

	make_file(f, GONE "/" SEGMENT);
	make_file(f, GONE "/" OTHER_SEGMENT);
	make_old(f, GONE "/" SEGMENT);
	make_old(f, GONE "/" OTHER_SEGMENT);
	make_old(f, GONE);
	const struct spool_swept swept = sweep(f);
	assert_int_equal(swept.n_segments, 2);
	assert_int_equal(swept.n_bytes, 10);
	assert_false(is_there(f, GONE));
	assert_int_equal(sweep(f).n_segments, 0);
}

/* One that may still be sent keeps its directory. */
static void test_not_yet(void **state)
{
	const struct fixture *f = *state;

	make_file(f, GONE "/" SEGMENT);
	make_file(f, GONE "/" OTHER_SEGMENT);
	make_old(f, GONE "/" SEGMENT);
	make_old(f, GONE);
	assert_int_equal(sweep(f).n_segments, 1);
	assert_false(is_there(f, GONE "/" SEGMENT));
	assert_true(is_there(f, GONE "/" OTHER_SEGMENT));
}

/* What an endpoint has is its own affair, however old. */
static void test_in_use(void **state)
{
	const struct fixture *f = *state;
	int fd;

	make_file(f, OWN "/" SEGMENT);
	make_old(f, OWN "/" SEGMENT);
	make_old(f, OWN);
	fd = locked_dir_open(path_of(f, OWN));
	assert_true(fd >= 0);
	assert_int_equal(sweep(f).n_segments, 0);
	assert_true(is_there(f, OWN "/" SEGMENT));
	assert_int_equal(close(fd), 0);
	assert_int_equal(sweep(f).n_segments, 1);
	assert_false(is_there(f, OWN "/" SEGMENT));
}

/* Just made, and locked in a moment. */
static void test_new_directory(void **state)
{
	const struct fixture *f = *state;

	assert_int_equal(sweep(f).n_segments, 0);
	assert_true(is_there(f, GONE));
}

/* What is not called as ours are, or is no plain file, and what a link leads to. */
static void test_of_others(void **state)
{
	static const char *const others[] = { "store", "store/" SEGMENT, GONE "/notes.txt",
					      GONE "/" SEGMENT "/inside", "victim/" SEGMENT };
	const struct fixture *f = *state;
	char victim[PATH_BYTES];

	assert_int_equal(mkdir(path_of(f, "store"), 0700), 0);
	assert_int_equal(mkdir(path_of(f, "victim"), 0700), 0);
	assert_int_equal(mkdir(path_of(f, GONE "/" SEGMENT), 0700), 0);
	for (size_t i = 1; i < sizeof(others) / sizeof(others[0]); i++)
		make_file(f, others[i]);
	(void)snprintf(victim, sizeof(victim), "%s", path_of(f, "victim"));
	assert_int_equal(symlink(victim, path_of(f, "0000000000000003")), 0);
	(void)snprintf(victim, sizeof(victim), "%s", path_of(f, "victim/" SEGMENT));
	assert_int_equal(symlink(victim, path_of(f, GONE "/" OTHER_SEGMENT)), 0);
	assert_int_equal(link(victim, path_of(f, GONE "/spool-0000000000000003.seg")), 0);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		make_old(f, others[i]);
	make_old(f, "victim");
	make_old(f, GONE "/" OTHER_SEGMENT);
	make_old(f, GONE);
	assert_int_equal(sweep(f).n_segments, 0);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_true(is_there(f, others[i]));
	assert_true(is_there(f, GONE "/" OTHER_SEGMENT));
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_gone),	  FIXTURE_TEST(test_not_yet),	FIXTURE_TEST(test_in_use),
	FIXTURE_TEST(test_new_directory), FIXTURE_TEST(test_of_others),
};

TEST_MAIN(tests)
