/* SPDX-License-Identifier: Apache-2.0 */
/* What unwinding needs to know of a machine: which DWARF registers play which part, and their names. Pure. */
#ifndef XAGENT_AGENT_OBJECT_RULES_DWARF_ABI_H
#define XAGENT_AGENT_OBJECT_RULES_DWARF_ABI_H

#include <stdint.h>

struct dwarf_abi {
	uint16_t machine; /* EM_X86_64, EM_AARCH64 */
	uint8_t sp;
	uint8_t fp;
	uint8_t ra; /* the return address column of ordinary CIEs: x86-64 16, AArch64 30 (x30) */
	uint8_t n_regs; /* registers that a rule may name */
	/* Where the return address is saved at a function's entry relative to CFA (x86-64: −8); 0: in the ra register. */
	int8_t entry_ra_off;
};

/* NULL for machines that are not unwound. */
const struct dwarf_abi *dwarf_abi(uint16_t machine);
/* "rsp", "x29", "sp"; "?" when there is no such register. */
const char *dwarf_abi_reg_name(const struct dwarf_abi *abi, uint8_t reg);

#endif
