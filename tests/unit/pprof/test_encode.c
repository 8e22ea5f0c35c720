/* SPDX-License-Identifier: Apache-2.0 */
/* The encoded profile: every byte of a small one, and what must hold of any. */
#include <string.h>

#include "pprof/pprof.h"
#include "tests/support/pprof_check.h"
#include "tests/support/pprof_random.h"
#include "tests/support/unit.h"

#define PLAIN_MAX_BYTES ((size_t)4 << 20)

static struct pprof_options some_options(void)
{
	struct pprof_options options = PPROF_OPTIONS_DEFAULT;

	options.period = 10;
	options.time_ns = 1;
	options.duration_ns = 2;
	return options;
}

static struct pprof_builder *builder_of(const struct pprof_options *options)
{
	struct pprof_builder *b = NULL;

	assert_int_equal(pprof_builder_new(options, &b), 0);
	return b;
}

static struct pprof_builder *small_profile(void)
{
	struct pprof_options options = some_options();
	struct pprof_builder *b = builder_of(&options);
	struct pprof_mapping m = { .start = 16, .has_functions = true };
	struct pprof_function f = { .name = "f" };
	struct pprof_line line = { 1, 7, 0 }, at_column = { 1, 7, 9 };
	struct pprof_label label = { .key = "k", .num = 5 };
	uint64_t stack[2];
	uint64_t id;

	assert_int_equal(pprof_builder_mapping(b, &m, &id), 0);
	assert_int_equal(pprof_builder_function(b, &f, &id), 0);
	assert_int_equal(pprof_builder_location(b, 1, 0, &line, 1, &stack[0]), 0);
	assert_int_equal(pprof_builder_location(b, 1, 300, &at_column, 1, &stack[1]), 0);
	assert_int_equal(pprof_builder_sample(b, stack, 2, &(int64_t){ 300 }, &label, 1), 0);
	return b;
}

/*
 * Field numbers, wire types, packed integers and the order of it all, as any reader of pprof
 * expects them.
 */
static const uint8_t small_bytes[] = {
	0x0a, 4,    0x08, 1,	0x10, 2,  /* sample_type { type: cpu unit: nanoseconds } */
	0x12, 14,			  /* sample { */
	0x0a, 2,    1,	  2,		  /*   location_id, packed: 1, 2 */
	0x12, 2,    0xac, 0x02,		  /*   value, packed: 300 */
	0x1a, 4,    0x08, 4,	0x18, 5,  /*   label { key: k num: 5 } } */
	0x1a, 6,    0x08, 1,	0x10, 16, /* mapping { id: 1 memory_start: 16 */
	0x38, 1,			  /*   has_functions: true } */
	0x22, 10,   0x08, 1,	0x10, 1,  /* location { id: 1 mapping_id: 1 */
	0x22, 4,    0x08, 1,	0x10, 7,  /*   line { function_id: 1 line: 7 } } */
	0x22, 15,   0x08, 2,	0x10, 1,  /* location { id: 2 mapping_id: 1 */
	0x18, 0xac, 0x02,		  /*   address: 300 */
	0x22, 6,    0x08, 1,	0x10, 7,  /*   line { function_id: 1 line: 7 */
	0x18, 9,			  /*     column: 9 } } */
	0x2a, 4,    0x08, 1,	0x10, 3,  /* function { id: 1 name: f } */
	0x32, 0,			  /* string_table */
	0x32, 3,    'c',  'p',	'u',	  /* */
	0x32, 11,   'n',  'a',	'n',  'o', 's', 'e', 'c', 'o', 'n', 'd', 's', 0x32, 1, 'f', /* */
	0x32, 1,    'k',								    /* */
	0x48, 1,			 /* time_nanos */
	0x50, 2,			 /* duration_nanos */
	0x5a, 4,    0x08, 1,	0x10, 2, /* period_type { type: cpu unit: nanoseconds } */
	0x60, 10,			 /* period */
};

static void test_every_byte_of_a_small_profile(void **state)
{
	struct pprof_builder *b = small_profile();
	struct pprof_bytes plain, gz, back;

	(void)state;
	assert_int_equal(pprof_builder_encode_plain(b, &plain), 0);
	assert_int_equal(plain.n, sizeof(small_bytes));
	assert_memory_equal(plain.data, small_bytes, sizeof(small_bytes));
	assert_int_equal(pprof_builder_encode(b, &gz), 0);
	assert_int_equal(pprof_gunzip(&gz, PLAIN_MAX_BYTES, &back), 0);
	assert_int_equal(back.n, sizeof(small_bytes));
	assert_memory_equal(back.data, small_bytes, sizeof(small_bytes));
	pprof_bytes_fini(&back);
	pprof_bytes_fini(&gz);
	pprof_bytes_fini(&plain);
	pprof_builder_free(b);
}

struct shape {
	const char *name;
	struct pprof_random random;
	size_t n_samples;
};

static void check_encoded(const struct pprof_builder *b)
{
	struct pprof_bytes gz, plain, back;
	struct pprof_facts facts;

	assert_int_equal(pprof_builder_encode(b, &gz), 0);
	assert_string_equal(pprof_check(&gz, PLAIN_MAX_BYTES, &facts) ?: "valid", "valid");
	assert_int_equal(facts.plain_bytes, pprof_builder_packed_bytes(b));
	assert_int_equal(facts.n_samples, pprof_builder_n_samples(b));
	assert_int_equal(facts.totals[0], pprof_builder_total(b, 0));
	assert_int_equal(pprof_builder_encode_plain(b, &plain), 0);
	assert_int_equal(pprof_gunzip(&gz, PLAIN_MAX_BYTES, &back), 0);
	assert_int_equal(plain.n, back.n);
	assert_memory_equal(plain.data, back.data, back.n);
	pprof_bytes_fini(&back);
	pprof_bytes_fini(&plain);
	pprof_bytes_fini(&gz);
}

static void test_any_profile(void **state)
{
	const struct shape *shape = *state;

	for (uint64_t seed = 0; seed < 5; seed++) {
		struct pprof_options options = some_options();
		struct pprof_random random = shape->random;
		struct pprof_builder *b = builder_of(&options);
		int64_t time_ns[] = { 1, 127, 128, 1700000000000000000, INT64_MAX };
		int r = PPROF_ADDED;

		pprof_builder_free(b);
		options.time_ns = time_ns[seed];
		options.duration_ns = (int64_t)seed;
		options.gzip_level = 1 + 2 * (int)seed;
		b = builder_of(&options);
		random.state = seed;
		for (size_t i = 0; r == PPROF_ADDED && i < shape->n_samples; i++)
			r = pprof_random_add(&random, b);
		assert_in_range(r, PPROF_ADDED, PPROF_FULL);
		check_encoded(b);
		pprof_builder_free(b);
	}
}

/* Around the numbers at which an id or a length takes one byte more, and at which a batch ends. */
static struct shape shapes[] = {
	{ "one sample", { .n_functions = 1, .max_depth = 1, .max_value = 1 }, 1 },
	{ "short stacks", { .n_functions = 9, .max_depth = 4, .max_value = 200 }, 300 },
	{ "real", { .n_functions = 3000, .max_depth = 60, .max_value = 1000000000 }, 900 },
	{ "many functions", { .n_functions = 40000, .max_depth = 40, .max_value = 9 }, 1000 },
	{ "labels",
	  { .n_functions = 50, .max_depth = 3, .max_labels = 4, .max_value = 300 },
	  1500 },
	{ "strange",
	  { .n_functions = 700,
	    .max_depth = 30,
	    .max_labels = 4,
	    .max_value = INT64_MAX / 1000,
	    .strange = true },
	  500 },
};

static void test_same_calls_same_bytes(void **state)
{
	struct pprof_bytes gz[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct pprof_options options = some_options();
		struct pprof_builder *b = builder_of(&options);
		struct pprof_random random = { .state = 7,
					       .n_functions = 500,
					       .max_depth = 30,
					       .max_labels = 2,
					       .max_value = 1000 };

		for (int k = 0; k < 200; k++)
			assert_int_equal(pprof_random_add(&random, b), PPROF_ADDED);
		assert_int_equal(pprof_builder_encode(b, &gz[i]), 0);
		pprof_builder_free(b);
	}
	assert_int_equal(gz[0].n, gz[1].n);
	assert_memory_equal(gz[0].data, gz[1].data, gz[0].n);
	pprof_bytes_fini(&gz[0]);
	pprof_bytes_fini(&gz[1]);
}

/* Locations and samples whose parts fill a batch before their number does. */
static void test_largest_parts(void **state)
{
	struct pprof_options options = some_options();
	struct pprof_builder *b = builder_of(&options);
	struct pprof_function f = { .name = "f" };
	static struct pprof_line lines[PPROF_MAX_LINES];
	static struct pprof_label labels[PPROF_MAX_LABELS];
	uint64_t id;

	(void)state;
	assert_int_equal(pprof_builder_function(b, &f, &id), 0);
	for (size_t i = 0; i < PPROF_MAX_LINES; i++)
		lines[i] = (struct pprof_line){ id, (int64_t)i, 0 };
	for (size_t i = 0; i < PPROF_MAX_LABELS; i++)
		labels[i] = (struct pprof_label){ .key = "k", .num = (int64_t)i };
	for (uint64_t i = 0; i < 20; i++) {
		assert_int_equal(pprof_builder_location(b, 0, i, lines,
							PPROF_MAX_LINES - (i % 3 ? 0 : i), &id),
				 0);
		assert_int_equal(pprof_builder_sample(b, &id, 1, &(int64_t){ 1 }, labels,
						      PPROF_MAX_LABELS - i),
				 0);
	}
	check_encoded(b);
	pprof_builder_free(b);
}

static void test_builder_may_be_filled_further(void **state)
{
	struct pprof_builder *b = small_profile();
	struct pprof_random random = { .n_functions = 5, .max_depth = 5, .max_value = 5 };

	(void)state;
	check_encoded(b);
	for (int i = 0; i < 10; i++)
		assert_int_equal(pprof_random_add(&random, b), PPROF_ADDED);
	check_encoded(b);
	pprof_builder_free(b);
}

static const struct unit_test tests[] = {
	TEST(test_every_byte_of_a_small_profile),
	TEST(test_same_calls_same_bytes),
	TEST(test_largest_parts),
	TEST(test_builder_may_be_filled_further),
	TEST_ROWS(test_any_profile, shapes, name),
};

TEST_MAIN(tests)
