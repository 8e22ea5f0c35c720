/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Base64. Positions of mistakes are Go's: the byte that does not belong; of a last group that is too
 * short, where the group begins.
 */
#include "river-config/base64.h"

#include <string.h>

#define GROUP_CHARS 4

static const char *alphabet(enum river_base64 kind)
{
	return kind == RIVER_BASE64_URL
		       ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
		       : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
}

void river_base64_encode(struct river_text *t, const char *s, size_t n, enum river_base64 kind)
{
	const char *letters = alphabet(kind);
	const unsigned char *bytes = (const unsigned char *)s;

	for (size_t i = 0; i < n; i += 3) {
		size_t have = n - i < 3 ? n - i : 3;
		uint32_t bits = (uint32_t)bytes[i] << 16;
		char group[GROUP_CHARS];

		bits |= have > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
		bits |= have > 2 ? bytes[i + 2] : 0;
		for (size_t k = 0; k < GROUP_CHARS; k++)
			group[k] = k <= have ? letters[bits >> (18 - 6 * k) & 63] : '=';
		river_text_append(t, group, sizeof(group));
	}
}

struct reader {
	const char *s;
	size_t n;
	size_t i;
	const char *letters;
};

static void skip_lines(struct reader *r)
{
	while (r->i < r->n && (r->s[r->i] == '\n' || r->s[r->i] == '\r'))
		r->i++;
}

static bool take_letter(struct reader *r, uint32_t *bits)
{
	const char *found = r->s[r->i] ? strchr(r->letters, r->s[r->i]) : NULL;

	if (!found)
		return false;
	*bits = *bits << 6 | (uint32_t)(found - r->letters);
	r->i++;
	return true;
}

/* Behind `have` letters: the padding they need, and nothing else but line breaks. */
static bool take_padding(struct reader *r, size_t have, size_t *ret_bad)
{
	*ret_bad = r->i;
	if (have < 2 || r->s[r->i] != '=')
		return false;
	r->i++;
	if (have == 2) {
		skip_lines(r);
		*ret_bad = r->i == r->n ? r->n : r->i - 1;
		if (r->i == r->n || r->s[r->i] != '=')
			return false;
		r->i++;
	}
	skip_lines(r);
	*ret_bad = r->i;
	return r->i == r->n;
}

static void append_bytes(struct river_text *t, uint32_t bits, size_t n_letters)
{
	char bytes[3];

	bits <<= 6 * (GROUP_CHARS - n_letters);
	bytes[0] = (char)(bits >> 16);
	bytes[1] = (char)(bits >> 8);
	bytes[2] = (char)bits;
	river_text_append(t, bytes, n_letters - 1);
}

/* Four letters, or the last ones and their padding. */
static bool take_group(struct reader *r, struct river_text *t, size_t *ret_bad)
{
	size_t have = 0;
	uint32_t bits = 0;

	for (; have < GROUP_CHARS; have++) {
		skip_lines(r);
		if (r->i == r->n) {
			*ret_bad = r->i - have;
			return have == 0;
		}
		if (!take_letter(r, &bits))
			break;
	}
	if (have < GROUP_CHARS && !take_padding(r, have, ret_bad))
		return false;
	append_bytes(t, bits, have);
	return true;
}

bool river_base64_decode(struct river_text *t, const char *s, size_t n, enum river_base64 kind,
			 size_t *ret_bad)
{
	struct reader r = { .s = s, .n = n, .letters = alphabet(kind) };

	while (r.i < n && !t->failed)
		if (!take_group(&r, t, ret_bad))
			return false;
	return true;
}
