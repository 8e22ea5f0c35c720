/* SPDX-License-Identifier: Apache-2.0 */
/* The section table of an ELF file and its names. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/elf_internal.h"
#include "agent/util/macro.h"

static struct elf_section section_from_64(const Elf64_Shdr *s)
{
	return (struct elf_section){ s->sh_name,    s->sh_type,	  s->sh_flags,
				     s->sh_addr,    s->sh_offset, s->sh_size,
				     s->sh_entsize, s->sh_link,	  s->sh_info };
}

static struct elf_section section_from_32(const Elf32_Shdr *s)
{
	return (struct elf_section){ s->sh_name,    s->sh_type,	  s->sh_flags,
				     s->sh_addr,    s->sh_offset, s->sh_size,
				     s->sh_entsize, s->sh_link,	  s->sh_info };
}

static int read_section(const struct elf *elf, struct bytes_window *w, size_t i,
			struct elf_section *section)
{
	union {
		Elf64_Shdr s64;
		Elf32_Shdr s32;
	} s;
	size_t n = elf->is_64 ? sizeof(s.s64) : sizeof(s.s32);
	int r = bytes_read_window(&elf->bytes, w, elf->section_table_off + i * n, &s, n);

	if (r != 0)
		return r == -ENODATA ? ELF_MALFORMED : r;
	*section = elf->is_64 ? section_from_64(&s.s64) : section_from_32(&s.s32);
	return 0;
}

/* More than 65,279 sections: the true number and the true index of the names are in section 0
 * (gABI, "ELF Header"). */
static int section_count(const struct elf *elf, struct bytes_window *w, size_t *ret_n,
			 size_t *ret_names_index)
{
	struct elf_section first;
	int r = read_section(elf, w, 0, &first);

	if (r != 0)
		return r;
	uint64_t n = elf->n_header_sections ? elf->n_header_sections : first.size_bytes;
	if (n > ELF_MAX_SECTIONS)
		return ELF_MALFORMED;
	*ret_n = (size_t)n;
	*ret_names_index = elf->names_index == SHN_XINDEX ? first.link : elf->names_index;
	return 0;
}

static int read_names(struct elf *elf, size_t index)
{
	if (index == SHN_UNDEF || index >= elf->n_sections)
		return 0;
	const struct elf_section *s = &elf->sections[index];
	if (s->type != SHT_STRTAB || (s->flags & SHF_COMPRESSED) || s->file_off > elf->bytes.size)
		return 0;
	size_t n = (size_t)MIN_OF(s->size_bytes, (uint64_t)ELF_MAX_SECTION_NAMES_BYTES);
	n = (size_t)MIN_OF((uint64_t)n, elf->bytes.size - s->file_off);
	_cleanup_free_ char *names = malloc(n + 1);
	if (!names)
		return -ENOMEM;
	ssize_t got = bytes_read_some(&elf->bytes, s->file_off, names, n);
	if (got < 0)
		return (int)got;
	names[got] = '\0';
	elf->names = TAKE_PTR(names);
	elf->names_bytes = (size_t)got + 1;
	return 0;
}

static int read_sections(struct elf *elf)
{
	struct bytes_window w;
	size_t n, names_index;

	w.n = 0;
	int r = section_count(elf, &w, &n, &names_index);

	if (r != 0 || n == 0)
		return r;
	elf->sections = calloc(n, sizeof(*elf->sections));
	if (!elf->sections)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		r = read_section(elf, &w, i, &elf->sections[i]);
		if (r != 0)
			return r;
	}
	elf->n_sections = n;
	return read_names(elf, names_index);
}

int elf_load_sections(struct elf *elf)
{
	if (elf->sections_loaded || elf->section_table_off == 0)
		return 0;
	if (elf->section_table_off > elf->bytes.size)
		return ELF_MALFORMED;
	int r = read_sections(elf);
	if (r != 0)
		elf_drop_sections(elf);
	else
		elf->sections_loaded = true;
	return r;
}

void elf_drop_sections(struct elf *elf)
{
	free(elf->sections);
	free(elf->names);
	elf->sections = NULL;
	elf->n_sections = 0;
	elf->names = NULL;
	elf->names_bytes = 0;
	elf->sections_loaded = false;
}

size_t elf_n_sections(const struct elf *elf)
{
	return elf->n_sections;
}

const struct elf_section *elf_section(const struct elf *elf, size_t i)
{
	return i < elf->n_sections ? &elf->sections[i] : NULL;
}

const char *elf_section_name(const struct elf *elf, const struct elf_section *section)
{
	return section->name_off < elf->names_bytes ? elf->names + section->name_off : "";
}

const struct elf_section *elf_section_by_name(const struct elf *elf, const char *name)
{
	for (size_t i = 0; i < elf->n_sections; i++)
		if (strcmp(elf_section_name(elf, &elf->sections[i]), name) == 0)
			return &elf->sections[i];
	return NULL;
}

const struct elf_section *elf_section_by_type(const struct elf *elf, uint32_t type)
{
	for (size_t i = 0; i < elf->n_sections; i++)
		if (elf->sections[i].type == type)
			return &elf->sections[i];
	return NULL;
}
