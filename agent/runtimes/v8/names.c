/* SPDX-License-Identifier: Apache-2.0 */
/* Names of V8's functions, from a process's memory. */
#include "agent/runtimes/v8/names.h"

#include <stdio.h>
#include <string.h>

#include "agent/runtimes/name_texts.h"
#include "agent/runtimes/v8/objects.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

/* Strings that are looked at for one text, and those of them that wait meanwhile: names have a few pieces. */
#define MAX_STRINGS 64
#define MAX_WAITING 16

/* A text in UTF-8: the bytes of `to` from `begin` to `at`. */
struct text {
	char *to;
	size_t begin, at, max;
};

/* n characters from `skip` on; what is beyond the longest name is left out. */
static bool append_flat(const struct v8_look *l, uint64_t at, uint16_t type, uint32_t skip,
			uint32_t n, struct text *to)
{
	size_t size = type & V8_STRING_ONE_BYTE ? 1 : 2;
	char raw[WIRE_NAME_BYTES];
	size_t bytes = MIN_OF((size_t)n * size, sizeof(raw));

	if (!v8_get(l, at + (uint64_t)skip * size, raw, bytes))
		return false;
	to->at = name_texts_utf8(raw, bytes, size == 1 ? WIRE_LATIN1 : WIRE_UCS2, to->to, to->at,
				 to->max);
	return true;
}

static bool append_external(const struct v8_look *l, struct v8_object o, uint32_t skip, uint32_t n,
			    struct text *to)
{
	return !(o.type & V8_STRING_UNCACHED) &&
	       append_flat(l, v8_word_at(l, o.at + V8_STRING_DATA), o.type, skip, n, to);
}

/* The characters of a string, whose pieces lie left to right in the order in which they are met. */
static bool append_string(const struct v8_look *l, uint64_t pointer, struct text *to)
{
	uint64_t waiting[MAX_WAITING] = { pointer };
	uint32_t skip = 0, n_chars = UINT32_MAX;
	size_t n = 1;

	for (size_t i = 0; n > 0; i++) {
		struct v8_object o = v8_object_at(l, waiting[--n]);

		if (i == MAX_STRINGS || !o.at || o.type >= l->layout->first_no_string)
			return false;
		uint32_t length = MIN_OF(v8_int_at(l, o.at + V8_STRING_LENGTH), n_chars);
		switch (o.type & V8_STRING_KIND) {
		case V8_STRING_FLAT:
			if (!append_flat(l, o.at + V8_STRING_CHARS, o.type, skip, length, to))
				return false;
			break;
		case V8_STRING_EXTERNAL:
			if (!append_external(l, o, skip, length, to))
				return false;
			break;
		case V8_STRING_CONS:
			/* A piece of one that has pieces is made flat first. */
			if (n + 2 > MAX_WAITING || n_chars != UINT32_MAX)
				return false;
			waiting[n++] = v8_word_at(l, o.at + V8_STRING_SECOND);
			waiting[n++] = v8_word_at(l, o.at + V8_STRING_FIRST);
			continue;
		case V8_STRING_SLICED:
			skip += v8_int_at(l, o.at + V8_STRING_OFFSET + 4);
			n_chars = length;
			waiting[n++] = v8_word_at(l, o.at + V8_STRING_FIRST);
			continue;
		case V8_STRING_THIN:
			waiting[n++] = v8_word_at(l, o.at + V8_STRING_FIRST);
			continue;
		default:
			return false;
		}
		skip = 0;
		n_chars = UINT32_MAX;
	}
	return true;
}

/* Where a ScopeInfo has the name of its function; 0: nowhere. */
static uint64_t scope_name_at(const struct v8_look *l, uint64_t scope, uint32_t *ret_flags)
{
	const struct v8_layout *y = l->layout;
	uint32_t n = v8_int_at(l, scope + 8 * (uint64_t)y->scope_n_locals + 4);
	uint64_t at = scope + 8 * (uint64_t)y->scope_locals;

	*ret_flags = (uint32_t)(v8_word_at(l, scope + 8) >> (y->scope_flags_shift & 63));
	if (n > 1U << 20 || !(*ret_flags & V8_SCOPE_HAS_NAME))
		return 0;
	at += y->has_hashed_locals && n >= V8_SCOPE_MANY_LOCALS ? 8 + 8 * (uint64_t)n
								: 16 * (uint64_t)n;
	return at + 8 * (uint64_t)v8_scope_between(y, *ret_flags);
}

/* False: it cannot be read; no bytes: it has none there. */
static bool append_name(const struct v8_look *l, uint64_t pointer, struct text *to)
{
	struct v8_object o = v8_object_at(l, pointer);

	if (!o.at || o.type >= l->layout->first_no_string)
		return true;
	return append_string(l, pointer, to);
}

size_t v8_text_read(const struct v8_look *l, uint64_t pointer, char *to, size_t n_to)
{
	struct text text = { .to = to, .max = n_to };

	return append_name(l, pointer, &text) ? text.at : 0;
}

static bool read_name(const struct v8_look *l, struct text *to)
{
	uint64_t pointer = v8_shared_word(l, l->layout->shared_name);
	struct v8_object o = v8_object_at(l, pointer);
	uint32_t flags = 0;

	if (!o.at || o.type != l->layout->type_scope)
		return append_name(l, pointer, to);
	uint64_t at = scope_name_at(l, o.at, &flags);
	if (!at)
		return true;
	if (!append_name(l, v8_word_at(l, at), to))
		return false;
	return to->at > to->begin || !(flags & V8_SCOPE_HAS_INFERRED) ||
	       append_name(l, v8_word_at(l, at + 16), to);
}

bool v8_name_read(const struct v8_layout *layout, const struct runtime_memory *memory,
		  uint64_t shared, uint32_t print, char *buf, size_t n_buf,
		  struct code_text *ret_text)
{
	struct v8_look l = { .layout = layout, .memory = memory };
	struct text name = { .to = buf, .max = n_buf };

	if (!v8_shared_read(&l, shared, print) || !read_name(&l, &name))
		return false;
	struct text file = { .to = buf, .begin = name.at, .at = name.at, .max = n_buf };
	struct v8_object script = v8_shared_script(&l);
	if (script.at)
		(void)append_name(&l, v8_word_at(&l, script.at + layout->script_name), &file);
	*ret_text = (struct code_text){ .name = buf,
					.n_name = name.at,
					.file = buf + file.begin,
					.n_file = file.at - file.begin };
	return true;
}

/* Of a path or an URL the last part. Node's own files are known by their whole name. */
static struct str short_file(const struct code_text *text)
{
	struct str file = { text->file, text->n_file };
	struct str base = str_basename(file);

	return base.n == 0 || str_starts_with(file, str_from("node:")) ? file : base;
}

size_t v8_name_unnamed(const struct code_text *text, char *to, size_t n_to)
{
	struct str file = short_file(text);
	int n;

	if (file.n == 0)
		n = snprintf(to, n_to, "<anonymous>");
	else if (text->line)
		n = snprintf(to, n_to, "<anonymous> (%.*s:%u)", (int)file.n, file.p, text->line);
	else
		n = snprintf(to, n_to, "<anonymous> (%.*s)", (int)file.n, file.p);
	return n > 0 ? MIN_OF((size_t)n, n_to - 1) : 0;
}
