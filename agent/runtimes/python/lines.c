/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of code objects. */
#include "agent/runtimes/python/lines.h"

#include "bpf/runtimes/python.h"

/* No file is longer: a line beyond is of a table that is none. */
#define MAX_LINE (1 << 30)

static uint32_t checked(int64_t line)
{
	return line > 0 && line < MAX_LINE ? (uint32_t)line : 0;
}

/* Pairs: bytes of bytecode, then the lines that come before the next ones. */
static uint32_t line_of_lnotab(const struct runtime_lines *l, uint32_t position)
{
	int64_t line = l->first_line;
	uint64_t at = 0;

	for (size_t i = 0; i + 1 < l->n; i += 2) {
		at += l->table[i];
		if (at > position)
			break;
		line += (int8_t)l->table[i + 1];
	}
	return checked(line);
}

/* Pairs: bytes of bytecode, and by how many lines theirs differs from the one before; -128: they have none. */
static uint32_t line_of_linetable(const struct runtime_lines *l, uint32_t position)
{
	int64_t line = l->first_line;
	uint64_t end = 0;

	for (size_t i = 0; i + 1 < l->n; i += 2) {
		int8_t delta = (int8_t)l->table[i + 1];

		line += delta == -128 ? 0 : delta;
		end += l->table[i];
		if (position < end)
			return delta == -128 ? 0 : checked(line);
	}
	return 0;
}

/* An entry of the location table begins with bit 7, four bits of a code, and its length less one in code units of two bytes. */
enum { SHORT_LAST = 9, ONE_LINE_0 = 10, ONE_LINE_2 = 12, NO_COLUMNS = 13, LONG = 14, NO_LINE = 15 };

/* Six bits a byte, the lowest first; bit 6: there are more. The sign is the lowest bit. */
static int64_t read_signed(const struct runtime_lines *l, size_t i)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; i < l->n && shift < 60; shift += 6) {
		value |= (uint64_t)(l->table[i] & 63) << shift;
		if (!(l->table[i++] & 64))
			break;
	}
	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

static int64_t delta_of(const struct runtime_lines *l, size_t i)
{
	unsigned int code = l->table[i] >> 3 & 15;

	if (code == LONG || code == NO_COLUMNS)
		return read_signed(l, i + 1);
	return code >= ONE_LINE_0 && code <= ONE_LINE_2 ? code - ONE_LINE_0 : 0;
}

static uint32_t line_of_locations(const struct runtime_lines *l, uint32_t position)
{
	int64_t line = l->first_line;
	uint64_t end = 0;

	for (size_t i = 0; i < l->n;) {
		line += delta_of(l, i);
		end += ((uint64_t)(l->table[i] & 7) + 1) * 2;
		if (position < end)
			return (l->table[i] >> 3 & 15) == NO_LINE ? 0 : checked(line);
		/* Bit 7 is set in the first byte of an entry alone. */
		do
			i++;
		while (i < l->n && !(l->table[i] & 128));
	}
	return 0;
}

uint32_t python_line(const struct runtime_lines *lines, uint32_t position)
{
	switch (lines->format) {
	case PYTHON_LNOTAB:
		return line_of_lnotab(lines, position);
	case PYTHON_LINETABLE:
		return line_of_linetable(lines, position);
	case PYTHON_LOCATIONS:
		return line_of_locations(lines, position);
	}
	return 0;
}
