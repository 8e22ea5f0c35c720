/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbol store: names for every frame, within a budget of memory.
 *
 *	symbol_store_begin(s);
 *	for each unique frame: symbol_resolve_kernel() or symbol_resolve_user() or …
 *	… use the names …
 *	symbol_store_end(s);
 *
 * Every string handed out is valid until symbol_store_end(), even when the object behind it was
 * dropped meanwhile. Nothing is loaded before it is asked for; the kernel's symbols take some 60 ms
 * once.
 *
 * Ask for the frames of one file together: when the budget is too small for all indices at once,
 * each is then built once an interval instead of once a frame.
 *
 * One thread at a time (the worker's): the loop thread may not call in while a job that uses the
 * store is under way. Files are read through the descriptor of the mapped_file, which the caller
 * opened and keeps open during the call; nothing is kept of it.
 */
#ifndef XAGENT_AGENT_SYMBOL_STORE_H
#define XAGENT_AGENT_SYMBOL_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/object/demangle.h"
#include "agent/symbol/constants.h"
#include "agent/symbol/frame.h"
#include "agent/symbol/symbolizer.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/cleanup.h"

struct symbol_store_options {
	enum demangle_mode demangle;
	size_t max_bytes; /* of indices and names of ELF files; kernel symbols and one interval's
			     names come on top */
	const char *kallsyms_path;   /* borrowed for the store's life */
	struct telemetry *telemetry; /* borrowed; NULL: nothing is counted */
};

/* 300 objects of an ordinary host: libraries' indices are 10 to 40 KiB each, names of sampled
 * functions some 100 bytes. */
#define SYMBOL_STORE_MAX_BYTES ((size_t)8 << 20)
#define SYMBOL_STORE_OPTIONS_INIT                                            \
	((struct symbol_store_options){ .demangle = DEMANGLE_SIMPLIFIED,     \
					.max_bytes = SYMBOL_STORE_MAX_BYTES, \
					.kallsyms_path = "/proc/kallsyms" })

/* Names made for one interval only (addresses without a symbol). Beyond it such a frame is named by
 * its file alone. */
#define SYMBOL_STORE_MAX_INTERVAL_BYTES ((size_t)4 << 20)

struct symbol_store;

int symbol_store_new(const struct symbol_store_options *options, struct symbol_store **ret_store);
/* Outside of an interval. NULL-safe. */
void symbol_store_free(struct symbol_store *store);
DEFINE_CLEANUP(struct symbol_store *, symbol_store_free);

void symbol_store_begin(struct symbol_store *store);
/* Everything handed out since begin becomes invalid; drops least recently used objects down to
 * max_bytes. */
void symbol_store_end(struct symbol_store *store);

/* Between intervals. Names made before are forgotten. */
void symbol_store_set_demangle(struct symbol_store *store, enum demangle_mode mode);

/* All fill at least one frame, innermost first, and cannot fail. Within begin … end. What has no
 * name at all is one of the frames of constants.h; in a file it is `basename+0xVADDR`. */
void symbol_resolve(struct symbol_store *store, const struct location *location,
		    struct frames *ret_frames);
void symbol_resolve_kernel(struct symbol_store *store, uint64_t pc, struct frames *ret_frames);
/* `file_off` is the mapping's file offset + distance from its begin; for the vDSO the same. An
 * unopened file (fd −1) names by path. */
void symbol_resolve_user(struct symbol_store *store, const struct mapped_file *file,
			 uint64_t file_off, struct frames *ret_frames);

/* True once the kernel's symbols were asked for and are hidden: each kernel frame is then
 * symbol_frame_kernel(), and a run of them is best shown as one. Stays right when they become
 * visible later. */
bool symbol_store_kernel_hidden(const struct symbol_store *store);
/* Bytes held, for /metrics: ELF files' indices and names, and the kernel's symbols. */
size_t symbol_store_object_bytes(const struct symbol_store *store);
size_t symbol_store_kernel_bytes(const struct symbol_store *store);

#endif
