/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame information as a source of unwind rules: .eh_frame and .debug_frame.
 *
 * Sources of what is read: DWARF 5 §6.4 and §7.24; LSB 5 "Exception Frames" for .eh_frame and .eh_frame_hdr; "DWARF for the Arm 64-bit
 * Architecture". Sections may be compressed (SHF_COMPRESSED: zlib, zstd; .zdebug_frame).
 */
#ifndef XAGENT_AGENT_OBJECT_CFI_CFI_H
#define XAGENT_AGENT_OBJECT_CFI_CFI_H

#include "agent/object/elf.h"
#include "agent/object/rules/unwind_source.h"

/* remember_state nests to 4 in glibc, 2 elsewhere; deeper is hostile and costs the FDE. */
#define CFI_MAX_REMEMBERED 64
/* A section that is larger is looked at by single addresses only. The largest known .eh_frame (browsers, all of LLVM) has 40 MB. */
#define CFI_MAX_SECTION_BYTES ((uint64_t)256 << 20)

/* The source of that section of `elf`, which stays borrowed until free. 0; UNWIND_SOURCE_NONE: no such section, no CFI in it, or a
 * machine that is not unwound; -errno. */
int cfi_eh_frame_new(struct elf *elf, struct unwind_source **ret_source);
/* The same, but its rules tell in the place of the frame pointer where another register is: rule_at() of the few walks that need it. */
int cfi_register_new(struct elf *elf, uint8_t reg, struct unwind_source **ret_source);
/* Also of a separate debug file, whose addresses are those of its object. */
int cfi_debug_frame_new(struct elf *elf, struct unwind_source **ret_source);

/* What one FDE covers, or what lies between two. */
struct cfi_extent {
	uint64_t begin; /* vaddr */
	uint64_t end;
	bool is_code; /* of an FDE */
};

enum cfi_outcome {
	CFI_NO_TABLE = 1, /* .eh_frame_hdr has none, or not a true one */
	CFI_OUTCOME_MAX
};

/* Of a source that cfi_eh_frame_new() has made: around one address, by the linker's table alone. 0, CFI_NO_TABLE, -errno. */
int cfi_extent_at(struct unwind_source *source, uint64_t vaddr, struct cfi_extent *ret_extent);
/* What such a source holds. */
size_t cfi_bytes(const struct unwind_source *source);

#endif
