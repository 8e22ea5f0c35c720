/* SPDX-License-Identifier: Apache-2.0 */
/* Source: the names of V8's builtins. */
#include "agent/object/v8/builtin_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/names/symbol_by_name.h"
#include "agent/object/names/symtab_source.h"
#include "agent/util/macro.h"

#define PREFIX "Builtins_"

struct v8_builtin_source {
	struct function_source source;
	const struct elf *elf;
	struct v8_builtins builtins;
};

static struct v8_builtin_source *of(const struct function_source *s)
{
	return CONTAINER_OF(s, struct v8_builtin_source, source);
}

/* The one that begins at or before that byte of the code: the first one begins with it. */
static uint32_t locate(const struct v8_builtins *b, uint64_t at)
{
	uint32_t low = 0, high = b->n;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (b->all[middle].begin <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static int find(struct function_source *source, uint64_t vaddr, struct function_piece *ret_piece)
{
	const struct v8_builtins *b = &of(source)->builtins;
	uint64_t begin = b->code_vaddr, end = begin + b->code_bytes;

	if (vaddr < begin || vaddr >= end) {
		*ret_piece = vaddr < begin
				     ? (struct function_piece){ .begin = 0, .end = begin }
				     : (struct function_piece){ .begin = end, .end = UINT64_MAX };
		return FUNCTION_SOURCE_NONE;
	}
	uint32_t i = locate(b, vaddr - begin);
	uint64_t next = begin + (i + 1 < b->n ? b->all[i + 1].begin : b->code_bytes);
	uint64_t of_begin = begin + b->all[i].begin, of_end = begin + b->all[i].end;
	bool is_behind = vaddr >= of_end;

	*ret_piece = (struct function_piece){ .begin = is_behind ? of_end : of_begin,
					      .end = is_behind ? next : of_end,
					      .function_begin = of_begin,
					      .function_end = of_end,
					      .ref = i };
	return is_behind || !b->all[i].name_at ? FUNCTION_SOURCE_NONE : 0;
}

static int name(struct function_source *source, const struct function_piece *piece,
		struct buf *name_buf)
{
	const struct v8_builtin_source *s = of(source);
	char text[V8_BUILTIN_NAME_BYTES];
	int r = bytes_read(elf_bytes(s->elf), s->builtins.all[piece->ref].name_at, text,
			   sizeof(text));

	if (r < 0)
		return r;
	size_t n = strnlen(text, sizeof(text));
	if (n == sizeof(text))
		return FUNCTION_SOURCE_NONE;
	r = buf_append_str(name_buf, PREFIX);
	return r < 0 ? r : buf_append(name_buf, text, n);
}

static int begins(struct function_source *source, function_begin_fn fn, void *data)
{
	const struct v8_builtins *b = &of(source)->builtins;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < b->n; i++)
		if (b->all[i].name_at)
			r = fn(b->code_vaddr + b->all[i].begin, data);
	return r;
}

static size_t bytes(const struct function_source *source)
{
	const struct v8_builtin_source *s = of(source);

	return sizeof(*s) + s->builtins.n * sizeof(*s->builtins.all);
}

static void source_free(struct function_source *source)
{
	v8_builtins_fini(&of(source)->builtins);
	free(of(source));
}

bool v8_has_builtins_without_symbols(struct elf *elf)
{
	struct symbol s;

	return elf_is_64(elf) && !symtab_has_static(elf) &&
	       symbol_by_name(elf, "v8dbg_off_fp_function", &s);
}

int v8_builtin_source_take(const struct elf *elf, struct v8_builtins *builtins,
			   struct function_source **ret_source)
{
	struct v8_builtin_source *s = calloc(1, sizeof(*s));

	if (!s) {
		v8_builtins_fini(builtins);
		return -ENOMEM;
	}
	s->elf = elf;
	s->builtins = *builtins;
	s->source = (struct function_source){ find, name, begins, NULL, bytes, source_free };
	*ret_source = &s->source;
	return 0;
}

int v8_builtin_source_new(struct elf *elf, struct function_source **ret_source)
{
	struct v8_builtins builtins;

	if (!v8_has_builtins_without_symbols(elf) || !v8_builtins_find(elf, &builtins))
		return FUNCTION_SOURCE_NONE;
	return v8_builtin_source_take(elf, &builtins, ret_source);
}
