/* SPDX-License-Identifier: Apache-2.0 */
/* Running call frame instructions (DWARF 5 §6.4.2). */
#ifndef XAGENT_AGENT_OBJECT_CFI_CFI_PROGRAM_H
#define XAGENT_AGENT_OBJECT_CFI_CFI_PROGRAM_H

#include "agent/object/cfi/cfi_entry.h"
#include "agent/object/rules/unwind_source.h"

/* The program of a CIE, from what is in cie->initial to what is there. False: it is malformed. */
bool cfi_program_initial(const struct dwarf_abi *abi, struct cfi_cie *cie,
			 struct cfi_cursor program);
/* The rows of an FDE that hold within [begin, end), which is within the FDE. From a bad instruction on, there is no rule. 0 or what fn
 * returned. */
int cfi_program_rows(const struct dwarf_abi *abi, const struct cfi_cie *cie,
		     const struct cfi_fde *fde, uint64_t begin, uint64_t end, unwind_row_fn fn,
		     void *data, struct unwind_source_stats *stats);

#endif
