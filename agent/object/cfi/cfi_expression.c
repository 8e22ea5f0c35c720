/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes of expressions; operation codes are those of DWARF 5 §7.7.1. */
#include "agent/object/cfi/cfi_expression.h"

#include <elf.h>

#include "agent/util/macro.h"
#include "bpf/rule.h"

#define OP_DEREF 0x06
#define OP_AND 0x1a
#define OP_PLUS 0x22
#define OP_PLUS_UCONST 0x23
#define OP_SHL 0x24
#define OP_GE 0x2a
#define OP_LIT0 0x30
#define OP_LIT31 0x4f
#define OP_BREG0 0x70
#define OP_BREG31 0x8f
#define OP_BREGX 0x92

static bool takes(struct cfi_cursor *c, uint8_t byte)
{
	if (c->at == c->end || *c->at != byte)
		return false;
	c->at++;
	return true;
}

/* breg := (BREG0 … BREG31 | BREGX uleb) sleb (PLUS_UCONST uleb)* */
static bool takes_breg(struct cfi_cursor *c, uint64_t *ret_reg, int64_t *ret_off)
{
	uint8_t op = cfi_u8(c);

	if (op == OP_BREGX)
		*ret_reg = cfi_uleb(c);
	else if (op >= OP_BREG0 && op <= OP_BREG31)
		*ret_reg = op - OP_BREG0;
	else
		return false;
	*ret_off = cfi_sleb(c);
	while (takes(c, OP_PLUS_UCONST)) {
		uint64_t more = cfi_uleb(c);

		if (more > INT64_MAX || __builtin_add_overflow(*ret_off, (int64_t)more, ret_off))
			return false;
	}
	return !c->failed;
}

/* Behind its first breg. */
static bool is_plt(struct cfi_cursor c, int64_t *ret_n)
{
	static const uint8_t tail[] = { OP_GE, OP_LIT0 + 3, OP_SHL, OP_PLUS };
	uint64_t reg;
	int64_t off;

	if (!takes_breg(&c, &reg, &off) || reg != RULE_X86_RIP || off != 0 ||
	    !takes(&c, OP_LIT0 + 15) || !takes(&c, OP_AND))
		return false;
	uint8_t literal = cfi_u8(&c);
	if (literal < OP_LIT0 || literal > OP_LIT31 || cfi_left(&c) != sizeof(tail))
		return false;
	*ret_n = literal - OP_LIT0;
	return memcmp(c.at, tail, sizeof(tail)) == 0;
}

/* Behind its breg. */
static bool is_deref(struct cfi_cursor c, int32_t *ret_add)
{
	uint64_t add = 0;

	if (!takes(&c, OP_DEREF))
		return false;
	if (takes(&c, OP_PLUS_UCONST))
		add = cfi_uleb(&c);
	*ret_add = (int32_t)add;
	return !c.failed && cfi_left(&c) == 0 && add <= INT32_MAX;
}

struct cfi_expression cfi_expression(const struct dwarf_abi *abi, struct cfi_cursor code)
{
	struct cfi_expression e = { .shape = CFI_EXPRESSION_OTHER };

	if (!takes_breg(&code, &e.reg, &e.off))
		return (struct cfi_expression){ .shape = CFI_EXPRESSION_OTHER };
	if (cfi_left(&code) == 0)
		e.shape = CFI_EXPRESSION_REG;
	else if (is_deref(code, &e.add))
		e.shape = CFI_EXPRESSION_DEREF;
	else if (abi->machine == EM_X86_64 && e.reg == RULE_X86_RSP && e.off == 8 &&
		 is_plt(code, &e.off))
		e.shape = CFI_EXPRESSION_PLT;
	return e;
}
