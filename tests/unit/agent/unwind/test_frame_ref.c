/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of every kind as one word: what goes in comes out, and no two of them are equal. */
#include "agent/unwind/frame_ref.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

struct row {
	const char *name;
	enum frame_kind kind;
	uint64_t value; /* of a file: the offset */
	uint32_t file_id;
};

static const struct row rows[] = {
	{ "file", FRAME_KIND_FILE, 0x1234, 5 },
	{ "file_from_its_start", FRAME_KIND_FILE, 0, 1 },
	{ "last_offset", FRAME_KIND_FILE, WIRE_FRAME_OFFSET_MASK, 1 },
	{ "largest_id", FRAME_KIND_FILE, 0, WIRE_MAX_OBJECT_ID },
	{ "largest_id_and_last_offset", FRAME_KIND_FILE, WIRE_FRAME_OFFSET_MASK,
	  WIRE_MAX_OBJECT_ID },
	{ "kernel", FRAME_KIND_KERNEL, 0xffffffff81000010, 0 },
	{ "kernel_lowest_of_48_bits", FRAME_KIND_KERNEL, 0xffff800000000000, 0 },
	{ "kernel_lowest_of_57_bits", FRAME_KIND_KERNEL, 0xff00000000000000, 0 },
	{ "kernel_last", FRAME_KIND_KERNEL, UINT64_MAX, 0 },
	{ "memory", FRAME_KIND_MEMORY, 0x7f0000001000, 0 },
	{ "memory_at_0", FRAME_KIND_MEMORY, 0, 0 },
	{ "memory_last_of_57_bits", FRAME_KIND_MEMORY, (1ULL << 57) - 1, 0 },
	{ "memory_last", FRAME_KIND_MEMORY, FRAME_REF_VALUE_MASK, 0 },
	{ "place", FRAME_KIND_PLACE, 7, 0 },
	{ "first_place", FRAME_KIND_PLACE, 0, 0 },
	{ "largest_place", FRAME_KIND_PLACE, UINT32_MAX, 0 },
	{ "runtime", FRAME_KIND_RUNTIME, 7, 0 },
	{ "first_runtime", FRAME_KIND_RUNTIME, 0, 0 },
	{ "last_runtime", FRAME_KIND_RUNTIME, WIRE_MAX_USER_FRAMES - 1, 0 },
	{ "code", FRAME_KIND_CODE, 7, 0 },
	{ "first_code", FRAME_KIND_CODE, 0, 0 },
	{ "largest_code", FRAME_KIND_CODE, UINT32_MAX, 0 },
	{ "end", FRAME_KIND_END, STOP_REASON_NO_MAPPING, 0 },
	{ "first_end", FRAME_KIND_END, 0, 0 },
	{ "last_end", FRAME_KIND_END, STOP_REASON_MAX - 1, 0 },
	{ "unknown", FRAME_KIND_UNKNOWN, 0, 0 },
};

static struct frame_ref make(const struct row *row)
{
	return row->kind == FRAME_KIND_FILE ? frame_ref_of_file(row->file_id, row->value)
					    : frame_ref_of(row->kind, row->value);
}

static uint64_t value_of(struct frame_ref f)
{
	switch (frame_ref_kind(f)) {
	case FRAME_KIND_FILE:
		return frame_ref_file_off(f);
	case FRAME_KIND_KERNEL:
		return frame_ref_kernel_pc(f);
	default:
		return frame_ref_value(f);
	}
}

static void test_row(void **state)
{
	const struct row *row = *state;
	struct frame_ref f = make(row);

	assert_int_equal(frame_ref_kind(f), row->kind);
	assert_int_equal(value_of(f), row->value);
	assert_int_equal(frame_ref_file_id(f), row->file_id);
	assert_false(frame_ref_is_none(f));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(frame_ref_equal(f, make(&rows[i])), row == &rows[i]);
}

/* What is too large for its part changes no other part. */
static void test_too_large(void **state)
{
	(void)state;
	struct frame_ref f = frame_ref_of_file(UINT32_MAX, UINT64_MAX);

	assert_int_equal(frame_ref_kind(f), FRAME_KIND_FILE);
	assert_int_equal(frame_ref_file_id(f), WIRE_MAX_OBJECT_ID);
	assert_int_equal(frame_ref_file_off(f), WIRE_FRAME_OFFSET_MASK);
	for (int kind = FRAME_KIND_KERNEL; kind < FRAME_KIND_MAX; kind++) {
		f = frame_ref_of(kind, UINT64_MAX);
		assert_int_equal(frame_ref_kind(f), kind);
		assert_int_equal(frame_ref_value(f), FRAME_REF_VALUE_MASK);
		assert_int_equal(frame_ref_file_id(f), 0);
	}
}

static void test_none(void **state)
{
	(void)state;
	assert_true(frame_ref_is_none(FRAME_REF_NONE));
	assert_true(frame_ref_equal(FRAME_REF_NONE, frame_ref_of_wire(0)));
	assert_int_equal(frame_ref_file_id(FRAME_REF_NONE), 0);
}

static void test_wire_words(void **state)
{
	static const struct {
		uint64_t word;
		enum frame_kind kind;
		uint64_t value;
		uint32_t file_id;
	} words[] = {
		{ 5ULL << WIRE_FRAME_OFFSET_BITS | 0x1234, FRAME_KIND_FILE, 0x1234, 5 },
		{ WIRE_FRAME_RAW - 1, FRAME_KIND_FILE, WIRE_FRAME_OFFSET_MASK, WIRE_MAX_OBJECT_ID },
		{ WIRE_FRAME_RAW, FRAME_KIND_MEMORY, 0, 0 },
		{ WIRE_FRAME_RAW | 0x401000, FRAME_KIND_MEMORY, 0x401000, 0 },
		{ WIRE_FRAME_RAW | 0x7ffffffff000, FRAME_KIND_MEMORY, 0x7ffffffff000, 0 },
		/* The last address of a process with five levels of page tables. */
		{ WIRE_FRAME_RAW | ((1ULL << 56) - 1), FRAME_KIND_MEMORY, (1ULL << 56) - 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		struct frame_ref f = frame_ref_of_wire(words[i].word);

		assert_int_equal(frame_ref_kind(f), words[i].kind);
		assert_int_equal(value_of(f), words[i].value);
		assert_int_equal(frame_ref_file_id(f), words[i].file_id);
	}
}

/* A pc of anything at all is of memory, or of nothing; never of the kernel or a reason. */
static void test_any_raw_word_is_memory(void **state)
{
	(void)state;
	for (unsigned int bit = 0; bit < 63; bit++) {
		struct frame_ref f = frame_ref_of_wire(WIRE_FRAME_RAW | 1ULL << bit);

		assert_int_equal(frame_ref_kind(f), FRAME_KIND_MEMORY);
		assert_int_equal(frame_ref_file_id(f), 0);
	}
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_too_large),
	TEST(test_none),
	TEST(test_wire_words),
	TEST(test_any_raw_word_is_memory),
};

TEST_MAIN(tests)
