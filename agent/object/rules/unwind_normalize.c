/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a source says, as the walk obeys it.
 *
 * Compilers describe where a register was saved, and often forget to say that it has been popped again: a slot below the stack pointer is
 * nobody's any more. The frame pointer is then back in its register. Of a return address that is below the stack pointer there is no
 * copy left on x86-64, which is how musl marks the end of the stack; where a register holds it at entry (AArch64) it is back there.
 *
 * The first stub of a procedure linkage table pushes x16 and x30 on AArch64 and jumps to glibc's _dl_runtime_resolve, which calls the sp it
 * begins with its CFA and has its return address above it: the caller's sp is 16 bytes higher (sysdeps/aarch64/dl-trampoline.S).
 */
#include <elf.h>

#include "agent/object/rules/unwind_info.h"

/* Stubs of procedure linkage tables are 16 bytes long. */
#define PLT_STUB_BYTES 16
/* What the first one pushes on AArch64. */
#define PLT_PUSHED_BYTES 16

/* The slot at CFA + off lies below the stack pointer. */
static bool is_popped(const struct dwarf_abi *abi, const struct unwind_rule *rule, int32_t off)
{
	return rule->cfa == RULE_CFA_REG && rule->cfa_reg == abi->sp &&
	       (int64_t)rule->cfa_off + off < 0;
}

/* Neither the CFA nor registers are asked for where the walk ends, or takes all of them from a signal frame. */
static bool needs_no_cfa(const struct unwind_rule *rule)
{
	return rule->ra == RULE_RA_UNDEFINED || rule->ra == RULE_RA_SIGNAL;
}

/* The CFA with its unused members 0. False: the walk cannot follow it. */
static bool normalize_cfa(const struct dwarf_abi *abi, const struct unwind_rule *from,
			  struct unwind_rule *to)
{
	to->cfa = from->cfa;
	switch ((enum rule_cfa)from->cfa) {
	case RULE_CFA_GO_NOTED:
	case RULE_CFA_GO_LEFT:
		if (abi->machine != EM_AARCH64)
			return false;
		__attribute__((fallthrough));
	case RULE_CFA_DEREF:
		to->cfa_add = from->cfa_add;
		__attribute__((fallthrough));
	case RULE_CFA_REG:
		to->cfa_reg = from->cfa_reg;
		to->cfa_off = from->cfa_off;
		return from->cfa_reg < abi->n_regs;
	case RULE_CFA_PLT:
		to->cfa_off = from->cfa_off;
		return abi->machine == EM_X86_64 && from->cfa_off >= 0 &&
		       from->cfa_off <= PLT_STUB_BYTES;
	case RULE_CFA_NONE:
		break;
	}
	return false;
}

static bool normalize_fp(const struct dwarf_abi *abi, const struct unwind_rule *from,
			 struct unwind_rule *to)
{
	to->fp = from->fp;
	switch ((enum rule_fp)from->fp) {
	case RULE_FP_CFA:
		if (is_popped(abi, to, from->fp_off))
			to->fp = RULE_FP_SAME;
		else
			to->fp_off = from->fp_off;
		return true;
	case RULE_FP_DEREF:
		to->fp_reg = from->fp_reg;
		to->fp_off = from->fp_off;
		return from->fp_reg < abi->n_regs;
	case RULE_FP_REG:
		if (from->fp_reg == abi->fp)
			to->fp = RULE_FP_SAME;
		else
			to->fp_reg = from->fp_reg;
		return from->fp_reg < abi->n_regs;
	case RULE_FP_SAME:
	case RULE_FP_UNDEFINED:
		return true;
	}
	return false;
}

static void popped_ra(const struct dwarf_abi *abi, struct unwind_rule *to)
{
	if (abi->entry_ra_off != 0) {
		to->ra = RULE_RA_UNDEFINED;
	} else {
		to->ra = RULE_RA_REG;
		to->ra_reg = abi->ra;
	}
}

static bool normalize_ra(const struct dwarf_abi *abi, const struct unwind_rule *from,
			 struct unwind_rule *to)
{
	to->ra = from->ra;
	switch ((enum rule_ra)from->ra) {
	case RULE_RA_CFA:
		if (is_popped(abi, to, from->ra_off))
			popped_ra(abi, to);
		else
			to->ra_off = from->ra_off;
		return true;
	case RULE_RA_DEREF:
		to->ra_off = from->ra_off;
		to->ra_reg = from->ra_reg;
		return from->ra_reg < abi->n_regs;
	case RULE_RA_REG:
		to->ra_reg = from->ra_reg;
		return from->ra_reg < abi->n_regs;
	case RULE_RA_UNDEFINED:
	case RULE_RA_SIGNAL:
		return true;
	}
	return false;
}

static void normalize_resolver(const struct dwarf_abi *abi, struct unwind_rule *to)
{
	if (abi->machine != EM_AARCH64 || to->cfa != RULE_CFA_REG || to->ra != RULE_RA_CFA ||
	    to->ra_off != PLT_PUSHED_BYTES - 8 || to->cfa_off > INT32_MAX - PLT_PUSHED_BYTES ||
	    to->fp_off < INT32_MIN + PLT_PUSHED_BYTES)
		return;
	to->cfa_off += PLT_PUSHED_BYTES;
	to->ra_off -= PLT_PUSHED_BYTES;
	if (to->fp == RULE_FP_CFA)
		to->fp_off -= PLT_PUSHED_BYTES;
}

void unwind_rule_normalize(const struct dwarf_abi *abi, struct unwind_rule *rule)
{
	struct unwind_rule to = { .flags = rule->flags & RULE_SWITCH };
	bool followed = normalize_cfa(abi, rule, &to) && normalize_fp(abi, rule, &to);

	if (!followed && needs_no_cfa(rule)) {
		/* A CFA that is there, so that this is not taken for "no rule". */
		*rule = (struct unwind_rule){ .cfa = RULE_CFA_REG,
					      .cfa_reg = abi->sp,
					      .ra = rule->ra };
		return;
	}
	if (!followed || !normalize_ra(abi, rule, &to))
		to = (struct unwind_rule){ 0 };
	normalize_resolver(abi, &to);
	*rule = to;
}
