/* SPDX-License-Identifier: Apache-2.0 */
/* What CPython says of itself (_Py_DebugOffsets): of real builds, and of files that lie. */
#include <string.h>

#include "agent/runtimes/python/layout.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

/* As CPython 3.13.0, 3.14.10 and 3.15.2 have them on x86-64. */
static const uint64_t v3_13[] = {
	0x7970677562656478,
	0x30d00f0,
	0,
	283320,
	608,
	632,
	194968,
	7272,
	7264,
	7344,
	7400,
	7656,
	7640,
	7648,
	16,
	7752,
	0,
	7768,
	7760,
	304,
	0,
	8,
	16,
	72,
	152,
	160,
	232,
	32,
	80,
	8,
	0,
	56,
	72,
	70,
	208,
	112,
	120,
	128,
	136,
	68,
	52,
	96,
	104,
	200,
	16,
	8,
	416,
	24,
	88,
	168,
	32,
	24,
	16,
	40,
	24,
	16,
	48,
	32,
	40,
	24,
	16,
	32,
	16,
	24,
	40,
	16,
	32,
	64,
	32,
	16,
	40,
	240,
	200,
};

static const uint64_t v3_14[] = {
	0x7970677562656478,
	0x30e0af0,
	0,
	316616,
	784,
	808,
	225864,
	7280,
	7272,
	7344,
	7360,
	7408,
	7688,
	7672,
	7680,
	16,
	7784,
	0,
	7800,
	7792,
	7992,
	0,
	832,
	0,
	8,
	16,
	72,
	152,
	160,
	232,
	32,
	88,
	8,
	0,
	56,
	80,
	74,
	64,
	0,
	216,
	112,
	120,
	128,
	136,
	68,
	52,
	96,
	104,
	208,
	0,
	16,
	8,
	416,
	24,
	88,
	168,
	40,
	32,
	16,
	40,
	24,
	16,
	200,
	24,
	40,
	32,
	48,
	32,
	40,
	24,
	16,
	32,
	16,
	24,
	40,
	16,
	32,
	64,
	32,
	16,
	40,
	264,
	192,
	160,
	24,
	72,
	67,
	0,
	8,
	24,
	304,
	8076,
	0,
	4,
	512,
};

static const uint64_t v3_15[] = {
	0x7970677562656478,
	0x30f02f0,
	0,
	346568,
	912,
	936,
	226240,
	7272,
	7264,
	7336,
	7352,
	7400,
	7592,
	7576,
	7584,
	16,
	7736,
	0,
	7752,
	7744,
	7944,
	0,
	888,
	0,
	8,
	16,
	72,
	80,
	88,
	96,
	176,
	184,
	256,
	32,
	36,
	40,
	136,
	288,
	0,
	88,
	8,
	0,
	56,
	80,
	74,
	64,
	0,
	216,
	112,
	120,
	128,
	136,
	68,
	52,
	96,
	104,
	208,
	0,
	16,
	8,
	424,
	24,
	88,
	168,
	32,
	288,
	944,
	888,
	40,
	32,
	16,
	40,
	24,
	16,
	200,
	24,
	40,
	32,
	48,
	32,
	40,
	24,
	16,
	32,
	16,
	24,
	40,
	16,
	32,
	64,
	32,
	16,
	40,
	56,
	176,
	112,
	120,
	1120,
	104,
	160,
	24,
	72,
	67,
	0,
	8,
	24,
	344,
	8028,
	0,
	4,
	512,
};

#define WORD_VERSION 1
#define WORD_FREE_THREADED 2
#define WORD_THREADS_HEAD 9

/* What a word is set to. */
struct refused {
	const char *name;
	uint32_t word;
	uint64_t value;
};

static void test_3_13(void **state)
{
	struct python_layout l;

	(void)state;
	assert_true(python_layout_from_offsets(v3_13, ARRAY_SIZE(v3_13), &l));
	assert_int_equal(l.seam, PYTHON_BY_ENTRY);
	assert_int_equal(l.minor, 13);
	assert_int_equal(l.interpreters_at, 632);
	assert_int_equal(l.interpreter_next, 7264);
	assert_int_equal(l.interpreter_threads, 7344);
	assert_int_equal(l.thread_frame, 72);
	assert_int_equal(l.thread_id, 152);
	assert_int_equal(l.thread_interpreter, 16);
	assert_int_equal(l.collecting, 0);
	assert_int_equal(l.thread_bytes, 160);
	assert_int_equal(l.frame_instr, 56);
	assert_int_equal(l.frame_mark, 70);
	assert_int_equal(l.frame_tlbc, 0);
	assert_int_equal(l.code_name, 128);
	assert_int_equal(l.code_version, 92);
	assert_int_equal(l.code_instr, 200);
	assert_int_equal(l.str_ascii, 40);
	assert_int_equal(l.str_compact, 56);
	assert_int_equal(l.str_hash, 24);
	assert_int_equal(l.str_kind_shift, 2);
	assert_int_equal(l.dict_keys, 32);
	/* Its tasks say nothing of who awaits them. */
	assert_int_equal(l.gen_bytes, 0);
	assert_int_equal(l.asyncio.interpreter_bytes, 0);
}

/* What is the same in 3.14 and 3.15. */
static void assert_coroutines(const struct python_layout *l)
{
	assert_int_equal(l->gen_frame, 72);
	assert_int_equal(l->gen_state, 67);
	assert_int_equal(l->gen_bytes, 72 + 74 + 8);
	assert_int_equal(l->frame_stack, 64);
	assert_int_equal(l->object_bytes, 16);
	assert_int_equal(l->set_used, 24);
	assert_int_equal(l->set_table, 40);
	assert_int_equal(l->set_mask, 32);
	assert_int_equal(l->type_name, 24);
}

static void test_3_14(void **state)
{
	struct python_layout l;

	(void)state;
	assert_true(python_layout_from_offsets(v3_14, ARRAY_SIZE(v3_14), &l));
	assert_int_equal(l.minor, 14);
	assert_int_equal(l.interpreters_at, 808);
	assert_int_equal(l.thread_frame, 72);
	assert_int_equal(l.frame_mark, 74);
	assert_int_equal(l.code_instr, 208);
	assert_int_equal(l.code_tlbc, 0);
	assert_coroutines(&l);
	/* FRAME_SUSPENDED, FRAME_SUSPENDED_YIELD_FROM */
	assert_int_equal((int8_t)l.gen_suspended, -2);
	assert_int_equal(l.gen_n_suspended, 2);
	assert_int_equal(l.gen_awaited, 1);
	assert_int_equal(l.asyncio.interpreter_bytes, 225864);
	assert_int_equal(l.asyncio.thread_running_task, 0);
}

static void test_3_15(void **state)
{
	struct python_layout l;

	(void)state;
	assert_true(python_layout_from_offsets(v3_15, ARRAY_SIZE(v3_15), &l));
	assert_int_equal(l.minor, 15);
	assert_int_equal(l.interpreters_at, 936);
	assert_int_equal(l.thread_frame, 72);
	assert_int_equal(l.thread_id, 176);
	assert_int_equal(l.thread_bytes, 184);
	assert_int_equal(l.frame_mark, 74);
	assert_int_equal(l.code_instr, 208);
	assert_int_equal(l.thread_interpreter, 16);
	assert_int_equal(l.collecting, 7512);
	assert_int_equal(l.collecting_frame, 7520);
	assert_coroutines(&l);
	/* … and FRAME_SUSPENDED_YIELD_FROM_LOCKED */
	assert_int_equal(l.gen_suspended, 1);
	assert_int_equal(l.gen_n_suspended, 3);
	assert_int_equal(l.gen_awaited, 2);
	assert_int_equal(l.asyncio.interpreter_bytes, 226240);
}

/* Frames of a list are known all the same. */
static const struct refused without_coroutines[] = {
	{ "stack_behind_what_is_read", 37, 256 },
	{ "no_size_of_objects", 50, 0 },
	{ "set_all_ones", 63, UINT64_MAX },
	{ "no_table", 64, 0 },
	{ "no_names_of_types", 53, 0 },
	{ "no_mask", 65, 0 },
	{ "frame_too_far", 85, 168 },
	{ "frame_between_words", 85, 73 },
	{ "state_all_ones", 86, UINT64_MAX },
	{ "interpreter_too_large", 6, 1ULL << 32 },
};

static void test_without_coroutines(void **state)
{
	const struct refused *row = *state;
	uint64_t words[ARRAY_SIZE(v3_14)];
	struct python_layout l;

	memcpy(words, v3_14, sizeof(words));
	words[row->word] = row->value;
	assert_true(python_layout_from_offsets(words, ARRAY_SIZE(words), &l));
	assert_int_equal(l.gen_bytes, 0);
	assert_int_equal(l.asyncio.interpreter_bytes, 0);
}

/* Each thread has a copy of the bytecode, and a text's state another layout. */
static void test_free_threaded(void **state)
{
	uint64_t words[ARRAY_SIZE(v3_14)];
	struct python_layout l;

	(void)state;
	memcpy(words, v3_14, sizeof(words));
	words[WORD_FREE_THREADED] = 1;
	words[38] = 72;
	words[49] = 224;
	assert_true(python_layout_from_offsets(words, ARRAY_SIZE(words), &l));
	assert_int_equal(l.frame_tlbc, 72);
	assert_int_equal(l.code_tlbc, 224);
	assert_int_equal(l.code_bytes, 232);
	assert_int_equal(l.str_kind_shift, 8);
}

static const struct refused refused[] = {
	{ "no_cookie", 0, 0 },
	{ "version_2", WORD_VERSION, 0x020d00f0 },
	{ "version_3_12", WORD_VERSION, 0x030c00f0 },
	{ "next_version", WORD_VERSION, 0x031000f0 },
	{ "all_ones_version", WORD_VERSION, UINT64_MAX },
	{ "interpreter_too_large", WORD_THREADS_HEAD, UINT16_MAX + 1ULL },
	{ "frame_behind_what_is_read", 30, 256 },
	{ "all_ones_code", 37, UINT64_MAX },
	{ "text_behind_what_is_read", 70, 241 },
};

static void test_refused(void **state)
{
	const struct refused *row = *state;
	uint64_t words[ARRAY_SIZE(v3_13)];
	struct python_layout l;

	memcpy(words, v3_13, sizeof(words));
	words[row->word] = row->value;
	assert_false(python_layout_from_offsets(words, ARRAY_SIZE(words), &l));
}

/* A file that ends within them. */
static void test_cut(void **state)
{
	struct python_layout l;

	(void)state;
	for (size_t n = 0; n <= 70; n++) {
		uint64_t words[ARRAY_SIZE(v3_13)];

		memcpy(words, v3_13, n * sizeof(*words));
		assert_false(python_layout_from_offsets(words, n, &l));
	}
	assert_true(python_layout_from_offsets(v3_13, 71, &l));
}

static const struct unit_test tests[] = {
	TEST(test_3_13),	  TEST(test_3_14),
	TEST(test_3_15),	  TEST_ROWS(test_without_coroutines, without_coroutines, name),
	TEST(test_free_threaded), TEST_ROWS(test_refused, refused, name),
	TEST(test_cut),
};

TEST_MAIN(tests)
