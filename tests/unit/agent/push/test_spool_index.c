/* SPDX-License-Identifier: Apache-2.0 */
/* Room for the items of a spool's index. */
#include "agent/push/spool/spool_private.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define N 1000

static void test_room(void **state)
{
	static const struct spool_item zero;
	struct spool_room room = { 0 };
	struct spool_item *items[N];

	(void)state;
	for (size_t round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < N; i++) {
			items[i] = spool_room_take(&room);
			assert_non_null(items[i]);
			assert_memory_equal(items[i], &zero, sizeof(zero));
			items[i]->offset = i;
		}
		assert_int_equal(room.n_used, N);
		/* Nobody's is another's. */
		for (uint64_t i = 0; i < N; i++)
			assert_int_equal(items[i]->offset, i);
		for (size_t i = 0; i < N; i++)
			spool_room_give(&room, items[(i * 7) % N]);
		assert_int_equal(room.n_used, 0);
		assert_null(room.blocks);
	}
}

/* What is given back is taken again before there is more. */
static void test_again(void **state)
{
	struct spool_room room = { 0 };
	struct spool_item *first = spool_room_take(&room), *second = spool_room_take(&room);
	const struct spool_block *blocks = room.blocks;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		spool_room_give(&room, first);
		first = spool_room_take(&room);
		assert_non_null(first);
		assert_ptr_not_equal(first, second);
		assert_ptr_equal(room.blocks, blocks);
	}
	spool_room_fini(&room);
	assert_int_equal(room.n_used, 0);
}

static const struct unit_test tests[] = {
	TEST(test_room),
	TEST(test_again),
};

TEST_MAIN(tests)
