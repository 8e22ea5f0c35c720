/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwind table of one object, built on the heap in the form of bpf/table.h, ready to be copied into an arena.
 *
 *	unwind_info ──(spans in order, rows, merged)──► row_table ──(row_table_place)──► arena, struct wire_object
 *
 * Merging: a row equal to the one before is left out, also across spans; the end marker (no rule) between spans is left out where the gap
 * is shorter than ROW_TABLE_GAP_BYTES. Built in the worker; pure but for reading the object.
 */
#ifndef XAGENT_AGENT_UNWIND_ROW_TABLE_H
#define XAGENT_AGENT_UNWIND_ROW_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/object/rules/unwind_info.h"
#include "agent/unwind/kernel_arena.h"
#include "agent/unwind/row_regions.h"
#include "agent/util/siphash.h"
#include "bpf/wire.h"

/* Padding between functions is at most 15 bytes (alignment of 16). */
#define ROW_TABLE_GAP_BYTES 16

enum row_table_outcome {
	ROW_TABLE_NONE = 1,  /* the object has no rules */
	/* It, or what is needed to build it, is more than the ceiling; or its segments lie in each other. */
	ROW_TABLE_TOO_LARGE,
	ROW_TABLE_OUTCOME_MAX
};

struct row_table_stats {
	uint64_t n_rows;     /* as they lie in the table */
	uint64_t n_raw_rows; /* before merging */
	uint64_t n_rules;    /* distinct */
	uint64_t n_escapes;
	uint64_t n_bytes;	  /* in the arena, all parts */
	uint64_t n_text_bytes;	  /* of executable segments */
	uint64_t n_covered_bytes; /* of them, with a rule */
	uint64_t n_dropped_rows;  /* beyond what the form can hold; no rule there */
	struct unwind_source_stats source;
};

struct row_table;

/* max_bytes bounds the table, and (separately) what building it takes. 0, ROW_TABLE_NONE, ROW_TABLE_TOO_LARGE, -errno. */
int row_table_build(struct unwind_info *info, struct elf *elf, size_t max_bytes,
		    struct row_table **ret_table);
void row_table_free(struct row_table *table); /* NULL-safe */
DEFINE_CLEANUP(struct row_table *, row_table_free);

const struct row_table_stats *row_table_stats(const struct row_table *table);
/* Addresses of a placed table are these: all of them, but for objects whose segments are shifted against each other, as linked. */
const struct row_regions *row_table_regions(const struct row_table *table);

/* Adds all that the kernel half reads of the table once it is placed, and where in the file it begins. */
void row_table_hash(const struct row_table *table, struct siphash *s);

/* Copies the table into the arena. 0 and *ret_object; -ENOSPC, with nothing left behind. */
int row_table_place(const struct row_table *table, struct kernel_arena *arena,
		    struct wire_object *ret_object);
/* Gives back what row_table_place() took. */
void row_table_remove(struct kernel_arena *arena, const struct wire_object *object);

/* Calls fn for each row of a placed table, ascending, by what the kernel half would find: the table is the only thing read. A row equal
 * to the one before (they are repeated where the form wants it) is passed over. 0 or what fn returned. */
int row_table_foreach(const struct kernel_arena *arena, const struct wire_object *object,
		      unwind_row_fn fn, void *data);
/* What the walk would find for one address. */
void row_table_lookup(const struct kernel_arena *arena, const struct wire_object *object,
		      uint64_t vaddr, struct unwind_rule *ret_rule);

#endif
