/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where callers' further registers are. Few functions find their frame by a register that is neither the stack nor the frame pointer
 * (the dynamic loader's, when it resolves a function: rbx), but to know it there, every function that was called since has to be asked
 * where it saved it.
 */
#include <errno.h>

#include "agent/object/cfi/cfi.h"
#include "agent/object/rules/unwind_info_internal.h"

static int register_source(struct unwind_info *info, uint8_t reg, struct unwind_source **ret_source)
{
	if (!info->abi || reg >= info->abi->n_regs || reg >= UNWIND_INFO_MAX_REGISTERS ||
	    !info->elf)
		return UNWIND_SOURCE_NONE;
	if (!info->registers[reg]) {
		int r = cfi_register_new(info->elf, reg, &info->registers[reg]);

		if (r != 0)
			return r;
	}
	*ret_source = info->registers[reg];
	return 0;
}

int unwind_info_register_at(struct unwind_info *info, uint64_t vaddr, uint8_t reg,
			    struct unwind_rule *ret_rule)
{
	struct unwind_rule rule = { .fp = RULE_FP_UNDEFINED };
	struct unwind_source *source = NULL;
	int r = register_source(info, reg, &source);

	if (r == 0)
		r = source->rule_at(source, vaddr, &rule);
	if (r < 0)
		return r;
	if (r == 0)
		unwind_rule_normalize(info->abi, &rule);
	if (r != 0 || rule.cfa == RULE_CFA_NONE)
		rule = (struct unwind_rule){ .fp = RULE_FP_UNDEFINED };
	*ret_rule = rule;
	return 0;
}
