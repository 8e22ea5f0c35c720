/* SPDX-License-Identifier: Apache-2.0 */
/* libdw over an image. */
#include "agent/object/lines/source_dwarf.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "agent/object/lines/source_lines.h"
#include "agent/util/macro.h"

/* struct Dwarf_CU with its first table of abbreviations, and malloc's share (measured with elfutils 0.188). */
#define LIBDW_UNIT_BYTES 1024
/* libdw makes about 56 bytes and a slot of a table of an abbreviation of some 15. */
#define LIBDW_ABBREV_FACTOR 6
/* A row in memory, and its place in the index. */
#define LIBDW_LINE_BYTES 64
#define LIBDW_FILE_BYTES 160
/* A DIE is rarely longer than 60 bytes; what is behind this of a referred one is not seen. */
#define DIE_BYTES 2048
/* Of names. C++ has longer ones; demangling gives up well below. */
#define MAX_TEXT_BYTES ((size_t)16 * 1024)
/* A line program costs a row for each 2.5 bytes of it while it is read: so it may need the whole budget once. */
#define LINE_PROGRAM_SHARE 24
/* One range is two numbers of at most 10 bytes, and may come with a new base. */
#define RANGE_BYTES 48
#define RANGES_WINDOW_BYTES 4096

/* libdw knows no way back: without a handler it writes to stderr and exits. */
static _Noreturn void end_without_memory(void)
{
	_exit(SOURCE_LINES_EXIT_MEMORY);
}

static int start_libdw(struct source_dwarf *d)
{
	d->elf = elf_memory((char *)d->image->memory, d->image->n_memory);
	if (d->elf)
		d->dwarf = dwarf_begin_elf(d->elf, DWARF_C_READ, NULL);
	if (!d->dwarf)
		return SOURCE_IMAGE_NONE;
	(void)dwarf_new_oom_handler(d->dwarf, end_without_memory);
	return 0;
}

static void stop_libdw(struct source_dwarf *d)
{
	(void)dwarf_end(d->dwarf);
	(void)elf_end(d->elf);
	d->dwarf = NULL;
	d->elf = NULL;
	d->n_passed = 0;
	d->n_libdw_bytes = 0;
	for (size_t i = 0; i < d->units.n; i++) {
		d->units.items[i].has_lines = false;
		d->units.items[i].has_abbrev = false;
	}
}

int source_dwarf_init(struct source_dwarf *d, const struct bytes *file, size_t max_bytes,
		      struct scratch *scratch)
{
	d->max_bytes = max_bytes;
	return source_image_new(file, max_bytes / 2, scratch, &d->image);
}

int source_dwarf_start(struct source_dwarf *d)
{
	(void)elf_version(EV_CURRENT);
	int r = source_units_read(d->image, d->max_bytes / 2 / LIBDW_UNIT_BYTES, &d->units);

	return r == 0 ? start_libdw(d) : r;
}

void source_dwarf_fini(struct source_dwarf *d)
{
	stop_libdw(d);
	source_units_fini(&d->units);
	source_image_free(d->image);
	d->image = NULL;
}

size_t source_dwarf_bytes(const struct source_dwarf *d)
{
	return source_image_bytes(d->image) + d->units.n * sizeof(struct source_unit) +
	       d->n_passed * LIBDW_UNIT_BYTES + d->n_libdw_bytes;
}

/* The head of a unit and its abbreviations, without which libdw takes it for another kind. */
static int fill_head(struct source_dwarf *d, const struct source_unit *u)
{
	int r = source_image_fill(d->image, SOURCE_INFO, u->info_off,
				  MIN_OF(u->n_bytes, (uint64_t)DIE_BYTES));

	if (r != 0)
		return r;
	return source_image_fill(d->image, SOURCE_ABBREV, u->abbrev_off, u->n_abbrev_bytes);
}

/* libdw passes the units one after the other: none before its head is filled in. All are passed before the first question, so that
 * libdw never does on its own. */
static int pass(struct source_dwarf *d, const struct source_unit *u, Dwarf_Die *ret_die)
{
	size_t i = (size_t)(u - d->units.items);

	while (d->n_passed <= i) {
		const struct source_unit *next = &d->units.items[d->n_passed++];
		int r = fill_head(d, next);

		if (r < 0)
			return r;
		(void)dwarf_offdie(d->dwarf, next->info_off + next->n_header_bytes, ret_die);
	}
	return dwarf_offdie(d->dwarf, u->info_off + u->n_header_bytes, ret_die) ? 0
										: SOURCE_IMAGE_NONE;
}

/* A page or two for each: given back on the way. */
static int pass_all(struct source_dwarf *d)
{
	Dwarf_Die die;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < d->units.n; i++) {
		r = pass(d, &d->units.items[i], &die);
		source_dwarf_drop_if_many(d);
	}
	return r < 0 ? r : 0;
}

void source_dwarf_drop_if_many(struct source_dwarf *d)
{
	if (source_image_bytes(d->image) - d->image->n_inflated_bytes > d->max_bytes / 4)
		source_image_drop(d->image);
}

int source_dwarf_trim(struct source_dwarf *d)
{
	if (source_dwarf_bytes(d) <= d->max_bytes)
		return 0;
	source_image_drop(d->image);
	if (source_dwarf_bytes(d) <= d->max_bytes - d->max_bytes / 4)
		return 0;
	stop_libdw(d);
	int r = start_libdw(d);
	return r == 0 ? pass_all(d) : r;
}

/* What a unit has of a table that is indexed: from the header before `base` to the end (DWARF 5, 7.26 to 7.28). */
static int fill_contribution(struct source_dwarf *d, const struct source_unit *u,
			     Dwarf_Die *unit_die, unsigned int base_name,
			     enum source_section section, size_t n_header)
{
	size_t n_length = u->is_dwarf64 ? 8 : 4;
	uint64_t length = 0, before = n_header + (u->is_dwarf64 ? 12 : 4);
	Dwarf_Attribute attr;
	Dwarf_Word base;

	if (u->version < 5 || !dwarf_attr(unit_die, base_name, &attr) ||
	    dwarf_formudata(&attr, &base) != 0 || base < before)
		return 0;
	int r = source_image_read(d->image, section, base - n_header - n_length, &length, n_length);
	if (r < 0)
		return r == -ENODATA ? 0 : r;
	return source_image_fill(d->image, section, base - before,
				 MIN_OF(length, (uint64_t)d->max_bytes / 4) + before);
}

static int fill_unit(struct source_dwarf *d, struct source_unit *u, enum source_depth depth,
		     Dwarf_Die *die)
{
	int r = fill_contribution(d, u, die, DW_AT_addr_base, SOURCE_ADDR, 4);

	if (r != 0)
		return r;
	r = fill_contribution(d, u, die, DW_AT_rnglists_base, SOURCE_RNGLISTS, 8);
	if (r != 0 || depth < SOURCE_NAMES)
		return r;
	r = fill_contribution(d, u, die, DW_AT_str_offsets_base, SOURCE_STR_OFFSETS, 4);
	if (r != 0 || depth < SOURCE_WHOLE)
		return r;
	r = source_image_fill(d->image, SOURCE_INFO, u->info_off, u->n_bytes);
	if (r != 0 || u->has_abbrev)
		return r;
	d->n_libdw_bytes += LIBDW_ABBREV_FACTOR * u->n_abbrev_bytes;
	u->has_abbrev = true;
	return 0;
}

int source_dwarf_unit(struct source_dwarf *d, struct source_unit *u, enum source_depth depth,
		      Dwarf_Die *ret_die)
{
	/* With its lines and functions a unit needs as much again. */
	if (depth == SOURCE_WHOLE && u->n_bytes > d->max_bytes / 2)
		return SOURCE_IMAGE_NONE;
	int r = fill_head(d, u);
	if (r != 0)
		return r;
	r = pass(d, u, ret_die);
	if (r != 0)
		return r;
	return fill_unit(d, u, depth, ret_die);
}

int source_dwarf_follow(struct source_dwarf *d, Dwarf_Attribute *reference, Dwarf_Die *ret_die)
{
	Dwarf_Die unit_die, die;
	Dwarf_Off off;

	if (!dwarf_formref_die(reference, &die))
		return SOURCE_IMAGE_NONE;
	off = dwarf_dieoffset(&die);
	struct source_unit *u = source_units_find(&d->units, off);
	if (!u || off - u->info_off < u->n_header_bytes)
		return SOURCE_IMAGE_NONE;
	int r = source_dwarf_unit(d, u, SOURCE_NAMES, &unit_die);
	if (r != 0)
		return r;
	r = source_image_fill(d->image, SOURCE_INFO, off, DIE_BYTES);
	if (r != 0)
		return r;
	*ret_die = die;
	return 0;
}

int source_dwarf_text(struct source_dwarf *d, Dwarf_Attribute *attr, const char **ret_text,
		      size_t *ret_n)
{
	const char *text = dwarf_formstring(attr);

	if (!text)
		return SOURCE_IMAGE_NONE;
	int r = source_image_text(d->image, text, MAX_TEXT_BYTES, ret_n);
	if (r != 0)
		return r;
	*ret_text = text;
	return 0;
}

/* The line program, and the texts that libdw makes paths of. */
static int fill_lines(struct source_dwarf *d, Dwarf_Die *unit_die)
{
	Dwarf_Attribute attr;
	Dwarf_Word off;
	uint64_t length = 0;
	const char *text;
	size_t n;

	if (!dwarf_attr(unit_die, DW_AT_stmt_list, &attr) || dwarf_formudata(&attr, &off) != 0)
		return SOURCE_IMAGE_NONE;
	int r = source_image_read(d->image, SOURCE_LINE, off, &length, 4);
	if (r == 0 && length == UINT32_MAX)
		r = source_image_read(d->image, SOURCE_LINE, off + 4, &length, 8);
	if (r == -ENODATA || length > d->max_bytes / LINE_PROGRAM_SHARE)
		return SOURCE_IMAGE_NONE;
	if (r != 0)
		return r;
	r = source_image_fill(d->image, SOURCE_LINE, off, length + 12);
	if (r != 0)
		return r;
	r = source_image_fill(d->image, SOURCE_LINE_STR, 0, d->max_bytes / 4);
	if (r != 0)
		return r;
	if (dwarf_attr(unit_die, DW_AT_comp_dir, &attr))
		(void)source_dwarf_text(d, &attr, &text, &n);
	return 0;
}

int source_dwarf_load_lines(struct source_dwarf *d, struct source_unit *u, Dwarf_Die *unit_die)
{
	size_t n_lines = 0, n_files = 0;
	Dwarf_Lines *lines;
	Dwarf_Files *files;

	if (u->has_lines)
		return 0;
	int r = fill_lines(d, unit_die);
	if (r != 0)
		return r;
	if (dwarf_getsrclines(unit_die, &lines, &n_lines) != 0 ||
	    dwarf_getsrcfiles(unit_die, &files, &n_files) != 0)
		return SOURCE_IMAGE_NONE;
	d->n_libdw_bytes += n_lines * LIBDW_LINE_BYTES + n_files * LIBDW_FILE_BYTES;
	u->has_lines = true;
	return 0;
}

/* All ranges that lie in what is filled; how many. */
static int report(Dwarf_Die *die, source_range_fn fn, void *data, size_t *ret_n)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;
	size_t n = 0;
	int r = 0;

	while (r == 0 && (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0) {
		n++;
		if (fn && begin < end)
			r = fn(begin, end, data);
	}
	*ret_n = n;
	return r;
}

/* A list has no length: what is filled of it doubles until its end must be there. */
static int fill_list(struct source_dwarf *d, Dwarf_Die *die, enum source_section section,
		     uint64_t off)
{
	const uint64_t max = d->max_bytes / 4;
	size_t n = 0;

	for (uint64_t window = RANGES_WINDOW_BYTES; window <= max; window *= 2) {
		int r = source_image_fill(d->image, section, off, window);

		if (r < 0)
			return r;
		(void)report(die, NULL, NULL, &n);
		if ((n + 1) * RANGE_BYTES <= window)
			return 0;
	}
	return 0;
}

int source_dwarf_ranges(struct source_dwarf *d, Dwarf_Die *die, source_range_fn fn, void *data)
{
	Dwarf_Attribute attr;
	Dwarf_Half version = 4;
	Dwarf_Word off;
	size_t n;

	if (dwarf_attr(die, DW_AT_ranges, &attr) && dwarf_whatform(&attr) != DW_FORM_rnglistx &&
	    dwarf_formudata(&attr, &off) == 0) {
		(void)dwarf_cu_die(die->cu, &(Dwarf_Die){ 0 }, &version, NULL, NULL, NULL, NULL,
				   NULL);
		int r = fill_list(d, die, version >= 5 ? SOURCE_RNGLISTS : SOURCE_RANGES, off);

		if (r < 0)
			return r;
	}
	return report(die, fn, data, &n);
}
