/* SPDX-License-Identifier: Apache-2.0 */
/* The zlib shim: round trip in pieces, bounds, and a header that does not tell the time. */
#include <errno.h>
#include <string.h>

#include "pprof/gzip.h"
#include "tests/support/pprof_check.h"
#include "tests/support/unit.h"

#define PLAIN_BYTES 300000

/* Bytes that do not compress. */
static void fill_noise(uint8_t *bytes, size_t n)
{
	uint64_t x = 1;

	for (size_t i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		bytes[i] = (uint8_t)(x >> 24);
	}
}

struct row {
	const char *name;
	size_t n;
	size_t piece;
	int level;
	bool noise;
};

static void test_round_trip(void **state)
{
	const struct row *row = *state;
	static uint8_t plain[PLAIN_BYTES];
	struct pprof_gzip g;
	struct pprof_bytes gz, back;

	memset(plain, 'a', sizeof(plain));
	if (row->noise)
		fill_noise(plain, sizeof(plain));
	assert_int_equal(pprof_gzip_init(&g, row->level, row->n), 0);
	for (size_t i = 0; i < row->n; i += row->piece) {
		size_t n = row->n - i < row->piece ? row->n - i : row->piece;

		assert_int_equal(pprof_gzip_write(&g, plain + i, n), 0);
	}
	assert_int_equal(pprof_gzip_finish(&g, &gz), 0);
	pprof_gzip_fini(&g);
	assert_int_equal(pprof_gunzip(&gz, PLAIN_BYTES, &back), 0);
	assert_int_equal(back.n, row->n);
	assert_memory_equal(back.data, plain, row->n);
	if (row->n == PLAIN_BYTES && !row->noise)
		assert_in_range(gz.n, 1, PLAIN_BYTES / 50);
	pprof_bytes_fini(&back);
	pprof_bytes_fini(&gz);
}

static struct row rows[] = {
	{ "nothing", 0, 1, 1, false },
	{ "one byte", 1, 1, 1, false },
	{ "exactly the stage", GZIP_STAGE_BYTES, 3, 6, true },
	{ "one more than the stage", GZIP_STAGE_BYTES + 1, GZIP_STAGE_BYTES + 1, 6, true },
	{ "small pieces", PLAIN_BYTES, 7, 1, false },
	{ "one piece", PLAIN_BYTES, PLAIN_BYTES, 9, false },
	{ "noise, level 1", PLAIN_BYTES, 1000, 1, true },
	{ "noise, level 4", PLAIN_BYTES, 1000, 4, true },
	{ "noise, level 9", PLAIN_BYTES, 1000, 9, true },
};

static void test_output_is_bounded_by_what_was_announced(void **state)
{
	static uint8_t noise[PLAIN_BYTES];
	struct pprof_gzip g;
	int r = 0;

	(void)state;
	fill_noise(noise, sizeof(noise));
	assert_int_equal(pprof_gzip_init(&g, 1, 20000), 0);
	for (size_t i = 0; r == 0 && i < sizeof(noise); i += 100)
		r = pprof_gzip_write(&g, noise + i, 100);
	assert_int_equal(r, -EFBIG);
	assert_in_range(g.out_cap, 20000, 21000);
	pprof_gzip_fini(&g);
}

static void test_header_has_no_time(void **state)
{
	static const uint8_t magic_deflate_no_flags_no_time[] = { 0x1F, 0x8B, 8, 0, 0, 0, 0, 0 };
	struct pprof_gzip g;
	struct pprof_bytes gz;

	(void)state;
	assert_int_equal(pprof_gzip_init(&g, 6, 4), 0);
	assert_int_equal(pprof_gzip_write(&g, "text", 4), 0);
	assert_int_equal(pprof_gzip_finish(&g, &gz), 0);
	assert_memory_equal(gz.data, magic_deflate_no_flags_no_time, 8);
	pprof_bytes_fini(&gz);
	pprof_gzip_fini(&g);
}

/* Tables are as large as what is announced needs them, and the output has room for what does not compress. */
static void test_sizes_around_the_borders(void **state)
{
	/* zlib's MIN_LOOKAHEAD, by which a window is larger than what is in it. */
	static const size_t before[] = { 0, 262 };
	struct row row = { .name = "around a border", .piece = 1000, .level = 1 };
	void *row_state = &row;

	(void)state;
	for (size_t i = 0; i < 2 * 2 * 8; i++) {
		size_t border = ((size_t)512 << i / 4) - before[i % 2];

		row.noise = i & 2;
		for (row.n = border - 1; row.n <= border + 1; row.n++)
			test_round_trip(&row_state);
	}
}

static void test_fini_without_finish(void **state)
{
	struct pprof_gzip g;

	(void)state;
	assert_int_equal(pprof_gzip_init(&g, 6, 4), 0);
	assert_int_equal(pprof_gzip_write(&g, "text", 4), 0);
	pprof_gzip_fini(&g);
	assert_null(g.out);
	assert_int_equal(pprof_gzip_init(&g, 77, 4), -EINVAL);
	pprof_gzip_fini(&g);
}

static const struct unit_test tests[] = {
	TEST(test_output_is_bounded_by_what_was_announced),
	TEST(test_header_has_no_time),
	TEST(test_fini_without_finish),
	TEST(test_sizes_around_the_borders),
	TEST_ROWS(test_round_trip, rows, name),
};

TEST_MAIN(tests)
