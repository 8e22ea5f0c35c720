/* SPDX-License-Identifier: Apache-2.0 */
/* Where an object's symbol tables lie in its file, and single symbols and names out of them. */
#ifndef XAGENT_AGENT_OBJECT_NAMES_SYMTAB_TABLES_H
#define XAGENT_AGENT_OBJECT_NAMES_SYMTAB_TABLES_H

#include <stdint.h>

#include "agent/object/elf.h"
#include "agent/util/buf.h"

enum symbol_table_kind { SYMBOL_TABLE_STATIC, SYMBOL_TABLE_DYNAMIC, SYMBOL_TABLE_MAX };

struct symbol_table {
	uint64_t file_off;
	uint64_t strings_off;
	uint64_t strings_bytes;
	uint32_t n; /* 0: there is no such table */
	bool is_64;
};

struct symbol {
	uint64_t value;
	uint64_t size_bytes;
	uint32_t name_off;
	uint16_t section;
	uint8_t type;	 /* STT_* */
	uint8_t binding; /* STB_* */
};

/* The section table must be loaded. Absent, compressed or impossible tables have n = 0. */
void symbol_tables_find(const struct elf *elf, struct symbol_table ret_tables[SYMBOL_TABLE_MAX]);

size_t symbol_table_entry_bytes(const struct symbol_table *table);
/* From the bytes of one entry. */
struct symbol symbol_decode(const struct symbol_table *table, const void *entry);
/* 0, -ENODATA, -errno. */
int symbol_read(const struct symbol_table *table, const struct bytes *bytes, uint32_t index,
		struct symbol *ret_symbol);
/* Appends the name, cut before '@'. 0, -ENODATA (no such name), -ENOBUFS, -errno. */
int symbol_read_name(const struct symbol_table *table, const struct bytes *bytes,
		     const struct symbol *symbol, struct buf *name);

#endif
