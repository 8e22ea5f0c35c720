/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of one Go function: its code, its depths of the stack, and the way over them. */
#include <errno.h>
#include <string.h>

#include "agent/object/go/go_unwind_internal.h"
#include "agent/util/macro.h"

int go_code(struct go_rows *rows, uint64_t vaddr, unsigned char *dst, size_t n)
{
	const struct gopclntab_func *func = rows->func;

	memset(dst, 0, n);
	for (; n > 0 && vaddr < func->begin; vaddr++, n--)
		dst++;
	if (vaddr >= func->end)
		return 0;
	int r = gopclntab_code(rows->table, vaddr, dst,
			       (size_t)MIN_OF((uint64_t)n, func->end - vaddr));
	return r == -ENODATA ? 0 : r;
}

int go_depths_next(struct go_rows *rows, struct go_depths *depths)
{
	if (!depths->has_next)
		return GOPCLNTAB_NONE;
	depths->range = depths->next;
	int r = gopclntab_values_next(rows->table, &depths->values, &depths->next);
	depths->has_next = r == 0;
	return r < 0 ? r : 0;
}

int go_depths_init(struct go_rows *rows, struct go_depths *ret_depths)
{
	*ret_depths = (struct go_depths){ 0 };
	gopclntab_values_init(rows->table, rows->func, rows->func->pcsp, &ret_depths->values);
	int r = gopclntab_values_next(rows->table, &ret_depths->values, &ret_depths->next);
	if (r != 0)
		return r;
	ret_depths->has_next = true;
	return go_depths_next(rows, ret_depths);
}

/* Rows of one range of the same depth: it is cut where something other than the depth changes. */
static int emit_range(struct go_rows *rows, const struct gopclntab_range *range,
		      const struct go_cuts *cuts, const struct go_machine *machine, void *m)
{
	int r = 0;

	for (uint64_t pc = range->begin; r == 0 && pc < range->end;) {
		struct unwind_rule rule;
		uint64_t next = cuts->pop > pc ? MIN_OF(cuts->pop, range->end) : range->end;

		machine->rule_at(m, pc, range->value, pc >= cuts->pop, &rule);
		r = rows->fn(pc, &rule, rows->data);
		for (size_t i = 0; i < ARRAY_SIZE(cuts->at); i++)
			if (cuts->at[i] > pc && cuts->at[i] < next)
				next = cuts->at[i];
		pc = next;
	}
	return r;
}

static int put_range(struct go_rows *rows, struct go_depths *depths, int32_t depth_before,
		     const struct go_machine *machine, void *m)
{
	struct go_cuts cuts;
	int r;

	if (depths->range.value > depth_before) {
		r = machine->find_frame(m, &depths->range, depth_before);
		if (r != 0)
			return r;
	}
	r = machine->find_cuts(m, depths, &cuts);
	if (r != 0)
		return r;
	return emit_range(rows, &depths->range, &cuts, machine, m);
}

int go_rows_by_depth(struct go_rows *rows, struct go_depths *depths,
		     const struct go_machine *machine, void *m)
{
	int32_t depth_before = 0;
	int r = 0;

	if (rows->role == GO_ROLE_SWITCH || rows->role == GO_ROLE_CALLS_C ||
	    rows->role == GO_ROLE_LEAVE)
		r = machine->find_switch(m);
	while (r == 0) {
		r = put_range(rows, depths, depth_before, machine, m);
		depth_before = depths->range.value;
		if (r == 0)
			r = go_depths_next(rows, depths);
	}
	return r == GOPCLNTAB_NONE ? 0 : r;
}
