/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of functions, kept from the walk over all of them. */
#include "agent/object/stub_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/util/macro.h"

/* The first allocation: the functions of a page of text. */
#define FIRST_CAP 256

void stub_rows_fini(struct stub_rows *rows)
{
	free(rows->items);
	*rows = (struct stub_rows){ 0 };
}

static int grow(struct stub_rows *rows)
{
	size_t max = MIN_OF(rows->max_bytes / sizeof(*rows->items), (size_t)UINT32_MAX);
	size_t cap = MIN_OF(rows->cap * 2 + FIRST_CAP, max);

	if (cap <= rows->n)
		return -ENOSPC;
	struct stub_row *items = reallocarray(rows->items, cap, sizeof(*items));
	if (!items)
		return -ENOMEM;
	rows->items = items;
	rows->cap = cap;
	return 0;
}

void stub_rows_begin(struct stub_rows *rows)
{
	rows->first = rows->n;
}

int stub_rows_add(uint64_t vaddr, const struct unwind_rule *rule, void *data)
{
	struct stub_rows *rows = data;

	if (rows->n == rows->cap) {
		int r = grow(rows);

		if (r < 0)
			return r;
	}
	rows->items[rows->n] = (struct stub_row){ vaddr, *rule, rows->n == rows->first };
	rows->n++;
	return 0;
}

uint32_t stub_rows_keep(struct stub_rows *rows)
{
	return rows->n > rows->first ? (uint32_t)rows->first + 1 : 0;
}

void stub_rows_drop(struct stub_rows *rows)
{
	rows->n = rows->first;
}

bool stub_rows_has(const struct stub_rows *rows, uint32_t ref)
{
	return ref > 0 && ref <= rows->n;
}

int stub_rows_foreach(const struct stub_rows *rows, uint32_t ref, unwind_row_fn fn, void *data)
{
	size_t i = ref - 1;
	int r = 0;

	do
		r = fn(rows->items[i].vaddr, &rows->items[i].rule, data);
	while (r >= 0 && ++i < rows->n && !rows->items[i].is_first);
	return MIN_OF(r, 0);
}
