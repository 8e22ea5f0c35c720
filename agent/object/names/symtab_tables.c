/* SPDX-License-Identifier: Apache-2.0 */
/* Where an object's symbol tables lie in its file. */
#include "agent/object/names/symtab_tables.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "agent/object/names/symtab.h"
#include "agent/util/macro.h"

/* Names are read in steps of this much: most are shorter. */
#define NAME_STEP_BYTES 256
/* Longest chain of DT_GNU_HASH that is followed to find the end of the table; ld aims at one or two
 * symbols a chain. */
#define MAX_HASH_CHAIN 65536

size_t symbol_table_entry_bytes(const struct symbol_table *table)
{
	return table->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

struct symbol symbol_decode(const struct symbol_table *table, const void *entry)
{
	if (table->is_64) {
		Elf64_Sym s;

		memcpy(&s, entry, sizeof(s));
		return (struct symbol){ s.st_value,
					s.st_size,
					s.st_name,
					s.st_shndx,
					ELF64_ST_TYPE(s.st_info),
					ELF64_ST_BIND(s.st_info) };
	}
	Elf32_Sym s;

	memcpy(&s, entry, sizeof(s));
	return (struct symbol){ s.st_value,
				s.st_size,
				s.st_name,
				s.st_shndx,
				ELF32_ST_TYPE(s.st_info),
				ELF32_ST_BIND(s.st_info) };
}

int symbol_read(const struct symbol_table *table, const struct bytes *bytes, uint32_t index,
		struct symbol *ret_symbol)
{
	char entry[sizeof(Elf64_Sym)];
	size_t n = symbol_table_entry_bytes(table);

	if (index >= table->n)
		return -ENODATA;
	int r = bytes_read(bytes, table->file_off + (uint64_t)index * n, entry, n);
	if (r != 0)
		return r;
	*ret_symbol = symbol_decode(table, entry);
	return 0;
}

/* Appends what of the name is in one step; *ret_done when its end was there. */
static int read_name_step(const struct bytes *bytes, uint64_t file_off, size_t n, struct buf *name,
			  bool *ret_done)
{
	char step[NAME_STEP_BYTES];
	ssize_t got = bytes_read_some(bytes, file_off, step, n);

	if (got < 0)
		return (int)got;
	size_t len = strnlen(step, (size_t)got);
	*ret_done = len < (size_t)got;
	/* The string table ends in NUL; a name that runs out of it is none. */
	if (!*ret_done && (size_t)got < sizeof(step))
		return -ENODATA;
	return buf_append(name, step, len);
}

int symbol_read_name(const struct symbol_table *table, const struct bytes *bytes,
		     const struct symbol *symbol, struct buf *name)
{
	size_t begin = name->len;
	bool done = false;

	if (symbol->name_off == 0)
		return -ENODATA;
	for (uint64_t at = symbol->name_off; !done; at += NAME_STEP_BYTES) {
		if (at >= table->strings_bytes || at - symbol->name_off >= SYMTAB_MAX_NAME_BYTES)
			return -ENODATA;
		size_t n = (size_t)MIN_OF(table->strings_bytes - at, (uint64_t)NAME_STEP_BYTES);
		int r = read_name_step(bytes, table->strings_off + at, n, name, &done);
		if (r < 0)
			return r;
	}
	size_t len = name->len - begin;
	if (len == 0)
		return -ENODATA;
	const char *version = memchr(name->data + begin + 1, '@', len - 1);
	if (version) {
		name->len = (size_t)(version - name->data);
		name->data[name->len] = '\0';
	}
	return 0;
}

static bool in_file(const struct elf *elf, uint64_t file_off, uint64_t n)
{
	uint64_t size = elf_bytes(elf)->size;

	return file_off <= size && n <= size - file_off;
}

static void from_section(const struct elf *elf, uint32_t type, struct symbol_table *table)
{
	const struct elf_section *s = elf_section_by_type(elf, type);
	const struct elf_section *strings = s ? elf_section(elf, s->link) : NULL;

	if (!s || !strings || strings->type != SHT_STRTAB ||
	    ((s->flags | strings->flags) & SHF_COMPRESSED) ||
	    s->entry_bytes != symbol_table_entry_bytes(table) ||
	    !in_file(elf, s->file_off, s->size_bytes) ||
	    !in_file(elf, strings->file_off, strings->size_bytes))
		return;
	table->file_off = s->file_off;
	table->strings_off = strings->file_off;
	table->strings_bytes = strings->size_bytes;
	table->n = (uint32_t)MIN_OF(s->size_bytes / s->entry_bytes, (uint64_t)SYMTAB_MAX_SYMBOLS);
}

static int read_u32(const struct elf *elf, uint64_t file_off, uint32_t *ret_value)
{
	return bytes_read(elf_bytes(elf), file_off, ret_value, sizeof(*ret_value));
}

/* The highest symbol that a bucket of DT_GNU_HASH begins with; 0 when there is none or the table is
 * cut. */
static uint32_t last_bucket(const struct elf *elf, uint64_t file_off, uint32_t n)
{
	uint32_t chunk[512];
	uint32_t last = 0;

	while (n > 0) {
		uint32_t part = MIN_OF(n, (uint32_t)ARRAY_SIZE(chunk));

		if (bytes_read(elf_bytes(elf), file_off, chunk, part * sizeof(*chunk)) < 0)
			return 0;
		for (uint32_t i = 0; i < part; i++)
			last = MAX_OF(last, chunk[i]);
		file_off += part * sizeof(*chunk);
		n -= part;
	}
	return last;
}

/* Symbols are sorted by bucket, so the last chain ends where the table does: an odd hash is the
 * last of its chain. */
static uint32_t count_gnu_hash(const struct elf *elf, uint64_t file_off)
{
	struct {
		uint32_t n_buckets;
		uint32_t first_symbol;
		uint32_t n_bloom;
		uint32_t bloom_shift;
	} h;

	if (bytes_read(elf_bytes(elf), file_off, &h, sizeof(h)) < 0 ||
	    h.n_buckets > SYMTAB_MAX_SYMBOLS)
		return 0;
	uint64_t buckets = file_off + sizeof(h) + (uint64_t)h.n_bloom * (elf_is_64(elf) ? 8 : 4);
	uint32_t last = last_bucket(elf, buckets, h.n_buckets);
	if (last < h.first_symbol)
		return MIN_OF(h.first_symbol, SYMTAB_MAX_SYMBOLS);
	uint64_t chains = buckets + (uint64_t)h.n_buckets * 4;
	for (uint32_t i = 0; i < MAX_HASH_CHAIN; i++) {
		uint32_t hash;

		if (read_u32(elf, chains + (uint64_t)(last - h.first_symbol + i) * 4, &hash) < 0)
			return 0;
		if (hash & 1)
			return MIN_OF(last + i + 1, SYMTAB_MAX_SYMBOLS);
	}
	return 0;
}

/* The dynamic linker's view, which needs no section headers. It never says how many symbols there
 * are: only the hash tables do. */
static uint32_t count_dynamic(const struct elf *elf)
{
	uint64_t hash, file_off;
	uint32_t n;

	if (elf_dynamic(elf, DT_HASH, &hash) && elf_file_off(elf, hash, &file_off) &&
	    read_u32(elf, file_off + 4, &n) == 0)
		return MIN_OF(n, SYMTAB_MAX_SYMBOLS);
	if (elf_dynamic(elf, DT_GNU_HASH, &hash) && elf_file_off(elf, hash, &file_off))
		return count_gnu_hash(elf, file_off);
	return 0;
}

static void from_dynamic(const struct elf *elf, struct symbol_table *table)
{
	uint64_t symbols, strings, strings_bytes, file_off, strings_off;

	if (!elf_dynamic(elf, DT_SYMTAB, &symbols) || !elf_dynamic(elf, DT_STRTAB, &strings) ||
	    !elf_dynamic(elf, DT_STRSZ, &strings_bytes) || !elf_file_off(elf, symbols, &file_off) ||
	    !elf_file_off(elf, strings, &strings_off) || !in_file(elf, strings_off, strings_bytes))
		return;
	uint32_t n = count_dynamic(elf);
	if (!in_file(elf, file_off, (uint64_t)n * symbol_table_entry_bytes(table)))
		return;
	table->file_off = file_off;
	table->strings_off = strings_off;
	table->strings_bytes = strings_bytes;
	table->n = n;
}

void symbol_tables_find(const struct elf *elf, struct symbol_table ret_tables[SYMBOL_TABLE_MAX])
{
	for (int i = 0; i < SYMBOL_TABLE_MAX; i++)
		ret_tables[i] = (struct symbol_table){ .is_64 = elf_is_64(elf) };
	from_section(elf, SHT_SYMTAB, &ret_tables[SYMBOL_TABLE_STATIC]);
	from_section(elf, SHT_DYNSYM, &ret_tables[SYMBOL_TABLE_DYNAMIC]);
	if (ret_tables[SYMBOL_TABLE_DYNAMIC].n == 0)
		from_dynamic(elf, &ret_tables[SYMBOL_TABLE_DYNAMIC]);
}
