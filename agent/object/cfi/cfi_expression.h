/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DWARF expressions of call frame information, as far as a rule can say the same. They are not
 * evaluated: an expression is one of a closed set of shapes, or it is OTHER.
 *
 *	REG	breg r, o		r + o
 *	DEREF	breg r, o; deref	the word at r + o
 *		and plus_uconst a	… + a
 *	PLT	breg sp, 8; breg rip, 0; lit15; and; lit N; ge; lit3; shl; plus
 *					sp + 8 + ((pc & 15) >= N) * 8: what ld writes for .plt
 *
 * bregx is a breg; each breg may be followed by plus_uconst, which adds to o.
 */
#ifndef XAGENT_AGENT_OBJECT_CFI_CFI_EXPRESSION_H
#define XAGENT_AGENT_OBJECT_CFI_CFI_EXPRESSION_H

#include "agent/object/cfi/cfi_cursor.h"
#include "agent/object/rules/dwarf_abi.h"

enum cfi_expression_shape {
	CFI_EXPRESSION_OTHER,
	CFI_EXPRESSION_REG,
	CFI_EXPRESSION_DEREF,
	CFI_EXPRESSION_PLT,
};

struct cfi_expression {
	enum cfi_expression_shape shape;
	uint64_t reg;
	int64_t off; /* of PLT: N */
	int32_t add; /* of DEREF: a */
};

struct cfi_expression cfi_expression(const struct dwarf_abi *abi, struct cfi_cursor code);

#endif
