/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of methods, by tables as both generations of the JDK write them, and by others. */
#include "agent/runtimes/hotspot/lines.h"
#include "bpf/runtimes/hotspot.h"
#include "tests/support/unit.h"

#define OLD(text) HOTSPOT_LINES, (text), sizeof(text) - 1
#define NEW(text) HOTSPOT_LINES_20, (text), sizeof(text) - 1

/* 0: 10, 5: 12, 6: 9, 11: 1009; behind the end of the table lies something else. */
#define OLD_TABLE "\xff\x00\x14\x2a\xff\x02\x05\xff\x0a\xd0\x1c\x00\xff\x02"
#define NEW_TABLE "\xff\x01\x15\x2a\xff\x03\x06\xff\x0b\xd1\x1d\x00\xff\x03"

static const struct row {
	const char *name;
	uint8_t format;
	const char *table;
	size_t n;
	uint32_t position;
	uint32_t line;
} rows[] = {
	{ "the first bytecode", OLD(OLD_TABLE), 0, 10 },
	{ "between two", OLD(OLD_TABLE), 4, 10 },
	{ "a short pair", OLD(OLD_TABLE), 5, 12 },
	{ "a line before", OLD(OLD_TABLE), 6, 9 },
	{ "a long number", OLD(OLD_TABLE), 11, 1009 },
	{ "behind the last", OLD(OLD_TABLE), 60000, 1009 },
	{ "20: the first bytecode", NEW(NEW_TABLE), 0, 10 },
	{ "20: a short pair", NEW(NEW_TABLE), 5, 12 },
	{ "20: a line before", NEW(NEW_TABLE), 10, 9 },
	{ "20: a long number", NEW(NEW_TABLE), 12, 1009 },
	{ "before the first", OLD("\xff\x14\x14\x00"), 9, 0 },
	{ "bytecodes that do not ascend", OLD("\xff\x00\x14\x51\xff\x09\x02\x00"), 7, 12 },
	{ "the last of equals counts before it", OLD("\xff\x00\x14\x02\x00"), 4, 12 },
	{ "no position", OLD(OLD_TABLE), HOTSPOT_NO_BCI, 0 },
	{ "empty", OLD("\x00"), 0, 0 },
	{ "of no bytes", OLD(""), 0, 0 },
	{ "cut", OLD("\xff\x00\x14\x2a"), 9, 0 },
	{ "cut behind what is asked for", OLD("\xff\x00\x14\x2a"), 5, 12 },
	{ "cut in a pair", OLD("\xff\x00\x14\xff\x02"), 9, 0 },
	{ "numbers without end", OLD("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00"), 9, 0 },
	{ "no table", HOTSPOT_NO_LINES, NULL, 0, 0, 0 },
};

static void test_line(void **state)
{
	const struct row *row = *state;
	const struct runtime_lines lines = { .first_line = 10,
					     .table = (const uint8_t *)row->table,
					     .n = row->n,
					     .format = row->format };

	assert_int_equal(hotspot_line(&lines, row->position), row->line);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_line, rows, name),
};

TEST_MAIN(tests)
