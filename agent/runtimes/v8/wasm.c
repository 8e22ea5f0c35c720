/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions of WebAssembly. */
#include "agent/runtimes/v8/wasm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/runtimes/v8/names.h"
#include "agent/runtimes/v8/wasm_names.h"
#include "agent/util/cleanup.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

/* A script's name as it is shown: a byte that is no UTF-8 becomes three. */
#define FILE_BYTES (3 * 2 * WIRE_FILE_BYTES + 1)

bool v8_is_wasm(const struct source_function *f)
{
	return (f->address & V8_TAG_MASK) == V8_TAG;
}

struct module {
	const struct v8_look *look;
	uint64_t script;
	uint64_t at; /* of its bytes; 0: it is not the one that was told */
	uint32_t n;
};

/* The module that the script has now. */
static struct module find_module(const struct v8_look *l, const struct source_function *f)
{
	const struct v8_layout *y = l->layout;
	struct v8_object script = v8_object_at(l, f->address);
	struct module m = { .look = l, .script = script.at };

	if (!script.at || script.type != y->type_script || !y->wasm_module)
		return m;
	uint64_t managed = v8_object_at(l, v8_word_at(l, script.at + y->wasm_managed)).at;
	uint64_t pointer = v8_word_at(l, managed + V8_FOREIGN_DATA) + V8_MANAGED_POINTER;
	uint64_t module = v8_word_at(l, v8_word_at(l, pointer));
	uint64_t bytes = v8_word_at(l, module + y->wasm_bytes), at = v8_word_at(l, bytes);
	if (v8_word_at(l, bytes + 8) == f->n_source &&
	    v8_wasm_source(v8_word_at(l, script.at + y->script_id), at) == f->source) {
		m.at = at;
		m.n = f->n_source;
	}
	return m;
}

static bool read_bytes(void *data, uint32_t off, void *dst, size_t n)
{
	const struct module *m = data;

	return v8_get(m->look, m->at + off, dst, n);
}

/* 0; 1: there is no room for it, and it has no bytes. */
static int read_section(struct module *m, uint8_t **ret_section, uint32_t *ret_n)
{
	const struct wasm_bytes bytes = { .read = read_bytes, .data = m, .n = m->n };
	_cleanup_free_ uint8_t *section = NULL;
	uint32_t off = 0, n = 0;
	int r = wasm_names_find(&bytes, &off, &n);
	bool is_large = n > v8_kept_room(m->look->memory) / V8_TEXT_SHARE;

	if (r == -EAGAIN)
		return r;
	if (is_large)
		n = 0;
	section = malloc(MAX_OF(n, 1U));
	if (!section)
		return -ENOMEM;
	if (n && !read_bytes(m, off, section, n))
		return -EAGAIN;
	*ret_section = TAKE_PTR(section);
	*ret_n = n;
	return is_large;
}

/* Of a name what is shown: whole characters. */
static uint16_t shown_bytes(const char *name, uint32_t n)
{
	if (n <= WIRE_NAME_BYTES)
		return (uint16_t)n;
	for (n = WIRE_NAME_BYTES; n > 0 && ((uint8_t)name[n] & 0xc0) == 0x80;)
		n--;
	return (uint16_t)n;
}

/* NULL: there is no room for it. */
static struct kept *keep(const uint8_t *section, const struct wasm_name *names, size_t n,
			 const char *file, size_t max, size_t *ret_bytes)
{
	size_t n_file = strlen(file), texts = v8_kept_texts((uint32_t)n), at = texts + n_file;
	struct kept *k;

	for (size_t i = 0; i < n; i++)
		at += shown_bytes((const char *)section + names[i].at, names[i].n);
	k = at <= max ? calloc(1, at) : NULL;
	if (!k)
		return NULL;
	*k = (struct kept){ .n = (uint32_t)n, .n_file = (uint32_t)n_file };
	memcpy((char *)k + texts, file, n_file);
	*ret_bytes = at;
	at = n_file;
	for (size_t i = 0; i < n; i++) {
		const char *name = (const char *)section + names[i].at;
		uint16_t n_name = shown_bytes(name, names[i].n);

		k->methods[i] = (struct kept_method){ .begin = names[i].number,
						      .end = names[i].number + 1,
						      .text = (uint32_t)at,
						      .n_text = n_name };
		memcpy((char *)k + texts + at, name, n_name);
		at += n_name;
	}
	return k;
}

/* 1: there is no room for the names, so there are none. */
static int parse(const struct module *m, const uint8_t *section, uint32_t n_section,
		 const char *file, struct source_facts *ret_facts)
{
	size_t room = v8_kept_room(m->look->memory), n = 0;
	_cleanup_free_ struct wasm_name *names = NULL;
	int r = wasm_names_read(section, n_section, room / V8_FOUND_SHARE / sizeof(*names), &names,
				&n);
	struct kept *k = NULL;

	if (r < 0 && r != -E2BIG)
		return r;
	if (r == 0)
		k = keep(section, names, n, file, room / V8_KEPT_SHARE, &ret_facts->n);
	bool has_all = k;
	if (!k)
		k = keep(NULL, NULL, 0, file, SIZE_MAX, &ret_facts->n);
	ret_facts->bytes = k;
	return k ? !has_all : -ENOMEM;
}

static void shown_file(const char *name, size_t n, char to[FILE_BYTES])
{
	str_copy_utf8(to, FILE_BYTES, (struct str){ name, n });
}

int v8_wasm_read(const struct v8_look *l, const struct source_function *f,
		 struct source_facts *ret_facts)
{
	struct module m = find_module(l, f);
	_cleanup_free_ uint8_t *section = NULL;
	char name[2 * WIRE_FILE_BYTES], file[FILE_BYTES];
	uint32_t n_section;

	if (!m.at)
		return -EAGAIN;
	int is_large = read_section(&m, &section, &n_section);
	if (is_large < 0)
		return is_large;
	uint64_t name_at = m.script + l->layout->script_name;
	shown_file(name, v8_text_read(l, v8_word_at(l, name_at), name, sizeof(name)), file);
	/* Not moved, and not another module's by now. */
	if (!find_module(l, f).at)
		return -EAGAIN;
	int r = parse(&m, section, n_section, file, ret_facts);
	return r == 0 ? is_large : r;
}

/* V8 calls a script by its module's address, or by a hash of its bytes, which is behind the module's own name. That one the kernel half may have cut. */
static bool is_same_file(struct str a, struct str b)
{
	static const struct str by_hash = STR_LIT("wasm://wasm/");
	const size_t n_hash = 8;

	if (str_starts_with(a, by_hash) && str_starts_with(b, by_hash))
		return a.n >= by_hash.n + n_hash && b.n >= by_hash.n + n_hash &&
		       memcmp(a.p + a.n - n_hash, b.p + b.n - n_hash, n_hash) == 0;
	return str_eq(a, b);
}

size_t v8_wasm_name(const struct kept *k, const struct source_function *f,
		    const struct code_text *text, char *to, size_t n_to)
{
	const struct kept_method *m = v8_kept_find(k, f->begin);
	const struct str kept = { (const char *)k + v8_kept_texts(k->n), k->n_file };
	char file[FILE_BYTES];

	shown_file(text->file, text->n_file, file);
	if (!m || m->n_text > n_to || !is_same_file(str_from(file), kept))
		return 0;
	memcpy(to, v8_kept_text(k, m), m->n_text);
	return m->n_text;
}
