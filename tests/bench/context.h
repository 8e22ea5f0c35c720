/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that never ran: its mappings and unwind tables in the arena of the kernel half, and stacks in our own memory that the walk
 * can follow through them.
 *
 *	fake tables, or those of ELF files ──► arena ◄── mappings
 *	                                         │ row_table_lookup
 *	                                         ▼
 *	          stacks: for a random pc its rule, a frame as the rule wants it, and again
 */
#ifndef XAGENT_TESTS_BENCH_CONTEXT_H
#define XAGENT_TESTS_BENCH_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#include "agent/unwind/row_table.h"
#include "tests/bench/walk_bench.h"

/* A process has 8 to 60 executable mappings. */
#define CONTEXT_N_MAPPINGS 32
#define CONTEXT_MAX_FRAMES 128
/* What rules of distribution code ask for: 98 % of the steps are no longer. */
#define CONTEXT_MIN_CFA 24
#define CONTEXT_MAX_CFA 512

struct context_object {
	struct wire_object object;
	uint64_t begin; /* offsets in the file of its rows */
	uint64_t end;
};

struct context {
	struct kernel_arena *arena; /* owned */
	struct context_object objects[CONTEXT_N_MAPPINGS];
	struct wire_mapping mappings[CONTEXT_N_MAPPINGS];
	size_t n_mappings;
	uint32_t mappings_at;
	uint64_t n_rows;
	uint64_t n_bytes;
	uint64_t *stacks; /* BENCH_N_STACKS of them, owned */
	struct bench_start starts[BENCH_N_STACKS];
	uint64_t random;
};

/* Mappings of fake objects with some ten thousand rows each; or, with n_files, of these files. The arena's segments go into the array of
 * maps `segments_fd`. 0 or -errno. */
int context_new(int segments_fd, char *const *files, size_t n_files, struct context **ret_context);
void context_free(struct context *w); /* NULL-safe */
DEFINE_CLEANUP(struct context *, context_free);

/* Makes all stacks new, of n_frames ≤ CONTEXT_MAX_FRAMES. False: the tables have too few rules that it can build frames for. */
bool context_make_stacks(struct context *w, unsigned int n_frames);

/* All rows of a mapping's object, ascending by offset in the file. */
int context_foreach_row(const struct context *w, size_t mapping, unwind_row_fn fn, void *data);

/* Of an object: 0 or -errno. */
int context_fake_table(struct context *w, struct row_table **ret_table);
int context_file_table(const char *path, struct row_table **ret_table);
uint32_t context_random(struct context *w, uint32_t below);

#endif
