/* SPDX-License-Identifier: Apache-2.0 */
/* gzip as pushers send it: whole, in several members, cut, damaged, and larger than it may be. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "agent/store/ingest/ingest_inflate.h"
#include "tests/support/unit.h"

#define PLAIN_BYTES ((size_t)200000)
#define PACKED_BYTES ((size_t)400000)
#define CEILING ((size_t)1 << 20)

struct packed {
	uint8_t bytes[PACKED_BYTES];
	size_t n;
};

/* Sixteen letters in an order that repeats late: gzip halves it. */
static void make_plain(uint8_t *bytes, size_t n)
{
	uint64_t x = 88172645463325252;

	for (size_t i = 0; i < n; i++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		bytes[i] = (uint8_t)('a' + x % 16);
	}
}

/* One more member. Window bits: 31 is gzip, 15 zlib's own format, −15 none at all. */
static void pack(struct packed *p, const uint8_t *bytes, size_t n, int window_bits)
{
	z_stream z = { .next_in = (Bytef *)bytes,
		       .avail_in = (uInt)n,
		       .next_out = p->bytes + p->n,
		       .avail_out = (uInt)(sizeof(p->bytes) - p->n) };

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	p->n += z.total_out;
	assert_int_equal(deflateEnd(&z), Z_OK);
}

struct fixture {
	uint8_t plain[PLAIN_BYTES];
	struct packed packed;
};

static void set_up(struct fixture *f)
{
	make_plain(f->plain, sizeof(f->plain));
	pack(&f->packed, f->plain, sizeof(f->plain), 31);
}

static void tear_down(struct fixture *f)
{
	(void)f;
}

FIXTURE(struct fixture, set_up, tear_down)

static int inflate_packed(const struct packed *p, size_t max_bytes, uint8_t **ret_plain,
			  size_t *ret_n)
{
	/* A copy that ends where the bytes do: reading beyond them is seen. */
	uint8_t *copy = malloc(p->n ? p->n : 1);

	assert_non_null(copy);
	memcpy(copy, p->bytes, p->n);
	*ret_plain = NULL;
	int r = inflate_gzip(copy, p->n, max_bytes, ret_plain, ret_n);
	free(copy);
	if (r != INFLATE_DONE)
		assert_null(*ret_plain);
	return r;
}

static void assert_outcome(const struct packed *p, size_t max_bytes, int expected)
{
	uint8_t *plain;
	size_t n;

	assert_int_equal(inflate_packed(p, max_bytes, &plain, &n), expected);
	free(plain);
}

static void test_whole(void **state)
{
	const struct fixture *f = *state;
	uint8_t *plain;
	size_t n;

	assert_int_equal(inflate_packed(&f->packed, CEILING, &plain, &n), INFLATE_DONE);
	assert_int_equal(n, PLAIN_BYTES);
	assert_memory_equal(plain, f->plain, n);
	free(plain);
}

static void test_members(void **state)
{
	struct fixture *f = *state;
	uint8_t *plain;
	size_t n;

	pack(&f->packed, (const uint8_t *)"", 0, 31);
	pack(&f->packed, (const uint8_t *)"and more", 8, 31);
	assert_int_equal(inflate_packed(&f->packed, CEILING, &plain, &n), INFLATE_DONE);
	assert_int_equal(n, PLAIN_BYTES + 8);
	assert_memory_equal(plain, f->plain, PLAIN_BYTES);
	assert_memory_equal(plain + PLAIN_BYTES, "and more", 8);
	free(plain);
}

static void test_empty_member(void **state)
{
	struct packed p = { .n = 0 };
	uint8_t *plain;
	size_t n;

	(void)state;
	pack(&p, (const uint8_t *)"", 0, 31);
	for (size_t max_bytes = 0; max_bytes < 2; max_bytes++) {
		assert_int_equal(inflate_packed(&p, max_bytes, &plain, &n), INFLATE_DONE);
		assert_int_equal(n, 0);
		free(plain);
	}
}

static void test_ceiling(void **state)
{
	const struct fixture *f = *state;
	uint8_t *plain;
	size_t n;

	assert_outcome(&f->packed, PLAIN_BYTES, INFLATE_DONE);
	assert_int_equal(inflate_packed(&f->packed, PLAIN_BYTES - 1, &plain, &n),
			 INFLATE_TOO_LARGE);
	assert_int_equal(n, PLAIN_BYTES);
	assert_outcome(&f->packed, 1, INFLATE_TOO_LARGE);
	assert_outcome(&f->packed, 0, INFLATE_TOO_LARGE);
}

/* A thousandth of what it becomes; no more of that is made than is allowed. */
static void test_bomb(void **state)
{
	const size_t n_zeroes = (size_t)64 << 20;
	uint8_t *zeroes = calloc(1, n_zeroes), *plain;
	struct packed *p = calloc(1, sizeof(*p));
	size_t n;

	(void)state;
	assert_true(zeroes && p);
	pack(p, zeroes, n_zeroes, 31);
	free(zeroes);
	assert_true(p->n < n_zeroes / 900);
	assert_int_equal(inflate_packed(p, CEILING, &plain, &n), INFLATE_TOO_LARGE);
	assert_int_equal(n, CEILING + 1);
	free(p);
}

static void test_cut_anywhere(void **state)
{
	struct fixture *f = *state;
	const size_t whole = f->packed.n;

	for (size_t n = 0; n < whole; n += n < 64 || whole - n < 64 ? 1 : 4999) {
		f->packed.n = n;
		assert_outcome(&f->packed, CEILING, INFLATE_DAMAGED);
	}
}

/* Of the header only the time, the extra flags and the system may be any. */
static void test_any_byte_wrong(void **state)
{
	struct fixture *f = *state;
	const size_t whole = f->packed.n;

	for (size_t i = 0; i < whole; i += i < 64 || whole - i < 64 ? 1 : 4999) {
		if (i >= 4 && i < 10)
			continue;
		f->packed.bytes[i] ^= 0x41;
		uint8_t *plain;
		size_t n;
		int r = inflate_packed(&f->packed, CEILING, &plain, &n);
		free(plain);
		f->packed.bytes[i] ^= 0x41;
		assert_true(r == INFLATE_DAMAGED || r == INFLATE_TOO_LARGE);
	}
}

static const struct row {
	const char *name;
	const char *bytes;
	size_t n;
} damaged_rows[] = {
	{ "nothing", "", 0 },
	{ "text", "process_cpu", 11 },
	{ "the beginning of a header", "\x1f\x8b", 2 },
	{ "another method", "\x1f\x8b\x07\0\0\0\0\0\0\x03", 10 },
	{ "flags that are reserved", "\x1f\x8b\x08\xe0\0\0\0\0\0\x03", 10 },
	{ "a file name without an end", "\x1f\x8b\x08\x08\0\0\0\0\0\x03name", 14 },
	{ "an extra field beyond the end", "\x1f\x8b\x08\x04\0\0\0\0\0\x03\xff\xff", 12 },
	{ "a block of no type", "\x1f\x8b\x08\0\0\0\0\0\0\x03\x07", 11 },
	{ "a stored block with a wrong length",
	  "\x1f\x8b\x08\0\0\0\0\0\0\x03\x01\x04\0\x04\0abcd", 19 },
	{ "a distance before the beginning", "\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\x02\0\0\0", 15 },
};

static void test_damaged(void **state)
{
	const struct row *row = *state;
	struct packed p = { .n = row->n };

	memcpy(p.bytes, row->bytes, row->n);
	assert_outcome(&p, CEILING, INFLATE_DAMAGED);
}

static const struct format_row {
	const char *name;
	int window_bits;
} format_rows[] = {
	{ "zlib's format", 15 },
	{ "no format", -15 },
};

static void test_format(void **state)
{
	const struct format_row *row = *state;
	struct packed p = { .n = 0 };

	pack(&p, (const uint8_t *)"process_cpu", 11, row->window_bits);
	assert_false(inflate_is_gzip(p.bytes, p.n));
	assert_outcome(&p, CEILING, INFLATE_DAMAGED);
}

static void test_trailing_bytes(void **state)
{
	struct fixture *f = *state;

	f->packed.bytes[f->packed.n++] = 0;
	assert_outcome(&f->packed, CEILING, INFLATE_DAMAGED);
}

static void test_is_gzip(void **state)
{
	static const uint8_t bytes[] = { 0x1f, 0x8b, 0x08 };

	(void)state;
	assert_true(inflate_is_gzip(bytes, 3));
	assert_true(inflate_is_gzip(bytes, 2));
	assert_false(inflate_is_gzip(bytes, 1));
	assert_false(inflate_is_gzip(bytes, 0));
	assert_false(inflate_is_gzip(bytes + 1, 2));
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_whole),
	FIXTURE_TEST(test_members),
	TEST(test_empty_member),
	FIXTURE_TEST(test_ceiling),
	TEST(test_bomb),
	FIXTURE_TEST(test_cut_anywhere),
	FIXTURE_TEST(test_any_byte_wrong),
	TEST_ROWS(test_damaged, damaged_rows, name),
	TEST_ROWS(test_format, format_rows, name),
	FIXTURE_TEST(test_trailing_bytes),
	TEST(test_is_gzip),
};

TEST_MAIN(tests)
