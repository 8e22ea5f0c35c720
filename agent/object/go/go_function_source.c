/* SPDX-License-Identifier: Apache-2.0 */
/* Source: the functions of Go's own tables. */
#include "agent/object/go/go_function_source.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/object/go/go_symbols_internal.h"
#include "agent/util/macro.h"

struct go_function_source {
	struct function_source source;
	struct go_symbols *symbols;
};

static struct go_function_source *of(const struct function_source *s)
{
	return CONTAINER_OF(s, struct go_function_source, source);
}

static int outcome(int r)
{
	return r == GOPCLNTAB_NONE ? FUNCTION_SOURCE_NONE : r;
}

/* Before all of Go's functions, behind them, or in a hole of a damaged table. */
static struct function_piece nothing_at(const struct go_symbols *symbols, uint64_t vaddr)
{
	uint64_t begin = symbols->table->text + symbols->first;
	uint64_t end = symbols->table->text + symbols->end;

	if (vaddr < begin)
		return (struct function_piece){ .begin = 0, .end = begin };
	if (vaddr >= end)
		return (struct function_piece){ .begin = end, .end = UINT64_MAX };
	return (struct function_piece){ .begin = vaddr, .end = vaddr + 1 };
}

static int find(struct function_source *source, uint64_t vaddr, struct function_piece *ret_piece)
{
	struct go_function function;
	int r = go_symbols_find(of(source)->symbols, vaddr, &function);

	if (r < 0)
		return r;
	if (r != 0) {
		*ret_piece = nothing_at(of(source)->symbols, vaddr);
		return FUNCTION_SOURCE_NONE;
	}
	*ret_piece = (struct function_piece){ function.begin, function.end,   function.begin,
					      function.end,   function.index, false };
	return 0;
}

static int name(struct function_source *source, const struct function_piece *piece,
		struct buf *name_buf)
{
	const struct go_function function = { piece->function_begin, piece->function_end,
					      (uint32_t)piece->ref };

	return outcome(go_symbols_name(of(source)->symbols, &function, name_buf));
}

static int begins(struct function_source *source, function_begin_fn fn, void *data)
{
	struct gopclntab *table = of(source)->symbols->table;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < gopclntab_n_funcs(table); i++) {
		struct gopclntab_func func;

		r = gopclntab_func(table, i, &func);
		if (r == 0)
			r = fn(func.begin, data);
		else if (r == GOPCLNTAB_NONE)
			r = 0;
	}
	return r < 0 ? r : 0;
}

static int frames(struct function_source *source, uint64_t vaddr, struct arena *strings,
		  struct source_frames *ret_frames)
{
	return outcome(go_symbols_frames(of(source)->symbols, vaddr, strings, ret_frames));
}

static size_t bytes(const struct function_source *source)
{
	return sizeof(struct go_function_source) + go_symbols_bytes(of(source)->symbols);
}

static void source_free(struct function_source *source)
{
	struct go_function_source *s = of(source);

	go_symbols_free(s->symbols);
	free(s);
}

int go_function_source_new(struct elf *elf, struct function_source **ret_source)
{
	struct go_function_source *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	int r = outcome(go_symbols_new(elf, &s->symbols));
	if (r != 0) {
		free(s);
		return r;
	}
	s->source = (struct function_source){ find, name, begins, frames, bytes, source_free };
	*ret_source = &s->source;
	return 0;
}
