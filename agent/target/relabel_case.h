/* SPDX-License-Identifier: Apache-2.0 */
/* Upper and lower case of text in UTF-8, without a locale. Pure. */
#ifndef XAGENT_AGENT_TARGET_RELABEL_CASE_H
#define XAGENT_AGENT_TARGET_RELABEL_CASE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/util/buf.h"

#define RELABEL_CHAR_MAX 0x10ffff
#define RELABEL_CHAR_REPLACEMENT 0xfffd

/* Bytes of the character at the front of n > 0 bytes; one that is malformed is a single byte and
 * RELABEL_CHAR_REPLACEMENT. */
size_t relabel_char_decode(const char *bytes, size_t n, uint32_t *ret_char);
/* Bytes written, at most 4. */
size_t relabel_char_encode(uint32_t c, char *out);

/* Appends the text, character by character in the other case (simple mappings of Unicode). What
 * is no UTF-8 becomes U+FFFD. 0, -ENOBUFS, -ENOMEM. */
int relabel_append_upper(struct buf *out, const char *text, size_t n);
int relabel_append_lower(struct buf *out, const char *text, size_t n);

#endif
