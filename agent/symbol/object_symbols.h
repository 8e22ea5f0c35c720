/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source of names of ELF files and the vDSO: an object for each mapped file, in a
 * byte-accounted LRU.
 *
 * While an interval is open, a full cache gives back indices only, since frames point to names;
 * whole objects go when it ends.
 */
#ifndef XAGENT_AGENT_SYMBOL_OBJECT_SYMBOLS_H
#define XAGENT_AGENT_SYMBOL_OBJECT_SYMBOLS_H

#include <stddef.h>

#include "agent/object/demangle.h"
#include "agent/symbol/symbolizer.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/arena.h"

struct object_symbols;

/* `telemetry` (may be NULL) and `names`, the arena for names of one interval, are borrowed. */
int object_symbols_new(size_t max_bytes, struct telemetry *telemetry, struct arena *names,
		       struct object_symbols **ret_symbols);
void object_symbols_free(struct object_symbols *s); /* NULL-safe */
DEFINE_CLEANUP(struct object_symbols *, object_symbols_free);

/* Borrowed. Passes what is in no file, and what has no symbol. */
struct symbolizer *object_symbols_symbolizer(struct object_symbols *s);
/* The last resort for a location in a file: `basename+0xVADDR`, or the file offset when the file is
 * not known to be ELF. Never fails; the least it gives is "[unknown]". */
void object_symbols_name_by_file(struct object_symbols *s, const struct location *location,
				 struct frames *ret_frames);

void object_symbols_begin(struct object_symbols *s);
/* Names handed out become invalid. */
void object_symbols_end(struct object_symbols *s);
/* Between intervals. */
void object_symbols_set_demangle(struct object_symbols *s, enum demangle_mode mode);
size_t object_symbols_bytes(const struct object_symbols *s);

#endif
