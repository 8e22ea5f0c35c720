/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions a translation has, with their bytecode: byte by byte, with parts of an older one, and some that are none. */
#include <stdbool.h>
#include <string.h>

#include "agent/runtimes/v8/layout.h"
#include "agent/util/macro.h"
#include "bpf/runtimes/v8_translation.h"
#include "tests/support/unit.h"

/* Instructions as 14.6 numbers them: a function of six numbers and of four, a builtin of three, the frame of a constructor of two; begins of three; a register of one; one without. */
enum {
	FUNCTION_RETURNS = 0,
	FUNCTION = 1,
	BUILTIN = 2,
	CONSTRUCTOR = 4,
	BEGIN = 14,
	REGISTER = 16,
	NOTHING = 12,
	SAME = 44,
	SAME_IN_ONE = 45,
};

/* With a sign, in bit 0. */
#define SIGNED(n) ((n) << 1)
#define ENTERED 3 /* −1 */

static const struct v8_layout layout = {
	.n_translation_opcodes = 45,
	.translation_begin = 14,
	.translation_function = 0,
	.translation_numbers = { 0x3300133343123346, 0x1111111111110111, 0x1211111011111 },
};

/* Reads that which begins at `begin`. False: it is none, or does not end within the bytes. */
static bool translate(const uint8_t *bytes, size_t n, uint32_t begin, struct v8_translation *t)
{
	memset(t, 0, sizeof(*t));
	v8_translation_begin(t, begin);
	for (;;) {
		uint32_t which = t->is_older & 1;
		uint32_t at = t->next[which]++;

		if (at >= n)
			return false;
		if (v8_translation_take(&layout, t, bytes[at]))
			return !t->is_broken && t->n_functions == 0;
	}
}

static void assert_function(const struct v8_translation *t, size_t i, uint32_t literal,
			    uint32_t bytecode)
{
	assert_true(i < t->chain.n);
	assert_int_equal(t->chain.functions[i] >> 32, literal);
	assert_int_equal((uint32_t)t->chain.functions[i], bytecode + 1);
}

#define FRAME(bytecode, literal) FUNCTION, SIGNED(bytecode), SIGNED(literal), 0, 0

static void test_functions(void **state)
{
	static const uint8_t bytes[] = {
		BEGIN,
		0,
		SIGNED(4),
		SIGNED(3),
		/* The frame's own. */
		FUNCTION_RETURNS,
		SIGNED(20),
		SIGNED(1),
		0,
		SIGNED(2),
		0,
		0,
		REGISTER,
		4,
		NOTHING,
		/* In it a constructor, of which the bytecode and the literal need two bytes. */
		CONSTRUCTOR,
		0,
		0,
		FUNCTION,
		0x80 | 4,
		8,
		0x80 | 2,
		2,
		0,
		0,
		REGISTER,
		0xff,
		127,
		/* Which has called a builtin. */
		BUILTIN,
		SIGNED(9),
		SIGNED(7),
		0,
		REGISTER,
		1,
	};
	struct v8_translation t;

	(void)state;
	assert_true(translate(bytes, sizeof(bytes), 0, &t));
	assert_int_equal(t.chain.n, 2);
	assert_function(&t, 0, 1, 20);
	assert_function(&t, 1, (2 | 2 << 7) >> 1, (4 | 8 << 7) >> 1);
}

static void test_entered(void **state)
{
	static const uint8_t bytes[] = { BEGIN, 0, 2, 2, FUNCTION, ENTERED, SIGNED(1), 0, 0 };
	struct v8_translation t;

	(void)state;
	assert_true(translate(bytes, sizeof(bytes), 0, &t));
	assert_function(&t, 0, 1, UINT32_MAX);
}

/* The first one is whole, the others have parts of it. */
static void test_parts_of_an_older_one(void **state)
{
	static const uint8_t bytes[] = {
		/* 0 */ BEGIN, 0, 4, 4, FRAME(10, 1), REGISTER, 5, FRAME(11, 2), REGISTER, 6,
		/* 18: its own second function. */
		BEGIN, 18, 4, 4, SAME_IN_ONE + 2, FRAME(12, 3), REGISTER, 7,
		/* 30: its own first one, then three of it, which have the second one. */
		BEGIN, 30, 4, 4, FRAME(13, 1), SAME, 3,
		/* 41: one instruction of it, its own, and one again. */
		BEGIN, 41, 4, 4, SAME_IN_ONE + 1, REGISTER, 9, SAME_IN_ONE + 1
	};
	struct v8_translation t;

	(void)state;
	assert_true(translate(bytes, sizeof(bytes), 0, &t));
	assert_function(&t, 0, 1, 10);
	assert_function(&t, 1, 2, 11);
	assert_true(translate(bytes, sizeof(bytes), 18, &t));
	assert_function(&t, 0, 1, 10);
	assert_function(&t, 1, 3, 12);
	assert_true(translate(bytes, sizeof(bytes), 30, &t));
	assert_function(&t, 0, 1, 13);
	assert_function(&t, 1, 2, 11);
	assert_true(translate(bytes, sizeof(bytes), 41, &t));
	assert_function(&t, 0, 1, 10);
	assert_function(&t, 1, 2, 11);
	assert_int_equal(t.chain.n, 2);
}

#define ROW(...)                                                                        \
	{                                                                               \
		.bytes = { __VA_ARGS__ }, .n = sizeof((const uint8_t[]){ __VA_ARGS__ }) \
	}

static void test_none(void **state)
{
	static const struct {
		uint8_t bytes[24];
		size_t n;
	} rows[] = {
		/* Does not begin. */
		ROW(FRAME(1, 1)),
		ROW(REGISTER, 1),
		/* Ends before its functions. */
		ROW(BEGIN, 0, 4, 4, FRAME(1, 1)),
		ROW(BEGIN, 0, 4, 4, FRAME(1, 1), BEGIN, 0, 2, 2, FRAME(1, 1)),
		/* There is no older one, or none is the same, or it is the same as a third one. */
		ROW(BEGIN, 0, 2, 2, SAME_IN_ONE + 1),
		ROW(BEGIN, 9, 2, 2, SAME_IN_ONE + 1),
		ROW(BEGIN, 0, 2, 2, SAME, 0),
		ROW(BEGIN, 0, 2, 2, SAME_IN_ONE),
		/* Bytecodes that are none; numbers of more than 32 bits. */
		ROW(BEGIN, 0, 2, 2, FUNCTION, 5, 2, 0, 0),
		ROW(BEGIN, 0, 2, 2, FUNCTION, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 0, 0),
	};
	static const uint8_t third[] = { BEGIN, 0,  2, 2, SAME_IN_ONE + 1, FRAME(1, 1),
					 BEGIN, 10, 2, 2, SAME_IN_ONE + 2, FRAME(1, 1) };
	struct v8_translation t;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_false(translate(rows[i].bytes, rows[i].n, 0, &t));
	assert_false(translate(third, sizeof(third), 10, &t));
}

/* As many functions as there is room for, and one more. */
static void test_room(void **state)
{
	for (size_t n = V8_CHAIN_FUNCTIONS; n <= V8_CHAIN_FUNCTIONS + 1; n++) {
		uint8_t bytes[4 + 5 * (V8_CHAIN_FUNCTIONS + 1)] = { BEGIN, 0, (uint8_t)SIGNED(n),
								    (uint8_t)SIGNED(n) };
		struct v8_translation t;

		for (size_t i = 0; i < n; i++) {
			const uint8_t frame[] = { FRAME((uint8_t)i, 1) };

			memcpy(bytes + 4 + 5 * i, frame, sizeof(frame));
		}
		assert_int_equal(translate(bytes, sizeof(bytes), 0, &t), n <= V8_CHAIN_FUNCTIONS);
	}
	(void)state;
}

static void test_entries(void **state)
{
	static const __u64 entry[2] = { 0x0807060504030201, 0x100f0e0d0c0b0a09 };
	static const struct {
		uint32_t at, n, expected;
	} rows[] = {
		{ 0, 0, 0 },	      { 0, 1, 0x01 },	{ 0, 4, 0x04030201 }, { 1, 2, 0x0302 },
		{ 6, 4, 0x0a090807 }, { 7, 2, 0x0908 }, { 8, 4, 0x0c0b0a09 }, { 5, 4, 0x09080706 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(v8_entry_number(entry, rows[i].at, rows[i].n), rows[i].expected);
}

/* Each part of a chain is in its mark. */
static void test_mark(void **state)
{
	struct v8_chain chain = { .n = V8_CHAIN_FUNCTIONS, .functions = { 1, 2 } };
	uint64_t mark = v8_chain_mark(&chain, 7);

	(void)state;
	assert_int_not_equal(v8_chain_mark(&chain, 8), mark);
	chain.n = 1;
	assert_int_not_equal(v8_chain_mark(&chain, 7), mark);
	chain.n = V8_CHAIN_FUNCTIONS;
	for (size_t i = 0; i < V8_CHAIN_FUNCTIONS; i++) {
		chain.functions[i] ^= 1ULL << (4 * i);
		assert_int_not_equal(v8_chain_mark(&chain, 7), mark);
		chain.functions[i] ^= 1ULL << (4 * i);
	}
	assert_int_equal(v8_chain_mark(&chain, 7), mark);
}

static const struct unit_test tests[] = {
	TEST(test_functions), TEST(test_entered), TEST(test_parts_of_an_older_one),
	TEST(test_none),      TEST(test_room),	  TEST(test_entries),
	TEST(test_mark),
};

TEST_MAIN(tests)
