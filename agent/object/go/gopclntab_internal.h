/* SPDX-License-Identifier: Apache-2.0 */
/* What the finder of a Go function table and its reader share. */
#ifndef XAGENT_AGENT_OBJECT_GO_GOPCLNTAB_INTERNAL_H
#define XAGENT_AGENT_OBJECT_GO_GOPCLNTAB_INTERNAL_H

#include "agent/object/go/gopclntab.h"

/* What is read for a single look-up: most functions take a few bytes of each part. */
#define GOPCLNTAB_STEP_BYTES 4096u
/* Who goes through all functions finds them one behind the other: then more and more is read at once. */
#define GOPCLNTAB_WINDOW_BYTES 16384u
/* But not the values: equal ones are stored once, so that functions lead to and fro. Blocks of a step each. */
#define GOPCLNTAB_N_BLOCKS 256
/* Who asks for single addresses comes back to the same ones at most. */
#define GOPCLNTAB_N_BLOCKS_FEW 8

/* The parts that are read side by side. */
enum gopclntab_part {
	GOPCLNTAB_PART_FUNCTAB,
	GOPCLNTAB_PART_RECORDS,
	GOPCLNTAB_PART_NAMES,
	GOPCLNTAB_PART_CODE,
	GOPCLNTAB_PART_MAX
};

struct gopclntab_window {
	uint64_t file_off;
	size_t n;
	size_t step;
	unsigned char bytes[GOPCLNTAB_WINDOW_BYTES];
};

struct gopclntab_block {
	uint64_t end; /* in the file; 0: nothing was read */
	size_t n;
	unsigned char bytes[GOPCLNTAB_STEP_BYTES];
};

struct gopclntab {
	struct elf *elf; /* borrowed */
	enum gopclntab_version version;
	uint8_t quantum; /* pcs are counted in instructions of so many bytes */
	uint32_t n_funcs;
	uint64_t vaddr;
	uint64_t text; /* vaddr; 0 for 1.16, whose entries are absolute */
	/* File ranges of the header and its parts; a part ends where the next one begins. */
	uint64_t file_off;
	uint64_t names_off;
	uint64_t names_end; /* the files of units begin */
	uint64_t files_off; /* their names */
	uint64_t values_off;
	uint64_t funcs_off; /* the functab, from which places of records are counted */
	uint64_t end;	    /* of the file range that may hold the table */
	struct gopclntab_window windows[GOPCLNTAB_PART_MAX];
	uint32_t n_blocks;
	struct gopclntab_block
		*values; /* n_blocks of them, by their number; owned; NULL: none was read */
	uint64_t gofunc; /* vaddr; 0: the moduledata was not looked for, or says none */
};

/* Whether a header lies there that contradicts neither itself nor the file; fills all but `text`. Up to `end` is what may belong to it.
 * *ret_text_field: what the header says of the text, 0: nothing. 0, GOPCLNTAB_NONE, -errno. */
int gopclntab_header(struct gopclntab *table, uint64_t file_off, uint64_t end,
		     uint64_t *ret_text_field);
/* The first such header: by its section, else anywhere in the segments. */
int gopclntab_locate(struct gopclntab *table, uint64_t *ret_text_field);
/* The text's start by the moduledata that points to the table. */
int gopclntab_module_text(struct gopclntab *table, uint64_t *ret_text);
/* Where the further data of functions lies by it, from 1.18 on: go:func.*. 0, GOPCLNTAB_NONE, -errno. */
int gopclntab_module_gofunc(struct gopclntab *table, uint64_t *ret_vaddr);
/* The entry of a function, or of the end (index n_funcs), as distance from the text. */
int gopclntab_entry(struct gopclntab *table, uint32_t index, uint64_t *ret_entry,
		    uint64_t *ret_record);
/* n bytes of the table by the window of a part; GOPCLNTAB_NONE: they are cut off. */
int gopclntab_read(struct gopclntab *table, enum gopclntab_part part, uint64_t file_off, void *dst,
		   size_t n);

#endif
