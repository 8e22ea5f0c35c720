/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of names in UTF-8. */
#include "agent/runtimes/name_texts.h"

#include <string.h>
#include <unistr.h>

#include "agent/util/macro.h"

static const size_t character_bytes[WIRE_ENCODING_MAX] = { 1, 1, 2, 4 };

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

size_t name_texts_utf8(const char *bytes, size_t n, enum wire_encoding encoding, char *to,
		       size_t at, size_t n_to)
{
	const size_t size = character_bytes[encoding];

	if (encoding == WIRE_UTF8)
		return append(bytes, n, to, at, n_to);
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

void name_texts_of(const struct wire_name *name, struct name_texts *ret_texts,
		   struct code_text *ret_text)
{
	const char *text = name->texts;
	char *to = ret_texts->name;
	size_t at = 0;

	at = append_text(text, name->n_scope, WIRE_SCOPE_BYTES, name->scope_encoding, to, at,
			 sizeof(ret_texts->name));
	if (name->n_scope)
		at = append(".", 1, to, at, sizeof(ret_texts->name));
	text += name->n_scope;
	at = append_text(text, name->n_name, WIRE_NAME_BYTES, name->name_encoding, to, at,
			 sizeof(ret_texts->name));
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
