/* SPDX-License-Identifier: Apache-2.0 */
/* The id of a script in its last lines. */
#include "agent/runtimes/v8/debug_id.h"

#include <string.h>

/* The older sign is read as well. */
static const char *const marks[] = { "//# debugId=", "//@ debugId=" };

#define N_MARK 12

static bool is_space(uint32_t c)
{
	return c == ' ' || c == '\t';
}

static bool is_mark(const struct source *s, uint32_t at, const char *mark)
{
	for (uint32_t i = 0; i < N_MARK; i++)
		if (source_char(s, at + i) != (unsigned char)mark[i])
			return false;
	return true;
}

/* 0: it has no place in a UUID at that index. */
static char character(uint32_t c, size_t i)
{
	if (i == 8 || i == 13 || i == 18 || i == 23)
		return c == '-' ? '-' : '\0';
	if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))
		return (char)c;
	return c >= 'A' && c <= 'F' ? (char)(c - 'A' + 'a') : '\0';
}

/* A comment of one line from `at` up to `end`. */
static bool read_id(const struct source *s, uint32_t at, uint32_t end, char to[DEBUG_ID_BYTES])
{
	if (end - at != N_MARK + DEBUG_ID_BYTES - 1 ||
	    !(is_mark(s, at, marks[0]) || is_mark(s, at, marks[1])))
		return false;
	for (size_t i = 0; i < DEBUG_ID_BYTES - 1; i++) {
		to[i] = character(source_char(s, at + N_MARK + (uint32_t)i), i);
		if (!to[i])
			return false;
	}
	to[DEBUG_ID_BYTES - 1] = '\0';
	return true;
}

bool debug_id_find(const struct source *s, bool is_whole, char to[DEBUG_ID_BYTES])
{
	for (uint32_t line_end = s->n;;) {
		uint32_t end = line_end, at = line_end;

		while (at > 0 && !source_is_newline(source_char(s, at - 1)))
			at--;
		uint32_t line = at;
		/* Where the line begins is not known. */
		if (line == 0 && !is_whole)
			return false;
		while (end > at && is_space(source_char(s, end - 1)))
			end--;
		while (at < end && is_space(source_char(s, at)))
			at++;
		if (read_id(s, at, end, to))
			return true;
		if (at < end && !(source_char(s, at) == '/' && source_char(s, at + 1) == '/'))
			return false;
		if (line == 0)
			return false;
		line_end = line - 1;
	}
}
