/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes in JSON. */
#include "agent/store/connect/base64.h"

int base64_put(struct buf *out, const uint8_t *bytes, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	int r = buf_reserve(out, (n + 2) / 3 * 4);

	for (size_t i = 0; r == 0 && i < n; i += 3) {
		size_t left = n - i;
		uint32_t word = (uint32_t)bytes[i] << 16 |
				(left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
				(left > 2 ? bytes[i + 2] : 0);
		char four[4] = { digits[word >> 18], digits[word >> 12 & 63],
				 left > 1 ? digits[word >> 6 & 63] : '=',
				 left > 2 ? digits[word & 63] : '=' };

		r = buf_append(out, four, sizeof(four));
	}
	return r;
}

/* 64: none. */
static uint32_t digit_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (uint32_t)(c - 'A');
	if (c >= 'a' && c <= 'z')
		return (uint32_t)(c - 'a') + 26;
	if (c >= '0' && c <= '9')
		return (uint32_t)(c - '0') + 52;
	if (c == '+' || c == '-')
		return 62;
	return c == '/' || c == '_' ? 63 : 64;
}

/* With padding the whole has to be in groups of four. */
static bool cut_padding(struct str *text)
{
	size_t n = text->n;

	if (n == 0 || text->p[n - 1] != '=')
		return true;
	text->n -= n > 1 && text->p[n - 2] == '=' ? 2 : 1;
	return n % 4 == 0;
}

bool base64_parse(struct str text, uint8_t *out, size_t *ret_n)
{
	uint32_t word = 0;
	size_t n = 0, n_bits = 0;

	if (!cut_padding(&text) || text.n % 4 == 1)
		return false;
	for (size_t i = 0; i < text.n; i++) {
		uint32_t value = digit_value(text.p[i]);

		if (value > 63)
			return false;
		word = word << 6 | value;
		n_bits += 6;
		if (n_bits >= 8) {
			n_bits -= 8;
			out[n++] = (uint8_t)(word >> n_bits);
		}
	}
	*ret_n = n;
	return true;
}
