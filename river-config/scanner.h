/* SPDX-License-Identifier: Apache-2.0 */
/* Text to tokens, newlines to terminators. Errors become diagnostics and the scan goes on. */
#ifndef XAGENT_RIVER_CONFIG_SCANNER_H
#define XAGENT_RIVER_CONFIG_SCANNER_H

#include "river-config/token.h"

struct river_scanner {
	const char *file;
	const char *text;
	size_t len;
	struct river_diags *diags;

	size_t offset; /* of the current character */
	uint32_t ch;   /* RIVER_CHAR_END at the end */
	size_t ch_len;

	/*
	 * Line of the last position asked for. Questions come in ascending order of offsets, so
	 * this only walks forward.
	 */
	size_t line_offset;
	uint32_t line;
	size_t counted;

	bool terminator_due;
	bool failed; /* a diagnostic could not be stored */
};

/* Unlike any character and RIVER_CHAR_INVALID. */
#define RIVER_CHAR_END 0xfffffffeU

void river_scanner_init(struct river_scanner *s, const char *file, const char *text, size_t len,
			struct river_diags *diags);

/* The next token, comments included; RIVER_TOKEN_EOF for ever after the end. */
struct river_token river_scanner_next(struct river_scanner *s);

#endif
