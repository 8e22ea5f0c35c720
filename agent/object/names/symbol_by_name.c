/* SPDX-License-Identifier: Apache-2.0 */
/* A defined symbol of a known name. The hash table (DT_GNU_HASH) is a header, a Bloom filter of 64-bit words, buckets, and for each
 * symbol its hash, with the lowest bit set at the end of a bucket. */
#include "agent/object/names/symbol_by_name.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/cleanup.h"
#include "agent/util/macro.h"

/* Symbols of one bucket that are compared; linkers aim at one or two. */
#define MAX_CHAIN 64
#define N_SYMBOLS 128

struct lookup {
	const struct elf *elf;
	const struct symbol_table *table;
	const char *name;
};

struct gnu_hash {
	uint32_t n_buckets;
	uint32_t first_symbol;
	uint32_t bloom_words;
	uint32_t bloom_shift;
};

static uint32_t gnu_hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

static bool is_wanted(const struct lookup *l, const struct symbol *s)
{
	_cleanup_buf_ struct buf name = BUF_INIT(64);

	return s->section != SHN_UNDEF &&
	       symbol_read_name(l->table, elf_bytes(l->elf), s, &name) == 0 &&
	       strcmp(buf_str(&name), l->name) == 0;
}

/* The symbols of a bucket that begins with `index`; chain_off: of symbol 0's hash, which may not be there. */
static bool find_in_bucket(const struct lookup *l, uint64_t chain_off, uint32_t index,
			   uint32_t hash, struct symbol *ret_symbol)
{
	for (uint32_t i = 0; i < MAX_CHAIN; i++) {
		struct symbol s;
		uint32_t found;

		if (bytes_read(elf_bytes(l->elf), chain_off + 4 * (uint64_t)(index + i), &found,
			       sizeof(found)) < 0)
			return false;
		if ((found | 1) == (hash | 1) &&
		    symbol_read(l->table, elf_bytes(l->elf), index + i, &s) == 0 &&
		    is_wanted(l, &s)) {
			*ret_symbol = s;
			return true;
		}
		if (found & 1)
			return false;
	}
	return false;
}

static bool find_by_hash(const struct lookup *l, struct symbol *ret_symbol)
{
	uint32_t hash = gnu_hash_of(l->name);
	struct gnu_hash h;
	uint64_t vaddr, file_off;
	uint32_t index;

	if (!elf_dynamic(l->elf, DT_GNU_HASH, &vaddr) || !elf_file_off(l->elf, vaddr, &file_off) ||
	    bytes_read(elf_bytes(l->elf), file_off, &h, sizeof(h)) < 0 || h.n_buckets == 0)
		return false;
	uint64_t buckets_off = file_off + sizeof(h) + 8 * (uint64_t)h.bloom_words;
	uint64_t chain_off = buckets_off + 4 * ((uint64_t)h.n_buckets - h.first_symbol);
	if (bytes_read(elf_bytes(l->elf), buckets_off + 4 * (uint64_t)(hash % h.n_buckets), &index,
		       sizeof(index)) < 0 ||
	    index < h.first_symbol)
		return false;
	return find_in_bucket(l, chain_off, index, hash, ret_symbol);
}

/* The table's names, ended by a NUL, when the wanted one is among them; else NULL. */
static char *read_strings(const struct lookup *l)
{
	size_t n = (size_t)l->table->strings_bytes;
	_cleanup_free_ char *strings = NULL;

	if (n == 0 || l->table->strings_bytes > SYMBOL_BY_NAME_MAX_STRINGS)
		return NULL;
	strings = malloc(n + 1);
	if (!strings || bytes_read(elf_bytes(l->elf), l->table->strings_off, strings, n) < 0)
		return NULL;
	strings[n] = '\0';
	return memmem(strings, n + 1, l->name, strlen(l->name) + 1) ? TAKE_PTR(strings) : NULL;
}

static bool find_by_scan(const struct lookup *l, struct symbol *ret_symbol)
{
	_cleanup_free_ char *strings = read_strings(l);
	char entries[N_SYMBOLS * sizeof(Elf64_Sym)];
	size_t entry_bytes = symbol_table_entry_bytes(l->table);

	for (uint32_t i = 0; strings && i < l->table->n; i += N_SYMBOLS) {
		uint32_t n = MIN_OF(l->table->n - i, (uint32_t)N_SYMBOLS);

		if (bytes_read(elf_bytes(l->elf), l->table->file_off + (uint64_t)i * entry_bytes,
			       entries, n * entry_bytes) < 0)
			return false;
		for (uint32_t k = 0; k < n; k++) {
			struct symbol s = symbol_decode(l->table, entries + k * entry_bytes);

			if (s.section != SHN_UNDEF && s.name_off < l->table->strings_bytes &&
			    strcmp(strings + s.name_off, l->name) == 0) {
				*ret_symbol = s;
				return true;
			}
		}
	}
	return false;
}

bool symbol_by_name(const struct elf *elf, const char *name, struct symbol *ret_symbol)
{
	struct symbol_table tables[SYMBOL_TABLE_MAX];
	struct lookup l = { .elf = elf, .name = name };
	uint64_t needed;

	if (!elf_is_64(elf))
		return false;
	symbol_tables_find(elf, tables);
	l.table = &tables[SYMBOL_TABLE_DYNAMIC];
	if (l.table->n > 0 && find_by_hash(&l, ret_symbol))
		return true;
	l.table = &tables[SYMBOL_TABLE_STATIC];
	return l.table->n > 0 && !elf_dynamic(elf, DT_NEEDED, &needed) &&
	       find_by_scan(&l, ret_symbol);
}
