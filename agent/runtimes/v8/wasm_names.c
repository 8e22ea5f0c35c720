/* SPDX-License-Identifier: Apache-2.0 */
/* The name section of a module. All lengths are the module's own: whatever they say, what is read lies within its bytes. */
#include "agent/runtimes/v8/wasm_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/cleanup.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

/* "\0asm" and the version. */
#define HEAD_BYTES 8
/* Compilers write a dozen sections, and some of their own. */
#define MAX_SECTIONS 256
/* A number of 32 bits. */
#define LEB_BYTES 5
#define SECTION_CUSTOM 0
/* The beginning of a section: what it is, how long it is, how long its name is, and that. */
#define SECTION_NAME "name"
#define BEGIN_BYTES (1 + LEB_BYTES + LEB_BYTES + sizeof(SECTION_NAME) - 1)
/* A part of the section with names of functions. */
#define PART_FUNCTIONS 1

struct cursor {
	const uint8_t *at, *end;
};

static uint32_t left(const struct cursor *c)
{
	return (uint32_t)(c->end - c->at);
}

static bool get_byte(struct cursor *c, uint8_t *ret)
{
	if (c->at == c->end)
		return false;
	*ret = *c->at++;
	return true;
}

/* LEB128, which may be longer than it has to be. */
static bool get_number(struct cursor *c, uint32_t *ret)
{
	uint64_t value = 0;
	uint8_t byte;

	for (int i = 0; i < LEB_BYTES; i++) {
		if (!get_byte(c, &byte))
			return false;
		value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (!(byte & 0x80)) {
			*ret = (uint32_t)value;
			return value <= UINT32_MAX;
		}
	}
	return false;
}

/* So many bytes, of which there may be less. */
static bool get_part(struct cursor *c, uint32_t n, struct cursor *ret_part)
{
	if (n > left(c))
		return false;
	*ret_part = (struct cursor){ c->at, c->at + n };
	c->at += n;
	return true;
}

/* Of a custom section, whose content begins at c: how many bytes its name takes, if that is "name"; else 0. */
static uint32_t own_name_bytes(struct cursor c, uint32_t n_content)
{
	const uint8_t *begin = c.at;
	struct cursor name;
	uint32_t n;

	c.end = begin + MIN_OF(left(&c), n_content);
	if (!get_number(&c, &n) || n != sizeof(SECTION_NAME) - 1 || !get_part(&c, n, &name) ||
	    memcmp(name.at, SECTION_NAME, n) != 0)
		return 0;
	return (uint32_t)(c.at - begin);
}

int wasm_names_find(const struct wasm_bytes *bytes, uint32_t *ret_off, uint32_t *ret_n)
{
	static const uint8_t magic[] = { 0, 'a', 's', 'm' };
	uint32_t off = HEAD_BYTES;
	uint8_t begin[BEGIN_BYTES];

	if (bytes->n < HEAD_BYTES)
		return -ENOENT;
	if (!bytes->read(bytes->data, 0, begin, sizeof(magic)))
		return -EAGAIN;
	if (memcmp(begin, magic, sizeof(magic)) != 0)
		return -ENOENT;
	for (int i = 0; i < MAX_SECTIONS && off < bytes->n; i++) {
		uint32_t n = (uint32_t)MIN_OF(sizeof(begin), (size_t)(bytes->n - off)), n_content;
		struct cursor c = { begin, begin + n };
		uint8_t id;

		if (!bytes->read(bytes->data, off, begin, n))
			return -EAGAIN;
		if (!get_byte(&c, &id) || !get_number(&c, &n_content))
			return -ENOENT;
		off += (uint32_t)(c.at - begin);
		if (n_content > bytes->n - off)
			return -ENOENT;
		uint32_t n_name = id == SECTION_CUSTOM ? own_name_bytes(c, n_content) : 0;
		if (n_name) {
			*ret_off = off + n_name;
			*ret_n = n_content - n_name;
			return 0;
		}
		off += n_content;
	}
	return -ENOENT;
}

/* What is found goes there, as far as there is room; n counts all. */
struct found {
	const uint8_t *begin; /* of the section */
	struct wasm_name *names;
	size_t max, n;
};

static void put(struct found *f, uint32_t number, const struct cursor *name)
{
	if (left(name) == 0 || !str_is_utf8((struct str){ (const char *)name->at, left(name) }))
		return;
	if (f->n < f->max)
		f->names[f->n] =
			(struct wasm_name){ number, (uint32_t)(name->at - f->begin), left(name) };
	f->n++;
}

/* How many there are is told, and how many bytes follow: the bytes count. */
static bool read_functions(struct cursor c, struct found *f)
{
	uint32_t n, number, n_name;
	struct cursor name;

	if (!get_number(&c, &n))
		return false;
	for (; n > 0; n--) {
		if (!get_number(&c, &number) || !get_number(&c, &n_name) ||
		    !get_part(&c, n_name, &name))
			return false;
		put(f, number, &name);
	}
	return true;
}

static void read_section(struct cursor c, struct found *f)
{
	struct cursor part;
	uint8_t id;
	uint32_t n;

	while (get_byte(&c, &id) && get_number(&c, &n) && get_part(&c, n, &part))
		if (id == PART_FUNCTIONS && !read_functions(part, f))
			break;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = ((const struct wasm_name *)a)->number;
	uint32_t y = ((const struct wasm_name *)b)->number;

	return x < y ? -1 : x > y;
}

/* Leaves out functions that have several. */
static size_t leave_unique(struct wasm_name *names, size_t n)
{
	size_t n_left = 0;

	for (size_t i = 0, next; i < n; i = next) {
		for (next = i + 1; next < n && names[next].number == names[i].number;)
			next++;
		if (next == i + 1)
			names[n_left++] = names[i];
	}
	return n_left;
}

int wasm_names_read(const uint8_t *section, uint32_t n_section, size_t max,
		    struct wasm_name **ret_names, size_t *ret_n)
{
	const struct cursor all = { section, section + n_section };
	struct found count = { .begin = section }, f = { .begin = section };

	read_section(all, &count);
	if (count.n > max)
		return -E2BIG;
	f.max = count.n;
	f.names = calloc(MAX_OF(count.n, (size_t)1), sizeof(*f.names));
	if (!f.names)
		return -ENOMEM;
	read_section(all, &f);
	qsort(f.names, f.n, sizeof(*f.names), compare);
	*ret_n = leave_unique(f.names, f.n);
	*ret_names = f.names;
	return 0;
}
