/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of functions, kept from the walk over all of them, so that they need not be found again.
 *
 * Rows are kept of whole functions only; those of which there was no room for all are found again.
 */
#ifndef XAGENT_AGENT_OBJECT_NOCFI_NOCFI_ROWS_H
#define XAGENT_AGENT_OBJECT_NOCFI_NOCFI_ROWS_H

#include <stdbool.h>

#include "agent/object/rules/unwind_source.h"

struct nocfi_row {
	uint64_t vaddr;
	struct unwind_rule rule;
	bool is_first; /* of its function */
};

struct nocfi_rows {
	struct nocfi_row *items; /* owned */
	size_t n;
	size_t cap;
	size_t max_bytes; /* ceiling of `items` */
	size_t first;	  /* of the function that is being added */
};

void nocfi_rows_fini(struct nocfi_rows *rows);

/* A function follows. */
void nocfi_rows_begin(struct nocfi_rows *rows);
/* Its next row; an unwind_row_fn. 0, -ENOSPC, -ENOMEM. */
int nocfi_rows_add(uint64_t vaddr, const struct unwind_rule *rule, void *rows);
/* It is whole: its rows are known as the result from now on. 0: there was none. */
uint32_t nocfi_rows_keep(struct nocfi_rows *rows);
/* It is not: as if it had not begun. */
void nocfi_rows_drop(struct nocfi_rows *rows);

bool nocfi_rows_has(const struct nocfi_rows *rows, uint32_t ref);
/* 0, or the negative result of fn. */
int nocfi_rows_foreach(const struct nocfi_rows *rows, uint32_t ref, unwind_row_fn fn, void *data);

#endif
