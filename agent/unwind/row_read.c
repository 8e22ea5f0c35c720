/* SPDX-License-Identifier: Apache-2.0 */
/* A placed table, read by the very code that the kernel half runs. */
#include <string.h>

#include "agent/unwind/row_table_internal.h"

#define UNWIND_INLINE static inline
#define UNWIND_SEGMENT(ctx, index) kernel_arena_segment(ctx, index)
#include "bpf/table.h"

struct reading {
	struct kernel_arena *arena;
	const struct wire_object *object;
	unwind_row_fn fn;
	void *data;
	struct unwind_rule last;
};

void row_table_lookup(const struct kernel_arena *arena, const struct wire_object *object,
		      uint64_t vaddr, struct unwind_rule *ret_rule)
{
	/* The includer's context is passed through the shared code without its const. */
	table_lookup((void *)arena, object, vaddr, ret_rule);
}

static int tell(struct reading *r, uint32_t off, const struct unwind_rule *rule)
{
	if (memcmp(rule, &r->last, sizeof(*rule)) == 0)
		return 0;
	r->last = *rule;
	return r->fn(r->object->base_vaddr + off, rule, r->data);
}

static int tell_at(struct reading *r, uint32_t off)
{
	struct unwind_rule rule;

	table_lookup(r->arena, r->object, r->object->base_vaddr + off, &rule);
	return tell(r, off, &rule);
}

/* Where rows begin in the block. */
static int read_block(struct reading *r, uint32_t page, const uint16_t *first_row, uint32_t k)
{
	const uint16_t *rows = first_row + k + 1;
	int err = tell_at(r, page << 16);

	for (uint32_t g = 0; g < k; g++)
		for (uint32_t i = first_row[g]; err == 0 && i < first_row[g + 1]; i++)
			err = tell_at(r, page << 16 | g << 8 | (rows[i] & 0xff));
	return err;
}

int row_table_foreach(const struct kernel_arena *arena, const struct wire_object *object,
		      unwind_row_fn fn, void *data)
{
	struct reading r = {
		.arena = (struct kernel_arena *)arena,
		.object = object,
		.fn = fn,
		.data = data,
	};
	const uint32_t *pages = kernel_arena_ptr(arena, object->pages_at);
	int err = 0;

	for (uint32_t page = 0; err == 0 && page << 8 < object->n_buckets; page++) {
		if (pages[page] & WIRE_PAGE_CONST)
			err = tell_at(&r, page << 16);
		else
			err = read_block(&r, page, kernel_arena_ptr(arena, pages[page]),
					 row_page_buckets(object->n_buckets, page));
	}
	/* The last row ends with the last bucket. */
	if (err == 0 && r.last.cfa != RULE_CFA_NONE)
		err = fn(object->base_vaddr + ((uint64_t)object->n_buckets << 8),
			 &(struct unwind_rule){ 0 }, data);
	return err;
}
