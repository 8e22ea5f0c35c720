/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an object's code lies in its table.
 *
 * The kernel half looks rows up by file offset, sources tell them by address. The distance of the two is the same for all code that most
 * linkers write; some optimizers and linker scripts place segments at distances of their own. Rows of such an object are moved, segment
 * by segment, to where their bytes lie in the file:
 *
 *	address		├──a──┤		├──b──┤
 *	file			├──b──┤├──a──┤
 *	place in table		├──b──┤├──a──┤	file offset + bias; the first one's places are its addresses
 */
#ifndef XAGENT_AGENT_UNWIND_ROW_REGIONS_H
#define XAGENT_AGENT_UNWIND_ROW_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/object/elf.h"

/* Optimizers add one or two segments to those of the linker. */
#define ROW_REGIONS_MAX 8

struct row_region {
	uint64_t begin; /* vaddr */
	uint64_t end;
	uint64_t shift; /* place − vaddr; 0 for the first one */
};

struct row_regions {
	struct row_region
		items[ROW_REGIONS_MAX]; /* by place, apart from each other; at least one */
	size_t n;
	uint64_t bias; /* place − file offset */
};

/* An object without code has all addresses for one region. False: there are too many of them, or two have the same bytes of the file. */
bool row_regions_find(const struct elf *elf, struct row_regions *ret_regions);
/* The place of an address, and the converse; what lies between regions belongs to the one before. */
uint64_t row_regions_place(const struct row_regions *regions, uint64_t vaddr);
uint64_t row_regions_vaddr(const struct row_regions *regions, uint64_t place);

#endif
