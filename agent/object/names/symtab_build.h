/* SPDX-License-Identifier: Apache-2.0 */
/* How a symbol index is made: candidates out of the tables, sorted, laid flat. */
#ifndef XAGENT_AGENT_OBJECT_NAMES_SYMTAB_BUILD_H
#define XAGENT_AGENT_OBJECT_NAMES_SYMTAB_BUILD_H

#include <stddef.h>
#include <stdint.h>

#include "agent/object/names/symtab.h"
#include "agent/object/names/symtab_tables.h"

/*
 * One address of the index. The symbol at `ref` names what follows, up to the next entry or its own
 * end, whichever is first. Entries at one address are equal candidates for the name.
 */
struct symtab_entry {
	uint32_t start; /* vaddr − base */
	uint32_t ref;	/* SYMTAB_REF_*; SYMTAB_REF_NONE: nothing has a name from here on */
};

#define SYMTAB_REF_INDEX_BITS 25
#define SYMTAB_REF_INDEX_MASK (((uint32_t)1 << SYMTAB_REF_INDEX_BITS) - 1)
#define SYMTAB_REF_DYNAMIC ((uint32_t)1 << SYMTAB_REF_INDEX_BITS)
#define SYMTAB_REF_MASK (SYMTAB_REF_DYNAMIC | SYMTAB_REF_INDEX_MASK)
#define SYMTAB_REF_NONE UINT32_MAX

/*
 * A function on its way into the index. `rank` is its ref with the reasons to prefer it above:
 * compared without the index, the smaller is the better. Bits: 29 no type, 28 unsized, 27..26
 * binding (0 global, 1 weak, 2 local), 25 dynamic.
 */
struct symtab_candidate {
	uint32_t start;
	uint32_t size_bytes; /* of an unsized one: to the end of its section */
	uint32_t rank;
};

_Static_assert(SYMTAB_MAX_SYMBOLS <= SYMTAB_REF_INDEX_MASK,
	       "every symbol has an index, and none is SYMTAB_REF_NONE");

#define SYMTAB_RANK_NOTYPE ((uint32_t)1 << 29)
#define SYMTAB_RANK_UNSIZED ((uint32_t)1 << 28)
#define SYMTAB_RANK_BINDING_SHIFT 26

/* Sorts by start, keeping the order of equals. `scratch` has room for n as well; returns the one
 * that holds the result. Pure. */
struct symtab_candidate *symtab_sort(struct symtab_candidate *candidates,
				     struct symtab_candidate *scratch, size_t n);

/* Lays sorted candidates flat. *ret_entries is the caller's to free, NULL when there are none. 0 or
 * -ENOMEM. Pure. */
int symtab_flatten(const struct symtab_candidate *sorted, size_t n,
		   struct symtab_entry **ret_entries, size_t *ret_n);

#endif
