/* SPDX-License-Identifier: Apache-2.0 */
/* Names of labels as every server takes them: [a-zA-Z_][a-zA-Z0-9_]*. Pure. */
#ifndef XAGENT_AGENT_UTIL_LABEL_NAME_H
#define XAGENT_AGENT_UTIL_LABEL_NAME_H

#include <stdbool.h>
#include <stddef.h>

static inline bool label_name_is_first(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static inline bool label_name_is_next(char c)
{
	return label_name_is_first(c) || (c >= '0' && c <= '9');
}

/* Of any length but 0. */
bool label_name_is_valid(const char *name);

/* It begins with "__", and is neither __name__ nor __delta__: no server gets it. */
bool label_name_is_internal(const char *name);

/* One '_' for each code point (or stray byte) that may not follow in a name; a colon may, in those of metrics. What does not fit is cut.
 * Never longer than the text. */
void label_name_repair(char *dst, size_t dst_bytes, const char *text, bool colon);

#endif
