/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions: whose they are, how they are shown, and what goes when there are too many. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/runtimes/code_names.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

#define MAX_BYTES ((size_t)64 << 10)
#define REPLACEMENT "\xef\xbf\xbd"

struct fixture {
	uint64_t seed;
	struct code_names *names;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(code_names_new(MAX_BYTES, &f->seed, &f->names), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	code_names_free(f->names);
	free(f);
	return 0;
}

static struct code_key key_of(uint32_t pid, uint64_t function)
{
	return (struct code_key){ .pid = pid, .exec_id = 1, .function = function, .print = 9 };
}

static struct code_text text_of(const char *name, const char *file, uint32_t line)
{
	return (struct code_text){ .name = name,
				   .n_name = strlen(name),
				   .file = file,
				   .n_file = strlen(file),
				   .line = line };
}

static void put(struct fixture *f, struct code_key key, const char *name)
{
	const struct code_text text = text_of(name, "a.py", 3);

	assert_int_equal(code_names_put(f->names, &key, &text), 0);
}

static struct code_name *find(struct fixture *f, struct code_key key)
{
	return code_names_find(f->names, &key);
}

/* Names of `count` functions, each of some 200 bytes with what keeps it. */
static void put_many(struct fixture *f, uint32_t pid, unsigned int begin, unsigned int count)
{
	for (unsigned int i = begin; i < begin + count; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "f_%u_%u", pid, i);
		put(f, key_of(pid, i), name);
		assert_true(code_names_bytes(f->names) <= MAX_BYTES);
	}
}

static void test_put_and_find(void **state)
{
	struct fixture *f = *state;
	struct code_name *name;

	assert_null(find(f, key_of(1, 10)));
	put(f, key_of(1, 10), "f");
	name = find(f, key_of(1, 10));
	assert_non_null(name);
	assert_string_equal(name->function, "f");
	assert_string_equal(name->file, "a.py");
	assert_int_equal(name->line, 3);
	assert_null(find(f, key_of(1, 11)));
}

/* Each part of the key tells functions apart. */
static void test_keys(void **state)
{
	static const struct code_key keys[] = {
		{ 1, 1, 10, 9 },	  { 2, 1, 10, 9 },	    { 1, 2, 10, 9 },
		{ 1, 1, 11, 9 },	  { 1, 1, 10, 8 },	    { 1, 1, 10 | 1ULL << 63, 9 },
		{ UINT32_MAX, 1, 10, 9 }, { 1, UINT32_MAX, 10, 9 }, { 1, 1, UINT64_MAX, 9 },
		{ 1, 1, 10, UINT32_MAX },
	};
	struct fixture *f = *state;
	char name[16];

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		(void)snprintf(name, sizeof(name), "f%zu", i);
		assert_null(find(f, keys[i]));
		put(f, keys[i], name);
	}
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		(void)snprintf(name, sizeof(name), "f%zu", i);
		assert_string_equal(find(f, keys[i])->function, name);
	}
}

static void test_replace(void **state)
{
	struct fixture *f = *state;
	size_t bytes;

	put(f, key_of(1, 10), "before");
	bytes = code_names_bytes(f->names);
	put(f, key_of(1, 10), "behind");
	assert_string_equal(find(f, key_of(1, 10))->function, "behind");
	/* What it was called is not kept. */
	assert_int_equal(code_names_bytes(f->names), bytes);
	put(f, key_of(1, 10), "behind");
	assert_string_equal(find(f, key_of(1, 10))->function, "behind");
	assert_int_equal(code_names_bytes(f->names), bytes);
}

static void test_equal_texts_are_one(void **state)
{
	const struct code_text like[] = {
		text_of("f", "a.py", 3),
		text_of("g", "a.py", 3),
		text_of("f", "b.py", 3),
		text_of("f", "a.py", 4),
		/* The same bytes with another border. */
		text_of("fa", ".py", 3),
	};
	struct fixture *f = *state;

	put(f, key_of(1, 10), "f");
	put(f, key_of(2, 20), "f");
	assert_ptr_equal(find(f, key_of(1, 10)), find(f, key_of(2, 20)));
	for (size_t i = 0; i < ARRAY_SIZE(like); i++) {
		struct code_name *name = code_names_intern(f->names, &like[i]);

		assert_non_null(name);
		assert_int_equal(name == find(f, key_of(1, 10)), i == 0);
		assert_string_equal(name->function, like[i].name);
		assert_string_equal(name->file, like[i].file);
		code_name_unref(name);
	}
}

static void test_intern_is_of_nobody(void **state)
{
	const struct code_text text = text_of("[why]", "", 0);
	struct fixture *f = *state;
	struct code_name *a = code_names_intern(f->names, &text);
	struct code_name *b = code_names_intern(f->names, &text);

	assert_ptr_equal(a, b);
	assert_string_equal(a->file, "");
	assert_int_equal(a->line, 0);
	assert_true(code_names_bytes(f->names) > 0);
	code_name_unref(a);
	assert_string_equal(b->function, "[why]");
	code_name_unref(b);
	assert_int_equal(code_names_bytes(f->names), 0);
	code_name_unref(NULL);
}

static void test_references_outlive_the_table(void **state)
{
	struct fixture *f = *state;
	struct code_name *name;

	put(f, key_of(1, 10), "f");
	put(f, key_of(1, 11), "g");
	name = code_name_ref(code_name_ref(find(f, key_of(1, 10))));
	code_names_free(f->names);
	f->names = NULL;
	assert_string_equal(name->function, "f");
	code_name_unref(name);
	assert_string_equal(name->file, "a.py");
	code_name_unref(name);
	code_names_free(NULL);
}

/* What was replaced is still right for who holds it. */
static void test_references_outlive_the_function(void **state)
{
	struct fixture *f = *state;
	struct code_name *name;
	size_t bytes;

	put(f, key_of(1, 10), "before");
	bytes = code_names_bytes(f->names);
	name = code_name_ref(find(f, key_of(1, 10)));
	put(f, key_of(1, 10), "behind");
	assert_string_equal(name->function, "before");
	assert_true(code_names_bytes(f->names) > bytes);
	code_name_unref(name);
	assert_int_equal(code_names_bytes(f->names), bytes);
}

struct text_row {
	const char *name;
	struct str text;
	const char *expected;
};

static const struct text_row text_rows[] = {
	{ "plain", STR_LIT("main"), "main" },
	{ "empty", STR_LIT(""), "[no name]" },
	{ "none", { NULL, 0 }, "[no name]" },
	{ "utf8",
	  STR_LIT("gr\xc3\xb6\xc3\x9f"
		  "er"),
	  "gr\xc3\xb6\xc3\x9f"
	  "er" },
	{ "not_utf8",
	  STR_LIT("a\xff"
		  "b"),
	  "a" REPLACEMENT "b" },
	{ "nothing_of_it_is_utf8", STR_LIT("\xff\xfe\x80\xc0"),
	  REPLACEMENT REPLACEMENT REPLACEMENT REPLACEMENT },
	{ "cut_character", STR_LIT("a\xe2\x82"), "a" REPLACEMENT REPLACEMENT },
	{ "surrogate", STR_LIT("\xed\xa0\x80"), REPLACEMENT REPLACEMENT REPLACEMENT },
	{ "control", STR_LIT("a\x1b[31m\n\t\x7f"), "a?[31m???" },
	{ "nul_inside", STR_LIT("a\0b"), "a?b" },
	{ "nul_alone", STR_LIT("\0"), "?" },
};

static void test_text(void **state)
{
	const struct text_row *row = *state;
	struct code_names *names = NULL;
	const struct code_text texts[] = {
		{ .name = row->text.p, .n_name = row->text.n, .file = "a", .n_file = 1 },
		{ .name = "f", .n_name = 1, .file = row->text.p, .n_file = row->text.n },
	};

	assert_int_equal(code_names_new(MAX_BYTES, NULL, &names), 0);
	struct code_name *function = code_names_intern(names, &texts[0]);
	assert_non_null(function);
	assert_string_equal(function->function, row->expected);
	assert_string_equal(function->file, "a");
	/* A file may be unknown. */
	struct code_name *file = code_names_intern(names, &texts[1]);
	assert_non_null(file);
	assert_string_equal(file->function, "f");
	assert_string_equal(file->file, row->text.n ? row->expected : "");
	assert_true(str_is_utf8(str_from(function->function)));
	code_name_unref(function);
	code_name_unref(file);
	assert_int_equal(code_names_bytes(names), 0);
	code_names_free(names);
}

/* The longest that the kernel half sends, all of it broken. */
static void test_longest_text(void **state)
{
	enum { N = 256 };
	struct fixture *f = *state;
	char bytes[N];
	const struct code_text text = {
		.name = bytes, .n_name = N, .file = bytes, .n_file = N, .line = 1
	};

	memset(bytes, 0xff, N);
	struct code_name *name = code_names_intern(f->names, &text);
	assert_non_null(name);
	assert_int_equal(strlen(name->function), 3 * N);
	assert_int_equal(strlen(name->file), 3 * N);
	code_name_unref(name);
}

static struct code_text text_with_lines(const uint8_t *lines, size_t n, uint8_t format)
{
	struct code_text text = text_of("f", "a.py", 3);

	text.lines = lines;
	text.n_lines = n;
	text.lines_format = format;
	return text;
}

/* Names with other lines are others: a function that was edited and loaded again. The table is kept with the name. */
static void test_tables_of_lines(void **state)
{
	static const uint8_t lines[] = {
		0x80, 0x00, 0xff, 0x01, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60
	};
	struct fixture *f = *state;
	const struct code_text texts[] = { text_with_lines(NULL, 0, 0),
					   text_with_lines(lines, sizeof(lines), 3),
					   text_with_lines(lines, sizeof(lines) - 1, 3),
					   text_with_lines(lines, sizeof(lines), 2) };
	struct code_name *names[ARRAY_SIZE(texts)];

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		names[i] = code_names_intern(f->names, &texts[i]);
		assert_non_null(names[i]);
		assert_int_equal(names[i]->n_lines, texts[i].n_lines);
		assert_int_equal(names[i]->lines_format, texts[i].lines_format);
		assert_memory_equal(names[i]->lines, lines, texts[i].n_lines);
		for (size_t k = 0; k < i; k++)
			assert_ptr_not_equal(names[i], names[k]);
	}
	struct code_name *again = code_names_intern(f->names, &texts[1]);
	assert_ptr_equal(again, names[1]);
	code_name_unref(again);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		code_name_unref(names[i]);
	assert_int_equal(code_names_bytes(f->names), 0);
}

/* Of the same name, in sources of different ids. */
static void test_ids_of_sources(void **state)
{
	static const char *const ids[] = { NULL, "1", "2" };
	struct fixture *f = *state;
	struct code_text text = text_with_lines((const uint8_t *)"\1\2", 2, 3);
	struct code_name *names[ARRAY_SIZE(ids)];

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		text.source_id = ids[i];
		names[i] = code_names_intern(f->names, &text);
		assert_non_null(names[i]);
		assert_string_equal(names[i]->source_id, ids[i] ? ids[i] : "");
		assert_memory_equal(names[i]->lines, "\1\2", 2);
		for (size_t k = 0; k < i; k++)
			assert_ptr_not_equal(names[i], names[k]);
	}
	struct code_name *again = code_names_intern(f->names, &text);
	assert_ptr_equal(again, names[2]);
	code_name_unref(again);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		code_name_unref(names[i]);
	assert_int_equal(code_names_bytes(f->names), 0);
}

/* Nobody asks for those of a process that has ended, so that they go first, and nothing has to be told again. */
static void test_ended_go_first(void **state)
{
	struct fixture *f = *state;
	uint64_t seed;

	put_many(f, 1, 0, 50);
	put_many(f, 2, 0, 50);
	put_many(f, 3, 0, 50);
	seed = f->seed;
	code_names_retract(f->names, 2);
	/* Its last samples still find them. */
	assert_string_equal(find(f, key_of(2, 49))->function, "f_2_49");
	for (unsigned int i = 50; find(f, key_of(2, 49)); i++)
		put_many(f, 3, i, 1);
	assert_string_equal(find(f, key_of(1, 0))->function, "f_1_0");
	assert_string_equal(find(f, key_of(3, 0))->function, "f_3_0");
	assert_true(f->seed == seed);
}

/* None has more than its share: one that lives goes, and all have to tell everything anew. */
static void test_living_go_with_a_new_seed(void **state)
{
	struct fixture *f = *state;
	uint64_t seed = f->seed;
	uint32_t pid = 3;

	put_many(f, 1, 0, 20);
	put_many(f, 2, 0, 20);
	for (; f->seed == seed && pid < 1000; pid++) {
		/* The one that was asked for longest ago is 2. */
		assert_non_null(find(f, key_of(1, 0)));
		put_many(f, pid, 0, 20);
	}
	assert_true(f->seed != seed);
	assert_string_equal(find(f, key_of(1, 0))->function, "f_1_0");
	/* Nothing of it is kept back. */
	for (unsigned int i = 0; i < 20; i++)
		assert_null(find(f, key_of(2, i)));
}

/* A pid that is told of again is another process's, or was not at its end. */
static void test_retracted_and_told_again(void **state)
{
	struct fixture *f = *state;
	uint64_t seed;

	put_many(f, 1, 0, 50);
	put_many(f, 2, 0, 50);
	code_names_retract(f->names, 1);
	code_names_retract(f->names, 2);
	code_names_retract(f->names, 4711);
	put(f, key_of(1, 0), "again");
	seed = f->seed;
	for (unsigned int i = 0; find(f, key_of(2, 0)); i++)
		put_many(f, 3, i, 1);
	assert_string_equal(find(f, key_of(1, 0))->function, "again");
	assert_true(f->seed == seed);
}

/* All images that a process has had go with it. */
static void test_retract_is_of_the_pid(void **state)
{
	const struct code_key before = { 1, 1, 10, 9 }, now = { 1, 2, 10, 9 };
	struct fixture *f = *state;
	uint64_t seed;

	put(f, before, "before");
	put(f, now, "now");
	put_many(f, 2, 0, 1);
	code_names_retract(f->names, 1);
	seed = f->seed;
	for (unsigned int i = 1; find(f, before) || find(f, now); i++)
		put_many(f, 2, i, 1);
	assert_true(f->seed == seed);
}

/* Code that is made without end: the newest are known, and nobody else pays for it. */
static void test_endless_names_of_one_process(void **state)
{
	enum { N = 5000 };
	struct fixture *f = *state;
	uint64_t seed = f->seed;

	put_many(f, 1, 0, N);
	assert_true(f->seed == seed);
	assert_null(find(f, key_of(1, 0)));
	assert_string_equal(find(f, key_of(1, N - 1))->function, "f_1_4999");
	assert_string_equal(find(f, key_of(1, N - 50))->function, "f_1_4950");
	assert_in_range(code_names_bytes(f->names), MAX_BYTES / 2, MAX_BYTES);
}

/* What runs all the time stays, whatever is made and run once beside it. */
static void test_those_that_are_asked_for_stay(void **state)
{
	struct fixture *f = *state;
	uint64_t seed = f->seed;

	put(f, key_of(1, 1000000), "main");
	for (unsigned int i = 0; i < 5000; i++) {
		put_many(f, 1, i, 1);
		assert_non_null(find(f, key_of(1, 1000000)));
	}
	assert_true(f->seed == seed);
}

/* It may be told already, as far as the kernel half knows: so all are told anew, but not each time. */
static void test_a_forgotten_one_is_met_again(void **state)
{
	struct fixture *f = *state;
	uint64_t seed = f->seed;

	assert_null(find(f, key_of(1, 0)));
	put_many(f, 1, 0, 1);
	assert_null(find(f, key_of(1, 1)));
	assert_true(f->seed == seed);
	put_many(f, 1, 1, 5000);
	assert_true(f->seed == seed);
	assert_null(find(f, key_of(1, 0)));
	assert_true(f->seed != seed);
	seed = f->seed;
	assert_null(find(f, key_of(1, 1)));
	assert_true(f->seed == seed);
}

/* Nor does it take what others have told: those who are sampled beside it keep theirs, and nobody has to tell anything anew. */
static void test_endless_names_beside_others(void **state)
{
	struct fixture *f = *state;
	uint64_t seed = f->seed;

	put_many(f, 2, 0, 20);
	put_many(f, 1, 0, 5000);
	put_many(f, 3, 0, 20);
	put_many(f, 1, 5000, 5000);
	for (unsigned int i = 0; i < 20; i++) {
		assert_non_null(find(f, key_of(2, i)));
		assert_non_null(find(f, key_of(3, i)));
	}
	assert_true(f->seed == seed);
}

/* Names that somebody holds take memory, but nobody's table is given up for them again and again. */
static void test_held_names_do_not_thrash(void **state)
{
	enum { N = 2000 };
	struct fixture *f = *state;
	static struct code_name *held[N];
	unsigned int n_seeds = 0;
	uint64_t seed;

	for (unsigned int i = 0; i < N; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "held_%u", i);
		const struct code_text text = text_of(name, "held.py", 1);
		held[i] = code_names_intern(f->names, &text);
		assert_non_null(held[i]);
	}
	assert_true(code_names_bytes(f->names) > MAX_BYTES);
	seed = f->seed;
	for (unsigned int i = 0; i < 100; i++) {
		put(f, key_of(1 + i % 2, i), "f");
		n_seeds += f->seed != seed;
		seed = f->seed;
	}
	for (unsigned int i = 0; i < N; i++)
		code_name_unref(held[i]);
	assert_in_range(n_seeds, 0, 10);
}

/* Less than one name: what is told is known until the next comes. */
static void test_no_room_at_all(void **state)
{
	struct code_names *names = NULL;
	const struct code_key first = key_of(1, 10), second = key_of(1, 11), other = key_of(2, 10);
	const struct code_text text = text_of("f", "a.py", 3);

	(void)state;
	assert_int_equal(code_names_new(1, NULL, &names), 0);
	assert_int_equal(code_names_put(names, &first, &text), 0);
	assert_non_null(code_names_find(names, &first));
	assert_int_equal(code_names_put(names, &second, &text), 0);
	assert_non_null(code_names_find(names, &second));
	assert_null(code_names_find(names, &first));
	assert_int_equal(code_names_put(names, &other, &text), 0);
	assert_non_null(code_names_find(names, &other));
	assert_null(code_names_find(names, &second));
	code_names_free(names);
}

/* Who takes their place takes all memory that they had. */
static void test_all_memory_is_given_back(void **state)
{
	struct fixture *f = *state;
	size_t alone;

	put(f, key_of(7, 1), "f");
	alone = code_names_bytes(f->names);
	code_names_retract(f->names, 7);
	for (uint32_t pid = 100; pid < 200; pid++) {
		put_many(f, pid, 0, 20);
		code_names_retract(f->names, pid);
	}
	code_names_free(f->names);
	assert_int_equal(code_names_new(0, &f->seed, &f->names), 0);
	assert_int_equal(code_names_bytes(f->names), 0);
	for (uint32_t pid = 100; pid < 110; pid++)
		put(f, key_of(pid, 1), "f");
	assert_int_equal(code_names_bytes(f->names), alone);
}

/* Each start has another seed: what the kernel half holds for told is told anew. */
static void test_seed_is_new_at_the_start(void **state)
{
	struct fixture *f = *state;
	struct code_names *names = NULL;
	uint64_t seed = f->seed;

	assert_int_equal(code_names_new(MAX_BYTES, &f->seed, &names), 0);
	assert_true(f->seed != seed);
	code_names_free(names);
}

#define FIXTURE_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	static const struct CMUnitTest others[] = {
		FIXTURE_TEST(test_put_and_find),
		FIXTURE_TEST(test_keys),
		FIXTURE_TEST(test_replace),
		FIXTURE_TEST(test_equal_texts_are_one),
		FIXTURE_TEST(test_intern_is_of_nobody),
		FIXTURE_TEST(test_references_outlive_the_table),
		FIXTURE_TEST(test_references_outlive_the_function),
		FIXTURE_TEST(test_longest_text),
		FIXTURE_TEST(test_tables_of_lines),
		FIXTURE_TEST(test_ids_of_sources),
		FIXTURE_TEST(test_ended_go_first),
		FIXTURE_TEST(test_living_go_with_a_new_seed),
		FIXTURE_TEST(test_retracted_and_told_again),
		FIXTURE_TEST(test_retract_is_of_the_pid),
		FIXTURE_TEST(test_endless_names_of_one_process),
		FIXTURE_TEST(test_those_that_are_asked_for_stay),
		FIXTURE_TEST(test_a_forgotten_one_is_met_again),
		FIXTURE_TEST(test_endless_names_beside_others),
		FIXTURE_TEST(test_held_names_do_not_thrash),
		cmocka_unit_test(test_no_room_at_all),
		FIXTURE_TEST(test_all_memory_is_given_back),
		FIXTURE_TEST(test_seed_is_new_at_the_start),
	};
	struct CMUnitTest tests[ARRAY_SIZE(text_rows) + ARRAY_SIZE(others)];

	for (size_t i = 0; i < ARRAY_SIZE(text_rows); i++)
		tests[i] = (struct CMUnitTest){ text_rows[i].name, test_text, NULL, NULL,
						(void *)&text_rows[i] };
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		tests[ARRAY_SIZE(text_rows) + i] = others[i];
	return cmocka_run_group_tests_name("agent/runtimes/code_names", tests, NULL, NULL);
}
