/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of functions, kept from the walk over all of them. */
#include "agent/object/nocfi/nocfi_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/util/macro.h"

/* The first allocation: the functions of a page of text. */
#define FIRST_CAP 256

void nocfi_rows_fini(struct nocfi_rows *rows)
{
	free(rows->items);
	*rows = (struct nocfi_rows){ 0 };
}

static int grow(struct nocfi_rows *rows)
{
	size_t max = MIN_OF(rows->max_bytes / sizeof(*rows->items), (size_t)UINT32_MAX);
	size_t cap = MIN_OF(rows->cap * 2 + FIRST_CAP, max);

	if (cap <= rows->n)
		return -ENOSPC;
	struct nocfi_row *items = reallocarray(rows->items, cap, sizeof(*items));
	if (!items)
		return -ENOMEM;
	rows->items = items;
	rows->cap = cap;
	return 0;
}

void nocfi_rows_begin(struct nocfi_rows *rows)
{
	rows->first = rows->n;
}

int nocfi_rows_add(uint64_t vaddr, const struct unwind_rule *rule, void *data)
{
	struct nocfi_rows *rows = data;

	if (rows->n == rows->cap) {
		int r = grow(rows);

		if (r < 0)
			return r;
	}
	rows->items[rows->n] = (struct nocfi_row){ vaddr, *rule, rows->n == rows->first };
	rows->n++;
	return 0;
}

uint32_t nocfi_rows_keep(struct nocfi_rows *rows)
{
	return rows->n > rows->first ? (uint32_t)rows->first + 1 : 0;
}

void nocfi_rows_drop(struct nocfi_rows *rows)
{
	rows->n = rows->first;
}

bool nocfi_rows_has(const struct nocfi_rows *rows, uint32_t ref)
{
	return ref > 0 && ref <= rows->n;
}

int nocfi_rows_foreach(const struct nocfi_rows *rows, uint32_t ref, unwind_row_fn fn, void *data)
{
	size_t i = ref - 1;
	int r = 0;

	do
		r = fn(rows->items[i].vaddr, &rows->items[i].rule, data);
	while (r >= 0 && ++i < rows->n && !rows->items[i].is_first);
	return MIN_OF(r, 0);
}
