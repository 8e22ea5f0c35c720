/* SPDX-License-Identifier: Apache-2.0 */
/* From what call frame instructions say to a rule. */
#include "agent/object/cfi/cfi_state.h"

struct cfi_state cfi_state_initial(void)
{
	return (struct cfi_state){
		.cfa = { .kind = CFI_UNDEFINED },
		.sp = { .kind = CFI_SAME },
		.fp = { .kind = CFI_SAME },
		.ra = { .kind = CFI_SAME },
	};
}

static bool fits(int64_t off)
{
	return off == (int32_t)off;
}

static bool cfa_rule(const struct cfi_value *v, uint8_t n_regs, struct unwind_rule *rule)
{
	rule->cfa_off = (int32_t)v->off;
	if (v->kind == CFI_PLT) {
		rule->cfa = RULE_CFA_PLT;
		return true;
	}
	if ((v->kind != CFI_IN_REG && v->kind != CFI_AT_REG) || v->reg >= n_regs || !fits(v->off))
		return false;
	rule->cfa = v->kind == CFI_IN_REG ? RULE_CFA_REG : RULE_CFA_DEREF;
	rule->cfa_reg = v->reg;
	rule->cfa_add = v->add;
	return true;
}

/* A frame pointer that only an expression could tell is lost, the frame is not: *ret_all is false then. */
static bool fp_rule(const struct cfi_value *v, uint8_t n_regs, struct unwind_rule *rule,
		    bool *ret_all)
{
	bool in_reg = v->kind == CFI_IN_REG || v->kind == CFI_AT_REG;

	if (v->kind == CFI_SAME)
		return true;
	if (v->kind == CFI_UNDEFINED || v->kind == CFI_OTHER) {
		rule->fp = RULE_FP_UNDEFINED;
		*ret_all = v->kind == CFI_UNDEFINED;
		return true;
	}
	if (!fits(v->off) || (in_reg && v->reg >= n_regs))
		return false;
	rule->fp = v->kind == CFI_SAVED	   ? RULE_FP_CFA
		   : v->kind == CFI_IN_REG ? RULE_FP_REG
					   : RULE_FP_DEREF;
	rule->fp_reg = in_reg ? v->reg : 0;
	rule->fp_off = (int32_t)v->off;
	return true;
}

/* In the register that is the column itself: the link register, until it is saved. x86-64 has no such register. */
static bool ra_in_column(uint64_t ra_column, uint8_t n_regs, struct unwind_rule *rule)
{
	rule->ra = RULE_RA_REG;
	rule->ra_reg = (uint8_t)ra_column;
	return ra_column < n_regs;
}

static bool ra_rule(const struct cfi_value *v, uint64_t ra_column, uint8_t n_regs,
		    struct unwind_rule *rule)
{
	bool in_reg = v->kind == CFI_IN_REG || v->kind == CFI_AT_REG;

	if (v->kind == CFI_SAME)
		return ra_in_column(ra_column, n_regs, rule);
	if (v->kind == CFI_UNDEFINED) {
		rule->ra = RULE_RA_UNDEFINED;
		return true;
	}
	if (v->kind == CFI_OTHER || !fits(v->off) || (in_reg && v->reg >= n_regs))
		return false;
	rule->ra = v->kind == CFI_SAVED	   ? RULE_RA_CFA
		   : v->kind == CFI_IN_REG ? RULE_RA_REG
					   : RULE_RA_DEREF;
	rule->ra_reg = in_reg ? v->reg : 0;
	rule->ra_off = (int32_t)v->off;
	return true;
}

/* What is saved relative to a CFA that is a register and an offset, by that register. False: the CFA is none. */
static bool find_by_register(const struct cfi_value *cfa, struct cfi_value *v)
{
	if (v->kind != CFI_SAVED)
		return true;
	v->kind = CFI_AT_REG;
	v->reg = cfa->reg;
	return cfa->kind == CFI_IN_REG && !__builtin_add_overflow(v->off, cfa->off, &v->off);
}

/* The state with the caller's stack pointer as the CFA. False: it cannot be said so. */
static bool follow_sp(const struct cfi_state *from, struct cfi_state *to)
{
	*to = *from;
	if (!find_by_register(&from->cfa, &to->sp) || !find_by_register(&from->cfa, &to->fp) ||
	    !find_by_register(&from->cfa, &to->ra))
		return false;
	to->cfa = to->sp;
	return true;
}

bool cfi_state_rule(const struct cfi_state *state, const struct dwarf_abi *abi, uint64_t ra_column,
		    bool is_signal, struct unwind_rule *ret_rule)
{
	struct unwind_rule rule = { 0 };
	struct cfi_state by_sp;
	bool all = true;
	/* In a signal frame all registers are read, the stack pointer is one of them. */
	bool is_apart = state->sp.kind != CFI_SAME && !is_signal;
	const struct cfi_state *of = is_apart ? &by_sp : state;
	bool known = (!is_apart || follow_sp(state, &by_sp)) &&
		     cfa_rule(&of->cfa, abi->n_regs, &rule) &&
		     fp_rule(&of->fp, abi->n_regs, &rule, &all) &&
		     (is_signal || ra_rule(&of->ra, ra_column, abi->n_regs, &rule));

	if (is_apart)
		rule.flags = RULE_SWITCH;

	if (is_signal)
		rule.ra = RULE_RA_SIGNAL;
	if (known) {
		*ret_rule = rule;
		return all;
	}
	/* Where there is no caller, or the kernel has saved all registers, nobody asks for the CFA. */
	bool needs_none = is_signal || state->ra.kind == CFI_UNDEFINED;
	rule = (struct unwind_rule){ .ra = is_signal ? RULE_RA_SIGNAL : RULE_RA_UNDEFINED };
	*ret_rule = needs_none ? rule : (struct unwind_rule){ 0 };
	return needs_none;
}
