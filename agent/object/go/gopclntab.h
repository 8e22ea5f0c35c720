/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go's function table, .gopclntab: which functions there are, their names, and values by pc (stack depth, file, line).
 *
 * The linker writes one into every program, stripped ones too. Three layouts, told apart by their first word: Go 1.16 and 1.17,
 * 1.18 and 1.19, 1.20 and later (src/runtime/symtab.go, src/cmd/link/internal/ld/pcln.go of each).
 *
 *	header ──► names, file tables, pctab (values by pc), functab ──► functab: (entry, place of its record) a function, the end
 *	                                                            └──► records: name, places in pctab, flags
 *
 * From 1.18 on entries are distances from the start of the text, which stands in the header, from 1.26 on only in the runtime's
 * moduledata. Read by small windows of the file, nothing is held but them. A struct gopclntab is used by one thread at a time.
 */
#ifndef XAGENT_AGENT_OBJECT_GO_GOPCLNTAB_H
#define XAGENT_AGENT_OBJECT_GO_GOPCLNTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/object/elf.h"
#include "agent/util/buf.h"
#include "agent/util/cleanup.h"

/* The largest known programs have some 500,000 functions. */
#define GOPCLNTAB_MAX_FUNCS (4u << 20)
/* Names of instantiated generic functions come to a few thousand bytes. */
#define GOPCLNTAB_MAX_NAME_BYTES 65536
/* How much of a file without sections is searched for the table, and how many of its relocations are looked through: 1 GiB of
 * contents is more than any known Go program has, 64 MiB of relocations are 2.7 million. */
#define GOPCLNTAB_MAX_SEARCH_BYTES ((uint64_t)1 << 30)
#define GOPCLNTAB_MAX_RELOCATION_BYTES ((uint64_t)64 << 20)

enum gopclntab_outcome {
	GOPCLNTAB_NONE = 1, /* no such table, function, name or value */
	GOPCLNTAB_OUTCOME_MAX
};

enum gopclntab_version {
	GOPCLNTAB_1_16,
	GOPCLNTAB_1_18,
	GOPCLNTAB_1_20,
};

/* Flags of functions, since 1.17 (src/internal/abi/symtab.go); 0 before. */
#define GOPCLNTAB_TOP_FRAME 1u
#define GOPCLNTAB_WRITES_SP 2u /* otherwise than by adding a constant */
#define GOPCLNTAB_ASSEMBLY 4u

struct gopclntab_func {
	uint64_t begin; /* vaddr */
	uint64_t end;	/* of the padding behind it: where the next one begins */
	uint32_t name_off;
	/* Places in pctab; 0: there are no such values. C functions that Go's linker laid into the text have none at all. */
	uint32_t pcsp;
	uint32_t pcfile;
	uint32_t pcline;
	uint8_t flags; /* GOPCLNTAB_* */
	/* What stands behind its record: places in pctab, then its other data, by kind. */
	uint8_t n_funcdata;
	uint32_t n_pcdata;
	uint64_t pcdata_off; /* in the file */
	uint32_t unit;	     /* where the files of its compilation unit begin among those of all */
};

/* Values by pc: one range of addresses after the other. */
struct gopclntab_values {
	uint64_t file_off;
	uint64_t pc;
	uint64_t end; /* of the function */
	int32_t value;
	bool started;
};

struct gopclntab_range {
	uint64_t begin;
	uint64_t end;
	int32_t value;
};

struct gopclntab;

/* 0; GOPCLNTAB_NONE: no Go program, or a layout that is not known; -errno. `elf` is borrowed until free. */
int gopclntab_new(struct elf *elf, struct gopclntab **ret_table);
/* All functions will be asked for one behind the other: a MiB is held instead of 32 KiB. Before the first look-up. */
void gopclntab_expect_all(struct gopclntab *table);
void gopclntab_free(struct gopclntab *table); /* NULL-safe */
DEFINE_CLEANUP(struct gopclntab *, gopclntab_free);

enum gopclntab_version gopclntab_version(const struct gopclntab *table);
uint64_t gopclntab_vaddr(const struct gopclntab *table);
uint64_t
gopclntab_n_bytes(const struct gopclntab *table); /* from the header to the end of the functab */
uint32_t gopclntab_n_funcs(const struct gopclntab *table);

/* All: 0, GOPCLNTAB_NONE, -errno. */
int gopclntab_func(struct gopclntab *table, uint32_t index, struct gopclntab_func *ret_func);
/* The function that holds the address, or its padding. */
int gopclntab_find(struct gopclntab *table, uint64_t vaddr, uint32_t *ret_index);
/* Appends. */
int gopclntab_name(struct gopclntab *table, const struct gopclntab_func *func, struct buf *name);

/* `place`: func->pcsp, pcfile, pcline; not 0. */
void gopclntab_values_init(const struct gopclntab *table, const struct gopclntab_func *func,
			   uint32_t place, struct gopclntab_values *ret_values);
/* The next range; GOPCLNTAB_NONE at the end, which a table that is damaged comes to early. Ranges are within the function, one
 * after the other, not empty. */
int gopclntab_values_next(struct gopclntab *table, struct gopclntab_values *values,
			  struct gopclntab_range *ret_range);

/* Up to 16 bytes of the object's contents at an address. 0, -ENODATA, -errno. */
int gopclntab_code(struct gopclntab *table, uint64_t vaddr, void *dst, size_t n);

#endif
