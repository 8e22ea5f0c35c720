/* SPDX-License-Identifier: Apache-2.0 */
/* Source: the symbols in .gnu_debugdata. */
#include "agent/object/names/debugdata_source.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/object/names/debugdata.h"
#include "agent/object/names/symtab_source.h"
#include "agent/util/macro.h"

struct debugdata_source {
	struct function_source source;
	struct buf image;
	struct elf *elf; /* in the image */
	struct function_source *symbols;
};

static struct debugdata_source *of(const struct function_source *s)
{
	return CONTAINER_OF(s, struct debugdata_source, source);
}

static int find(struct function_source *source, uint64_t vaddr, struct function_piece *ret_piece)
{
	struct function_source *symbols = of(source)->symbols;

	return symbols->find(symbols, vaddr, ret_piece);
}

static int name(struct function_source *source, const struct function_piece *piece,
		struct buf *name_buf)
{
	struct function_source *symbols = of(source)->symbols;

	return symbols->name(symbols, piece, name_buf);
}

static int begins(struct function_source *source, function_begin_fn fn, void *data)
{
	struct function_source *symbols = of(source)->symbols;

	return symbols->begins(symbols, fn, data);
}

static size_t bytes(const struct function_source *source)
{
	const struct debugdata_source *s = of(source);

	return sizeof(*s) + s->image.cap + elf_memory_bytes(s->elf) + s->symbols->bytes(s->symbols);
}

static void source_free(struct function_source *source)
{
	struct debugdata_source *s = of(source);

	if (s->symbols)
		s->symbols->free(s->symbols);
	elf_free(s->elf);
	buf_fini(&s->image);
	free(s);
}

static int open_symbols(struct debugdata_source *s, struct elf *elf, size_t max_bytes)
{
	int r = debugdata_open(elf, max_bytes, &s->image);

	if (r != 0)
		return r;
	r = elf_new(bytes_from_memory(s->image.data, s->image.len), &s->elf);
	if (r != 0)
		return r;
	r = symtab_source_new(s->elf, SYMTAB_STATIC, elf, &s->symbols);
	elf_drop_sections(s->elf);
	return r;
}

int debugdata_source_new(struct elf *elf, size_t max_bytes, struct function_source **ret_source)
{
	struct debugdata_source *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->source = (struct function_source){ find, name, begins, NULL, bytes, source_free };
	int r = open_symbols(s, elf, max_bytes);
	if (r != 0) {
		source_free(&s->source);
		return r < 0 ? r : FUNCTION_SOURCE_NONE;
	}
	*ret_source = &s->source;
	return 0;
}
