/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libdw over an image: before libdw looks somewhere, that part of the image is filled.
 *
 * libdw remembers each unit it has passed on the way to another (about 1 KiB), abbreviations and line tables; that is estimated, and
 * forgotten by starting libdw anew.
 *
 * Inside of source_lines only.
 */
#ifndef XAGENT_AGENT_OBJECT_LINES_SOURCE_DWARF_H
#define XAGENT_AGENT_OBJECT_LINES_SOURCE_DWARF_H

#include <elfutils/libdw.h>

#include "agent/object/lines/source_units.h"

enum source_depth {
	SOURCE_RANGES_ONLY, /* of its first DIE */
	SOURCE_NAMES,	    /* and of some DIE that a reference leads to */
	SOURCE_WHOLE,	    /* all its DIEs */
};

struct source_dwarf {
	struct source_image *image; /* owned */
	Elf *elf;		    /* owned, over image->memory */
	Dwarf *dwarf;		    /* owned, over elf */
	struct source_units units;
	size_t n_passed; /* units that libdw knows */
	size_t n_libdw_bytes;
	size_t max_bytes;
};

/* Zeroed before. The image only, without libdw. 0, SOURCE_IMAGE_NONE, -errno. */
int source_dwarf_init(struct source_dwarf *d, const struct bytes *file, size_t max_bytes,
		      struct scratch *scratch);
/* libdw begins to read. Where it finds no memory the process ends with SOURCE_LINES_EXIT_MEMORY. 0, SOURCE_IMAGE_NONE, -errno. */
int source_dwarf_start(struct source_dwarf *d);
void source_dwarf_fini(struct source_dwarf *d);
/* Between questions: gives back what can be read again, if there is more than max_bytes. Pointers of libdw become invalid. */
int source_dwarf_trim(struct source_dwarf *d);
/* When the next unit needs nothing of those before it. */
void source_dwarf_drop_if_many(struct source_dwarf *d);
size_t source_dwarf_bytes(const struct source_dwarf *d);

/* The first DIE of a unit, and what belongs to the unit filled in. 0, SOURCE_IMAGE_NONE, -errno. */
int source_dwarf_unit(struct source_dwarf *d, struct source_unit *u, enum source_depth depth,
		      Dwarf_Die *ret_die);
/* The DIE that an attribute refers to, in whatever unit. 0, SOURCE_IMAGE_NONE, -errno. */
int source_dwarf_follow(struct source_dwarf *d, Dwarf_Attribute *reference, Dwarf_Die *ret_die);
/* The text of an attribute; borrowed until the next trim. 0, SOURCE_IMAGE_NONE, -errno. */
int source_dwarf_text(struct source_dwarf *d, Dwarf_Attribute *attr, const char **ret_text,
		      size_t *ret_n);
/* Makes libdw read the unit's line table, or take it as read. 0, SOURCE_IMAGE_NONE (none, or too large), -errno. */
int source_dwarf_load_lines(struct source_dwarf *d, struct source_unit *u, Dwarf_Die *unit_die);

/* Calls fn for the code of a DIE until it returns nonzero, which is returned; 0 at the end; -errno. */
typedef int (*source_range_fn)(uint64_t begin, uint64_t end, void *data);
int source_dwarf_ranges(struct source_dwarf *d, Dwarf_Die *die, source_range_fn fn, void *data);

#endif
