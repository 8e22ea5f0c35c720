/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The units of .debug_info: where each lies and which abbreviations are its own, by their headers alone.
 *
 * Inside of source_lines only.
 */
#ifndef XAGENT_AGENT_OBJECT_LINES_SOURCE_UNITS_H
#define XAGENT_AGENT_OBJECT_LINES_SOURCE_UNITS_H

#include "agent/object/lines/source_image.h"

/* In the order of the section, one behind the other. */
struct source_unit {
	uint64_t info_off;
	uint64_t n_bytes; /* with its header */
	uint64_t abbrev_off;
	uint64_t n_abbrev_bytes;
	uint8_t n_header_bytes; /* the first DIE follows */
	uint8_t version;
	bool is_dwarf64;
	bool is_type;	 /* has no code */
	bool has_lines;	 /* libdw has read its line table … */
	bool has_abbrev; /* … and abbreviations */
	/* Its functions by address, source_index's. */
	bool has_functions;
	uint32_t n_functions;
	struct source_span *functions; /* owned */
};

struct source_units {
	struct source_unit *items;
	size_t n;
};

/* Stops at the first header that cannot be read; what is before it counts. SOURCE_IMAGE_NONE: there is nothing, or more than
 * max_units. 0, -errno. */
int source_units_read(struct source_image *image, size_t max_units, struct source_units *ret_units);
void source_units_fini(struct source_units *units);
/* NULL: in none. */
struct source_unit *source_units_find(const struct source_units *units, uint64_t info_off);

#endif
