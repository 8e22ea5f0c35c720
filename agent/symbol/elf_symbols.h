/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is inside of a file: its headers, the sources of its names, and the functions named so far. Files with the same names in them
 * share one, whatever container they are in.
 *
 * Names are made once and kept, also that there is none, for the range of text around an address in which it is the same. So a function
 * that is sampled in each interval needs no index. Sources can be dropped and made anew at any time; names cannot, since frames point
 * to them: that is for object_symbols to time.
 *
 * Descriptors are the caller's, given with each question: another file of the same content will do.
 */
#ifndef XAGENT_AGENT_SYMBOL_ELF_SYMBOLS_H
#define XAGENT_AGENT_SYMBOL_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/dwarf/client.h"
#include "agent/object/demangle/demangle.h"
#include "agent/object/elf.h"
#include "agent/object/lines/scratch.h"
#include "agent/object/names/function_info.h"
#include "agent/symbol/line_cache.h"
#include "agent/symbol/symbol_ranges.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/cleanup.h"
#include "agent/util/hash.h"
#include "agent/util/list.h"

/* Whoever has debug files by build id: debuginfod_ask() with a struct debuginfod. */
typedef int (*elf_symbols_fetch_fn)(void *data, const char *build_id, int *ret_fd);

/* How names are to be, for all files. */
struct elf_symbols_options {
	enum demangle_mode demangle;
	bool lines;
	bool inlines;
	struct dwarf_client *dwarf; /* borrowed; NULL: lines are those of Go only */
	size_t max_bytes;	    /* of one file's sources */
	struct scratch *
		scratch; /* borrowed; for compressed debug files that are larger; NULL: these have no lines */
	elf_symbols_fetch_fn fetch; /* NULL: nobody is asked */
	void *fetch_data;
	struct telemetry *telemetry; /* NULL: nothing is counted */
};

enum elf_symbols_outcome {
	ELF_SYMBOLS_NO_NAME = 1,
	ELF_SYMBOLS_NO_TIME, /* it was not looked for */
	ELF_SYMBOLS_FAILED,  /* just now: its lines are left alone for ELF_SYMBOLS_NEGATIVE_NS */
	ELF_SYMBOLS_OUTCOME_MAX
};

/* How long it holds that something was not there: debug files get installed, servers learn. */
#define ELF_SYMBOLS_NEGATIVE_NS (300 * NS_PER_S)

/* Intervals that a reader with a scratch file is kept for nobody. */
#define ELF_SYMBOLS_SCRATCH_INTERVALS 30

struct elf_symbols {
	struct hash_node node; /* of shared_elf_symbols */
	struct list all;       /* the same */
	uint64_t digest;       /* 0: not shared */
	uint32_t n_users;
	uint64_t interval; /* that its sources were last needed in */
	uint32_t heat;	   /* how often that was, halved each interval */

	struct elf *elf;   /* segments only */
	struct elf *debug; /* NULL: no debug file */
	struct elf *fetched;
	int fetched_fd; /* −1: not asked for, or not there */
	bool is_unfetchable;
	uint64_t nameless_ns; /* since when negative answers are kept; 0: there are none */
	struct function_info *info;
	struct symbol_ranges ranges;
	struct line_cache lines;
	struct dwarf_file *reader; /* NULL: not opened, or dropped */
	bool is_readerless;	   /* nobody has lines */
	uint64_t failed_ns;	   /* when reading them failed; 0: not lately */
	uint64_t reader_interval;  /* that it was last needed in */
	uint64_t scratch_ns;	   /* when it was last unpacked to disk; 0: it was not */
};

/* What the file at hand can be read through. */
struct elf_symbols_access {
	int fd; /* −1: not at all, unless it is in memory */
	int debug_fd;
	const char *build_id; /* "": none */
	uint64_t interval;
	uint64_t now_ns;
};

/* Takes both. 0 or -ENOMEM (nothing taken). */
int elf_symbols_new(struct elf *elf, struct elf *debug, struct elf_symbols **ret_elf_symbols);
void elf_symbols_free(struct elf_symbols *elf_symbols); /* NULL-safe */
DEFINE_CLEANUP(struct elf_symbols *, elf_symbols_free);

/* Bytes held; and of them by its sources. */
size_t elf_symbols_bytes(const struct elf_symbols *elf_symbols);
size_t elf_symbols_source_bytes(const struct elf_symbols *elf_symbols);
bool elf_symbols_has_sources(const struct elf_symbols *elf_symbols);
void elf_symbols_drop_sources(struct elf_symbols *elf_symbols);
void elf_symbols_drop_names(struct elf_symbols *elf_symbols);
/* How much its sources are needed, as of an interval. */
uint32_t elf_symbols_heat(const struct elf_symbols *elf_symbols, uint64_t interval);
/* Between intervals: what does not hold beyond this one, and readers that were not needed in it. */
void elf_symbols_end_interval(struct elf_symbols *elf_symbols, uint64_t interval);
/* Forgets that things were not there, if that was long ago. */
void elf_symbols_expire(struct elf_symbols *elf_symbols, uint64_t now_ns);

/* What elf_symbols_name() says of an address is known already: no source is asked. */
bool elf_symbols_knows(const struct elf_symbols *elf_symbols, uint64_t vaddr);
/* The name of the function at an address. Borrowed from `elf_symbols`. 0, ELF_SYMBOLS_NO_NAME, -errno. */
int elf_symbols_name(struct elf_symbols *elf_symbols, const struct elf_symbols_options *options,
		     const struct elf_symbols_access *access, uint64_t vaddr,
		     const char **ret_name);

/* Where the function begins that holds an address for which elf_symbols_name() has just had no name. False: that is not known either. */
bool elf_symbols_function_begin(const struct elf_symbols *elf_symbols, uint64_t vaddr,
				uint64_t *ret_begin);

/* Functions inlined at an address, innermost first, the last one its own. It is looked for while *left_ns is not used up. Borrowed from
 * `elf_symbols`. 0 (at least one frame), ELF_SYMBOLS_NO_NAME, ELF_SYMBOLS_NO_TIME, ELF_SYMBOLS_FAILED, -errno. */
int elf_symbols_lines(struct elf_symbols *elf_symbols, const struct elf_symbols_options *options,
		      const struct elf_symbols_access *access, uint64_t vaddr, uint64_t *left_ns,
		      const struct line_answer **ret_answer);

#endif
