/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What call frame instructions say of one place of the code: how CFA, the stack pointer, the frame pointer and the return address are found.
 * All other registers are read over. Wider than struct unwind_rule: it holds what a later instruction may still make right.
 */
#ifndef XAGENT_AGENT_OBJECT_CFI_CFI_STATE_H
#define XAGENT_AGENT_OBJECT_CFI_CFI_STATE_H

#include <stdbool.h>

#include "agent/object/rules/dwarf_abi.h"
#include "bpf/rule.h"

enum cfi_kind {
	CFI_SAME,      /* the register has the caller's value */
	CFI_UNDEFINED, /* not known; of CFA: no instruction has set it */
	CFI_SAVED,     /* saved at CFA + off */
	CFI_IN_REG,    /* reg + off; off is 0 but for CFA */
	CFI_AT_REG,    /* the word at reg + off */
	CFI_PLT,       /* CFA only; off is N of cfi_expression.h */
	CFI_OTHER,     /* said in a way that no rule can say */
};

struct cfi_value {
	uint8_t kind;	    /* enum cfi_kind */
	uint8_t reg;	    /* CFI_NO_REG: one that rules do not know */
	bool is_expression; /* CFA only: offset and register cannot be changed on their own */
	int32_t add;	    /* CFI_AT_REG of CFA only: the word at reg + off, + add */
	int64_t off;
};

#define CFI_NO_REG 255

struct cfi_state {
	struct cfi_value cfa;
	struct cfi_value sp; /* CFI_SAME: it is the CFA, as nearly everywhere */
	struct cfi_value fp;
	struct cfi_value ra;
};

/* Before any instruction. */
struct cfi_state cfi_state_initial(void);
/*
 * `ra_column` is the register that the CIE has for return addresses.
 *
 * Where the caller's stack pointer is not the CFA (longjmp and setcontext, which describe where they are about to go) the rule's CFA is that
 * stack pointer, which may be of another stack, and what is saved relative to the CFA is found by the register that tells the CFA.
 *
 * Of the outermost frame, and of signal frames, a CFA that no rule can
 * say is left out. False: the rule does not say all that is needed; then it is all 0 (RULE_CFA_NONE), or its frame pointer is undefined.
 */
bool cfi_state_rule(const struct cfi_state *state, const struct dwarf_abi *abi, uint64_t ra_column,
		    bool is_signal, struct unwind_rule *ret_rule);

#endif
