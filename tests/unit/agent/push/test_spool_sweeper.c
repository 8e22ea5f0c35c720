/* SPDX-License-Identifier: Apache-2.0 */
/* Spools are looked after without any that is configured. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/push/spool/spool_sweeper.h"
#include "agent/util/clock.h"
#include "agent/util/cleanup.h"
#include "agent/util/locked_dir.h"
#include "agent/util/loop.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

#define PATH_BYTES 256
#define OLD_S 1000
#define SPOOL "/spool/0000000000000001"
#define SEGMENT SPOOL "/spool-0000000000000001.seg"

struct fixture {
	char directory[TEMP_DIR_BYTES];
	struct loop *loop;
};

static const char *path_of(const struct fixture *f, const char *name)
{
	static char path[PATH_BYTES];

	(void)snprintf(path, sizeof(path), "%s%s", f->directory, name);
	return path;
}

static bool is_there(const struct fixture *f, const char *name)
{
	struct stat st;

	return lstat(path_of(f, name), &st) == 0;
}

/* What an endpoint has left behind a day ago. */
static void leave(const struct fixture *f)
{
	const struct timespec times[2] = { { .tv_sec = OLD_S }, { .tv_sec = OLD_S } };

	(void)mkdir(path_of(f, "/spool"), 0700);
	assert_int_equal(mkdir(path_of(f, SPOOL), 0700), 0);
	_cleanup_close_ int fd = open(path_of(f, SEGMENT), O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "12345", 5), 5);
	assert_int_equal(utimensat(AT_FDCWD, path_of(f, SEGMENT), times, 0), 0);
	assert_int_equal(utimensat(AT_FDCWD, path_of(f, SPOOL), times, 0), 0);
}

static void set_up(struct fixture *f)
{
	temp_dir_make(f->directory);
	assert_int_equal(loop_new(&f->loop), 0);
}

static void tear_down(struct fixture *f)
{
	loop_free(f->loop);
	assert_int_equal(temp_dir_remove(f->directory), 0);
}

FIXTURE(struct fixture, set_up, tear_down)

static struct spool_sweeper *sweeper(const struct fixture *f, const char *storage)
{
	struct spool_sweeper_options o = SPOOL_SWEEPER_OPTIONS_INIT;
	struct spool_sweeper *s = NULL;

	o.storage_path = storage;
	o.first_ns = NS_PER_S / 100;
	o.then_ns = NS_PER_S / 100;
	assert_int_equal(spool_sweeper_new(f->loop, &o, &s), 0);
	return s;
}

static bool goes(const struct fixture *f)
{
	uint64_t end_ns = clock_mono_ns() + 20 * NS_PER_S;

	while (is_there(f, SPOOL) && clock_mono_ns() < end_ns)
		assert_int_equal(loop_run_once(f->loop, 50), 0);
	return !is_there(f, SPOOL);
}

/* Again and again: an endpoint may go while the agent runs. */
static void test_each_time(void **state)
{
	const struct fixture *f = *state;
	_cleanup_(spool_sweeper_freep) struct spool_sweeper *s = sweeper(f, f->directory);

	for (int i = 0; i < 2; i++) {
		leave(f);
		assert_true(goes(f));
	}
}

/* A path with a slash behind it is the same one. */
static void test_path(void **state)
{
	const struct fixture *f = *state;
	char path[PATH_BYTES];

	leave(f);
	(void)snprintf(path, sizeof(path), "%s/", f->directory);
	_cleanup_(spool_sweeper_freep) struct spool_sweeper *s = sweeper(f, path);
	assert_true(goes(f));
}

/* What is open, and what is not there. */
static void test_nothing_to_do(void **state)
{
	const struct fixture *f = *state;

	leave(f);
	_cleanup_close_ int fd = locked_dir_open(path_of(f, SPOOL));
	assert_true(fd >= 0);
	_cleanup_(spool_sweeper_freep) struct spool_sweeper *s = sweeper(f, f->directory);
	_cleanup_(spool_sweeper_freep) struct spool_sweeper *none = sweeper(f, "/nowhere/at/all");
	for (int i = 0; i < 60; i++)
		assert_int_equal(loop_run_once(f->loop, 50), 0);
	assert_true(is_there(f, SEGMENT));
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_each_time),
	FIXTURE_TEST(test_path),
	FIXTURE_TEST(test_nothing_to_do),
};

TEST_MAIN(tests)
