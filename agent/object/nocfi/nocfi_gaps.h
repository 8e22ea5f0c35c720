/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executable text of an object that no call frame information covers, as .eh_frame_hdr tells it
 * in passing: its table has the begin of every FDE, the FDE's own head the length.
 *
 * An object without that table is one gap: whoever takes it is clipped against better sources.
 */
#ifndef XAGENT_AGENT_OBJECT_NOCFI_NOCFI_GAPS_H
#define XAGENT_AGENT_OBJECT_NOCFI_NOCFI_GAPS_H

#include "agent/object/elf.h"

/* Between functions lie up to 15 bytes of padding. */
#define NOCFI_GAP_MIN_BYTES 16
/* Gaps of one object that are looked at, in order of address. The most in a Debian are some
 * thousand (code of compilers that write no CFI). */
#define NOCFI_GAPS_MAX 65536

struct nocfi_range {
	uint64_t begin;
	uint64_t end;
};

struct nocfi_ranges {
	struct nocfi_range *items; /* owned, ascending, apart from each other */
	size_t n;
	size_t cap;
};

/* Appends when it is not empty; beyond NOCFI_GAPS_MAX it is dropped. 0 or -ENOMEM. */
int nocfi_ranges_add(struct nocfi_ranges *ranges, uint64_t begin, uint64_t end);
void nocfi_ranges_fini(struct nocfi_ranges *ranges);
/* The one that holds vaddr, or NULL. */
const struct nocfi_range *nocfi_ranges_at(const struct nocfi_ranges *ranges, uint64_t vaddr);
uint64_t nocfi_ranges_bytes(const struct nocfi_ranges *ranges);
/* Takes [begin, end) out. 0 or -ENOMEM. */
int nocfi_ranges_cut(struct nocfi_ranges *ranges, uint64_t begin, uint64_t end);

/* The section table must be loaded, if there is one. 0 or -errno. */
int nocfi_gaps_find(struct elf *elf, struct nocfi_ranges *ret_gaps);

#endif
