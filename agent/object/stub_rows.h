/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of functions, kept from the walk over all of them, so that they need not be found again.
 *
 * Rows are kept of whole functions only; those of which there was no room for all are found again.
 */
#ifndef XAGENT_AGENT_OBJECT_STUB_ROWS_H
#define XAGENT_AGENT_OBJECT_STUB_ROWS_H

#include <stdbool.h>

#include "agent/object/unwind_source.h"

struct stub_row {
	uint64_t vaddr;
	struct unwind_rule rule;
	bool is_first; /* of its function */
};

struct stub_rows {
	struct stub_row *items; /* owned */
	size_t n;
	size_t cap;
	size_t max_bytes; /* ceiling of `items` */
	size_t first;	  /* of the function that is being added */
};

void stub_rows_fini(struct stub_rows *rows);

/* A function follows. */
void stub_rows_begin(struct stub_rows *rows);
/* Its next row; an unwind_row_fn. 0, -ENOSPC, -ENOMEM. */
int stub_rows_add(uint64_t vaddr, const struct unwind_rule *rule, void *rows);
/* It is whole: its rows are known as the result from now on. 0: there was none. */
uint32_t stub_rows_keep(struct stub_rows *rows);
/* It is not: as if it had not begun. */
void stub_rows_drop(struct stub_rows *rows);

bool stub_rows_has(const struct stub_rows *rows, uint32_t ref);
/* 0, or the negative result of fn. */
int stub_rows_foreach(const struct stub_rows *rows, uint32_t ref, unwind_row_fn fn, void *data);

#endif
