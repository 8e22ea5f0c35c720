/* SPDX-License-Identifier: Apache-2.0 */
/* A zip file, read back by the format's own tables. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "agent/cli/support/zip.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define JUNK "before"
#define END_BYTES 22
#define ENTRY_BYTES 46
#define LOCAL_BYTES 30

static uint32_t get(const char *at, size_t n)
{
	uint32_t v = 0;

	for (size_t i = 0; i < n; i++)
		v |= (uint32_t)(uint8_t)at[i] << (8 * i);
	return v;
}

struct member {
	const char *name, *text;
};

static const struct member members[] = {
	{ "config/a.alloy", "logging { }\n" },
	{ "empty", "" },
	{ "log.txt", "the same, the same, the same, the same, the same, the same" },
};

static void assert_unpacks(const char *packed, size_t n, const char *text)
{
	char out[256] = "";
	z_stream s = { .next_in = (Bytef *)packed,
		       .avail_in = (uInt)n,
		       .next_out = (Bytef *)out,
		       .avail_out = sizeof(out) - 1 };

	assert_int_equal(inflateInit2(&s, -15), Z_OK);
	assert_int_equal(inflate(&s, Z_FINISH), Z_STREAM_END);
	assert_int_equal(s.total_out, strlen(text));
	(void)inflateEnd(&s);
	assert_string_equal(out, text);
}

/* Of an entry of the directory and of the local header that it points to; the end of the entry. */
static const char *check_member(const char *file, const char *entry, const struct member *m)
{
	const char *local = file + get(entry + 42, 4);
	size_t n = strlen(m->name);

	assert_int_equal(get(entry, 4), 0x02014b50);
	assert_int_equal(get(local, 4), 0x04034b50);
	/* Version to lengths are the same in both. */
	assert_memory_equal(entry + 6, local + 4, 26);
	assert_int_equal(get(entry + 16, 4),
			 crc32(0, (const Bytef *)m->text, (uInt)strlen(m->text)));
	assert_int_equal(get(entry + 24, 4), strlen(m->text));
	assert_int_equal(get(entry + 28, 2), n);
	assert_memory_equal(entry + ENTRY_BYTES, m->name, n);
	assert_memory_equal(local + LOCAL_BYTES, m->name, n);
	/* A regular file that its owner may read. */
	assert_int_equal(get(entry + 38, 4) >> 16, 0100600);
	assert_unpacks(local + LOCAL_BYTES + n, get(entry + 20, 4), m->text);
	return entry + ENTRY_BYTES + n;
}

static void test_read_back(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT((size_t)1 << 20);
	_cleanup_zip_ struct zip z;

	(void)state;
	(void)buf_append_str(&out, JUNK);
	zip_init(&z, &out, 1762000001);
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		assert_int_equal(
			zip_add(&z, members[i].name, members[i].text, strlen(members[i].text)), 0);
	assert_int_equal(zip_end(&z), 0);

	const char *file = buf_str(&out) + strlen(JUNK);
	const char *end = buf_str(&out) + out.len - END_BYTES;
	assert_int_equal(get(end, 4), 0x06054b50);
	assert_int_equal(get(end + 8, 2), ARRAY_SIZE(members));
	assert_int_equal(get(end + 10, 2), ARRAY_SIZE(members));
	const char *entry = file + get(end + 16, 4);
	assert_ptr_equal(entry + get(end + 12, 4), end);
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		entry = check_member(file, entry, &members[i]);
	assert_ptr_equal(entry, end);
}

static void test_without_members(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(64);
	_cleanup_zip_ struct zip z;

	(void)state;
	zip_init(&z, &out, 0);
	assert_int_equal(zip_end(&z), 0);
	assert_int_equal(out.len, END_BYTES);
}

/* 2025-11-01 12:26:40 UTC, and what is before the format's first year. */
static void test_time(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(64);
	_cleanup_zip_ struct zip z, old;

	(void)state;
	zip_init(&z, &out, 1762000000);
	assert_int_equal(z.dos_date, 45 << 9 | 11 << 5 | 1);
	assert_int_equal(z.dos_time, 12 << 11 | 26 << 5 | 20);
	zip_init(&old, &out, 0);
	assert_int_equal(old.dos_date, 1 << 5 | 1);
}

static void test_no_room(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(40);
	_cleanup_zip_ struct zip z;

	(void)state;
	zip_init(&z, &out, 0);
	assert_true(zip_add(&z, "a", "text", 4) == 0 || out.failed);
	assert_int_equal(zip_end(&z), -ENOBUFS);
}

static void test_refused(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT((size_t)1 << 20);
	_cleanup_zip_ struct zip z;
	_cleanup_free_ char *name = calloc(1, UINT16_MAX + 2);

	(void)state;
	assert_non_null(name);
	memset(name, 'n', UINT16_MAX + 1);
	zip_init(&z, &out, 0);
	assert_int_equal(zip_add(&z, name, "", 0), -E2BIG);
	assert_int_equal(zip_add(&z, "a", "", (size_t)INT32_MAX + 1), -E2BIG);
	assert_int_equal(out.len, 0);
}

static const struct unit_test tests[] = {
	TEST(test_read_back),
	TEST(test_without_members),
	TEST(test_time),
	TEST(test_no_room),
	TEST(test_refused),
};

TEST_MAIN(tests)
