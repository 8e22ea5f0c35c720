/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source of names of ELF files and the vDSO: an object for each mapped file, in a
 * byte-accounted LRU, and one struct elf_symbols for each different content.
 *
 * While frames point to names, a full cache gives back the sources of names only: those first whose
 * files have had the fewest new functions of late, so that a file that comes by once does not cost
 * the others theirs. Files and names have three quarters at most, so that sources always have room;
 * whole objects go when nobody points to their names any more: when the interval ends, or with
 * object_symbols_make_room().
 *
 * On top comes what one source takes while it is made: 24 bytes for each function of its file.
 */
#ifndef XAGENT_AGENT_SYMBOL_OBJECT_SYMBOLS_H
#define XAGENT_AGENT_SYMBOL_OBJECT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/object/demangle/demangle.h"
#include "agent/process/mapping.h"
#include "agent/symbol/elf_symbols.h"
#include "agent/symbol/frame.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/arena.h"

/* Spent on looking for files, lines and inlined functions in one interval; what is left over has its turn in the next, and is a plain
 * name until then. A twentieth of a CPU in intervals of 10 s. */
#define OBJECT_SYMBOLS_LINES_NS (500 * NS_PER_MS)

struct object_symbols;

/* `names`, the arena for names of one interval, is borrowed, as is what the options (copied) point to. */
int object_symbols_new(const struct elf_symbols_options *options, struct arena *names,
		       struct object_symbols **ret_symbols);
void object_symbols_free(struct object_symbols *s); /* NULL-safe */
DEFINE_CLEANUP(struct object_symbols *, object_symbols_free);

/* The function at a place in a file, which is borrowed for the call, after those that were inlined into it. False: it has no symbol. */
bool object_symbols_resolve(struct object_symbols *s, const struct mapped_file *file,
			    uint64_t file_off, struct frames *ret_frames);
/* For a place without a symbol: `basename+0xBEGIN` with the begin of its function, so that all of it is one; else with the
 * address itself, or the file offset when the file is not known to be ELF. Never fails; the least it gives is "[unknown]". */
void object_symbols_name_by_file(struct object_symbols *s, const struct mapped_file *file,
				 uint64_t file_off, struct frames *ret_frames);

void object_symbols_begin(struct object_symbols *s, uint64_t now_ns);
/* Names handed out become invalid. */
void object_symbols_end(struct object_symbols *s);
/* Files and names have used up their share. */
bool object_symbols_is_full(const struct object_symbols *s);
/* Names handed out become invalid. Those not used for the longest time go, until half of the memory is free. */
void object_symbols_make_room(struct object_symbols *s);
/* Between intervals. */
void object_symbols_set_demangle(struct object_symbols *s, enum demangle_mode mode);
/* The last file whose lines could not be read in this interval, since that failed badly; "": none. Borrowed until the next begin. */
const char *object_symbols_failed_file(const struct object_symbols *s);
size_t object_symbols_bytes(const struct object_symbols *s);
/* Different contents that are known. */
size_t object_symbols_n_shared_elf_symbols(const struct object_symbols *s);

#endif
