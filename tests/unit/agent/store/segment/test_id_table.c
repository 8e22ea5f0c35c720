/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers by content: found again through all growing, whatever the hashes are. */
#include "agent/store/segment/id_table.h"
#include "agent/store/segment/varint.h"
#include "agent/util/hash.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define N 500

struct owner {
	uint64_t keys[N];
	uint64_t mask; /* of hashes: few values make long chains */
};

static uint64_t key_hash(const struct owner *o, uint64_t key)
{
	return hash_bytes(&key, sizeof(key), 9) & o->mask;
}

static uint64_t hash(const void *owner, uint32_t id)
{
	const struct owner *o = owner;

	return key_hash(o, o->keys[id]);
}

static bool equal(const void *owner, uint32_t id, const void *key)
{
	return ((const struct owner *)owner)->keys[id] == *(const uint64_t *)key;
}

static void test_find(void **state)
{
	static const uint64_t masks[] = { UINT64_MAX, 7, 0 };

	(void)state;
	for (size_t m = 0; m < ARRAY_SIZE(masks); m++) {
		struct id_table t = { .hash = hash, .equal = equal };
		struct owner o = { .mask = masks[m] };

		for (uint32_t i = 0; i < N; i++) {
			uint64_t key = i * UINT64_C(1000003);
			size_t before = id_table_bytes(&t), growth = id_table_growth(&t);

			assert_int_equal(id_table_find(&t, key_hash(&o, key), &o, &key), ID_NONE);
			assert_int_equal(id_table_reserve(&t, &o), 0);
			assert_int_equal(id_table_bytes(&t), before + growth);
			o.keys[i] = key;
			id_table_insert(&t, key_hash(&o, key), i);
		}
		for (uint32_t i = 0; i < N; i++)
			assert_int_equal(id_table_find(&t, hash(&o, i), &o, &o.keys[i]), i);
		id_table_fini(&t);
		assert_int_equal(id_table_bytes(&t), 0);
	}
}

static void test_varint(void **state)
{
	static const uint64_t values[] = { 0,	  1,	      127,	 128,	    16383,
					   16384, UINT32_MAX, INT64_MAX, UINT64_MAX };
	static const uint8_t too_large[] = { 0xff, 0xff, 0xff, 0xff, 0xff,
					     0xff, 0xff, 0xff, 0xff, 0x02 };
	uint8_t bytes[VARINT_MAX_BYTES];
	uint64_t value = 5;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		const uint8_t *end = varint_put(bytes, values[i]);

		assert_ptr_equal(varint_get(bytes, &value), end);
		assert_true(value == values[i]);
		value = 0;
		assert_ptr_equal(varint_check(bytes, end, &value), end);
		assert_true(value == values[i]);
		for (const uint8_t *cut = bytes; cut < end; cut++)
			assert_null(varint_check(bytes, cut, &value));
	}
	assert_null(varint_check(too_large, too_large + sizeof(too_large), &value));
}

static const struct unit_test tests[] = {
	TEST(test_find),
	TEST(test_varint),
};

TEST_MAIN(tests)
