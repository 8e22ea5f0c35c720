/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where functions without call frame information are known to begin: symbols, the program's entry,
 * and what is called.
 *
 * An address that instructions take is weaker: it is a function's, or that of a label or of data in
 * the text. It begins nothing by itself.
 */
#ifndef XAGENT_AGENT_OBJECT_NOCFI_NOCFI_ANCHORS_H
#define XAGENT_AGENT_OBJECT_NOCFI_NOCFI_ANCHORS_H

#include <stdbool.h>

#include "agent/object/nocfi/nocfi_gaps.h"

struct nocfi_anchor {
	uint64_t vaddr;
	uint32_t n_bytes; /* 0: unknown */
	bool is_entry;
	/* Of a function that lies elsewhere (GCC's .cold): its begin is not a function's. */
	bool is_part;
};

struct nocfi_anchors {
	struct nocfi_anchor *items; /* owned, ascending; none begins inside of another */
	size_t n;
	uint64_t *taken; /* addresses that instructions take; owned, ascending */
	size_t n_taken;
};

/* Those in `gaps`: by symbols, and by direct calls out of `called_from`. 0 or -errno. */
int nocfi_anchors_find(struct elf *elf, const struct nocfi_ranges *gaps,
		       const struct nocfi_ranges *called_from, size_t max,
		       struct nocfi_anchors *ret_anchors);
void nocfi_anchors_fini(struct nocfi_anchors *anchors);
/* The index of the first one at or behind vaddr; n when there is none. */
size_t nocfi_anchors_from(const struct nocfi_anchors *anchors, uint64_t vaddr);
/* Whether an instruction takes that address. */
bool nocfi_anchors_is_taken(const struct nocfi_anchors *anchors, uint64_t vaddr);

#endif
