/* SPDX-License-Identifier: Apache-2.0 */
/* A buffer that grows up to its ceiling and not beyond. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/buf.h"
#include "tests/support/unit.h"

static void test_starts_empty(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(10);

	(void)state;
	assert_null(b.data);
	assert_string_equal(buf_str(&b), "");
	assert_int_equal(buf_append(&b, NULL, 0), 0);
	assert_string_equal(buf_str(&b), "");
	assert_int_equal(b.len, 0);
}

static void test_appends(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(1000);

	(void)state;
	assert_int_equal(buf_append_str(&b, "one"), 0);
	assert_int_equal(buf_append_char(&b, ' '), 0);
	assert_int_equal(buf_append(&b, "two\0three", 9), 0);
	assert_int_equal(buf_printf(&b, "-%d-%s", 42, "x"), 0);
	assert_int_equal(b.len, 4 + 9 + 5);
	assert_memory_equal(b.data, "one two\0three-42-x", 19);
	assert_false(b.failed);
}

static void test_grows_to_its_ceiling(void **state)
{
	enum { MAX = 1000 };
	_cleanup_buf_ struct buf b = BUF_INIT(MAX);

	(void)state;
	for (int i = 0; i < MAX; i++)
		assert_int_equal(buf_append_char(&b, (char)('a' + i % 26)), 0);
	assert_int_equal(b.len, MAX);
	assert_int_equal(strlen(b.data), MAX);
	assert_true(b.cap <= MAX + 1);
	assert_false(b.failed);
	assert_int_equal(buf_append_char(&b, '!'), -ENOBUFS);
	assert_true(b.failed);
	assert_int_equal(b.len, MAX);
	assert_int_equal(strlen(b.data), MAX);
	for (int i = 0; i < MAX; i++)
		assert_int_equal(b.data[i], 'a' + i % 26);
}

static void test_failure_changes_nothing(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(8);

	(void)state;
	assert_int_equal(buf_append_str(&b, "12345"), 0);
	assert_int_equal(buf_append_str(&b, "6789"), -ENOBUFS);
	assert_string_equal(b.data, "12345");
	assert_int_equal(buf_printf(&b, "%08d", 1), -ENOBUFS);
	assert_string_equal(b.data, "12345");
	assert_int_equal(buf_append(&b, "", SIZE_MAX), -ENOBUFS);
	assert_int_equal(buf_reserve(&b, SIZE_MAX), -ENOBUFS);
	assert_int_equal(buf_append_str(&b, "678"), 0);
	assert_string_equal(b.data, "12345678");
	/* Whoever appends many times and looks once sees that something is missing. */
	assert_true(b.failed);
}

static void test_printf_to_the_ceiling(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(8);

	(void)state;
	assert_int_equal(buf_printf(&b, "%08d", 1), 0);
	assert_string_equal(b.data, "00000001");
	assert_int_equal(buf_printf(&b, "%s", ""), 0);
	assert_false(b.failed);
}

static void test_reset_keeps_memory(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(8);

	(void)state;
	buf_reset(&b);
	assert_int_equal(buf_append_str(&b, "12345678"), 0);
	assert_int_equal(buf_append_char(&b, '9'), -ENOBUFS);
	const char *data = b.data;
	buf_reset(&b);
	assert_int_equal(b.len, 0);
	assert_false(b.failed);
	assert_string_equal(buf_str(&b), "");
	assert_int_equal(buf_append_str(&b, "abc"), 0);
	assert_ptr_equal(b.data, data);
	assert_string_equal(b.data, "abc");
}

static void test_reserve_then_append(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(10000);

	(void)state;
	assert_int_equal(buf_reserve(&b, 5000), 0);
	const char *data = b.data;
	for (int i = 0; i < 5000; i++)
		assert_int_equal(buf_append_char(&b, 'x'), 0);
	assert_ptr_equal(b.data, data);
}

static void test_take(void **state)
{
	struct buf b = BUF_INIT(8);

	(void)state;
	char *empty = buf_take(&b);
	assert_string_equal(empty, "");
	free(empty);
	assert_int_equal(buf_append_str(&b, "abc"), 0);
	char *taken = buf_take(&b);
	assert_string_equal(taken, "abc");
	assert_null(b.data);
	assert_int_equal(b.len, 0);
	assert_int_equal(buf_append_str(&b, "def"), 0);
	assert_string_equal(taken, "abc");
	free(taken);
	buf_fini(&b);
	buf_fini(&b);
	buf_fini(NULL);
	assert_int_equal(b.max_bytes, 8);
}

static const struct unit_test tests[] = {
	TEST(test_starts_empty),
	TEST(test_appends),
	TEST(test_grows_to_its_ceiling),
	TEST(test_failure_changes_nothing),
	TEST(test_printf_to_the_ceiling),
	TEST(test_reset_keeps_memory),
	TEST(test_reserve_then_append),
	TEST(test_take),
};

TEST_MAIN(tests)
