/* SPDX-License-Identifier: Apache-2.0 */
/* What a frozen builder tells: the same bytes, the same message, and no room for more. */
#include <string.h>

#include "pprof/pprof.h"
#include "pprof/profile.pb-c.h"
#include "tests/support/pprof_random.h"
#include "tests/support/unit.h"

static struct pprof_builder *make(uint64_t seed, size_t n_samples)
{
	struct pprof_random random = { .state = seed,
				       .n_functions = 200,
				       .max_depth = 20,
				       .max_labels = 4,
				       .max_value = 1000000,
				       .strange = seed % 2 };
	struct pprof_options o = PPROF_OPTIONS_DEFAULT;
	struct pprof_builder *b = NULL;

	o.period = 1;
	o.time_ns = 1700000000000000000;
	o.duration_ns = (int64_t)seed;
	o.n_values = 1;
	assert_int_equal(pprof_builder_new(&o, &b), 0);
	for (size_t i = 0; i < n_samples; i++)
		assert_int_equal(pprof_random_add(&random, b), 0);
	return b;
}

static void test_frozen_is_the_same(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 4; seed++) {
		struct pprof_builder *b = make(seed, seed * 500);
		struct pprof_bytes before = { 0 }, after = { 0 };
		size_t n_before = pprof_builder_memory_bytes(b);

		assert_int_equal(pprof_builder_encode_plain(b, &before), 0);
		pprof_builder_freeze(b);
		assert_int_equal(pprof_builder_encode_plain(b, &after), 0);
		assert_int_equal(before.n, after.n);
		assert_memory_equal(before.data, after.data, after.n);
		assert_true(pprof_builder_memory_bytes(b) < n_before);
		pprof_bytes_fini(&before);
		pprof_bytes_fini(&after);
		pprof_builder_free(b);
	}
}

static void test_frozen_is_full(void **state)
{
	struct pprof_builder *b = make(1, 10);
	const struct pprof_function function = { .name = "one more" };
	const int64_t value = 1;
	uint64_t id;

	(void)state;
	pprof_builder_freeze(b);
	assert_int_equal(pprof_builder_function(b, &function, &id), PPROF_FULL);
	assert_int_equal(pprof_builder_sample(b, &(uint64_t){ 1 }, 1, &value, NULL, 0), PPROF_FULL);
	assert_int_equal(pprof_builder_n_samples(b), 10);
	pprof_builder_free(b);
}

/* Gives so many blocks, and then none. */
struct blocks {
	void *items[64];
	size_t n, max;
};

static void *alloc_block(void *data, size_t n)
{
	struct blocks *blocks = data;

	if (blocks->n == blocks->max)
		return NULL;
	return blocks->items[blocks->n++] = malloc(n);
}

static void free_blocks(struct blocks *blocks)
{
	while (blocks->n > 0)
		free(blocks->items[--blocks->n]);
}

/* Packed, it is what would have been sent. */
static void test_message(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 4; seed++) {
		struct blocks blocks = { .max = 64 };
		struct pprof_builder *b = make(seed, seed * 500);
		struct pprof_bytes plain = { 0 };

		pprof_builder_freeze(b);
		assert_int_equal(pprof_builder_encode_plain(b, &plain), 0);
		Perftools__Profiles__Profile *p = pprof_builder_message(b, alloc_block, &blocks);
		assert_non_null(p);
		assert_int_equal(perftools__profiles__profile__get_packed_size(p), plain.n);
		uint8_t *packed = malloc(plain.n);
		assert_non_null(packed);
		assert_int_equal(perftools__profiles__profile__pack(p, packed), plain.n);
		assert_memory_equal(packed, plain.data, plain.n);
		free(packed);
		free_blocks(&blocks);
		pprof_bytes_fini(&plain);
		pprof_builder_free(b);
	}
}

static void test_message_without_memory(void **state)
{
	struct pprof_builder *b = make(3, 50);
	void *p = NULL;
	size_t max;

	(void)state;
	for (max = 0; !p; max++) {
		struct blocks blocks = { .max = max };

		p = pprof_builder_message(b, alloc_block, &blocks);
		free_blocks(&blocks);
		assert_true(max < 64);
	}
	assert_true(max > 10);
	pprof_builder_free(b);
}

static void test_rows(void **state)
{
	struct pprof_options o = PPROF_OPTIONS_DEFAULT;
	const struct pprof_function inner = { .name = "inner" }, outer = { .name = "outer" };
	const struct pprof_label labels[] = { { .key = "comm", .str = "x" },
					      { .key = "bytes", .num = 3 } };
	struct pprof_line lines[2] = { 0 };
	struct pprof_builder *b = NULL;
	struct pprof_sample sample;
	const int64_t value = 70;
	uint64_t location;

	(void)state;
	o.period = 10;
	o.time_ns = 1;
	assert_int_equal(pprof_builder_new(&o, &b), 0);
	assert_int_equal(pprof_builder_function(b, &inner, &lines[0].function_id), 0);
	assert_int_equal(pprof_builder_function(b, &outer, &lines[1].function_id), 0);
	assert_int_equal(pprof_builder_location(b, 0, 0, lines, 2, &location), 0);
	assert_int_equal(pprof_builder_sample(b, &location, 1, &value, labels, 2), 0);
	pprof_builder_freeze(b);
	pprof_builder_read_sample(b, 0, &sample);
	assert_int_equal(sample.n_locations, 1);
	assert_int_equal(sample.values[0], 70);
	assert_int_equal(pprof_builder_period(b), 10);
	assert_int_equal(pprof_builder_n_lines(b, sample.location_ids[0]), 2);
	assert_string_equal(pprof_builder_line_function(b, location, 0), "inner");
	assert_string_equal(pprof_builder_line_function(b, location, 1), "outer");
	assert_string_equal(pprof_builder_sample_label(b, 0, "comm"), "x");
	assert_null(pprof_builder_sample_label(b, 0, "bytes"));
	assert_null(pprof_builder_sample_label(b, 0, "pid"));
	pprof_builder_free(b);
}

static const struct unit_test tests[] = {
	TEST(test_frozen_is_the_same),
	TEST(test_frozen_is_full),
	TEST(test_message),
	TEST(test_message_without_memory),
	TEST(test_rows),
};

TEST_MAIN(tests)
