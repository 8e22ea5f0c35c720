/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File, line and inlined functions of an address, out of .debug_info (DWARF 2 to 5) by libdw.
 *
 * libdw wants sections whole and in memory. It gets an image of anonymous memory in which only those pages are filled that an answer
 * needs, by pread(2) and shortly before; the rest costs address space alone. Compressed sections are inflated whole, large ones to disk. So the cost is
 * that of the compilation units that are asked for, not that of the file, and nothing of the file is mapped. libdw opens no file
 * itself: of split DWARF and of what dwz has moved to a common file it sees only what is in this one.
 *
 * Used by one thread at a time. Never logs.
 */
#ifndef XAGENT_AGENT_OBJECT_LINES_SOURCE_LINES_H
#define XAGENT_AGENT_OBJECT_LINES_SOURCE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/object/bytes.h"
#include "agent/object/lines/scratch.h"
#include "agent/object/lines/source_frames.h"
#include "agent/util/arena.h"
#include "agent/util/cleanup.h"

enum source_lines_outcome {
	SOURCE_LINES_NONE =
		1, /* new: no .debug_info that can be used, or not within max_bytes; frames: nothing known there */
	SOURCE_LINES_OUTCOME_MAX
};

/* Less is not worth a try: libdw's own state of a small program is half of it. */
#define SOURCE_LINES_MIN_BYTES ((size_t)1 << 20)

struct source_lines;

/* Whether the file has .debug_info, by its headers: nothing of its contents is read, no libdw. 0, SOURCE_LINES_NONE, -errno. */
int source_lines_exist(const struct bytes *file);

/* What the process exits with when libdw finds no memory: it knows no other way. So it has to be a process of its own (agent/dwarf). */
#define SOURCE_LINES_EXIT_MEMORY 4

/* `file` is the one that has .debug_info: the object itself or its debug file; what it borrows stays there until free. Memory stays below
 * max_bytes but for one line table that is being read. `scratch` (borrowed until free; may be NULL) is for compressed sections that are too
 * large for that. Until source_lines_start() nothing is done by libdw, and nothing can be asked. 0, SOURCE_LINES_NONE, -errno. */
int source_lines_new(const struct bytes *file, size_t max_bytes, struct scratch *scratch,
		     struct source_lines **ret);
/* Once. 0, SOURCE_LINES_NONE, -errno. */
int source_lines_start(struct source_lines *l);
/* Addresses that were reserved for the file's sections; most of them never become memory. */
size_t source_lines_image_bytes(const struct source_lines *l);
/* Whether making it anew would take seconds. */
bool source_lines_has_scratch(const struct source_lines *l);
void source_lines_free(struct source_lines *l); /* NULL-safe */
DEFINE_CLEANUP(struct source_lines *, source_lines_free);

/* Addresses as linked, of the instruction itself (not a return address). Strings are put into `strings`. 0 (at least one frame; a
 * function without a name is "", a frame without a line has 0), SOURCE_LINES_NONE, -errno. */
int source_lines_frames(struct source_lines *l, uint64_t vaddr, struct arena *strings,
			struct source_frames *ret);
/* Bytes held now; changes with each question. */
size_t source_lines_bytes(const struct source_lines *l);

#endif
