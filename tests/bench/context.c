/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings and stacks of a context. */
#include "tests/bench/context.h"

#include <string.h>

#include "agent/util/macro.h"

/* Mappings lie this far apart, beginning where the kernel puts libraries. */
#define MAPPING_SPACING (1ULL << 32)
#define MAPPINGS_BEGIN 0x700000000000ULL
/* Of 100 steps, those that stay in the mapping. */
#define SAME_MAPPING 92
/* They lie one behind the other, as near to each other in the cache as chance has it; behind the last one a window can be read in full. */
#define STACK_WORDS ((size_t)CONTEXT_MAX_FRAMES * CONTEXT_MAX_CFA / 8)
#define ALL_STACKS_BYTES ((BENCH_N_STACKS * STACK_WORDS + WIRE_PAGE_BYTES) * sizeof(uint64_t))
/* Random addresses until one has a plain rule; nearly all have one. */
#define MAX_TRIES 10000

struct extent_of {
	uint64_t begin;
	uint64_t end;
};

void context_free(struct context *w)
{
	if (!w)
		return;
	kernel_arena_free(w->arena);
	free(w->stacks);
	free(w);
}

static int note_row(uint64_t file_off, const struct unwind_rule *rule, void *data)
{
	struct extent_of *e = data;

	(void)rule;
	if (e->end == 0)
		e->begin = file_off;
	e->end = file_off;
	return 0;
}

/* Consumes nothing. */
static int add_mapping(struct context *w, const struct row_table *table)
{
	struct context_object *o = &w->objects[w->n_mappings];
	struct extent_of e = { 0 };
	int r = row_table_place(table, w->arena, &o->object);
	o->object.serial = (w->n_mappings + 1) * 2;

	if (r == 0)
		r = row_table_foreach(w->arena, &o->object, note_row, &e);
	if (r != 0)
		return r;
	o->begin = e.begin & ~(uint64_t)(WIRE_PAGE_BYTES - 1);
	o->end = e.end;
	w->mappings[w->n_mappings] = (struct wire_mapping){
		.begin = MAPPINGS_BEGIN + w->n_mappings * MAPPING_SPACING,
		.frame_base = ((uint64_t)(w->n_mappings + 1) << WIRE_FRAME_OFFSET_BITS) + o->begin,
		.n_pages = (uint32_t)((o->end - o->begin) / WIRE_PAGE_BYTES + 1),
		.object = WIRE_OBJECT_FIRST + (uint32_t)w->n_mappings,
	};
	w->n_mappings++;
	w->n_rows += row_table_stats(table)->n_rows;
	w->n_bytes += row_table_stats(table)->n_bytes;
	return 0;
}

static int add_tables(struct context *w, char *const *files, size_t n_files)
{
	size_t n = n_files ? MIN_OF(n_files, (size_t)CONTEXT_N_MAPPINGS) : CONTEXT_N_MAPPINGS;
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		_cleanup_(row_table_freep) struct row_table *table = NULL;

		r = n_files ? context_file_table(files[i], &table) : context_fake_table(w, &table);
		if (r == 0)
			r = add_mapping(w, table);
		/* Files without rules are of no use, and no fault. */
		if (r > 0)
			r = 0;
	}
	return r == 0 && w->n_mappings == 0 ? -ENODATA : r;
}

static int place_mappings(struct context *w)
{
	uint32_t n_words = (uint32_t)(w->n_mappings * sizeof(w->mappings[0]) / WIRE_WORD_BYTES);
	int r = kernel_arena_take(w->arena, n_words, &w->mappings_at);

	if (r == 0)
		memcpy(kernel_arena_ptr(w->arena, w->mappings_at), w->mappings,
		       w->n_mappings * sizeof(w->mappings[0]));
	return r;
}

int context_new(int segments_fd, char *const *files, size_t n_files, struct context **ret_context)
{
	_cleanup_(context_freep) struct context *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	w->random = 1;
	w->stacks = calloc(1, ALL_STACKS_BYTES);
	if (!w->stacks)
		return -ENOMEM;
	r = kernel_arena_new(&(struct kernel_arena_options){ .segments_fd = segments_fd,
							     .max_segments = WIRE_MAX_SEGMENTS },
			     &w->arena);
	if (r == 0)
		r = add_tables(w, files, n_files);
	if (r == 0)
		r = place_mappings(w);
	if (r == 0)
		*ret_context = TAKE_PTR(w);
	return r;
}

static bool is_plain(const struct unwind_rule *rule)
{
	return rule->cfa == RULE_CFA_REG && rule->cfa_reg == WIRE_ABI_SP &&
	       rule->cfa_off >= CONTEXT_MIN_CFA && rule->cfa_off <= CONTEXT_MAX_CFA &&
	       rule->cfa_off % 8 == 0 && rule->ra == RULE_RA_CFA && rule->ra_off == -8 &&
	       (rule->fp == RULE_FP_SAME ||
		(rule->fp == RULE_FP_CFA && rule->fp_off < -8 && rule->fp_off >= -rule->cfa_off));
}

static bool pick_pc(struct context *w, size_t mapping, uint64_t *ret_pc,
		    struct unwind_rule *ret_rule)
{
	const struct context_object *o = &w->objects[mapping];

	for (int tries = 0; tries < MAX_TRIES; tries++) {
		uint64_t off = context_random(w, (uint32_t)(o->end - o->begin));

		row_table_lookup(w->arena, &o->object, o->begin + off, ret_rule);
		*ret_pc = w->mappings[mapping].begin + off;
		if (is_plain(ret_rule))
			return true;
	}
	return false;
}

/* Its last word is 0: the outermost frame of a thread that the C library did not start. Returns its end, or NULL. */
static uint64_t *make_stack(struct context *w, uint64_t *sp, unsigned int n_frames,
			    struct bench_start *ret_start)
{
	size_t mapping = context_random(w, (uint32_t)w->n_mappings);
	uint64_t fp = 0x1000;
	uint64_t *ra = NULL;

	for (unsigned int i = 0; i < n_frames; i++) {
		struct unwind_rule rule;
		uint64_t pc;

		if (!pick_pc(w, mapping, &pc, &rule))
			return NULL;
		if (ra)
			*ra = pc + 1;
		else
			*ret_start = (struct bench_start){ pc, (uint64_t)(uintptr_t)sp, fp };
		sp += rule.cfa_off / 8;
		ra = sp - 1;
		if (rule.fp == RULE_FP_CFA)
			sp[rule.fp_off / 8] = fp += 16;
		if (context_random(w, 100) >= SAME_MAPPING)
			mapping = context_random(w, (uint32_t)w->n_mappings);
	}
	*ra = 0;
	return sp;
}

bool context_make_stacks(struct context *w, unsigned int n_frames)
{
	uint64_t *sp = w->stacks;

	memset(w->stacks, 0, ALL_STACKS_BYTES);
	w->random = 1;
	for (size_t i = 0; sp && i < BENCH_N_STACKS; i++)
		sp = make_stack(w, sp, n_frames, &w->starts[i]);
	return sp;
}

int context_foreach_row(const struct context *w, size_t mapping, unwind_row_fn fn, void *data)
{
	return row_table_foreach(w->arena, &w->objects[mapping].object, fn, data);
}
