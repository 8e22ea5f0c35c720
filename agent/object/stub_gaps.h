/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executable text of an object that no call frame information covers, as .eh_frame_hdr tells it
 * in passing: its table has the begin of every FDE, the FDE's own head the length.
 *
 * An object without that table is one gap: whoever takes it is clipped against better sources.
 */
#ifndef XAGENT_AGENT_OBJECT_STUB_GAPS_H
#define XAGENT_AGENT_OBJECT_STUB_GAPS_H

#include "agent/object/elf.h"

/* Between functions lie up to 15 bytes of padding. */
#define STUB_GAP_MIN_BYTES 16
/* Gaps of one object that are looked at, in order of address. The most in a Debian are some
 * thousand (code of compilers that write no CFI). */
#define STUB_GAPS_MAX 65536

struct stub_range {
	uint64_t begin;
	uint64_t end;
};

struct stub_ranges {
	struct stub_range *items; /* owned, ascending, apart from each other */
	size_t n;
	size_t cap;
};

/* Appends when it is not empty; beyond STUB_GAPS_MAX it is dropped. 0 or -ENOMEM. */
int stub_ranges_add(struct stub_ranges *ranges, uint64_t begin, uint64_t end);
void stub_ranges_fini(struct stub_ranges *ranges);
/* The one that holds vaddr, or NULL. */
const struct stub_range *stub_ranges_at(const struct stub_ranges *ranges, uint64_t vaddr);
uint64_t stub_ranges_bytes(const struct stub_ranges *ranges);
/* Takes [begin, end) out. 0 or -ENOMEM. */
int stub_ranges_cut(struct stub_ranges *ranges, uint64_t begin, uint64_t end);

/* The section table must be loaded, if there is one. 0 or -errno. */
int stub_gaps_find(struct elf *elf, struct stub_ranges *ret_gaps);

#endif
