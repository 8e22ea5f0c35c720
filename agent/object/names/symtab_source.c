/* SPDX-License-Identifier: Apache-2.0 */
/* Source: the symbol tables of one ELF file. */
#include "agent/object/names/symtab_source.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "agent/object/names/symtab_tables.h"
#include "agent/util/macro.h"

struct symtab_source {
	struct function_source source;
	const struct elf *elf;
	struct symtab *symtab;
};

static struct symtab_source *of(const struct function_source *s)
{
	return CONTAINER_OF(s, struct symtab_source, source);
}

static int find(struct function_source *source, uint64_t vaddr, struct function_piece *ret_piece)
{
	const struct symtab_source *s = of(source);
	struct symtab_piece piece;
	int r = symtab_find(s->symtab, elf_bytes(s->elf), vaddr, &piece);

	if (r < 0)
		return r;
	*ret_piece = (struct function_piece){ .begin = piece.begin, .end = piece.end };
	if (r == SYMTAB_NONE)
		return FUNCTION_SOURCE_NONE;
	ret_piece->function_begin = piece.symbol.begin;
	ret_piece->function_end = piece.symbol.end;
	ret_piece->ref = piece.symbol.entry;
	ret_piece->is_guess = !piece.symbol.is_sized;
	return 0;
}

static int name(struct function_source *source, const struct function_piece *piece,
		struct buf *name_buf)
{
	const struct symtab_source *s = of(source);
	const struct symtab_symbol symbol = { piece->function_begin, piece->function_end,
					      (uint32_t)piece->ref, !piece->is_guess };
	int r = symtab_name(s->symtab, elf_bytes(s->elf), &symbol, name_buf);

	return r == SYMTAB_NONE ? FUNCTION_SOURCE_NONE : r;
}

static int begins(struct function_source *source, function_begin_fn fn, void *data)
{
	const struct symtab_source *s = of(source);
	uint64_t vaddr;
	int r = 0;

	for (size_t i = 0; i < symtab_n_entries(s->symtab) && r == 0; i++)
		if (symtab_entry_begins(s->symtab, i, &vaddr))
			r = fn(vaddr, data);
	return r;
}

static size_t bytes(const struct function_source *source)
{
	return sizeof(struct symtab_source) + symtab_bytes(of(source)->symtab);
}

static void source_free(struct function_source *source)
{
	struct symtab_source *s = of(source);

	symtab_free(s->symtab);
	free(s);
}

bool symtab_has_static(struct elf *elf)
{
	struct symbol_table tables[SYMBOL_TABLE_MAX];

	if (elf_load_sections(elf) != 0)
		return false;
	symbol_tables_find(elf, tables);
	return tables[SYMBOL_TABLE_STATIC].n > 0;
}

int symtab_source_new(struct elf *elf, enum symtab_tables tables, const struct elf *text,
		      struct function_source **ret_source)
{
	_cleanup_(symtab_freep) struct symtab *symtab = NULL;
	int r = symtab_new_of(elf, tables, text, &symtab);

	if (r != 0)
		return r < 0 ? r : FUNCTION_SOURCE_NONE;
	if (symtab_n_entries(symtab) == 0)
		return FUNCTION_SOURCE_NONE;
	struct symtab_source *s = malloc(sizeof(*s));
	if (!s)
		return -ENOMEM;
	*s = (struct symtab_source){ { find, name, begins, NULL, bytes, source_free },
				     elf,
				     TAKE_PTR(symtab) };
	*ret_source = &s->source;
	return 0;
}
