/* SPDX-License-Identifier: Apache-2.0 */
/* Which mappings have process-independent frames. */
#include "agent/unwind/frame_ref.h"
#include "agent/unwind/wire_mapping.h"
#include "tests/support/unit.h"

#define BEGIN 0x7f0000001000ULL
#define BYTES 0x3000ULL

struct row {
	const char *name;
	uint32_t file_id; /* 0: no file */
	uint64_t file_off;
	uint64_t bytes;
	bool named;
};

static const struct row rows[] = {
	{ "file", 5, 0x1000, BYTES, true },
	{ "file_from_its_start", 1, 0, BYTES, true },
	{ "largest_id", WIRE_MAX_OBJECT_ID, 0x1000, BYTES, true },
	{ "id_too_large", WIRE_MAX_OBJECT_ID + 1, 0x1000, BYTES, false },
	{ "last_offset", 5, WIRE_FRAME_OFFSET_MASK - BYTES, BYTES, true },
	{ "offset_too_large", 5, WIRE_FRAME_OFFSET_MASK - BYTES + 1, BYTES, false },
	{ "offset_beyond_2_40", 5, 1ULL << 40, BYTES, false },
	{ "end_beyond_2_64", 5, ~0ULL - BYTES + 0x1001, BYTES, false },
	{ "offset_at_2_64", 5, ~0ULL, BYTES, false },
	{ "longer_than_2_40", 5, 0, 1ULL << 40, false },
	{ "longest", 5, 0, WIRE_FRAME_OFFSET_MASK, true },
	{ "anonymous", 0, 0, BYTES, false },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	struct mapped_file file = { .id = row->file_id };
	const struct mapping m = {
		.begin = BEGIN,
		.end = BEGIN + row->bytes,
		.file_off = row->file_off,
		.file = row->file_id ? &file : NULL,
	};
	struct wire_mapping w = wire_mapping_from(&m, 42);
	struct frame_ref first = frame_ref_of_wire(w.frame_base);
	struct frame_ref last = frame_ref_of_wire(w.frame_base + (row->bytes - 1));

	assert_int_equal(w.begin, BEGIN);
	assert_int_equal(w.n_pages, row->bytes / WIRE_PAGE_BYTES);
	assert_int_equal(w.object, row->named ? 42 : WIRE_OBJECT_FP);
	if (!row->named) {
		assert_int_equal(w.frame_base, WIRE_FRAME_RAW | BEGIN);
		assert_int_equal(frame_ref_kind(first), FRAME_KIND_MEMORY);
		assert_int_equal(frame_ref_value(first), BEGIN);
		return;
	}
	assert_int_equal(frame_ref_file_id(first), row->file_id);
	assert_int_equal(frame_ref_file_off(first), row->file_off);
	assert_int_equal(frame_ref_file_id(last), row->file_id);
	assert_int_equal(frame_ref_file_off(last), row->file_off + row->bytes - 1);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
};

TEST_MAIN(tests)
