/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of readers: what is written is read, and what nobody writes is refused. */
#include <errno.h>
#include <string.h>

#include "agent/dwarf/message.h"
#include "tests/support/unit.h"

#define STRINGS_BYTES ((size_t)4 << 20)

static void writes_and_reads(void **state)
{
	struct source_frames frames = {
		.n = 2, .items = { { "_ZN1a1bEv", "/src/a.h", 7 }, { "", "", 0 } }
	};
	struct source_frames read = { 0 };
	const struct dwarf_answer answer = { DWARF_HAS_FRAMES, 0, &frames };
	struct dwarf_answer ret = { .frames = &read };
	_cleanup_buf_ struct buf message = BUF_INIT(DWARF_MESSAGE_MAX_BYTES);
	struct arena strings;

	(void)state;
	arena_init(&strings, STRINGS_BYTES);
	assert_int_equal(dwarf_answer_write(&answer, &message), 0);
	assert_int_equal(dwarf_answer_read(message.data, message.len, &strings, &ret), 0);
	assert_int_equal(ret.kind, DWARF_HAS_FRAMES);
	assert_int_equal(read.n, 2);
	assert_string_equal(read.items[0].function, "_ZN1a1bEv");
	assert_string_equal(read.items[0].file, "/src/a.h");
	assert_int_equal(read.items[0].line, 7);
	assert_string_equal(read.items[1].function, "");
	assert_string_equal(read.items[1].file, "");
	arena_fini(&strings);
}

/* 64 frames of the longest names do not fit: all frames come, and as many names as have room. */
static void what_does_not_fit_is_empty(void **state)
{
	static char name[DWARF_NAME_MAX_BYTES + 10];
	static struct source_frames frames = { .n = SOURCE_FRAMES_MAX }, read;
	const struct dwarf_answer answer = { DWARF_HAS_FRAMES, 0, &frames };
	struct dwarf_answer ret = { .frames = &read };
	_cleanup_buf_ struct buf message = BUF_INIT(DWARF_MESSAGE_MAX_BYTES);
	struct arena strings;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	for (uint32_t i = 0; i < frames.n; i++)
		frames.items[i] = (struct source_frame){ name, "/a", i };
	arena_init(&strings, STRINGS_BYTES);
	assert_int_equal(dwarf_answer_write(&answer, &message), 0);
	assert_true(message.len <= DWARF_MESSAGE_MAX_BYTES);
	assert_int_equal(dwarf_answer_read(message.data, message.len, &strings, &ret), 0);
	assert_int_equal(read.n, SOURCE_FRAMES_MAX);
	assert_int_equal(strlen(read.items[0].function), DWARF_NAME_MAX_BYTES);
	assert_string_equal(read.items[SOURCE_FRAMES_MAX - 1].function, "");
	assert_string_equal(read.items[SOURCE_FRAMES_MAX - 1].file, "/a");
	assert_int_equal(read.items[SOURCE_FRAMES_MAX - 1].line, SOURCE_FRAMES_MAX - 1);
	arena_fini(&strings);
}

/* Numbers of an answer in the order of the message; texts behind them. */
struct bad_row {
	const char *name;
	uint32_t numbers[7]; /* kind, n_frames, value, value, line, n_function, n_file */
	size_t n_numbers;
	const char *text;
	size_t n_text;
};

static struct bad_row bad_rows[] = {
	{ "empty", { 0 }, 0, "", 0 },
	{ "cut in the head", { DWARF_NOTHING, 0, 0 }, 3, "", 0 },
	{ "kind 0", { 0 }, 4, "", 0 },
	{ "an unknown kind", { DWARF_ANSWER_MAX }, 4, "", 0 },
	{ "a kind beyond a byte", { 0x10000 + DWARF_NOTHING }, 4, "", 0 },
	{ "frames without any", { DWARF_HAS_FRAMES, 0 }, 4, "", 0 },
	{ "more frames than there are", { DWARF_HAS_FRAMES, 2, 0, 0, 1, 0, 0 }, 7, "", 0 },
	{ "more frames than there may be",
	  { DWARF_HAS_FRAMES, SOURCE_FRAMES_MAX + 1, 0, 0, 1, 0, 0 },
	  7,
	  "",
	  0 },
	{ "the largest number of frames",
	  { DWARF_HAS_FRAMES, UINT32_MAX, 0, 0, 1, 0, 0 },
	  7,
	  "",
	  0 },
	{ "frames where there are none", { DWARF_NOTHING, 1, 0, 0, 1, 0, 0 }, 7, "", 0 },
	{ "something behind", { DWARF_NOTHING, 0, 0, 0 }, 4, "x", 1 },
	{ "something behind frames", { DWARF_HAS_FRAMES, 1, 0, 0, 1, 1, 0 }, 7, "fx", 2 },
	{ "a name beyond the end", { DWARF_HAS_FRAMES, 1, 0, 0, 1, 3, 0 }, 7, "ab", 2 },
	{ "a file beyond the end", { DWARF_HAS_FRAMES, 1, 0, 0, 1, 1, 2 }, 7, "ab", 2 },
	{ "lengths that overflow", { DWARF_HAS_FRAMES, 1, 0, 0, 1, UINT32_MAX, 2 }, 7, "ab", 2 },
	{ "a zero in a name", { DWARF_HAS_FRAMES, 1, 0, 0, 1, 3, 0 }, 7, "a\0b", 3 },
	{ "a line beyond INT_MAX", { DWARF_HAS_FRAMES, 1, 0, 0, 0x80000000, 1, 0 }, 7, "a", 1 },
};

static void refuses(void **state)
{
	const struct bad_row *row = *state;
	static struct source_frames frames;
	struct dwarf_answer ret = { .frames = &frames };
	size_t n = row->n_numbers * sizeof(row->numbers[0]);
	/* A block of exactly that size: ASan sees what is read behind it. */
	char *message = malloc(n + row->n_text + 1);
	struct arena strings;

	assert_non_null(message);
	message = realloc(message, n + row->n_text > 0 ? n + row->n_text : 1);
	memcpy(message, row->numbers, n);
	memcpy(message + n, row->text, row->n_text);
	arena_init(&strings, STRINGS_BYTES);
	assert_int_equal(dwarf_answer_read(message, n + row->n_text, &strings, &ret),
			 DWARF_MESSAGE_MALFORMED);
	arena_fini(&strings);
	free(message);
}

/* Where none are expected there is no place for them. */
static void frames_nobody_asked_for(void **state)
{
	const uint32_t message[] = { DWARF_HAS_FRAMES, 1, 0, 0, 1, 0, 0 };
	struct dwarf_answer ret = { .frames = NULL };

	(void)state;
	assert_int_equal(dwarf_answer_read(message, sizeof(message), NULL, &ret),
			 DWARF_MESSAGE_MALFORMED);
}

static void no_memory_for_names(void **state)
{
	struct source_frames frames = { .n = 1, .items = { { "name", "file", 1 } } };
	const struct dwarf_answer answer = { DWARF_HAS_FRAMES, 0, &frames };
	struct dwarf_answer ret = { .frames = &frames };
	_cleanup_buf_ struct buf message = BUF_INIT(DWARF_MESSAGE_MAX_BYTES);
	struct arena strings;

	(void)state;
	assert_int_equal(dwarf_answer_write(&answer, &message), 0);
	arena_init(&strings, 1);
	assert_int_equal(dwarf_answer_read(message.data, message.len, &strings, &ret), -ENOMEM);
	arena_fini(&strings);
}

static const struct unit_test tests[] = {
	TEST(writes_and_reads),
	TEST(what_does_not_fit_is_empty),
	TEST(frames_nobody_asked_for),
	TEST(no_memory_for_names),
	TEST_ROWS(refuses, bad_rows, name),
};

TEST_MAIN(tests)
