/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of names in UTF-8. */
#include "agent/runtimes/name_texts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistr.h>

#include "agent/runtimes/java_arguments.h"
#include "agent/util/macro.h"

/* A method that does not run, but is compiled: "[compiling Class.method (tier 4)]". */
#define COMPILING "[compiling "

static const size_t character_bytes[WIRE_ENCODING_MAX] = { 1, 1, 2, 4, 1, 1 };

static ucs4_t character(const char *at, enum wire_encoding encoding)
{
	uint16_t u16;
	uint32_t u32;

	if (encoding == WIRE_LATIN1)
		return (uint8_t)*at;
	if (encoding == WIRE_UCS2) {
		memcpy(&u16, at, sizeof(u16));
		return u16;
	}
	memcpy(&u32, at, sizeof(u32));
	return u32;
}

static size_t append(const char *bytes, size_t n, char *to, size_t at, size_t n_to)
{
	n = MIN_OF(n, n_to - at);
	if (n)
		memcpy(to + at, bytes, n);
	return at + n;
}

/* A half of a character beyond 16 bits, as Java has it: 0xed, and the upper half first. 0: it is none. */
static ucs4_t java_half(const uint8_t *at, size_t n, uint8_t first)
{
	if (n < 3 || at[0] != 0xed || (at[1] & 0xf0) != first || (at[2] & 0xc0) != 0x80)
		return 0;
	return ((at[1] & 0x0fU) << 6 | (at[2] & 0x3fU)) + 0x10000;
}

/* One character of Java's UTF-8, and of how many bytes it is. */
static ucs4_t java_character(const char *bytes, size_t n, size_t *ret_bytes)
{
	const uint8_t *at = (const uint8_t *)bytes;
	ucs4_t c, high = java_half(at, n, 0xa0);
	ucs4_t low = high ? java_half(at + 3, n - 3, 0xb0) : 0;

	*ret_bytes = low ? 6 : 2;
	if (low)
		return ((high - 0x10000) << 10 | (low - 0x10000)) + 0x10000;
	if (n >= 2 && at[0] == 0xc0 && at[1] == 0x80)
		return 0xfffd;
	int k = u8_mbtoucr(&c, at, n);
	*ret_bytes = k > 0 ? (size_t)k : 1;
	return k > 0 ? c : 0xfffd;
}

/* Names that the JVM makes for hidden classes end with an address: that says nothing, and is another one in the next run. */
static size_t hidden_class_end(const char *bytes, size_t n)
{
	for (size_t i = 1; i + 3 <= n; i++)
		if ((bytes[i] == '+' || bytes[i] == '/') && bytes[i + 1] == '0' &&
		    bytes[i + 2] == 'x')
			return i;
	return n;
}

/* Before JDK 21 classes of lambdas are numbered as they are made: that is another number in the next run, too. */
static size_t java_class_end(const char *bytes, size_t n)
{
	static const char lambda[] = "$$Lambda$";
	const size_t n_lambda = sizeof(lambda) - 1;
	size_t end = hidden_class_end(bytes, n), i = end;

	while (i > 0 && bytes[i - 1] >= '0' && bytes[i - 1] <= '9')
		i--;
	return i < end && i >= n_lambda && memcmp(bytes + i - n_lambda, lambda, n_lambda) == 0
		       ? i - 1
		       : end;
}

static size_t java_utf8(const char *bytes, size_t n, bool is_class, char *to, size_t at,
			size_t n_to)
{
	size_t n_bytes;

	n = is_class ? java_class_end(bytes, n) : n;
	for (size_t i = 0; i < n; i += n_bytes) {
		ucs4_t c = java_character(bytes + i, n - i, &n_bytes);
		int k = u8_uctomb((uint8_t *)to + at, is_class && c == '/' ? '.' : c,
				  (ptrdiff_t)(n_to - at));

		if (k < 0)
			return at;
		at += (size_t)k;
	}
	return at;
}

size_t name_texts_utf8(const char *bytes, size_t n, enum wire_encoding encoding, char *to,
		       size_t at, size_t n_to)
{
	const size_t size = character_bytes[encoding];

	if (encoding == WIRE_UTF8)
		return append(bytes, n, to, at, n_to);
	if (encoding == WIRE_JAVA || encoding == WIRE_JAVA_CLASS)
		return java_utf8(bytes, n, encoding == WIRE_JAVA_CLASS, to, at, n_to);
	for (size_t i = 0; i + size <= n; i += size) {
		int k = u8_uctomb((uint8_t *)to + at, character(bytes + i, encoding),
				  (ptrdiff_t)(n_to - at));

		if (k == -1)
			k = u8_uctomb((uint8_t *)to + at, 0xfffd, (ptrdiff_t)(n_to - at));
		if (k < 0)
			return at;
		at += (size_t)k;
	}
	return at;
}

/* As above; what fills its room in the record was cut there. */
static size_t append_text(const char *bytes, size_t n, size_t n_max, uint8_t encoding, char *to,
			  size_t at, size_t n_to)
{
	at = name_texts_utf8(bytes, n, (enum wire_encoding)encoding, to, at, n_to);
	if (n < n_max)
		return at;
	return append(NAME_TEXTS_ELLIPSIS, strlen(NAME_TEXTS_ELLIPSIS), to, at, n_to);
}

static size_t append_tier(uint32_t tier, char *to, size_t at, size_t n_to)
{
	char text[16];
	int n = snprintf(text, sizeof(text), " (tier %" PRIu32 ")]", tier);

	return append(text, (size_t)n, to, at, n_to);
}

void name_texts_of(const struct wire_name *name, struct name_texts *ret_texts,
		   struct code_text *ret_text)
{
	const char *text = name->texts;
	char *to = ret_texts->name;
	size_t at = 0;

	if (name->compiled_tier)
		at = append(COMPILING, strlen(COMPILING), to, at, sizeof(ret_texts->name));
	at = append_text(text, name->n_scope, WIRE_SCOPE_BYTES, name->scope_encoding, to, at,
			 sizeof(ret_texts->name));
	if (name->n_scope)
		at = append(".", 1, to, at, sizeof(ret_texts->name));
	text += name->n_scope;
	at = append_text(text, name->signature_at ? name->signature_at : name->n_name,
			 WIRE_NAME_BYTES, name->name_encoding, to, at, sizeof(ret_texts->name));
	if (name->signature_at)
		at = java_arguments(text + name->signature_at,
				    (size_t)name->n_name - name->signature_at, to, at,
				    sizeof(ret_texts->name));
	if (name->compiled_tier)
		at = append_tier(name->compiled_tier, to, at, sizeof(ret_texts->name));
	text += name->n_name;
	size_t n_file = append_text(text, name->n_file, WIRE_FILE_BYTES, name->file_encoding,
				    ret_texts->file, 0, sizeof(ret_texts->file));
	text += name->n_file;
	*ret_text = (struct code_text){ .name = to,
					.n_name = at,
					.file = ret_texts->file,
					.n_file = n_file,
					.line = name->line,
					.lines = (const uint8_t *)text,
					.n_lines = name->n_lines,
					.lines_format = name->lines_format };
}
