/* SPDX-License-Identifier: Apache-2.0 */
/* The builder: interning, merging, refusals, and ceilings that change nothing. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pprof/pprof.h"
#include "tests/support/pprof_check.h"
#include "tests/support/pprof_random.h"
#include "tests/support/unit.h"

#define PLAIN_MAX_BYTES ((size_t)4 << 20)

static struct pprof_options some_options(void)
{
	struct pprof_options options = PPROF_OPTIONS_DEFAULT;

	options.period = 10309278;
	options.time_ns = 1700000000000000000;
	return options;
}

static struct pprof_builder *builder_of(const struct pprof_options *options)
{
	struct pprof_builder *b = NULL;

	assert_int_equal(pprof_builder_new(options, &b), 0);
	return b;
}

static int setup(void **state)
{
	struct pprof_options options = some_options();
	struct pprof_builder *b = NULL;
	int r = pprof_builder_new(&options, &b);

	*state = b;
	return r;
}

static int teardown(void **state)
{
	pprof_builder_free(*state);
	return 0;
}

static uint64_t function(struct pprof_builder *b, const char *name)
{
	struct pprof_function f = { .name = name };
	uint64_t id = 0;

	assert_int_equal(pprof_builder_function(b, &f, &id), 0);
	return id;
}

/* A location with one line, in a function of that name. */
static uint64_t location(struct pprof_builder *b, const char *name)
{
	struct pprof_line line = { .function_id = function(b, name) };
	uint64_t id = 0;

	assert_int_equal(pprof_builder_location(b, 0, 0, &line, 1, &id), 0);
	return id;
}

static struct pprof_bytes plain_of(const struct pprof_builder *b)
{
	struct pprof_bytes plain = { 0 };

	assert_int_equal(pprof_builder_encode_plain(b, &plain), 0);
	assert_int_equal(plain.n, pprof_builder_packed_bytes(b));
	return plain;
}

/* Valid, and as the builder says. */
static void check(const struct pprof_builder *b)
{
	struct pprof_bytes gz;
	struct pprof_facts facts;

	assert_int_equal(pprof_builder_encode(b, &gz), 0);
	assert_string_equal(pprof_check(&gz, PLAIN_MAX_BYTES, &facts) ?: "valid", "valid");
	assert_int_equal(facts.plain_bytes, pprof_builder_packed_bytes(b));
	assert_int_equal(facts.n_samples, pprof_builder_n_samples(b));
	for (size_t i = 0; i < PPROF_MAX_VALUES; i++)
		assert_int_equal(facts.totals[i], pprof_builder_total(b, i));
	pprof_bytes_fini(&gz);
}

static void test_options__refused(void **state)
{
	struct pprof_options ok = some_options();
	struct pprof_options bad[15];
	struct pprof_builder *b = NULL;

	(void)state;
	for (size_t i = 0; i < 15; i++)
		bad[i] = ok;
	bad[0].value_types[0].type = "";
	bad[1].value_types[0].unit = NULL;
	bad[2].period_type.type = "";
	bad[3].period_type.unit = NULL;
	bad[4].value_types[0].type = "off-cpu";
	bad[5].period = 0;
	bad[6].time_ns = 0;
	bad[7].duration_ns = -1;
	bad[8].max_samples = 0;
	bad[9].max_bytes = PPROF_MAX_MAX_BYTES + 1;
	bad[10].gzip_level = 0;
	bad[11].gzip_level = 10;
	bad[12].max_bytes = 1;
	bad[13].n_values = 0;
	bad[14].n_values = PPROF_MAX_VALUES + 1;
	for (size_t i = 0; i < 15; i++)
		assert_int_equal(pprof_builder_new(&bad[i], &b), -EINVAL);
	assert_null(b);
}

static void test_options__types_must_fit(void **state)
{
	struct pprof_options options = some_options();
	struct pprof_builder *b = builder_of(&options);
	size_t empty_bytes = pprof_builder_packed_bytes(b);

	(void)state;
	pprof_builder_free(b);
	for (options.max_bytes = 0; options.max_bytes < empty_bytes; options.max_bytes++) {
		b = NULL;
		assert_int_equal(pprof_builder_new(&options, &b), -EINVAL);
		assert_null(b);
	}
	b = builder_of(&options);
	check(b);
	pprof_builder_free(b);
	options.max_bytes = PPROF_MAX_MAX_BYTES;
	pprof_builder_free(builder_of(&options));
}

static void test_free__null(void **state)
{
	struct pprof_builder *b = NULL;

	(void)state;
	pprof_builder_free(NULL);
	pprof_builder_freep(&b);
	assert_null(b);
}

static void test_empty_profile_is_valid(void **state)
{
	check(*state);
	assert_int_equal(pprof_builder_n_samples(*state), 0);
	assert_int_equal(pprof_builder_total(*state, 0), 0);
}

static void test_mapping__interned(void **state)
{
	struct pprof_mapping m = { .filename = "/bin/a", .build_id = "ab", .has_lines = true };
	uint64_t first, again, other;

	assert_int_equal(pprof_builder_mapping(*state, &m, &first), 0);
	assert_int_equal(pprof_builder_mapping(*state, &m, &again), 0);
	m.has_inlines = true;
	assert_int_equal(pprof_builder_mapping(*state, &m, &other), 0);
	assert_int_equal(first, 1);
	assert_int_equal(again, 1);
	assert_int_equal(other, 2);
	m = (struct pprof_mapping){ 0 };
	assert_int_equal(pprof_builder_mapping(*state, &m, &other), 0);
	assert_int_equal(other, 3);
	check(*state);
}

static void test_function__interned(void **state)
{
	struct pprof_function f = { .name = "run", .filename = "a.c", .start_line = 7 };
	uint64_t id;

	assert_int_equal(function(*state, "run"), 1);
	assert_int_equal(pprof_builder_function(*state, &f, &id), 0);
	assert_int_equal(id, 2);
	f.start_line = 8;
	assert_int_equal(pprof_builder_function(*state, &f, &id), 0);
	assert_int_equal(id, 3);
	assert_int_equal(function(*state, "run"), 1);
	check(*state);
}

static void test_function__refused(void **state)
{
	static const struct pprof_function bad[] = {
		{ .name = NULL },
		{ .name = "" },
		{ .name = "run", .start_line = -1 },
	};
	size_t before = pprof_builder_packed_bytes(*state);
	uint64_t id = 77;

	for (size_t i = 0; i < 3; i++)
		assert_int_equal(pprof_builder_function(*state, &bad[i], &id), -EINVAL);
	assert_int_equal(id, 77);
	assert_int_equal(pprof_builder_packed_bytes(*state), before);
}

static void test_location__interned(void **state)
{
	struct pprof_builder *b = *state;
	struct pprof_line lines[] = { { function(b, "inner"), 3, 0 },
				      { function(b, "outer"), 9, 0 } };
	uint64_t both, one, address, again, column;

	assert_int_equal(pprof_builder_location(b, 0, 0, lines, 2, &both), 0);
	assert_int_equal(pprof_builder_location(b, 0, 0, lines, 1, &one), 0);
	assert_int_equal(pprof_builder_location(b, 0, 5, lines, 1, &address), 0);
	assert_int_equal(pprof_builder_location(b, 0, 0, lines, 2, &again), 0);
	assert_int_equal(both, 1);
	assert_int_equal(one, 2);
	assert_int_equal(address, 3);
	assert_int_equal(again, 1);
	lines[1].column = 5;
	assert_int_equal(pprof_builder_location(b, 0, 0, lines, 2, &column), 0);
	assert_int_equal(column, 4);
	check(b);
}

static void test_location__refused(void **state)
{
	struct pprof_builder *b = *state;
	static struct pprof_line many[PPROF_MAX_LINES + 1];
	struct pprof_line good = { function(b, "run"), 1, 1 };
	struct pprof_line no_function = { 0, 1, 0 };
	struct pprof_line unknown = { 2, 1, 0 };
	struct pprof_line negative = { 1, -1, 0 };
	struct pprof_line before_line = { 1, 1, -1 };
	size_t before = pprof_builder_packed_bytes(b);
	uint64_t id = 77;

	for (size_t i = 0; i <= PPROF_MAX_LINES; i++)
		many[i] = (struct pprof_line){ good.function_id, (int64_t)i, 0 };
	assert_int_equal(pprof_builder_location(b, 0, 0, &good, 0, &id), -EINVAL);
	assert_int_equal(pprof_builder_location(b, 0, 0, &no_function, 1, &id), -EINVAL);
	assert_int_equal(pprof_builder_location(b, 0, 0, &unknown, 1, &id), -EINVAL);
	assert_int_equal(pprof_builder_location(b, 0, 0, &negative, 1, &id), -EINVAL);
	assert_int_equal(pprof_builder_location(b, 0, 0, &before_line, 1, &id), -EINVAL);
	assert_int_equal(pprof_builder_location(b, 1, 0, &good, 1, &id), -EINVAL);
	assert_int_equal(pprof_builder_location(b, 0, 0, many, PPROF_MAX_LINES + 1, &id), -E2BIG);
	assert_int_equal(id, 77);
	assert_int_equal(pprof_builder_packed_bytes(b), before);
	assert_int_equal(pprof_builder_location(b, 0, 0, many, PPROF_MAX_LINES, &id), 0);
	check(b);
}

static void test_sample__equal_stacks_are_summed(void **state)
{
	struct pprof_builder *b = *state;
	uint64_t leaf = location(b, "leaf"), root = location(b, "root");
	uint64_t stack[] = { leaf, root, root };

	assert_int_equal(pprof_builder_sample(b, stack, 2, &(int64_t){ 100 }, NULL, 0),
			 PPROF_ADDED);
	assert_int_equal(pprof_builder_sample(b, stack, 3, &(int64_t){ 1 }, NULL, 0), PPROF_ADDED);
	assert_int_equal(pprof_builder_sample(b, stack, 1, &(int64_t){ 1 }, NULL, 0), PPROF_ADDED);
	assert_int_equal(pprof_builder_n_samples(b), 3);
	/* The sum needs more bytes than its parts. */
	assert_int_equal(pprof_builder_sample(b, stack, 2, &(int64_t){ 1000000 }, NULL, 0),
			 PPROF_ADDED);
	assert_int_equal(pprof_builder_n_samples(b), 3);
	assert_int_equal(pprof_builder_total(b, 0), 1000102);
	check(b);
}

static void test_sample__labels_are_a_set(void **state)
{
	struct pprof_builder *b = *state;
	uint64_t id = location(b, "f");
	struct pprof_label ab[] = { { .key = "a", .str = "x" }, { .key = "b", .num = -2 } };
	struct pprof_label ba[] = { ab[1], ab[0] };
	struct pprof_label unit = { .key = "b", .num = -2, .num_unit = "bytes" };

	assert_int_equal(pprof_builder_sample(b, &id, 1, &(int64_t){ 1 }, ab, 2), PPROF_ADDED);
	assert_int_equal(pprof_builder_sample(b, &id, 1, &(int64_t){ 1 }, ba, 2), PPROF_ADDED);
	assert_int_equal(pprof_builder_n_samples(b), 1);
	assert_int_equal(pprof_builder_sample(b, &id, 1, &(int64_t){ 1 }, ab, 1), PPROF_ADDED);
	assert_int_equal(pprof_builder_sample(b, &id, 1, &(int64_t){ 1 }, ba, 1), PPROF_ADDED);
	assert_int_equal(pprof_builder_sample(b, &id, 1, &(int64_t){ 1 }, &unit, 1), PPROF_ADDED);
	assert_int_equal(pprof_builder_sample(b, &id, 1, &(int64_t){ 1 }, NULL, 0), PPROF_ADDED);
	assert_int_equal(pprof_builder_n_samples(b), 5);
	check(b);
}

static void test_sample__refused(void **state)
{
	struct pprof_builder *b = *state;
	static uint64_t deep[PPROF_MAX_DEPTH + 1];
	static struct pprof_label many[PPROF_MAX_LABELS + 1];
	uint64_t id = location(b, "f"), unknown[] = { id, id + 1 }, zero = 0;
	struct pprof_label no_key = { .str = "x" };
	struct pprof_label both = { .key = "k", .str = "x", .num = 1 };
	struct pprof_label unit = { .key = "k", .str = "x", .num_unit = "bytes" };
	size_t before = pprof_builder_packed_bytes(b);

	for (size_t i = 0; i <= PPROF_MAX_DEPTH; i++)
		deep[i] = id;
	for (size_t i = 0; i <= PPROF_MAX_LABELS; i++)
		many[i] = (struct pprof_label){ .key = "k", .num = (int64_t)i };
	assert_int_equal(pprof_builder_sample(b, &id, 1, &(int64_t){ 0 }, NULL, 0), -EINVAL);
	assert_int_equal(pprof_builder_sample(b, &id, 1, &(int64_t){ -1 }, NULL, 0), -EINVAL);
	assert_int_equal(pprof_builder_sample(b, &id, 0, &(int64_t){ 1 }, NULL, 0), -EINVAL);
	assert_int_equal(pprof_builder_sample(b, &zero, 1, &(int64_t){ 1 }, NULL, 0), -EINVAL);
	assert_int_equal(pprof_builder_sample(b, unknown, 2, &(int64_t){ 1 }, NULL, 0), -EINVAL);
	assert_int_equal(pprof_builder_sample(b, &id, 1, &(int64_t){ 1 }, &no_key, 1), -EINVAL);
	assert_int_equal(pprof_builder_sample(b, &id, 1, &(int64_t){ 1 }, &both, 1), -EINVAL);
	assert_int_equal(pprof_builder_sample(b, &id, 1, &(int64_t){ 1 }, &unit, 1), -EINVAL);
	assert_int_equal(
		pprof_builder_sample(b, deep, PPROF_MAX_DEPTH + 1, &(int64_t){ 1 }, NULL, 0),
		-E2BIG);
	assert_int_equal(
		pprof_builder_sample(b, &id, 1, &(int64_t){ 1 }, many, PPROF_MAX_LABELS + 1),
		-E2BIG);
	assert_int_equal(pprof_builder_n_samples(b), 0);
	assert_int_equal(pprof_builder_packed_bytes(b), before);
	assert_int_equal(pprof_builder_sample(b, deep, PPROF_MAX_DEPTH, &(int64_t){ 1 }, many,
					      PPROF_MAX_LABELS),
			 PPROF_ADDED);
	check(b);
}

static void test_sample__total_never_overflows(void **state)
{
	struct pprof_builder *b = *state;
	uint64_t one = location(b, "one"), two = location(b, "two");

	assert_int_equal(pprof_builder_sample(b, &one, 1, &(int64_t){ INT64_MAX - 5 }, NULL, 0),
			 PPROF_ADDED);
	assert_int_equal(pprof_builder_sample(b, &one, 1, &(int64_t){ 6 }, NULL, 0), PPROF_FULL);
	assert_int_equal(pprof_builder_sample(b, &two, 1, &(int64_t){ 6 }, NULL, 0), PPROF_FULL);
	assert_int_equal(pprof_builder_n_samples(b), 1);
	assert_int_equal(pprof_builder_sample(b, &one, 1, &(int64_t){ 5 }, NULL, 0), PPROF_ADDED);
	assert_int_equal(pprof_builder_total(b, 0), INT64_MAX);
	check(b);
}

static struct pprof_options two_values(void)
{
	struct pprof_options options = some_options();

	options.value_types[0] = (struct pprof_value_type){ "alloc_objects", "count" };
	options.value_types[1] = (struct pprof_value_type){ "alloc_space", "bytes" };
	options.n_values = 2;
	return options;
}

/* Each type has a sum of its own, and the size is exact for all of them. */
static void test_sample__values_of_several_types(void **state)
{
	struct pprof_options options = two_values();
	struct pprof_builder *b = builder_of(&options);
	uint64_t one = location(b, "one"), two = location(b, "two");

	(void)state;
	assert_int_equal(pprof_builder_sample(b, &one, 1, (int64_t[]){ 1, 4096 }, NULL, 0), 0);
	assert_int_equal(pprof_builder_sample(b, &two, 1, (int64_t[]){ 0, 1 }, NULL, 0), 0);
	assert_int_equal(pprof_builder_sample(b, &one, 1, (int64_t[]){ 300, 0 }, NULL, 0), 0);
	assert_int_equal(pprof_builder_n_samples(b), 2);
	assert_int_equal(pprof_builder_total(b, 0), 301);
	assert_int_equal(pprof_builder_total(b, 1), 4097);
	assert_int_equal(pprof_builder_total(b, 2), 0);
	assert_int_equal(pprof_builder_sample(b, &one, 1, (int64_t[]){ 0, 0 }, NULL, 0), -EINVAL);
	assert_int_equal(pprof_builder_sample(b, &one, 1, (int64_t[]){ 1, -1 }, NULL, 0), -EINVAL);
	assert_int_equal(pprof_builder_sample(b, &two, 1, (int64_t[]){ 1, INT64_MAX }, NULL, 0),
			 PPROF_FULL);
	assert_int_equal(pprof_builder_total(b, 0), 301);
	check(b);
	pprof_builder_free(b);
}

static void test_ceiling__samples(void **state)
{
	struct pprof_options options = some_options();
	struct pprof_builder *b;
	struct pprof_label label = { .key = "only in the refused one", .str = "x" };
	uint64_t ids[3];
	size_t before;

	(void)state;
	options.max_samples = 2;
	b = builder_of(&options);
	for (int i = 0; i < 3; i++)
		ids[i] = location(b, i == 0 ? "a" : i == 1 ? "b" : "c");
	assert_int_equal(pprof_builder_sample(b, &ids[0], 1, &(int64_t){ 1 }, NULL, 0),
			 PPROF_ADDED);
	assert_int_equal(pprof_builder_sample(b, &ids[1], 1, &(int64_t){ 1 }, NULL, 0),
			 PPROF_ADDED);
	before = pprof_builder_packed_bytes(b);
	assert_int_equal(pprof_builder_sample(b, &ids[2], 1, &(int64_t){ 1 }, &label, 1),
			 PPROF_FULL);
	assert_int_equal(pprof_builder_packed_bytes(b), before);
	assert_int_equal(pprof_builder_sample(b, &ids[1], 1, &(int64_t){ 1 }, NULL, 0),
			 PPROF_ADDED);
	assert_int_equal(pprof_builder_total(b, 0), 3);
	check(b);
	pprof_builder_free(b);
}

/*
 * For a limit: add until full, in turn a sample and a sum; each refusal leaves every byte as it
 * was.
 */
static void fill_to(size_t max_bytes)
{
	struct pprof_options options = some_options();
	struct pprof_random random = { .state = max_bytes,
				       .n_functions = 50,
				       .max_depth = 6,
				       .max_labels = 2,
				       .max_value = INT64_MAX / 1000000,
				       .strange = true };
	struct pprof_builder *b;
	int n_full = 0;

	options.max_bytes = max_bytes;
	b = builder_of(&options);
	for (int i = 0; n_full < 20 && i < 5000; i++) {
		int64_t total = pprof_builder_total(b, 0);
		size_t n = pprof_builder_n_samples(b);
		int r = pprof_random_add(&random, b);

		assert_in_range(r, PPROF_ADDED, PPROF_FULL);
		assert_in_range(pprof_builder_packed_bytes(b), 1, max_bytes);
		if (r == PPROF_FULL) {
			assert_int_equal(pprof_builder_total(b, 0), total);
			assert_int_equal(pprof_builder_n_samples(b), n);
			n_full++;
		}
	}
	assert_int_equal(n_full, 20);
	check(b);
	pprof_builder_free(b);
}

static void test_ceiling__bytes(void **state)
{
	(void)state;
	for (size_t max_bytes = 60; max_bytes < 3000; max_bytes += 49)
		fill_to(max_bytes);
}

static void test_ceiling__refusal_changes_no_byte(void **state)
{
	struct pprof_options options = some_options();
	struct pprof_mapping m = { .filename = "f", .build_id = "a build id that is too long" };
	struct pprof_function f = { .name = "g", .filename = "a file name that is too long" };
	struct pprof_label label = { .key = "k", .str = "a label that is far too long for this" };
	struct pprof_builder *b;
	struct pprof_bytes before, after;
	uint64_t id, refused_id = 77;

	(void)state;
	options.max_bytes = 90;
	b = builder_of(&options);
	id = location(b, "f");
	assert_int_equal(pprof_builder_sample(b, &id, 1, &(int64_t){ 1 }, NULL, 0), PPROF_ADDED);
	before = plain_of(b);
	assert_int_equal(pprof_builder_mapping(b, &m, &refused_id), PPROF_FULL);
	assert_int_equal(pprof_builder_function(b, &f, &refused_id), PPROF_FULL);
	assert_int_equal(pprof_builder_sample(b, &id, 1, &(int64_t){ 1 }, &label, 1), PPROF_FULL);
	assert_int_equal(refused_id, 77);
	after = plain_of(b);
	assert_int_equal(after.n, before.n);
	assert_memory_equal(after.data, before.data, before.n);
	pprof_bytes_fini(&before);
	pprof_bytes_fini(&after);
	pprof_builder_free(b);
}

static void test_ceiling__sum_may_be_too_long(void **state)
{
	struct pprof_options options = some_options();
	struct pprof_builder *b = builder_of(&options);
	uint64_t id = location(b, "f");

	(void)state;
	assert_int_equal(pprof_builder_sample(b, &id, 1, &(int64_t){ 127 }, NULL, 0), PPROF_ADDED);
	options.max_bytes = pprof_builder_packed_bytes(b);
	pprof_builder_free(b);
	b = builder_of(&options);
	id = location(b, "f");
	assert_int_equal(pprof_builder_sample(b, &id, 1, &(int64_t){ 126 }, NULL, 0), PPROF_ADDED);
	assert_int_equal(pprof_builder_sample(b, &id, 1, &(int64_t){ 2 }, NULL, 0), PPROF_FULL);
	assert_int_equal(pprof_builder_sample(b, &id, 1, &(int64_t){ 1 }, NULL, 0), PPROF_ADDED);
	assert_int_equal(pprof_builder_total(b, 0), 127);
	check(b);
	pprof_builder_free(b);
}

static const struct unit_test tests[] = {
	TEST(test_options__refused),
	TEST(test_options__types_must_fit),
	TEST(test_free__null),
	FIXTURE_TEST(test_empty_profile_is_valid),
	FIXTURE_TEST(test_mapping__interned),
	FIXTURE_TEST(test_function__interned),
	FIXTURE_TEST(test_function__refused),
	FIXTURE_TEST(test_location__interned),
	FIXTURE_TEST(test_location__refused),
	FIXTURE_TEST(test_sample__equal_stacks_are_summed),
	FIXTURE_TEST(test_sample__labels_are_a_set),
	FIXTURE_TEST(test_sample__refused),
	FIXTURE_TEST(test_sample__total_never_overflows),
	TEST(test_sample__values_of_several_types),
	TEST(test_ceiling__samples),
	TEST(test_ceiling__bytes),
	TEST(test_ceiling__refusal_changes_no_byte),
	TEST(test_ceiling__sum_may_be_too_long),
};

TEST_MAIN(tests)
