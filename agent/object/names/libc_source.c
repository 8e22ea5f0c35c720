/* SPDX-License-Identifier: Apache-2.0 */
/* Source: functions of the GNU C library without a symbol. */
#include "agent/object/names/libc_source.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/object/names/function_extents.h"
#include "agent/object/names/libc_functions.h"
#include "agent/util/macro.h"

struct libc_range {
	uint64_t begin, end;
	const char *name;
};

struct libc_source {
	struct function_source source;
	struct libc_range all[LIBC_FUNCTIONS_MAX]; /* ascending */
	size_t n;
};

static struct libc_source *of(const struct function_source *s)
{
	return CONTAINER_OF(s, struct libc_source, source);
}

static int find(struct function_source *source, uint64_t vaddr, struct function_piece *ret_piece)
{
	const struct libc_source *s = of(source);
	size_t i = 0;

	while (i < s->n && s->all[i].end <= vaddr)
		i++;
	if (i < s->n && s->all[i].begin <= vaddr) {
		*ret_piece = (struct function_piece){ .begin = s->all[i].begin,
						      .end = s->all[i].end,
						      .function_begin = s->all[i].begin,
						      .function_end = s->all[i].end,
						      .ref = i };
		return 0;
	}
	*ret_piece = (struct function_piece){ .begin = i > 0 ? s->all[i - 1].end : 0,
					      .end = i < s->n ? s->all[i].begin : UINT64_MAX };
	return FUNCTION_SOURCE_NONE;
}

static int name(struct function_source *source, const struct function_piece *piece,
		struct buf *name_buf)
{
	return buf_append_str(name_buf, of(source)->all[piece->ref].name);
}

static int begins(struct function_source *source, function_begin_fn fn, void *data)
{
	const struct libc_source *s = of(source);
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->n; i++)
		r = fn(s->all[i].begin, data);
	return r;
}

static size_t bytes(const struct function_source *source)
{
	return sizeof(*of(source));
}

static void source_free(struct function_source *source)
{
	free(of(source));
}

/* Where no function begins, nothing that is understood jumps. */
static int add_ranges(struct libc_source *s, struct elf *elf, size_t max_bytes,
		      const struct libc_function *functions, size_t n)
{
	_cleanup_(function_extents_freep) struct function_extents *extents = NULL;
	int r = function_extents_new(elf, max_bytes, &extents);

	for (size_t i = 0; r == 0 && i < n; i++) {
		struct function_extent extent;

		r = function_extents_find(extents, functions[i].begin, &extent);
		if (r == 0 && extent.is_function && extent.begin == functions[i].begin)
			s->all[s->n++] = (struct libc_range){ extent.begin, extent.end,
							      functions[i].name };
	}
	return r < 0 ? r : s->n > 0 ? 0 : FUNCTION_SOURCE_NONE;
}

int libc_source_new(struct elf *elf, size_t max_bytes, struct function_source **ret_source)
{
	struct libc_function functions[LIBC_FUNCTIONS_MAX];
	int r = elf_load_sections(elf);
	size_t n = r == 0 ? libc_functions_find(elf, functions) : 0;

	if (n == 0)
		return r < 0 ? r : FUNCTION_SOURCE_NONE;
	struct libc_source *s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->source = (struct function_source){ find, name, begins, NULL, bytes, source_free };
	r = add_ranges(s, elf, max_bytes, functions, n);
	if (r != 0) {
		free(s);
		return r;
	}
	*ret_source = &s->source;
	return 0;
}
