/* SPDX-License-Identifier: Apache-2.0 */
/* The search of bpf/mappings.h against looking at every mapping. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/cleanup.h"
#include "agent/util/hash.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define UNWIND_INLINE static inline
#define UNWIND_SEGMENT(ctx, index) segment_of((ctx), (index))
static inline const char *segment_of(void *ctx, uint32_t index);
#include "bpf/mappings.h"

/* The only segment there is. */
#define SEGMENT 3
#define SEGMENT_WORDS (WIRE_SEGMENT_BYTES / WIRE_WORD_BYTES)

static inline const char *segment_of(void *ctx, uint32_t index)
{
	return index == SEGMENT ? ctx : NULL;
}

struct array {
	char *segment; /* owned */
	uint32_t at;
	uint32_t n;
	uint64_t end; /* of the last mapping */
};

static struct wire_mapping mapping_at(const struct array *a, uint32_t i)
{
	struct wire_mapping m;

	memcpy(&m, a->segment + TABLE_BYTE_OF(a->at) + i * sizeof(m), sizeof(m));
	return m;
}

/* n mappings with gaps, each third one following the one before at once; neighbours' mappings lie before and behind in the segment. */
static struct array make_array(uint32_t word, uint32_t n, uint64_t seed)
{
	struct array a = { malloc(WIRE_SEGMENT_BYTES), SEGMENT * SEGMENT_WORDS + word, n,
			   0x400000 };

	assert_non_null(a.segment);
	memset(a.segment, 0x11, WIRE_SEGMENT_BYTES);
	for (uint32_t i = 0; i < n; i++) {
		struct wire_mapping m = { .begin = a.end, .object = WIRE_OBJECT_FIRST + i };

		if (i % 3)
			m.begin += 4096 * (1 + hash_u64(seed++) % 8);
		m.n_pages = (uint32_t)(1 + hash_u64(seed++) % 8);
		m.frame_base = ((uint64_t)(i + 1) << WIRE_FRAME_OFFSET_BITS) + i * 4096ULL;
		a.end = m.begin + m.n_pages * 4096ULL;
		memcpy(a.segment + TABLE_BYTE_OF(a.at) + i * sizeof(m), &m, sizeof(m));
	}
	return a;
}

static void drop_array(struct array *a)
{
	free(a->segment);
}

#define _cleanup_array_ _cleanup_(drop_array)

static bool naive_find(const struct array *a, uint64_t pc, struct wire_mapping *ret_mapping)
{
	for (uint32_t i = 0; i < a->n; i++) {
		*ret_mapping = mapping_at(a, i);
		if (pc >= ret_mapping->begin &&
		    pc - ret_mapping->begin < ret_mapping->n_pages * 4096ULL)
			return true;
	}
	return false;
}

static void check_pc(const struct array *a, uint64_t pc)
{
	struct wire_mapping expected, found, untouched;
	__u64 n_bytes = 77;

	memset(&found, 0xee, sizeof(found));
	untouched = found;
	bool is_there = naive_find(a, pc, &expected);
	assert_int_equal(mappings_find_pc(a->segment, a->at, a->n, pc, &found, &n_bytes), is_there);
	if (!is_there) {
		/* The one found before stays. */
		assert_memory_equal(&found, &untouched, sizeof(found));
		assert_int_equal(n_bytes, 77);
		return;
	}
	assert_memory_equal(&found, &expected, sizeof(found));
	assert_int_equal(n_bytes, expected.n_pages * 4096ULL);
}

static void check_borders(const struct array *a)
{
	check_pc(a, 0);
	check_pc(a, 0x1000);
	check_pc(a, (1ULL << 56) - 1);
	check_pc(a, (1ULL << 63) - 1);
	for (uint32_t i = 0; i < a->n; i++) {
		struct wire_mapping m = mapping_at(a, i);
		uint64_t end = m.begin + m.n_pages * 4096ULL;

		check_pc(a, m.begin - 1);
		check_pc(a, m.begin);
		check_pc(a, m.begin + 7);
		check_pc(a, end - 1);
		check_pc(a, end);
	}
}

static void test_borders(void **state)
{
	static const uint32_t sizes[] = { 1,
					  2,
					  3,
					  4,
					  5,
					  63,
					  64,
					  65,
					  1000,
					  2047,
					  2048,
					  2049,
					  WIRE_MAX_PROCESS_MAPPINGS - 1,
					  WIRE_MAX_PROCESS_MAPPINGS };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		_cleanup_array_ struct array a = make_array(1000, sizes[i], i);

		check_borders(&a);
	}
}

/* At the very end of a segment the search looks behind it, and must not. */
static void test_array_at_the_end_of_a_segment(void **state)
{
	(void)state;
	for (uint32_t n = 1; n < 200; n += 13) {
		_cleanup_array_ struct array a = make_array(SEGMENT_WORDS - n * 3, n, n);

		check_borders(&a);
	}
}

static void test_random(void **state)
{
	uint64_t seed = 20260101;

	(void)state;
	for (unsigned int t = 0; t < 300; t++) {
		uint32_t word = (uint32_t)(hash_u64(seed++) % 1000);
		uint32_t n = (uint32_t)(1 + hash_u64(seed++) % 200);
		_cleanup_array_ struct array a = make_array(word, n, seed);

		for (unsigned int i = 0; i < 200; i++)
			check_pc(&a, 0x3ff000 + hash_u64(seed++) % (a.end - 0x3fd000));
	}
}

static void test_nothing_there(void **state)
{
	_cleanup_array_ struct array a = make_array(0, 3, 1);
	struct wire_mapping m;
	__u64 n_bytes;

	(void)state;
	assert_false(mappings_find_pc(a.segment, a.at, 0, 0x400000, &m, &n_bytes));
	/* No such segment. */
	assert_false(mappings_find_pc(a.segment, 5, 3, 0x400000, &m, &n_bytes));
	assert_true(mappings_find_pc(a.segment, a.at, 3, 0x400000, &m, &n_bytes));
}

/* Longer than 2^32 bytes. */
static void test_large_mapping(void **state)
{
	_cleanup_array_ struct array a = make_array(0, 1, 1);
	struct wire_mapping m = { .begin = 0x10000,
				  .n_pages = UINT32_MAX,
				  .object = WIRE_OBJECT_FP };
	__u64 n_bytes;

	(void)state;
	memcpy(a.segment, &m, sizeof(m));
	a.at = SEGMENT * SEGMENT_WORDS;
	assert_true(mappings_find_pc(a.segment, a.at, 1, 0x10000 + (1ULL << 40), &m, &n_bytes));
	assert_int_equal(n_bytes, UINT32_MAX * 4096ULL);
	assert_false(mappings_find_pc(a.segment, a.at, 1, 0x10000 + n_bytes, &m, &n_bytes));
}

static const struct unit_test tests[] = {
	TEST(test_borders),
	TEST(test_array_at_the_end_of_a_segment),
	TEST(test_random),
	TEST(test_nothing_there),
	TEST(test_large_mapping),
};

TEST_MAIN(tests)
