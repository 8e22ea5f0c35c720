/* SPDX-License-Identifier: Apache-2.0 */
/* What identifies a build: the linker's GNU build id, or Go's. */
#ifndef XAGENT_AGENT_OBJECT_BUILD_ID_H
#define XAGENT_AGENT_OBJECT_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/object/elf.h"

/* SHA-1 is 20 bytes, --build-id=0x… and Go's toolchain give up to 32; Go's own text is 83. Longer
 * ones are not build ids. */
#define BUILD_ID_MAX_BYTES 64
#define BUILD_ID_TEXT_BYTES (2 * BUILD_ID_MAX_BYTES + 1)
/* Notes are small; what is behind this many bytes of all of an object's notes together is not read.
 */
#define BUILD_ID_MAX_NOTES_BYTES ((size_t)64 * 1024)

struct build_id {
	char gnu[BUILD_ID_TEXT_BYTES]; /* lower-case hex, "" when there is none */
	char go[BUILD_ID_TEXT_BYTES];  /* as the Go linker wrote it, printable ASCII; "" when there
					  is none */
};

/* The one that people look for: GNU, else Go, else "". */
const char *build_id_text(const struct build_id *id);

/* Looks into PT_NOTE segments and, for what they do not have, SHT_NOTE sections (loads them). 0
 * also when there is none; -errno. */
int build_id_read(struct elf *elf, struct build_id *ret_id);

/* Adds what a block of notes holds to *id; `align` is 8 for 8-byte aligned notes, else 4. Pure. */
void build_id_parse_notes(const void *notes, size_t n, size_t align, struct build_id *id);

#endif
