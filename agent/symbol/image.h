/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is inside of a file: its headers, the sources of its names, and the functions named so far. Files with the same names in them
 * share one, whatever container they are in.
 *
 * Names are made once and kept, also that there is none, for the piece of text around an address in which it is the same. So a function
 * that is sampled in each interval needs no index. Sources can be dropped and made anew at any time; names cannot, since frames point
 * to them: that is for object_symbols to time.
 *
 * Descriptors are the caller's, given with each question: another file of the same content will do.
 */
#ifndef XAGENT_AGENT_SYMBOL_IMAGE_H
#define XAGENT_AGENT_SYMBOL_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/dwarf/client.h"
#include "agent/object/demangle.h"
#include "agent/object/elf.h"
#include "agent/object/function_info.h"
#include "agent/object/scratch.h"
#include "agent/symbol/line_cache.h"
#include "agent/symbol/pieces.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/cleanup.h"
#include "agent/util/hash.h"
#include "agent/util/list.h"

/* Whoever has debug files by build id: debuginfod_ask() with a struct debuginfod. */
typedef int (*image_fetch_fn)(void *data, const char *build_id, int *ret_fd);

/* How names are to be, for all images. */
struct image_options {
	enum demangle_mode demangle;
	bool lines;
	bool inlines;
	struct dwarf_client *dwarf; /* borrowed; NULL: lines are those of Go only */
	size_t max_bytes;	    /* of one file's sources */
	struct scratch *
		scratch; /* borrowed; for compressed debug files that are larger; NULL: these have no lines */
	image_fetch_fn fetch; /* NULL: nobody is asked */
	void *fetch_data;
	struct telemetry *telemetry; /* NULL: nothing is counted */
};

enum image_outcome {
	IMAGE_NO_NAME = 1,
	IMAGE_NO_TIME, /* it was not looked for */
	IMAGE_FAILED,  /* just now: its lines are left alone for IMAGE_NEGATIVE_NS */
	IMAGE_OUTCOME_MAX
};

/* How long it holds that something was not there: debug files get installed, servers learn. */
#define IMAGE_NEGATIVE_NS (300 * NS_PER_S)

/* Intervals that a reader with a scratch file is kept for nobody. */
#define IMAGE_SCRATCH_INTERVALS 30

struct image {
	struct hash_node node; /* images' */
	struct list all;       /* images' */
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
	struct pieces pieces;
	struct line_cache lines;
	struct dwarf_file *reader; /* NULL: not opened, or dropped */
	bool is_readerless;	   /* nobody has lines */
	uint64_t failed_ns;	   /* when reading them failed; 0: not lately */
	uint64_t reader_interval;  /* that it was last needed in */
	uint64_t scratch_ns;	   /* when it was last unpacked to disk; 0: it was not */
};

/* What the file at hand can be read through. */
struct image_access {
	int fd; /* −1: not at all, unless it is in memory */
	int debug_fd;
	const char *build_id; /* "": none */
	uint64_t interval;
	uint64_t now_ns;
};

/* Takes both. 0 or -ENOMEM (nothing taken). */
int image_new(struct elf *elf, struct elf *debug, struct image **ret_image);
void image_free(struct image *image); /* NULL-safe */
DEFINE_CLEANUP(struct image *, image_free);

/* Bytes held; and of them by its sources. */
size_t image_bytes(const struct image *image);
size_t image_source_bytes(const struct image *image);
bool image_has_sources(const struct image *image);
void image_drop_sources(struct image *image);
void image_drop_names(struct image *image);
/* How much its sources are needed, as of an interval. */
uint32_t image_heat(const struct image *image, uint64_t interval);
/* Between intervals: what does not hold beyond this one, and readers that were not needed in it. */
void image_end_interval(struct image *image, uint64_t interval);
/* Forgets that things were not there, if that was long ago. */
void image_expire(struct image *image, uint64_t now_ns);

/* What image_name() says of an address is known already: no source is asked. */
bool image_knows(const struct image *image, uint64_t vaddr);
/* The name of the function at an address. Borrowed from the image. 0, IMAGE_NO_NAME, -errno. */
int image_name(struct image *image, const struct image_options *options,
	       const struct image_access *access, uint64_t vaddr, const char **ret_name);

/* Where the function begins that holds an address for which image_name() has just had no name. False: that is not known either. */
bool image_function_begin(const struct image *image, uint64_t vaddr, uint64_t *ret_begin);

/* Functions inlined at an address, innermost first, the last one its own. It is looked for while *left_ns is not used up. Borrowed from
 * the image. 0 (at least one frame), IMAGE_NO_NAME, IMAGE_NO_TIME, IMAGE_FAILED, -errno. */
int image_lines(struct image *image, const struct image_options *options,
		const struct image_access *access, uint64_t vaddr, uint64_t *left_ns,
		const struct line_answer **ret_answer);

#endif
