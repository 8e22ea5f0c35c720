/* SPDX-License-Identifier: Apache-2.0 */
/* What ticks remember of generated code, in places that several CPUs may write at once. */
#include <stdbool.h>

#include "bpf/remembered.h"
#include "tests/support/unit.h"

#define N 64

static __u64 key_of(__u64 i)
{
	return hash_mix(7, i);
}

/* Small numbers, addresses and 0 in each place. */
static struct runtime_return whole(__u64 i)
{
	__u64 begin = i % 3 ? 0x7f0000000000 + (i << 6) : 0;
	__u64 found = i % 2 ? i : i << 32 | 5;

	return (struct runtime_return){ remembered_mark(key_of(i), begin, found), begin, found };
}

static void test_what_is_whole(void **state)
{
	(void)state;
	for (__u64 i = 0; i < N; i++) {
		struct runtime_return place = whole(i);

		assert_true(place.key >> 63);
		for (__u64 other = 0; other < N; other++)
			assert_int_equal(remembered_is(&place, key_of(other)), i == other);
	}
}

/* Each way in which a place can hold some words of one thing and the rest of another one. */
static void test_parts_of_two(void **state)
{
	(void)state;
	for (__u64 i = 0; i < N * N; i++) {
		struct runtime_return a = whole(i / N), b = whole(i % N);

		for (int parts = 1; parts < 7; parts++) {
			struct runtime_return place = {
				parts & 1 ? a.key : b.key,
				parts & 2 ? a.begin : b.begin,
				parts & 4 ? a.found : b.found,
			};
			bool is_a = place.begin == a.begin && place.found == a.found &&
				    place.key == a.key;
			bool is_b = place.begin == b.begin && place.found == b.found &&
				    place.key == b.key;

			assert_int_equal(remembered_is(&place, key_of(i / N)), is_a);
			assert_int_equal(remembered_is(&place, key_of(i % N)), is_b);
		}
	}
}

static const struct unit_test tests[] = {
	TEST(test_what_is_whole),
	TEST(test_parts_of_two),
};

TEST_MAIN(tests)
