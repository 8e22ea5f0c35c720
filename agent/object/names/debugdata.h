/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .gnu_debugdata ("MiniDebugInfo"): an ELF file in a section, packed by xz, with the symbols of the functions that are not in .dynsym.
 *
 * Fedora and its kin have one in every program and library that is otherwise stripped.
 */
#ifndef XAGENT_AGENT_OBJECT_NAMES_DEBUGDATA_H
#define XAGENT_AGENT_OBJECT_NAMES_DEBUGDATA_H

#include <stddef.h>
#include <stdint.h>

#include "agent/object/elf.h"
#include "agent/util/buf.h"

/* The largest section known has 2 MB (of a browser); unpacked some 10. */
#define DEBUGDATA_MAX_PACKED_BYTES ((uint64_t)16 << 20)
/* For `max_bytes`, where the caller knows of no other ceiling. */
#define DEBUGDATA_MAX_BYTES ((size_t)64 << 20)
/* What the decoder may take: xz -6, the default, asks for 8 MiB of dictionary, xz -9 for 64. */
#define DEBUGDATA_MAX_DECODER_BYTES ((uint64_t)72 << 20)

enum debugdata_outcome {
	DEBUGDATA_NONE = 1,  /* no such section */
	DEBUGDATA_MALFORMED, /* it is damaged, or no ELF file is in it */
	DEBUGDATA_TOO_LARGE, /* packed, unpacked, or for the decoder */
	DEBUGDATA_OUTCOME_MAX
};

/*
 * Unpacks the section into `ret_image`, which is initialised here; the caller keeps it as long as elf_new(bytes_from_memory(…)) of it is
 * used, then buf_fini(). Loads the sections of `elf` if that was not done. 0, a debugdata_outcome, -errno; the image is untouched but
 * for 0.
 */
int debugdata_open(struct elf *elf, size_t max_bytes, struct buf *ret_image);

#endif
