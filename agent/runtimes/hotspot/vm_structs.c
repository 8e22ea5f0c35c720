/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a file, whose addresses are what the loader would put there (R_*_RELATIVE). */
#include "agent/runtimes/hotspot/vm_structs.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/names/symbol_by_name.h"
#include "agent/util/cleanup.h"
#include "agent/util/macro.h"

/* VMTypeEntry: names of type and super class, three flags, size in bytes. */
struct type_entry {
	uint64_t name;
	uint64_t super_name;
	uint32_t flags[4];
	uint64_t size_bytes;
};

#define NAME_BYTES 32
/* Relocations of one file, which lie in one section; libjvm.so has 100,000. */
#define MAX_RELOCATIONS ((uint64_t)1 << 22)
#define RELOCATIONS_AT_ONCE 512

/* A part of the file that holds addresses. */
struct part {
	uint64_t vaddr;
	size_t n_bytes;
	char *bytes;
};

struct look {
	const struct elf *elf;
	struct part structs, types;
	struct hotspot_layout *to;
	struct hotspot_more *more;
};

struct field_name {
	const char *type;
	const char *field;
};

#define FIELD_NAMES(NAME, type, field) [HOTSPOT_##NAME] = { (type), (field) },
static const struct field_name fields[HOTSPOT_FIELD_MAX] = { HOTSPOT_STATICS(FIELD_NAMES)
								     HOTSPOT_OFFSETS(FIELD_NAMES) };
static const struct field_name more_fields[HOTSPOT_MORE_MAX] = { HOTSPOT_MORE_STATICS(
	FIELD_NAMES) HOTSPOT_MORE_OFFSETS(FIELD_NAMES) };
#undef FIELD_NAMES

/* The first bytes of a text; "" when it cannot be read. */
static void read_text(const struct elf *elf, uint64_t vaddr, char to[NAME_BYTES])
{
	uint64_t file_off;

	memset(to, 0, NAME_BYTES);
	if (vaddr && elf_file_off(elf, vaddr, &file_off))
		(void)bytes_read_some(elf_bytes(elf), file_off, to, NAME_BYTES - 1);
	to[NAME_BYTES - 1] = '\0';
}

static bool is_relative(const struct elf *elf, const Elf64_Rela *r)
{
	uint64_t type = ELF64_R_TYPE(r->r_info);

	return elf_machine(elf) == EM_AARCH64 ? type == R_AARCH64_RELATIVE
					      : type == R_X86_64_RELATIVE;
}

static void relocate_word(struct part *p, const Elf64_Rela *r)
{
	uint64_t off = r->r_offset - p->vaddr;

	if (off < p->n_bytes && p->n_bytes - off >= sizeof(r->r_addend))
		memcpy(p->bytes + off, &r->r_addend, sizeof(r->r_addend));
}

static bool relocate_piece(const struct elf *elf, uint64_t off, size_t n, struct part *parts,
			   size_t n_parts)
{
	Elf64_Rela some[RELOCATIONS_AT_ONCE];

	if (bytes_read(elf_bytes(elf), off, some, n * sizeof(*some)) < 0)
		return false;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n_parts && is_relative(elf, &some[i]); k++)
			relocate_word(&parts[k], &some[i]);
	return true;
}

/* Files whose relocations are in another form (DT_RELR) have the addresses in place. */
static bool relocate(const struct elf *elf, struct part *parts, size_t n_parts)
{
	const struct elf_section *s = elf_section_by_type(elf, SHT_RELA);
	uint64_t n = s ? MIN_OF(s->size_bytes / sizeof(Elf64_Rela), MAX_RELOCATIONS) : 0;

	for (uint64_t i = 0; i < n; i += RELOCATIONS_AT_ONCE)
		if (!relocate_piece(elf, s->file_off + i * sizeof(Elf64_Rela),
				    (size_t)MIN_OF(n - i, (uint64_t)RELOCATIONS_AT_ONCE), parts,
				    n_parts))
			return false;
	return true;
}

/* As much of a table as there can be. */
static bool read_part(const struct elf *elf, uint64_t vaddr, size_t max, struct part *to)
{
	uint64_t file_off;

	*to = (struct part){ .vaddr = vaddr, .bytes = malloc(max) };
	if (!to->bytes || !elf_file_off(elf, vaddr, &file_off))
		return false;
	ssize_t n = bytes_read_some(elf_bytes(elf), file_off, to->bytes, max);
	to->n_bytes = n > 0 ? (size_t)n : 0;
	return n > 0;
}

static bool read_tables(struct look *l, const struct symbol *structs, const struct symbol *types)
{
	char words[2][sizeof(uint64_t)];
	struct part pointers[2] = { { structs->value, sizeof(words[0]), words[0] },
				    { types->value, sizeof(words[1]), words[1] } };
	uint64_t at[2];

	for (size_t i = 0; i < ARRAY_SIZE(pointers); i++)
		if (!elf_read(l->elf, pointers[i].vaddr, words[i], sizeof(words[i])))
			return false;
	if (!relocate(l->elf, pointers, ARRAY_SIZE(pointers)))
		return false;
	memcpy(at, words, sizeof(at));
	if (!read_part(l->elf, at[0], HOTSPOT_MAX_ENTRIES * sizeof(struct hotspot_entry),
		       &l->structs) ||
	    !read_part(l->elf, at[1], HOTSPOT_MAX_ENTRIES * sizeof(struct type_entry), &l->types))
		return false;
	struct part both[2] = { l->structs, l->types };
	return relocate(l->elf, both, ARRAY_SIZE(both));
}

/* Of another type where versions differ in it. */
static void note_field(struct look *l, size_t which, const struct hotspot_entry *e, size_t number)
{
	char type[NAME_BYTES];

	l->to->at[which] = (uint16_t)number;
	if (which != HOTSPOT_BLOB_COMPLETE)
		return;
	read_text(l->elf, e->field_type, type);
	l->to->has_short_complete = strcmp(type, "int16_t") == 0;
}

/* What the JVM's own constants of its version are: they are members that the file has values of. */
static void note_version(struct look *l, const char *field, const struct hotspot_entry *e)
{
	uint32_t value;

	if (!e->is_static || !elf_read(l->elf, e->address, &value, sizeof(value)) || value > 255)
		return;
	if (strcmp(field, "_vm_major_version") == 0)
		l->to->major = (uint8_t)value;
	else if (strcmp(field, "_vm_security_version") == 0)
		l->to->security = (uint8_t)value;
}

static bool is_named(const struct field_name *f, const char *type, const char *field)
{
	return strcmp(type, f->type) == 0 && strcmp(field, f->field) == 0;
}

static void look_at_entry(struct look *l, const struct hotspot_entry *e, size_t number)
{
	char type[NAME_BYTES], field[NAME_BYTES];

	read_text(l->elf, e->type_name, type);
	read_text(l->elf, e->field_name, field);
	if (strcmp(type, "Abstract_VM_Version") == 0)
		note_version(l, field, e);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (is_named(&fields[i], type, field))
			note_field(l, i, e, number);
	for (size_t i = 0; i < ARRAY_SIZE(more_fields); i++)
		if (is_named(&more_fields[i], type, field))
			l->more->at[i] = (uint16_t)number;
}

static void look_at_structs(struct look *l)
{
	size_t n = l->structs.n_bytes / sizeof(struct hotspot_entry);
	struct hotspot_entry e;

	for (size_t i = 0; i < n; i++) {
		memcpy(&e, l->structs.bytes + i * sizeof(e), sizeof(e));
		if (!e.type_name)
			return;
		look_at_entry(l, &e, i);
	}
}

static void look_at_types(struct look *l)
{
	size_t n = l->types.n_bytes / sizeof(struct type_entry);
	struct type_entry e;
	char name[NAME_BYTES];

	for (size_t i = 0; i < n; i++) {
		memcpy(&e, l->types.bytes + i * sizeof(e), sizeof(e));
		if (!e.name)
			return;
		read_text(l->elf, e.name, name);
		uint8_t size = (uint8_t)MIN_OF(e.size_bytes, (uint64_t)UINT8_MAX);
		if (strcmp(name, "ConstMethod") == 0)
			l->to->const_bytes = size;
		else if (strcmp(name, "ConstantPool") == 0)
			l->to->pool_bytes = size;
		else if (strcmp(name, "HeapBlock") == 0)
			l->to->block_bytes = size;
	}
}

bool hotspot_file_read(const struct elf *elf, struct hotspot_layout *ret_layout,
		       struct hotspot_more *ret_more)
{
	struct look l = { .elf = elf, .to = ret_layout, .more = ret_more };
	struct symbol structs, types;

	*ret_layout = (struct hotspot_layout){ 0 };
	memset(ret_layout->at, 0xff, sizeof(ret_layout->at));
	*ret_more = (struct hotspot_more){ 0 };
	memset(ret_more->at, 0xff, sizeof(ret_more->at));
	if (!symbol_by_name(elf, "gHotSpotVMStructs", &structs) ||
	    !symbol_by_name(elf, "gHotSpotVMTypes", &types))
		return false;
	if (read_tables(&l, &structs, &types)) {
		ret_layout->table_at = l.structs.vaddr;
		look_at_structs(&l);
		look_at_types(&l);
	}
	free(l.structs.bytes);
	free(l.types.bytes);
	return true;
}
