/* SPDX-License-Identifier: Apache-2.0 */
/* The units of .debug_info (DWARF 5, section 7.5.1). */
#include "agent/object/lines/source_units.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/macro.h"

/* The longest: a 64-bit type unit's. */
#define MAX_HEADER_BYTES 40

/* What is read of a header, never behind its end. */
struct cursor {
	unsigned char bytes[MAX_HEADER_BYTES];
	size_t n;
};

static uint64_t take(struct cursor *c, size_t n)
{
	uint64_t value = 0;
	uint32_t half;
	uint16_t quarter;

	if (n == 8)
		memcpy(&value, c->bytes + c->n, 8);
	else if (n == 4)
		value = (memcpy(&half, c->bytes + c->n, 4), half);
	else if (n == 2)
		value = (memcpy(&quarter, c->bytes + c->n, 2), quarter);
	else
		value = c->bytes[c->n];
	c->n += n;
	return value;
}

/* unit = length version ( type address_size abbrev_off [ id [ type_off ] ] | abbrev_off address_size ) */
static bool parse(struct cursor *c, struct source_unit *u)
{
	uint64_t length = take(c, 4);
	uint8_t type = DW_UT_compile;

	u->is_dwarf64 = length == UINT32_MAX;
	if (u->is_dwarf64)
		length = take(c, 8);
	else if (length >= 0xfffffff0)
		return false;
	size_t offset_bytes = u->is_dwarf64 ? 8 : 4;
	u->n_bytes = length + c->n;
	u->version = (uint8_t)take(c, 2);
	if (u->version >= 5) {
		type = (uint8_t)take(c, 1);
		c->n++;
	}
	u->abbrev_off = take(c, offset_bytes);
	c->n += u->version < 5;
	if (type == DW_UT_skeleton || type == DW_UT_split_compile)
		c->n += 8;
	u->is_type = type == DW_UT_type || type == DW_UT_split_type;
	if (u->is_type)
		c->n += 8 + offset_bytes;
	u->n_header_bytes = (uint8_t)c->n;
	return u->version >= 2 && u->version <= 5 && u->n_bytes > c->n && u->n_bytes > length;
}

static int read_unit(struct source_image *image, uint64_t info_off, struct source_unit *u)
{
	const uint64_t n = image->sections[SOURCE_INFO].n_bytes;
	struct cursor c = { .n = 0 };
	/* A unit is longer than the header that may follow its last byte; what is not there is zero. */
	int r = source_image_read(image, SOURCE_INFO, info_off, c.bytes,
				  (size_t)MIN_OF(sizeof(c.bytes), n - info_off));

	if (r < 0)
		return r;
	*u = (struct source_unit){ .info_off = info_off };
	return parse(&c, u) && u->n_bytes <= n - info_off &&
			       u->abbrev_off < image->sections[SOURCE_ABBREV].n_bytes
		       ? 0
		       : SOURCE_IMAGE_NONE;
}

static int add_unit(struct source_units *units, size_t *cap, const struct source_unit *u)
{
	if (units->n == *cap) {
		size_t more = *cap ? *cap * 2 : 16;
		struct source_unit *items = reallocarray(units->items, more, sizeof(*items));

		if (!items)
			return -ENOMEM;
		units->items = items;
		*cap = more;
	}
	units->items[units->n++] = *u;
	return 0;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The end of a unit's abbreviations is where the next ones begin. */
static void end_abbreviations(struct source_units *units, const uint64_t *offs, uint64_t n_section)
{
	for (size_t i = 0; i < units->n; i++) {
		struct source_unit *u = &units->items[i];
		size_t low = 0, high = units->n;

		while (low < high) {
			size_t mid = low + (high - low) / 2;

			if (offs[mid] <= u->abbrev_off)
				low = mid + 1;
			else
				high = mid;
		}
		u->n_abbrev_bytes = (low < units->n ? offs[low] : n_section) - u->abbrev_off;
	}
}

static int find_abbreviations(struct source_units *units, uint64_t n_section)
{
	_cleanup_free_ uint64_t *offs = reallocarray(NULL, units->n, sizeof(*offs));

	if (!offs)
		return -ENOMEM;
	for (size_t i = 0; i < units->n; i++)
		offs[i] = units->items[i].abbrev_off;
	qsort(offs, units->n, sizeof(*offs), compare_u64);
	end_abbreviations(units, offs, n_section);
	return 0;
}

static int read_all(struct source_image *image, size_t max_units, struct source_units *units)
{
	uint64_t off = 0;
	size_t cap = 0;
	int r = 0;

	while (r == 0 && off < image->sections[SOURCE_INFO].n_bytes) {
		struct source_unit u;

		r = read_unit(image, off, &u);
		if (r == 0)
			r = units->n < max_units ? add_unit(units, &cap, &u) : -E2BIG;
		if (r == 0)
			off += u.n_bytes;
	}
	if (r == -E2BIG || (r >= 0 && units->n == 0))
		return SOURCE_IMAGE_NONE;
	return r < 0 ? r : find_abbreviations(units, image->sections[SOURCE_ABBREV].n_bytes);
}

int source_units_read(struct source_image *image, size_t max_units, struct source_units *ret_units)
{
	struct source_units units = { 0 };
	int r = read_all(image, max_units, &units);

	if (r != 0) {
		source_units_fini(&units);
		return r;
	}
	*ret_units = units;
	return 0;
}

void source_units_fini(struct source_units *units)
{
	for (size_t i = 0; i < units->n; i++)
		free(units->items[i].functions);
	free(units->items);
	*units = (struct source_units){ 0 };
}

struct source_unit *source_units_find(const struct source_units *units, uint64_t info_off)
{
	size_t low = 0, high = units->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		struct source_unit *u = &units->items[mid];

		if (info_off < u->info_off)
			high = mid;
		else if (info_off - u->info_off >= u->n_bytes)
			low = mid + 1;
		else
			return u;
	}
	return NULL;
}
