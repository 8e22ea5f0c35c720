/* SPDX-License-Identifier: Apache-2.0 */
/* Values under the verbs of string.format, the way Go's fmt package prints them. */
#ifndef XAGENT_RIVER_CONFIG_STDLIB_FORMAT_H
#define XAGENT_RIVER_CONFIG_STDLIB_FORMAT_H

#include "river-config/text.h"
#include "river-config/value.h"

/* What stands between the percent sign and the verb. */
struct river_format {
	struct river_text *out;
	bool minus;
	bool plus;
	bool sharp;
	bool space;
	bool zero;
	bool plus_v;  /* %+v, where `plus` means something else */
	bool sharp_v; /* %#v: the syntax of Go */
	bool has_width;
	bool has_precision;
	size_t width;
	size_t precision;
};

/* `verb` is any character; one that does not fit the value prints as "%!d(string=x)". */
void river_format_value(struct river_format *f, const struct river_value *v, uint32_t verb);

/* "int", "string", "[]interface {}" … */
const char *river_format_type(const struct river_value *v);

/* Pads to the width, on the left unless there is a minus; counted in characters. */
void river_format_pad(struct river_format *f, const char *s, size_t n);
void river_format_padding(struct river_format *f, size_t n);

/* The same, never with zeros; a text that failed makes the output fail. */
void river_format_pad_blank(struct river_format *f, const struct river_text *t);

/*
 * Numbers; false: the verb is none of theirs, and nothing was written. `bits` are those of an
 * int64_t when is_signed.
 */
bool river_format_integer(struct river_format *f, uint64_t bits, bool is_signed, uint32_t verb);
bool river_format_float(struct river_format *f, double value, uint32_t verb);

/* Between quotes of a kind, escaped; in `ascii` everything beyond is. */
void river_format_quote(struct river_text *t, const char *s, size_t n, char quote, bool ascii);

#endif
