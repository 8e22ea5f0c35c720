/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files in: regular ones only, never blocking, never more than the ceiling. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/util/cleanup.h"
#include "agent/util/file.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

struct dir {
	char path[32];
	int fd;
};

static void set_up(struct dir *d)
{
	(void)strcpy(d->path, "/tmp/xagent-file-XXXXXX");
	assert_non_null(mkdtemp(d->path));
	d->fd = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(d->fd >= 0);
}

static void tear_down(struct dir *d)
{
	(void)unlinkat(d->fd, "f", 0);
	(void)unlinkat(d->fd, "d", AT_REMOVEDIR);
	assert_int_equal(rmdir(d->path), 0);
	(void)close(d->fd);
}

FIXTURE(struct dir, set_up, tear_down)

/* The file "f" of n bytes. */
static void make_file(const struct dir *d, size_t n)
{
	_cleanup_close_ int fd = openat(d->fd, "f", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	_cleanup_free_ char *bytes = malloc(n + 1);

	assert_true(fd >= 0);
	assert_non_null(bytes);
	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)('a' + i % 26);
	assert_int_equal(file_write_fd(fd, bytes, n), 0);
}

static void test_sizes(void **state)
{
	static const size_t sizes[] = { 0, 1, 4095, 4096, 4097, 100000 };
	const struct dir *d = *state;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		_cleanup_buf_ struct buf b = BUF_INIT((size_t)1 << 20);

		make_file(d, sizes[i]);
		assert_int_equal(file_read(d->fd, "f", &b), 0);
		assert_int_equal(b.len, sizes[i]);
		for (size_t k = 0; k < b.len; k++)
			assert_int_equal(b.data[k], 'a' + k % 26);
		assert_int_equal(strlen(buf_str(&b)), sizes[i]);
	}
}

static void test_appends(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(100);
	const struct dir *d = *state;

	make_file(d, 3);
	assert_int_equal(buf_append_str(&b, "before:"), 0);
	assert_int_equal(file_read(d->fd, "f", &b), 0);
	assert_string_equal(buf_str(&b), "before:abc");
}

static void test_ceiling(void **state)
{
	static const size_t ceilings[] = { 1, 100, 4096, 5000 };
	const struct dir *d = *state;

	for (size_t i = 0; i < ARRAY_SIZE(ceilings); i++) {
		_cleanup_buf_ struct buf fits = BUF_INIT(ceilings[i]);
		_cleanup_buf_ struct buf over = BUF_INIT(ceilings[i]);

		make_file(d, ceilings[i]);
		assert_int_equal(file_read(d->fd, "f", &fits), 0);
		assert_int_equal(fits.len, ceilings[i]);
		make_file(d, ceilings[i] + 1);
		assert_int_equal(file_read(d->fd, "f", &over), -ENOBUFS);
	}
}

/* Nobody writes to it: reading it would wait for ever. */
static void test_fifo_does_not_block(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(100);
	const struct dir *d = *state;

	assert_int_equal(mkfifoat(d->fd, "f", 0600), 0);
	(void)alarm(10);
	assert_int_equal(file_read(d->fd, "f", &b), -EINVAL);
	(void)alarm(0);
}

static void test_what_is_no_file(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(100);
	const struct dir *d = *state;

	assert_int_equal(mkdirat(d->fd, "d", 0700), 0);
	assert_int_equal(file_read(d->fd, "d", &b), -EISDIR);
	assert_int_equal(file_read(d->fd, "absent", &b), -ENOENT);
	assert_int_equal(file_read(d->fd, "d/absent/f", &b), -ENOENT);
	assert_int_equal(file_read(AT_FDCWD, "/dev/null", &b), -EINVAL);
	assert_int_equal(file_read(-1, "f", &b), -EBADF);
	assert_int_equal(b.len, 0);
}

/* Files of /proc say that they are empty, and are not. */
static void test_proc(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(65536);

	(void)state;
	assert_int_equal(file_read(AT_FDCWD, "/proc/self/status", &b), 0);
	assert_non_null(strstr(buf_str(&b), "\nPid:\t"));
}

static void test_read_fd_goes_on_from_where_it_is(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(100);
	const struct dir *d = *state;

	make_file(d, 26);
	_cleanup_close_ int fd = openat(d->fd, "f", O_RDONLY | O_CLOEXEC);
	assert_int_equal(lseek(fd, 23, SEEK_SET), 23);
	assert_int_equal(file_read_fd(fd, &b), 0);
	assert_string_equal(buf_str(&b), "xyz");
}

static void test_write_fails(void **state)
{
	_cleanup_close_ int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(file_write_fd(-1, "x", 1), -EBADF);
	assert_int_equal(file_write_fd(-1, "x", 0), 0);
	if (full >= 0)
		assert_int_equal(file_write_fd(full, "x", 1), -ENOSPC);
}

struct number_row {
	const char *text;
	int expected;
	uint64_t value;
};

static void test_read_u64(void **state)
{
	static const struct number_row rows[] = {
		{ "42\n", 0, 42 },
		{ " 7 ", 0, 7 },
		{ "18446744073709551615\n", 0, UINT64_MAX },
		{ "18446744073709551616\n", -ERANGE, 0 },
		{ "-1\n", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "1 2\n", -EINVAL, 0 },
		{ "1111111111111111111111111111111111111111111111111111111111111111111111111",
		  -ENOBUFS, 0 },
	};
	const struct dir *d = *state;
	char path[64];

	(void)snprintf(path, sizeof(path), "%s/f", d->path);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		uint64_t value = 4711;

		assert_int_equal(file_write_fd(fd, rows[i].text, strlen(rows[i].text)), 0);
		assert_int_equal(file_read_u64(path, &value), rows[i].expected);
		assert_int_equal(value, rows[i].expected == 0 ? rows[i].value : 4711);
	}
	assert_int_equal(unlink(path), 0);
	uint64_t value;
	assert_int_equal(file_read_u64(path, &value), -ENOENT);
}

static void test_a_piece(void **state)
{
	static const size_t sizes[] = { 0, 1, 4095, 4096, 4097, 9000 };
	const struct dir *d = *state;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		_cleanup_buf_ struct buf b = BUF_INIT(10000);
		_cleanup_buf_ struct buf small = BUF_INIT(4096);

		make_file(d, sizes[i]);
		assert_int_equal(file_read_piece(d->fd, "f", &b), 0);
		assert_int_equal(b.len, sizes[i]);
		for (size_t k = 0; k < b.len; k++)
			assert_int_equal(b.data[k], 'a' + k % 26);
		assert_int_equal(file_read_piece(d->fd, "f", &small),
				 sizes[i] < 4096 ? 0 : -ENOBUFS);
		assert_int_equal(small.len, sizes[i] < 4096 ? sizes[i] : 4096);
	}
	_cleanup_buf_ struct buf b = BUF_INIT(100);
	assert_int_equal(file_read_piece(d->fd, "none", &b), -ENOENT);
	assert_int_equal(file_read_piece(AT_FDCWD, d->path, &b), -EISDIR);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_sizes),
	FIXTURE_TEST(test_appends),
	FIXTURE_TEST(test_ceiling),
	FIXTURE_TEST(test_fifo_does_not_block),
	FIXTURE_TEST(test_what_is_no_file),
	TEST(test_proc),
	FIXTURE_TEST(test_read_fd_goes_on_from_where_it_is),
	FIXTURE_TEST(test_a_piece),
	TEST(test_write_fails),
	FIXTURE_TEST(test_read_u64),
};

TEST_MAIN(tests)
