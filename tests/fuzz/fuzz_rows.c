/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: bytes as spans and rows of two sources, the table built of them, and every answer of it compared with the sources'.
 *
 * Four bytes each: what, a distance, and a number for the rule. Rows come in the order that sources promise.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/support/fake_unwind.h"

#define MAX_ITEMS 4096
#define TEXT_BEGIN 0x10000ULL
#define TEXT_BYTES ((uint64_t)1 << 60)
#define TABLE_MAX_BYTES ((size_t)4 << 20)
#define ARENA_SEGMENTS 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A source under construction. */
struct shape {
	struct fake_row rows[MAX_ITEMS];
	struct fake_span spans[MAX_ITEMS];
	size_t n_rows;
	size_t n_spans;
	uint64_t at;
};

struct context {
	struct shape shapes[2];
	struct fake_elf file;
	struct elf *elf;
	struct unwind_info *info;
	struct kernel_arena *arena;
	struct row_table *table;
	struct wire_object object;
};

static struct unwind_rule rule_of(uint8_t a, uint8_t b)
{
	return (struct unwind_rule){
		.cfa = a & 3,
		.cfa_reg = a >> 2 & 31,
		.fp = b & 7,
		.fp_reg = 6,
		.ra = b >> 3 & 7,
		.ra_reg = b >> 6,
		.cfa_off = a,
		.fp_off = -16 * (b & 1),
		.ra_off = -8 * (b >> 7),
	};
}

/* A new span some bytes on, or a new row in the last one, which reaches as far as that. */
static void add_item(struct shape *s, const uint8_t item[4])
{
	uint64_t distance = item[1] < 245 ? item[1] : (uint64_t)item[1] << (item[1] & 31);
	struct fake_span *span = s->n_spans ? &s->spans[s->n_spans - 1] : NULL;

	if (item[0] & 1 || !span || span->n_bytes + distance >= UINT32_MAX / 2) {
		s->at += span ? span->n_bytes + distance : distance;
		span = &s->spans[s->n_spans++];
		*span = (struct fake_span){ s->at, 1, &s->rows[s->n_rows], 0 };
	} else {
		span->n_bytes += (uint32_t)distance;
	}
	uint64_t vaddr = span->begin + span->n_bytes - 1;
	if (span->n_rows > 0 && span->rows[span->n_rows - 1].vaddr >= vaddr)
		return;
	s->rows[s->n_rows++] = (struct fake_row){ vaddr, rule_of(item[2], item[3]) };
	span->n_rows++;
}

static void shape_from(struct context *w, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < 2; i++)
		w->shapes[i].at = TEXT_BEGIN;
	for (size_t n = 0; size >= 4 && n < MAX_ITEMS; n++, data += 4, size -= 4)
		add_item(&w->shapes[data[0] >> 1 & 1], data);
}

static void check(const struct context *w, uint64_t vaddr)
{
	struct unwind_rule expected = fake_expected(w->info, vaddr);
	struct unwind_rule found;

	row_table_lookup(w->arena, &w->object, vaddr, &found);
	/* What the form cannot hold is missing, never wrong. */
	if (found.cfa == RULE_CFA_NONE && row_table_stats(w->table)->n_dropped_rows > 0)
		return;
	if (memcmp(&found, &expected, sizeof(found)) != 0)
		abort();
}

static void check_shape(const struct context *w, const struct shape *s)
{
	for (size_t i = 0; i < s->n_rows; i++)
		for (uint64_t d = 0; d < 3; d++)
			check(w, s->rows[i].vaddr - 1 + d);
	for (size_t i = 0; i < s->n_spans; i++)
		for (uint64_t d = 0; d < 34; d++)
			check(w, s->spans[i].begin + s->spans[i].n_bytes - 17 + d);
}

static int count_row(uint64_t vaddr, const struct unwind_rule *rule, void *data)
{
	uint64_t *last = data;

	if (vaddr <= *last || rule->cfa > RULE_CFA_PLT)
		abort();
	*last = vaddr;
	return 0;
}

static void place_and_check(struct context *w)
{
	uint64_t last = 0;

	if (row_table_place(w->table, w->arena, &w->object) < 0)
		return;
	if (kernel_arena_used_bytes(w->arena) != row_table_stats(w->table)->n_bytes)
		abort();
	for (size_t i = 0; i < 2; i++)
		check_shape(w, &w->shapes[i]);
	(void)row_table_foreach(w->arena, &w->object, count_row, &last);
	row_table_remove(w->arena, &w->object);
	kernel_arena_reclaim(w->arena, UINT64_MAX);
	if (kernel_arena_used_bytes(w->arena) != 0)
		abort();
}

static bool context_init(struct context *w)
{
	struct kernel_arena_options o = { .segments_fd = -1, .max_segments = ARENA_SEGMENTS };

	return fake_elf_new(&w->file, EM_X86_64, TEXT_BEGIN, TEXT_BYTES, &w->elf) == 0 &&
	       unwind_info_new_empty(dwarf_abi(EM_X86_64), &w->info) == 0 &&
	       fake_source_add(w->info, w->shapes[0].spans, w->shapes[0].n_spans) &&
	       fake_source_add(w->info, w->shapes[1].spans, w->shapes[1].n_spans) &&
	       kernel_arena_new(&o, &w->arena) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct context *w = calloc(1, sizeof(*w));

	if (!w)
		return 0;
	shape_from(w, data, size);
	if (context_init(w) && row_table_build(w->info, w->elf, TABLE_MAX_BYTES, &w->table) == 0)
		place_and_check(w);
	row_table_free(w->table);
	kernel_arena_free(w->arena);
	unwind_info_free(w->info);
	elf_free(w->elf);
	free(w);
	return 0;
}
