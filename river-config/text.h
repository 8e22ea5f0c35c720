/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A string that grows in an arena. A failed append is remembered, so that a writer appends many
 * times and looks once.
 */
#ifndef XAGENT_RIVER_CONFIG_TEXT_H
#define XAGENT_RIVER_CONFIG_TEXT_H

#include "river-config/river.h"

struct river_text {
	struct river_arena *arena;
	char *data;
	size_t len;
	size_t cap;
	bool failed;
};

#define RIVER_TEXT_INIT(a) ((struct river_text){ .arena = (a) })

void river_text_append(struct river_text *t, const char *bytes, size_t n);
void river_text_str(struct river_text *t, const char *s);
void river_text_char(struct river_text *t, char c);
void river_text_rune(struct river_text *t, uint32_t c);
void river_text_repeat(struct river_text *t, char c, size_t n);
void river_text_printf(struct river_text *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void river_text_vprintf(struct river_text *t, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

/* Between double quotes, escaped as Go's %q does. */
void river_text_quote(struct river_text *t, const char *s, size_t n);

/* A number without exponent in the fewest digits that read back the same. */
void river_text_float(struct river_text *t, double f);

/* The text, NUL-terminated, or NULL if an append failed. */
const char *river_text_take(struct river_text *t);

#endif
