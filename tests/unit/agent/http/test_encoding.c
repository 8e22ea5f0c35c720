/* SPDX-License-Identifier: Apache-2.0 */
/* Who takes compressed answers, what is worth it, and that the bytes come back. */
#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "agent/http/encoding.h"
#include "tests/support/unit.h"

struct accept_row {
	const char *text;
	bool gzip;
};

static const struct accept_row accept_rows[] = {
	{ "", false },
	{ ",,", false },
	{ "gzip", true },
	{ "GZip", true },
	{ "x-gzip", true },
	{ "gzip, deflate, br", true },
	{ "br , gzip ; q=0.5", true },
	{ "gzip;q=1.0", true },
	{ "gzip;q=0.001", true },
	{ "gzip;q=0", false },
	{ "gzip; q=0.000 , br", false },
	{ "deflate, br, zstd", false },
	{ "identity", false },
	{ "*", true },
	{ "*;q=0", false },
	{ "gzip;q=0, *", false },
	{ "gzip, *;q=0", true },
	{ "gzipped", false },
	{ "gzi", false },
};

static void test_accept(void **state)
{
	const struct accept_row *row = *state;

	assert_int_equal(encoding_takes_gzip(row->text), row->gzip);
}

static void test_no_header(void **state)
{
	(void)state;
	assert_false(encoding_takes_gzip(NULL));
}

static void test_worth(void **state)
{
	(void)state;
	assert_true(encoding_is_worth("text/plain; charset=utf-8"));
	assert_true(encoding_is_worth("application/json"));
	assert_true(encoding_is_worth("application/proto"));
	assert_false(encoding_is_worth("application/zip"));
	assert_false(encoding_is_worth("application/octet-stream"));
	assert_false(encoding_is_worth("image/png"));
	assert_false(encoding_is_worth(NULL));
}

static void test_gzip(void **state)
{
	_cleanup_buf_ struct buf body = BUF_INIT(1 << 20);
	static char text[100000];
	z_stream z = { 0 };

	(void)state;
	for (int i = 0; i < 10000; i++)
		assert_int_equal(buf_printf(&body, "line %d\n", i), 0);
	_cleanup_free_ char *before = strdup(buf_str(&body));
	assert_non_null(before);
	assert_int_equal(encoding_gzip(&body), 0);
	assert_true(body.len < strlen(before) / 2);
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	z.next_in = (Bytef *)body.data;
	z.avail_in = (uInt)body.len;
	z.next_out = (Bytef *)text;
	z.avail_out = sizeof(text);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.total_out, strlen(before));
	assert_memory_equal(text, before, z.total_out);
	(void)inflateEnd(&z);
}

static void test_stays(void **state)
{
	static const char zeros[65536];
	_cleanup_buf_ struct buf body = BUF_INIT(2 * ENCODING_MAX_BYTES);
	uint32_t x = 1;

	(void)state;
	for (int i = 0; i < 4096; i++) {
		x = x * 1664525 + 1013904223;
		assert_int_equal(buf_append_char(&body, (char)(x >> 24)), 0);
	}
	assert_int_equal(encoding_gzip(&body), -E2BIG);
	assert_int_equal(body.len, 4096);
	while (body.len <= ENCODING_MAX_BYTES)
		assert_int_equal(buf_append(&body, zeros, sizeof(zeros)), 0);
	assert_int_equal(encoding_gzip(&body), -E2BIG);
	assert_true(body.len > ENCODING_MAX_BYTES);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_accept, accept_rows, text),
	TEST(test_no_header),
	TEST(test_worth),
	TEST(test_gzip),
	TEST(test_stays),
};

TEST_MAIN(tests)
