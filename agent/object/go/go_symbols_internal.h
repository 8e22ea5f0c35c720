/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the reader of Go's symbols share. */
#ifndef XAGENT_AGENT_OBJECT_GO_GO_SYMBOLS_INTERNAL_H
#define XAGENT_AGENT_OBJECT_GO_GO_SYMBOLS_INTERNAL_H

#include <stdbool.h>

#include "agent/object/go/go_symbols.h"
#include "agent/object/go/gopclntab_internal.h"

/* The first entry of each so many functions is held: 4 KiB of the table. */
#define GO_SYMBOLS_PAGE_FUNCS 512u

/* Where the trees of inlined calls lie. */
enum go_trees {
	GO_TREES_UNKNOWN, /* not looked for yet */
	GO_TREES_NONE,
	GO_TREES_KNOWN,
};

struct go_symbols {
	struct gopclntab *table; /* owned */
	uint64_t first;		 /* entries are counted from here, and end there */
	uint64_t end;
	uint32_t *pages; /* owned; entry of the first function of each */
	uint32_t n_pages;
	enum go_trees trees;
	uint64_t trees_vaddr;
	struct buf raw; /* a name or file as it stands in the table */
	struct bytes_window names;
	struct bytes_window units;
	struct bytes_window files;
	struct bytes_window tree;
};

/* One call that was inlined: what was called, and an instruction of the place it was called from. */
struct go_call {
	uint32_t name_off;
	uint64_t caller; /* vaddr */
};

/* All: 0, GOPCLNTAB_NONE, -errno. */

/* The name at a place of the names, as Go prints it; borrowed until the next call. */
int go_symbols_read_name(struct go_symbols *symbols, uint32_t name_off, const struct buf **ret);
/* The file of a number within the function's unit; borrowed until the next call. */
int go_symbols_read_file(struct go_symbols *symbols, const struct gopclntab_func *func,
			 int32_t number, const struct buf **ret);
/* The place in pctab of the numbers of inlined calls. */
int go_symbols_read_calls(struct go_symbols *symbols, const struct gopclntab_func *func,
			  uint32_t *ret_place);
/* The call of a number in the function's tree. */
int go_symbols_read_call(struct go_symbols *symbols, const struct gopclntab_func *func,
			 int32_t number, struct go_call *ret_call);

#endif
