/* SPDX-License-Identifier: Apache-2.0 */
/* A rule as people read it. Digits are made by hand: a large table has a million rows. */
#include "agent/unwind/rule_text.h"

#include <inttypes.h>

/* -2147483648 and a NUL fit. */
#define NUMBER_BYTES 12

/* With its sign, also of 0. */
static void append_off(struct buf *out, int32_t off)
{
	char text[NUMBER_BYTES];
	char *p = text + sizeof(text);
	uint32_t left = off < 0 ? -(uint32_t)off : (uint32_t)off;

	do {
		*--p = (char)('0' + left % 10);
		left /= 10;
	} while (left > 0);
	*--p = off < 0 ? '-' : '+';
	(void)buf_append(out, p, (size_t)(text + sizeof(text) - p));
}

static void append_reg(const struct dwarf_abi *abi, uint8_t reg, int32_t off, struct buf *out)
{
	(void)buf_append_str(out, dwarf_abi_reg_name(abi, reg));
	append_off(out, off);
}

static void append_deref(const struct dwarf_abi *abi, uint8_t reg, int32_t off, struct buf *out)
{
	(void)buf_append_str(out, "deref(");
	append_reg(abi, reg, off, out);
	(void)buf_append_char(out, ')');
}

static void append_saved(int32_t off, struct buf *out)
{
	(void)buf_append_char(out, 'c');
	append_off(out, off);
}

static void append_cfa(const struct dwarf_abi *abi, const struct unwind_rule *rule, struct buf *out)
{
	switch ((enum rule_cfa)rule->cfa) {
	case RULE_CFA_REG:
		append_reg(abi, rule->cfa_reg, rule->cfa_off, out);
		return;
	case RULE_CFA_DEREF:
		append_deref(abi, rule->cfa_reg, rule->cfa_off, out);
		if (rule->cfa_add)
			(void)buf_printf(out, "%+" PRId32, rule->cfa_add);
		return;
	case RULE_CFA_PLT:
		(void)buf_append_str(out, "plt");
		return;
	case RULE_CFA_GO_NOTED:
		(void)buf_append_str(out, "noted(");
		append_reg(abi, rule->cfa_reg, rule->cfa_off, out);
		(void)buf_printf(out, ")%+" PRId32, rule->cfa_add);
		return;
	case RULE_CFA_GO_LEFT:
		(void)buf_printf(out, "left%+" PRId32, rule->cfa_add);
		return;
	case RULE_CFA_NONE:
		break;
	}
	(void)buf_append_str(out, "none");
}

static void append_fp(const struct dwarf_abi *abi, const struct unwind_rule *rule, struct buf *out)
{
	switch ((enum rule_fp)rule->fp) {
	case RULE_FP_SAME:
		(void)buf_append_char(out, 'u');
		return;
	case RULE_FP_CFA:
		append_saved(rule->fp_off, out);
		return;
	case RULE_FP_DEREF:
		append_deref(abi, rule->fp_reg, rule->fp_off, out);
		return;
	case RULE_FP_REG:
		(void)buf_append_str(out, dwarf_abi_reg_name(abi, rule->fp_reg));
		return;
	case RULE_FP_UNDEFINED:
		break;
	}
	(void)buf_append_str(out, "undef");
}

static void append_ra(const struct dwarf_abi *abi, const struct unwind_rule *rule, struct buf *out)
{
	switch ((enum rule_ra)rule->ra) {
	case RULE_RA_CFA:
		append_saved(rule->ra_off, out);
		return;
	case RULE_RA_REG:
		(void)buf_append_str(out, dwarf_abi_reg_name(abi, rule->ra_reg));
		return;
	case RULE_RA_DEREF:
		append_deref(abi, rule->ra_reg, rule->ra_off, out);
		return;
	case RULE_RA_SIGNAL:
		(void)buf_append_str(out, "signal");
		return;
	case RULE_RA_UNDEFINED:
		break;
	}
	(void)buf_append_str(out, "undef");
}

int rule_text(const struct dwarf_abi *abi, const struct unwind_rule *rule, struct buf *out)
{
	append_cfa(abi, rule, out);
	if (rule->cfa != RULE_CFA_NONE) {
		(void)buf_append_char(out, ' ');
		append_fp(abi, rule, out);
		(void)buf_append_char(out, ' ');
		append_ra(abi, rule, out);
	}
	return out->failed ? -ENOBUFS : 0;
}
