/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of Go on AArch64 that run on another stack, with an x29 that does not lead to the caller. */
#include "agent/object/go/go_asides.h"

/* str xN, [sp, #8] */
#define STR_SP_8 0xf90007e0u
#define STR_SP_8_MASK 0xffffffe0u
/* ldr x29, [x28, #imm12 × 8]; ldr x28, [xN, #imm12 × 8] */
#define LDR_X29_X28 0xf940039du
#define LDR_X29_X28_MASK 0xffc003ffu
#define LDR_X28 0xf940001cu
#define LDR_X28_MASK 0xffc0001fu
#define LDR_OFF(code) ((int32_t)((code) >> 10 & 0xfff) * 8)
/* Where asmcgocall has the stack pointer that it leaves. */
#define LEFT_SP_REG 2

static void begin_aside(struct go_asides *a, uint64_t pc, const struct unwind_rule *by)
{
	if (a->n == GO_ASIDES_MAX)
		return;
	a->items[a->n++] = (struct go_aside){ .begin = pc, .by = *by };
	a->is_open = true;
}

void go_asides_end(struct go_asides *a, uint64_t pc)
{
	if (a->is_open)
		a->items[a->n - 1].end = pc;
	a->is_open = false;
}

/* asmcgocall: from the first that moves sp, by x2, and from the second word it stores there, by what it noted. */
static void see_c_call(struct go_asides *a, uint32_t code, bool moves_sp, uint64_t pc)
{
	static const struct unwind_rule by_x2 = { .cfa = RULE_CFA_REG, .cfa_reg = LEFT_SP_REG };
	static const struct unwind_rule noted = { .cfa = RULE_CFA_GO_NOTED,
						  .cfa_reg = RULE_ARM64_SP };
	bool is_noted = a->is_open && a->items[a->n - 1].by.cfa == noted.cfa;

	if (moves_sp && is_noted) {
		go_asides_end(a, pc);
	} else if (moves_sp && !a->is_open) {
		begin_aside(a, pc, &by_x2);
	} else if (a->is_open && !is_noted && (code & STR_SP_8_MASK) == STR_SP_8) {
		go_asides_end(a, pc);
		begin_aside(a, pc, &noted);
	}
}

/* systemstack: from where it loads x29 to where it moves sp back. Where in an m its goroutine is, the way back tells. */
static void see_switch(struct go_asides *a, uint32_t code, bool moves_sp, uint64_t pc)
{
	static const struct unwind_rule left = { .cfa = RULE_CFA_GO_LEFT };

	if (moves_sp) {
		go_asides_end(a, pc);
		a->is_away = !a->is_away;
	} else if (a->is_away && !a->is_open && (code & LDR_X29_X28_MASK) == LDR_X29_X28) {
		begin_aside(a, pc, &left);
	} else if (a->is_open && (code & LDR_X28_MASK) == LDR_X28) {
		a->items[a->n - 1].by.cfa_off = LDR_OFF(code);
	}
}

void go_asides_see(struct go_asides *a, enum go_role role, uint32_t code, bool moves_sp,
		   uint64_t pc)
{
	if (role == GO_ROLE_CALLS_C)
		see_c_call(a, code, moves_sp, pc);
	else if (role == GO_ROLE_SWITCH)
		see_switch(a, code, moves_sp, pc);
}

const struct go_aside *go_asides_at(const struct go_asides *a, uint64_t pc)
{
	for (size_t i = 0; i < a->n; i++)
		if (pc >= a->items[i].begin && pc < a->items[i].end)
			return &a->items[i];
	return NULL;
}

void go_aside_rule(const struct go_aside *aside, int32_t depth, struct unwind_rule *ret_rule)
{
	*ret_rule = aside->by;
	if (ret_rule->cfa == RULE_CFA_REG)
		ret_rule->cfa_off = depth;
	else
		ret_rule->cfa_add = depth;
	ret_rule->fp = RULE_FP_CFA;
	ret_rule->fp_off = -depth - 8;
	ret_rule->ra = RULE_RA_CFA;
	ret_rule->ra_off = -depth;
	ret_rule->flags = RULE_SWITCH;
}
