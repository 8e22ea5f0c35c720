/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 and the character classes the language needs, of the Unicode that libunistring knows. Pure; no locale. */
#ifndef XAGENT_RIVER_CONFIG_UNICODE_H
#define XAGENT_RIVER_CONFIG_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a byte that begins no well-formed sequence decodes to; prints as the replacement character.
 */
#define RIVER_CHAR_INVALID 0xffffffffU
#define RIVER_CHAR_REPLACEMENT 0xfffdU
#define RIVER_UTF8_MAX 4

bool river_is_letter(uint32_t c); /* category L, or '_' */
bool river_is_digit(uint32_t c);  /* category Nd */
bool river_is_printable(uint32_t c);
bool river_is_space(uint32_t c);

/*
 * Bytes consumed, at least 1; n must not be 0. A malformed sequence yields RIVER_CHAR_INVALID and
 * consumes one byte.
 */
size_t river_utf8_decode(const char *bytes, size_t n, uint32_t *ret_char);

/* Bytes written to buf, which holds RIVER_UTF8_MAX. What is no character is written as the replacement. */
size_t river_utf8_encode(uint32_t c, char *buf);

#endif
