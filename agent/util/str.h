/* SPDX-License-Identifier: Apache-2.0 */
/* Borrowed string views, bounded number scanning, UTF-8 repair. Pure. */
#ifndef XAGENT_AGENT_UTIL_STR_H
#define XAGENT_AGENT_UTIL_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* n bytes, not NUL terminated, borrowed from whoever made it. */
struct str {
	const char *p;
	size_t n;
};

#define STR_LIT(s) ((struct str){ (s), sizeof(s) - 1 })

static inline struct str str_from(const char *s)
{
	return (struct str){ s, s ? strlen(s) : 0 };
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool str_starts_with(struct str s, struct str prefix);
bool str_ends_with(struct str s, struct str suffix);

/* The piece up to `sep` (or the end), which is cut off `*rest` together with the separator. False when `*rest` is used up:
 * "a,b," yields "a", "b", "". A view whose p is NULL yields nothing. */
bool str_split(struct str *rest, char sep, struct str *ret_piece);
struct str str_trim(struct str s);

/* The part after the last '/' (the whole when there is none). */
struct str str_basename(struct str path);

/* The whole view must be one number ≤ max: 0, -EINVAL (not a number) or -ERANGE. base 8, 10 or 16, no prefix, no sign. */
int str_parse_u64(struct str s, unsigned int base, uint64_t max, uint64_t *ret_value);

/* Scans digits at the front and cuts them off `*s`; errors as above (-EINVAL: no digit). */
int str_scan_u64(struct str *s, unsigned int base, uint64_t max, uint64_t *ret_value);

/* Copies as much as fits, replacing invalid UTF-8 and control characters by U+FFFD and '?'; always NUL terminates. */
void str_copy_utf8(char *dst, size_t dst_bytes, struct str src);

/* True when the bytes are valid UTF-8 (no surrogates, no overlong forms, ≤ U+10FFFF). */
bool str_is_utf8(struct str s);

/* Length of the valid UTF-8 sequence at the front, 0 when it is invalid or cut. */
size_t str_utf8_len(struct str s);

#endif
