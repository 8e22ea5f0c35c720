/* SPDX-License-Identifier: Apache-2.0 */
/* String helpers: copies are valid UTF-8 of what fits, pieces make up the whole, numbers keep their ceiling. */
#include <assert.h>
#include <stdint.h>

#include "agent/util/str.h"

#define COPY_BYTES 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_copy(struct str text)
{
	char copy[COPY_BYTES];

	str_copy_utf8(copy, sizeof(copy), text);
	assert(str_is_utf8(str_from(copy)));
	for (const char *p = copy; *p; p++)
		assert((unsigned char)*p >= 0x20 && *p != 0x7f);
}

static void try_split(struct str text)
{
	struct str piece;
	size_t n = 0;

	for (struct str rest = text; str_split(&rest, ',', &piece);) {
		n += piece.n + (rest.p ? 1 : 0);
		assert(str_trim(piece).n <= piece.n && str_ends_with(piece, str_basename(piece)));
	}
	assert(n == text.n);
}

static void try_numbers(struct str text)
{
	static const unsigned int bases[] = { 8, 10, 16 };

	for (size_t i = 0; i < 3; i++)
		for (uint64_t max = 1; max > 0; max <<= 9) {
			struct str rest = text;
			uint64_t value, whole;

			if (str_scan_u64(&rest, bases[i], max, &value) < 0)
				continue;
			assert(value <= max && rest.n < text.n &&
			       rest.p + rest.n == text.p + text.n);
			assert((str_parse_u64(text, bases[i], max, &whole) == 0) == (rest.n == 0));
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };

	if (!data)
		return 0;
	try_copy(text);
	try_split(text);
	try_numbers(text);
	return 0;
}
