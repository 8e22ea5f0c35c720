/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the source code tells of one address: the function it was written in, and those that it was inlined into.
 *
 * Filled by source_lines (DWARF) and go_symbols (Go's tables).
 */
#ifndef XAGENT_AGENT_OBJECT_LINES_SOURCE_FRAMES_H
#define XAGENT_AGENT_OBJECT_LINES_SOURCE_FRAMES_H

#include <stdint.h>

/* Functions inlined into each other at one address; compilers stop well before. */
#define SOURCE_FRAMES_MAX 64

/* Raw bytes of the file, NUL terminated, never NULL. They live in the arena that the caller gave. */
struct source_frame {
	const char *function; /* as linked, mangled; "" when not known */
	const char *
		file; /* as the compiler was given it, joined with its directory; "" when not known */
	uint32_t line; /* that is executed, for outer frames that of the call; 0 when not known */
};

/* Innermost first. */
struct source_frames {
	uint32_t n;
	struct source_frame items[SOURCE_FRAMES_MAX];
};

#endif
