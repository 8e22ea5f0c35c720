/* SPDX-License-Identifier: Apache-2.0 */
/* What _asyncio says of its tasks: of real builds, and of files that lie. */
#include "agent/runtimes/python/asyncio.h"

#include <string.h>

#include "agent/util/macro.h"
#include "tests/support/unit.h"

/* As Debian's 3.14.10 and 3.15.2 have them on x86-64. */
static const uint64_t v3_14[] = { 168,	  136,	 96,  108, 109, 128, 152,
				  225864, 10880, 936, 864, 872, 880 };
static const uint64_t v3_15[] = { 168,	  136,	 96,   108,  109,  128, 152,
				  226240, 10856, 1104, 1024, 1032, 1048 };

#define WORD_TASK_BYTES 0
#define WORD_AWAITED_BY 2
#define WORD_IS_TASK 3
#define WORD_IS_SET 4
#define WORD_CORO 5
#define WORD_INTERPRETER_BYTES 7
#define WORD_THREAD_BYTES 9
#define WORD_RUNNING_TASK 11

static void test_3_14(void **state)
{
	struct python_asyncio a;

	(void)state;
	assert_true(python_asyncio_from_words(v3_14, ARRAY_SIZE(v3_14), &a));
	assert_int_equal(a.interpreter_bytes, 225864);
	assert_int_equal(a.thread_running_task, 872);
	assert_int_equal(a.task_awaited_by, 96);
	assert_int_equal(a.task_is_task, 108);
	assert_int_equal(a.task_awaited_by_is_set, 109);
	assert_int_equal(a.task_coro, 128);
	assert_int_equal(a.task_bytes, 136);
}

static void test_3_15(void **state)
{
	struct python_asyncio a;

	(void)state;
	assert_true(python_asyncio_from_words(v3_15, ARRAY_SIZE(v3_15), &a));
	assert_int_equal(a.interpreter_bytes, 226240);
	assert_int_equal(a.thread_running_task, 1032);
}

struct refused {
	const char *name;
	uint32_t word;
	uint64_t value;
};

static const struct refused refused[] = {
	{ "no_task", WORD_TASK_BYTES, 0 },
	{ "awaited_by_outside", WORD_AWAITED_BY, 168 },
	{ "awaited_by_half_outside", WORD_AWAITED_BY, 161 },
	{ "awaited_by_all_ones", WORD_AWAITED_BY, UINT64_MAX },
	{ "awaited_by_between_words", WORD_AWAITED_BY, 97 },
	{ "is_task_outside", WORD_IS_TASK, 168 },
	{ "is_set_all_ones", WORD_IS_SET, UINT64_MAX },
	{ "coro_outside", WORD_CORO, 168 },
	{ "coro_between_words", WORD_CORO, 129 },
	{ "interpreter_too_large", WORD_INTERPRETER_BYTES, UINT32_MAX + 1ULL },
	{ "no_thread", WORD_THREAD_BYTES, 0 },
	{ "no_running_task", WORD_RUNNING_TASK, 0 },
	{ "running_task_outside", WORD_RUNNING_TASK, 936 },
	{ "running_task_all_ones", WORD_RUNNING_TASK, UINT64_MAX - 7 },
};

static void test_refused(void **state)
{
	const struct refused *row = *state;
	uint64_t words[ARRAY_SIZE(v3_14)];
	struct python_asyncio a;

	memcpy(words, v3_14, sizeof(words));
	words[row->word] = row->value;
	assert_false(python_asyncio_from_words(words, ARRAY_SIZE(words), &a));
}

/* A task may be large, as long as what is read of it is near its beginning; so may a thread's state. */
static void test_large(void **state)
{
	uint64_t words[ARRAY_SIZE(v3_14)];
	struct python_asyncio a;

	(void)state;
	memcpy(words, v3_14, sizeof(words));
	words[WORD_TASK_BYTES] = words[WORD_THREAD_BYTES] = UINT64_MAX;
	words[WORD_CORO] = 240;
	words[WORD_RUNNING_TASK] = UINT16_MAX - 7 - 8;
	assert_true(python_asyncio_from_words(words, ARRAY_SIZE(words), &a));
	assert_int_equal(a.task_bytes, 248);
	words[WORD_CORO] = 248;
	assert_false(python_asyncio_from_words(words, ARRAY_SIZE(words), &a));
}

/* Those of betas were shorter. */
static void test_cut(void **state)
{
	struct python_asyncio a;

	(void)state;
	for (size_t n = 0; n < ARRAY_SIZE(v3_14); n++) {
		uint64_t words[ARRAY_SIZE(v3_14)];

		memcpy(words, v3_14, n * sizeof(*words));
		assert_false(python_asyncio_from_words(words, n, &a));
	}
}

static const struct python_asyncio of_some = { .interpreter_bytes = 1000,
					       .thread_running_task = 80,
					       .task_bytes = 136 };

static void test_join(void **state)
{
	struct python_layout l = { .gen_bytes = 160, .asyncio.interpreter_bytes = 1000 };

	(void)state;
	python_asyncio_join(&l, &of_some);
	assert_memory_equal(&l.asyncio, &of_some, sizeof(of_some));
}

/* Made for an interpreter whose structures are others. */
static void test_join_with_another(void **state)
{
	struct python_layout l = { .gen_bytes = 160, .asyncio.interpreter_bytes = 1008 };

	(void)state;
	python_asyncio_join(&l, &of_some);
	assert_int_equal(l.asyncio.thread_running_task, 0);
}

/* An interpreter that does not say where coroutines have their frames. */
static void test_join_without_coroutines(void **state)
{
	struct python_layout l = { .asyncio.interpreter_bytes = 1000 };

	(void)state;
	python_asyncio_join(&l, &of_some);
	assert_int_equal(l.asyncio.thread_running_task, 0);
}

/* What is known of a build is what it says of itself. */
static void test_join_known(void **state)
{
	struct python_layout l = { .gen_bytes = 160, .asyncio.interpreter_bytes = 225864 };
	struct python_asyncio said;

	(void)state;
	python_asyncio_join_known(&l);
	assert_true(python_asyncio_from_words(v3_14, ARRAY_SIZE(v3_14), &said));
	assert_memory_equal(&l.asyncio, &said, sizeof(said));
	l.asyncio = (struct python_asyncio){ .interpreter_bytes = 225880 };
	python_asyncio_join_known(&l);
	assert_int_equal(l.asyncio.thread_running_task, 872);
	assert_int_equal(l.asyncio.interpreter_bytes, 225880);
	l.asyncio = (struct python_asyncio){ .interpreter_bytes = 225872 };
	python_asyncio_join_known(&l);
	assert_int_equal(l.asyncio.thread_running_task, 0);
}

static const struct unit_test tests[] = {
	TEST(test_3_14),
	TEST(test_3_15),
	TEST_ROWS(test_refused, refused, name),
	TEST(test_large),
	TEST(test_cut),
	TEST(test_join),
	TEST(test_join_with_another),
	TEST(test_join_without_coroutines),
	TEST(test_join_known),
};

TEST_MAIN(tests)
