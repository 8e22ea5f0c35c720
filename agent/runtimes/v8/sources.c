/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of a script: its methods by where they begin, each with its whole name, "Class.method". A function is one of them only if it begins, ends and is
 * called as that one: all three come from V8.
 */
#include "agent/runtimes/v8/sources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/runtimes/name_texts.h"
#include "agent/runtimes/v8/classes.h"
#include "agent/runtimes/v8/kept.h"
#include "agent/runtimes/v8/objects.h"
#include "agent/runtimes/v8/wasm.h"
#include "agent/util/cleanup.h"
#include "agent/util/macro.h"

/* Strings that lead to another one. */
#define MAX_STRINGS 4
/* Names that are longer are left out. */
#define MAX_NAME 256

/* Where the characters of a source are; `at` is 0: they are not in one piece. */
struct characters {
	uint64_t at;
	uint32_t n;
	bool is_wide;
};

static struct characters characters_of(const struct v8_look *l, struct v8_object o)
{
	struct characters c = { .n = v8_int_at(l, o.at + V8_STRING_LENGTH),
				.is_wide = !(o.type & V8_STRING_ONE_BYTE) };

	if ((o.type & V8_STRING_KIND) == V8_STRING_FLAT)
		c.at = o.at + V8_STRING_CHARS;
	else if ((o.type & (V8_STRING_KIND | V8_STRING_UNCACHED)) == V8_STRING_EXTERNAL)
		c.at = v8_word_at(l, o.at + V8_STRING_DATA);
	return c;
}

/* Of a string, or of what it is another name of. */
static struct characters find_characters(const struct v8_look *l, uint64_t pointer)
{
	for (int i = 0; i < MAX_STRINGS; i++) {
		struct v8_object o = v8_object_at(l, pointer);
		uint32_t kind = o.type & V8_STRING_KIND;

		if (!o.at || o.type >= l->layout->first_no_string)
			break;
		if (kind == V8_STRING_FLAT || kind == V8_STRING_EXTERNAL)
			return characters_of(l, o);
		if (kind != V8_STRING_THIN &&
		    (kind != V8_STRING_CONS || v8_int_at(l, v8_word_at(l, o.at + V8_STRING_SECOND) -
								    V8_TAG + V8_STRING_LENGTH)))
			break;
		pointer = v8_word_at(l, o.at + V8_STRING_FIRST);
	}
	return (struct characters){ 0 };
}

/* A part of the source in UTF-8. Returns the new end of the text; `max`: there was no room. */
static size_t append_part(const struct source *s, struct source_part part, char *to, size_t at,
			  size_t max)
{
	size_t size = s->is_wide ? 2 : 1;

	return name_texts_utf8((const char *)s->chars + part.begin * size,
			       (part.end - part.begin) * size, s->is_wide ? WIRE_UCS2 : WIRE_LATIN1,
			       to, at, max);
}

static size_t append_text(const char *text, char *to, size_t at, size_t max)
{
	size_t n = MIN_OF(strlen(text), max - at);

	memcpy(to + at, text, n);
	return at + n;
}

/* The whole name of a method; *ret_name: bytes of its own. 0: it is too long. */
static size_t name_of(const struct source *s, const struct class_method *m, char to[MAX_NAME],
		      size_t *ret_name)
{
	size_t at = append_part(s, m->of, to, 0, MAX_NAME);

	at = append_text(".", to, at, MAX_NAME);
	at = append_text(m->before, to, at, MAX_NAME);
	size_t name_at = at;
	at = append_part(s, m->name, to, at, MAX_NAME);
	*ret_name = at - name_at;
	return at < MAX_NAME ? at : 0;
}

static size_t bytes_of(const struct source *s, const struct class_methods *methods)
{
	size_t n = v8_kept_texts((uint32_t)methods->n), n_name;
	char name[MAX_NAME];

	for (size_t i = 0; i < methods->n; i++)
		n += name_of(s, &methods->methods[i], name, &n_name);
	return n;
}

static int keep(const struct source *s, const struct class_methods *methods, size_t max_bytes,
		struct source_facts *ret_facts)
{
	size_t n_bytes = bytes_of(s, methods), first = v8_kept_texts((uint32_t)methods->n),
	       at = first;
	struct kept *kept = n_bytes > max_bytes ? NULL : malloc(n_bytes);
	char name[MAX_NAME];

	if (n_bytes > max_bytes)
		return -E2BIG;
	if (!kept)
		return -ENOMEM;
	*kept = (struct kept){ .n = (uint32_t)methods->n };
	if (!debug_id_find(s, true, kept->debug_id))
		kept->debug_id[0] = '\0';
	for (size_t i = 0; i < methods->n; i++) {
		const struct class_method *m = &methods->methods[i];
		size_t n_name, n_text = name_of(s, m, name, &n_name);

		kept->methods[i] = (struct kept_method){ .begin = m->place.begin,
							 .end = m->place.end,
							 .text = (uint32_t)(at - first),
							 .n_text = (uint16_t)n_text,
							 .n_name = (uint8_t)n_name,
							 .n_before = (uint8_t)strlen(m->before) };
		memcpy((char *)kept + at, name, n_text);
		at += n_text;
	}
	*ret_facts = (struct source_facts){ kept, n_bytes };
	return 0;
}

/* Nothing but what stands at the end. */
static int keep_end(const struct source *end, bool is_whole, struct source_facts *ret_facts)
{
	struct kept *kept = calloc(1, sizeof(*kept));

	if (!kept)
		return -ENOMEM;
	if (!debug_id_find(end, is_whole, kept->debug_id))
		kept->debug_id[0] = '\0';
	*ret_facts = (struct source_facts){ kept, sizeof(*kept) };
	return 0;
}

/* What is not understood has no methods, nor has what there is no room for. */
static int parse(const struct source *s, size_t max_bytes, struct source_facts *ret_facts)
{
	struct class_methods methods = { 0 };
	int r = class_methods_read(s, max_bytes / V8_FOUND_SHARE, &methods);

	if (r < 0 && r != -EINVAL)
		return r;
	r = keep(s, &methods, max_bytes / V8_KEPT_SHARE, ret_facts);
	free(methods.methods);
	if (r != -E2BIG)
		return r;
	r = keep_end(s, true, ret_facts);
	return r < 0 ? r : 1;
}

/* How many of its characters are read: of what is too long, or not wanted whole, the last ones. */
static uint32_t chars_to_read(const struct source_function *f, bool is_wide,
			      const struct runtime_memory *memory)
{
	bool is_whole = f->end && f->n_source <= V8_MAX_SOURCE &&
			((size_t)f->n_source << is_wide) <= v8_kept_room(memory) / V8_TEXT_SHARE;

	return is_whole ? f->n_source : MIN_OF(f->n_source, RUNTIME_SOURCE_END);
}

/* The last n characters; to be freed. */
static int read_chars(const struct v8_look *l, const struct characters *c, uint32_t n,
		      void **ret_chars)
{
	size_t n_bytes = (size_t)n << c->is_wide;
	_cleanup_free_ void *chars = malloc(MAX_OF(n_bytes, (size_t)1));

	if (!chars)
		return -ENOMEM;
	if (!v8_get(l, c->at + ((uint64_t)(c->n - n) << c->is_wide), chars, n_bytes))
		return -EAGAIN;
	*ret_chars = TAKE_PTR(chars);
	return 0;
}

int v8_source_read(const struct v8_layout *layout, const struct runtime_memory *memory,
		   const struct source_function *f, struct source_facts *ret_facts)
{
	struct v8_look l = { .layout = layout, .memory = memory };
	_cleanup_free_ void *chars = NULL;

	if (v8_is_wasm(f))
		return v8_wasm_read(&l, f, ret_facts);
	if (!v8_shared_read(&l, f->address, f->print))
		return -EAGAIN;
	uint64_t pointer_at = v8_shared_script(&l).at + layout->script_source;
	struct characters c = find_characters(&l, v8_word_at(&l, pointer_at));
	if (!c.at || c.n != f->n_source)
		return -EAGAIN;
	uint32_t n = chars_to_read(f, c.is_wide, memory);
	int r = read_chars(&l, &c, n, &chars);
	if (r < 0)
		return r;
	/* Not moved, and not another script's by now. */
	struct characters again = find_characters(&l, v8_word_at(&l, pointer_at));
	if (!v8_shared_read(&l, f->address, f->print) || again.at != c.at || again.n != c.n)
		return -EAGAIN;
	const struct source s = { chars, n, c.is_wide };
	if (f->end && n == c.n)
		return parse(&s, v8_kept_room(memory), ret_facts);
	r = keep_end(&s, n == c.n, ret_facts);
	return r == 0 && f->end ? 1 : r;
}

const char *v8_source_id(const struct source_facts *facts)
{
	const struct kept *k = facts->bytes;

	return *k->debug_id ? k->debug_id : NULL;
}

static bool ends_with(const char *whole, size_t n_whole, size_t n, const struct code_text *text)
{
	return text->n_name == n && memcmp(whole + n_whole - n, text->name, n) == 0;
}

size_t v8_name_in_source(const struct source_facts *facts, const struct source_function *f,
			 const struct code_text *text, char *to, size_t n_to)
{
	const struct kept *k = facts->bytes;
	const struct kept_method *m = v8_kept_find(k, f->begin);

	if (v8_is_wasm(f))
		return v8_wasm_name(k, f, text, to, n_to);
	if (!m || !f->end || m->end != f->end || m->n_text == 0 || m->n_text > n_to)
		return 0;
	const char *whole = v8_kept_text(k, m);
	if (!ends_with(whole, m->n_text, m->n_name, text) &&
	    !ends_with(whole, m->n_text, (size_t)m->n_before + m->n_name, text))
		return 0;
	memcpy(to, whole, m->n_text);
	return m->n_text;
}
