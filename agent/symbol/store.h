/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbol store: names for every frame, within a budget of memory.
 *
 *	symbol_store_begin(s);
 *	for each unique frame: symbol_resolve_kernel(), _user() or _anon()
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

#include "agent/object/demangle/demangle.h"
#include "agent/process/jit_files.h"
#include "agent/process/kernel_text.h"
#include "agent/process/mapping.h"
#include "agent/symbol/constants.h"
#include "agent/symbol/frame.h"
#include "agent/symbol/elf_symbols.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/cleanup.h"

struct symbol_store_options {
	enum demangle_mode demangle;
	size_t max_bytes;    /* of indices and names of ELF files */
	size_t kernel_bytes; /* of the kernel's; see kernel_symbols.h for what reading them takes. Functions beyond it are [kernel], and
				counted */
	size_t interval_bytes;	   /* of names made for one interval only (the kernel's, addresses
				  without a symbol). Beyond it a frame is named by its file, or
				  [kernel] */
	const char *kallsyms_path; /* borrowed for the store's life */
	const char *modules_path;  /* the same */
	const char *notes_path;	   /* the same */
	/* File and line of each frame, and a frame of its own for each inlined function, where the
	 * file or its debug file has them. */
	bool lines;
	bool inlines;
	/* Where compressed debug files are unpacked that are too large for memory; borrowed; NULL: they have no lines. */
	const char *scratch_dir;
	/* Asked for debug files of a build id: debuginfod_ask() with its struct debuginfod. NULL:
	 * nobody is. */
	elf_symbols_fetch_fn fetch;
	void *fetch_data;
	struct telemetry *telemetry; /* borrowed; NULL: nothing is counted */
};

/* 300 objects of an ordinary host: libraries' indices are 10 to 40 KiB each, names of sampled
 * functions some 100 bytes. */
#define SYMBOL_STORE_MAX_BYTES ((size_t)8 << 20)
/* 300,000 functions, as a distribution's kernel has with all its modules loaded. */
#define SYMBOL_STORE_KERNEL_BYTES ((size_t)6 << 20)
/* 40,000 names of 100 bytes. */
#define SYMBOL_STORE_INTERVAL_BYTES ((size_t)4 << 20)
#define SYMBOL_STORE_OPTIONS_INIT                                                      \
	((struct symbol_store_options){ .demangle = DEMANGLE_SIMPLIFIED,               \
					.max_bytes = SYMBOL_STORE_MAX_BYTES,           \
					.kernel_bytes = SYMBOL_STORE_KERNEL_BYTES,     \
					.interval_bytes = SYMBOL_STORE_INTERVAL_BYTES, \
					.kallsyms_path = "/proc/kallsyms",             \
					.scratch_dir = SCRATCH_DIR,                    \
					.modules_path = "/proc/modules",               \
					.notes_path = "/sys/kernel/notes" })

/* Of max_bytes a quarter is for names of generated code: 2 MiB are 87,000 functions, more than a large V8 or JVM has at a time. */
#define SYMBOL_STORE_JIT_SHARE 4

struct symbol_store;

int symbol_store_new(const struct symbol_store_options *options, struct symbol_store **ret_store);
/* Outside of an interval. NULL-safe. */
void symbol_store_free(struct symbol_store *store);
DEFINE_CLEANUP(struct symbol_store *, symbol_store_free);

void symbol_store_begin(struct symbol_store *store);
/* Everything handed out since begin becomes invalid; drops least recently used objects down to
 * max_bytes. */
void symbol_store_end(struct symbol_store *store);
/* Within begin … end: whether names of ELF files have used up their memory. Whoever goes on asking lets go of what he was handed out first. */
bool symbol_store_is_full(const struct symbol_store *store);
/* … and says so: everything handed out becomes invalid, and half of that memory is free. */
void symbol_store_make_room(struct symbol_store *store);

/* Between intervals. Names made before are forgotten. */
void symbol_store_set_demangle(struct symbol_store *store, enum demangle_mode mode);

/* All fill at least one frame, innermost first, and cannot fail. Within begin … end. What has no
 * name at all is one of the frames of constants.h; in a file it is `basename+0xBEGIN` (object_symbols.h). */
void symbol_resolve_kernel(struct symbol_store *store, uint64_t pc, struct frames *ret_frames);
/* `file_off` is the mapping's file offset + distance from its begin; for the vDSO the same. An
 * unopened file (fd −1) names by path. */
void symbol_resolve_user(struct symbol_store *store, const struct mapped_file *file,
			 uint64_t file_off, struct frames *ret_frames);

/* Memory without a file: by what the process itself tells (`jit`, may be NULL) of that moment (NULL: now), else by what the kernel calls
 * the memory (`memory`, may be NULL), else symbol_frame_jit(). */
void symbol_resolve_anon(struct symbol_store *store, const struct jit_files *jit, uint64_t pc,
			 const struct jit_moment *at, const char *memory,
			 struct frames *ret_frames);

/* True once the kernel's symbols were asked for and are hidden: each kernel frame is then
 * symbol_frame_kernel(), and a run of them is best shown as one. Stays right when they become
 * visible later. */
bool symbol_store_kernel_hidden(const struct symbol_store *store);
/* The last file of the interval whose DWARF could not be read because its reader had to be ended; it has no lines for ELF_SYMBOLS_NEGATIVE_NS.
 * "": none. Borrowed until the next begin. */
const char *symbol_store_failed_file(const struct symbol_store *store);
/* What came and went in the kernel since the last call. Between intervals. */
void symbol_store_kernel_changed(struct symbol_store *store, const struct kernel_text *text);
/* Bytes held, for /metrics: ELF files' indices and names, and the kernel's symbols. */
size_t symbol_store_object_bytes(const struct symbol_store *store);
size_t symbol_store_jit_bytes(const struct symbol_store *store);
size_t symbol_store_kernel_bytes(const struct symbol_store *store);

#endif
