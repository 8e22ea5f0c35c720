/* SPDX-License-Identifier: Apache-2.0 */
/* V8's builtins in files without symbols: wherever they are, and where something else looks like them. */
#include "agent/util/cleanup.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/v8/blob_image.h"

static bool find(const uint8_t *image, struct v8_blob *ret)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;

	assert_int_equal(elf_new(bytes_from_memory(image, IMAGE_BYTES), &elf), 0);
	return v8_blob_find(elf, ret);
}

static void check(const uint8_t *image, const struct blob_image *b)
{
	struct v8_blob blob;

	assert_true(find(image, &blob));
	assert_int_equal(blob.code_at, b->code_at);
	assert_int_equal(blob.code_bytes, b->code_bytes);
	assert_int_equal(blob.data_at, b->data_at);
	assert_int_equal(blob.data_bytes, b->data_bytes);
}

static void check_none(const uint8_t *image)
{
	struct v8_blob blob;

	assert_false(find(image, &blob));
}

struct row {
	const char *name;
	struct blob_image image;
	bool is_found;
};

#define USUAL 65521, 0x20000, 16400, IMAGE_CODE_AT + 0x340, 0x50000, 1016
#define PIECE 0x100000

static const struct row rows[] = {
	{ "with zlib", { USUAL }, true },
	{ "without zlib",
	  { .modulus = 65535, 0x20000, 16400, IMAGE_CODE_AT + 0x340, 0x50000, 1016 },
	  true },
	{ "another checksum",
	  { .modulus = 65519, 0x20000, 16400, IMAGE_CODE_AT + 0x340, 0x50000, 1016 },
	  false },
	{ "a description of no whole words of 8",
	  { 65521, 0x20000, 16396, IMAGE_CODE_AT + 0x340, 0x50000, 1016 },
	  true },
	{ "first in its segment",
	  { 65521, IMAGE_DATA_AT, 16400, IMAGE_CODE_AT, 0x50000, 1016 },
	  true },
	{ "last in its segment",
	  { 65521, IMAGE_CODE_AT - 16408, 16400, IMAGE_CODE_AT + 0x10000, 0x50000, 1016 },
	  true },
	{ "cut in two",
	  { 65521, IMAGE_DATA_AT + PIECE - 8000, 16400, IMAGE_CODE_AT, 0x50000, 1016 },
	  true },
	{ "numbers behind a piece",
	  { 65521, IMAGE_DATA_AT + PIECE - 16400, 16400, IMAGE_CODE_AT, 0x50000, 1016 },
	  true },
	{ "as long as can be",
	  { 65521, IMAGE_DATA_AT + 0x8000, V8_BLOB_MAX_DATA, IMAGE_CODE_AT, 0x50000, 1016 },
	  true },
	{ "too long",
	  { 65521, IMAGE_DATA_AT + 0x8000, V8_BLOB_MAX_DATA + 8, IMAGE_CODE_AT, 0x50000, 1016 },
	  false },
	{ "too short", { 65521, 0x20000, 16000, IMAGE_CODE_AT, 0x50000, 1016 }, false },
	{ "not aligned", { 65521, 0x20000, 16400, IMAGE_CODE_AT + 0x350, 0x50000, 1016 }, false },
	{ "a builtin that is longer than all of them",
	  { 65521, 0x20000, 16400, IMAGE_CODE_AT, 0x50000, 0x50001 },
	  false },
	{ "a builtin without code", { 65521, 0x20000, 16400, IMAGE_CODE_AT, 0x50000, 0 }, false },
};

static void test_found(void **state)
{
	const struct row *row = *state;
	_cleanup_free_ uint8_t *image = image_new(&row->image);

	if (row->is_found)
		check(image, &row->image);
	else
		check_none(image);
}

/* One byte is another one. */
static void test_damaged(void **state)
{
	static const uint32_t places[] = {
		0x20000,	 0x20000 + 8,	  0x20000 + 100,	 0x20000 + 16399,
		0x20000 + 16400, 0x20000 + 16404, IMAGE_CODE_AT + 0x340, IMAGE_CODE_AT + 0x30000
	};
	_cleanup_free_ uint8_t *image = image_new(&usual_image);

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		image[places[i]] ^= 0x20;
		check_none(image);
		image[places[i]] ^= 0x20;
	}
	check(image, &usual_image);
}

/* What begins like a description is summed up; so many of them, and no more. */
static void put_likeness(uint8_t *image, uint32_t behind)
{
	uint8_t *data = image + behind - 16400;

	image_put32(image + behind, 0x50000);
	image_put32(image + behind + 4, 16400);
	image_put32(data + 4, 0);
	image_put32(data + 12, 0);
	image_put32(data + 24, 32);
	image_put32(data + 28, 100);
}

static void test_likenesses(void **state)
{
	struct blob_image b = usual_image;

	(void)state;
	b.data_at = 0x100000;
	for (uint32_t n = 63; n <= 64; n++) {
		_cleanup_free_ uint8_t *image = image_new(&b);

		for (uint32_t i = 0; i < n; i++)
			put_likeness(image, 0x8000 + i * 64);
		if (n < 64)
			check(image, &b);
		else
			check_none(image);
	}
}

/* Segments that say that they are where nothing is. */
static void test_segments(void **state)
{
	_cleanup_free_ uint8_t *image = image_new(&usual_image);

	(void)state;
	image_segment(image, 0, PF_R, IMAGE_DATA_AT, 0x2000, IMAGE_DATA_AT);
	check_none(image);
	image_segment(image, 0, PF_R | PF_W, IMAGE_DATA_AT, 0x100000, IMAGE_DATA_AT);
	check_none(image);
	image_segment(image, 0, PF_R, IMAGE_DATA_AT, 0x100000, IMAGE_DATA_AT);
	check(image, &usual_image);
	image_segment(image, 1, PF_R | PF_X, IMAGE_BYTES - 64, 0x7fffffff, IMAGE_CODE_VADDR);
	check_none(image);
	image_segment(image, 1, PF_R | PF_X, IMAGE_CODE_AT, 16, IMAGE_CODE_VADDR + 1);
	check_none(image);
	image_segment(image, 1, PF_R, IMAGE_CODE_AT, IMAGE_CODE_BYTES, IMAGE_CODE_VADDR);
	check_none(image);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_found, rows, name),
	TEST(test_damaged),
	TEST(test_likenesses),
	TEST(test_segments),
};

TEST_MAIN(tests)
