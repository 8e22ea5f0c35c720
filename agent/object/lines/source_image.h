/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DWARF sections of a file as an ELF image in memory that is filled where it is looked at.
 *
 * The image is anonymous memory that nobody has touched: it costs pages only where something was filled in, and reads as zeros
 * elsewhere. Compressed sections are inflated when the image is made: into memory, where they stay, or when they are too large for it into a
 * scratch file. All else can be dropped and is read again.
 * Behind each section is a page of zeros, so that text without an end has one.
 *
 * Inside of source_lines only.
 */
#ifndef XAGENT_AGENT_OBJECT_LINES_SOURCE_IMAGE_H
#define XAGENT_AGENT_OBJECT_LINES_SOURCE_IMAGE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/object/bytes.h"
#include "agent/object/lines/scratch.h"
#include "agent/util/cleanup.h"

/* What names, lines and inlined functions are told by. */
enum source_section {
	SOURCE_INFO,
	SOURCE_ABBREV,
	SOURCE_LINE,
	SOURCE_STR,
	SOURCE_LINE_STR,
	SOURCE_RANGES,
	SOURCE_RNGLISTS,
	SOURCE_ADDR,
	SOURCE_STR_OFFSETS,
	SOURCE_SECTION_MAX
};

enum source_image_outcome {
	SOURCE_IMAGE_NONE = 1, /* no .debug_info, or one that cannot be used here */
	SOURCE_IMAGE_OUTCOME_MAX
};

struct source_image_section {
	uint64_t file_off;
	size_t n_bytes; /* 0: there is none */
	size_t image_off;
	bool is_inflated; /* filled for ever */
	bool is_scratch;  /* file_off is the scratch file's */
};

struct source_image {
	struct bytes file;	 /* what it borrows stays */
	struct scratch *scratch; /* borrowed; NULL: nothing is written to disk */
	int scratch_fd;		 /* owned; −1: none */
	uint64_t n_scratch_bytes;
	unsigned char *memory; /* owned */
	size_t n_memory;
	uint8_t *filled; /* owned; a bit a page */
	size_t n_filled_bytes;
	size_t n_inflated_bytes; /* of them */
	struct source_image_section sections[SOURCE_SECTION_MAX];
};

/* Whether an image could be made of the file, by its headers. 0, SOURCE_IMAGE_NONE, -errno. */
int source_image_exists(const struct bytes *file);
/* What `file` borrows stays there until free. Compressed sections may have max_inflated_bytes together in memory; beyond it they go to `scratch` (may be NULL). 0,
 * SOURCE_IMAGE_NONE, -errno. */
int source_image_new(const struct bytes *file, size_t max_inflated_bytes, struct scratch *scratch,
		     struct source_image **ret_image);
void source_image_free(struct source_image *image); /* NULL-safe */
DEFINE_CLEANUP(struct source_image *, source_image_free);

/* What lies outside of the section is left out, what the file has lost stays zero. 0 or -errno. */
int source_image_fill(struct source_image *image, enum source_section section, uint64_t off,
		      uint64_t n);
/* As source_image_fill, and copied. -ENODATA: not all in the section. */
int source_image_read(struct source_image *image, enum source_section section, uint64_t off,
		      void *dst, size_t n);
/* For pointers that libdw gives: false when p is not in the image. */
bool source_image_locate(const struct source_image *image, const void *p,
			 enum source_section *ret_section, uint64_t *ret_off);
/* The text at a pointer that libdw gives, filled in up to its end, at most max_bytes: its length. */
int source_image_text(struct source_image *image, const char *text, size_t max_bytes,
		      size_t *ret_n);
/* Gives back all pages but those of inflated sections. */
void source_image_drop(struct source_image *image);
/* Held in memory now. */
size_t source_image_bytes(const struct source_image *image);

#endif
