/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a Go function on AArch64.
 *
 * CFA = sp + depth. A frame holds the return address at sp and the caller's x29 below it, at sp − 8, where x29 then points
 * (src/cmd/internal/obj/arm64/obj7.go):
 *
 *	small	str x30, [sp, #-n]!; stur x29, [sp, #-8]; sub x29, sp, #8
 *	large	sub x20, sp, n; stp x29, x30, [x20, #-8]; mov sp, x20; sub x29, sp, #8
 *
 * Without a frame the return address is in x30. Assembly that moves sp by itself and saves nothing has it there too; what C calls Go through
 * (crosscall2) saves a pair like C does: stp x29, x30, [sp, #n].
 *
 * Functions that go to another stack keep x29 while they are there, and point it where they were; the exceptions are in go_asides.h.
 *
 * The slot of x29 is below the stack pointer for as long as the frame lives, so it is given from sp, not from the CFA: below sp, slots
 * given from the CFA are taken for popped ones (unwind_rule_normalize()).
 */
#include "agent/object/go/go_asides.h"
#include "agent/object/go/go_unwind_internal.h"
#include "agent/util/macro.h"

#define STUR_X29_SP_8 0xf81f83fdu
#define STP_X29_X30_X20_8 0xa93ffa9du
#define MOV_SP_X20 0x9100029fu
#define SUB_X29_SP_8 0xd10023fdu
/* str x30, [sp, #imm9]! */
#define STR_X30_SP_PRE 0xf8000ffeu
#define STR_PRE_MASK 0xffe00fffu
/* mov sp, xN is add sp, xN, #0; the stack is also aligned by and sp, xN, #imm. */
#define MOV_SP 0x9100001fu
#define MOV_SP_MASK 0xfffffc1fu
#define AND_SP 0x9200001fu
#define AND_SP_MASK 0xff80001fu
/* mov sp, sp: says "writes sp" to the assembler, and does nothing (morestack_noctxt). */
#define MOV_SP_SP 0x910003ffu
#define SWITCH_CODE_BYTES 2048
/* stp x29, x30, [sp, #imm7 × 8] */
#define STP_X29_X30_SP 0xa9007bfdu
#define STP_MASK 0xffc07fffu
#define STP_OFF(code) (((int32_t)((code) << 10) >> 25) * 8)
/* A function that saves registers has no more of them to save before that. */
#define MAX_PAIR_INSTRUCTIONS 24
/* Cuts of a function that are no asides. */
#define N_CUTS 3
#define BL 0x94000000u
#define BL_MASK 0xfc000000u
/* A call injected by a signal handler finds the interrupted function's x30 pushed (src/runtime/signal_arm64.go). */
#define INJECTED_BYTES 16

enum frame_kind {
	FRAME_NONE,
	FRAME_RA,     /* at sp */
	FRAME_PAIR,   /* and x29 at sp − 8 */
	FRAME_PUSHED, /* behind x29, which is at sp + pair_off */
};

_Static_assert(N_CUTS + 2 * GO_ASIDES_MAX <= sizeof((struct go_cuts){ 0 }.at) / sizeof(uint64_t),
	       "each has its place");

struct machine {
	struct go_rows *rows;
	enum frame_kind frame;
	int32_t depth; /* of the frame, as the prologue makes it */
	int32_t pair_off;
	struct go_asides asides;
	uint64_t saved_pc;    /* from here on x29 is in its slot */
	uint64_t pointed_pc;  /* from here on x29 points there; 0: never */
	uint64_t switched_pc; /* from here on another stack may be used; 0: never */
};

static int instruction(struct go_rows *rows, uint64_t vaddr, uint32_t *ret_instruction)
{
	return go_code(rows, vaddr, (unsigned char *)ret_instruction, sizeof(*ret_instruction));
}

/* x29 and x30 saved side by side, before anything is called. */
static int find_pair(struct machine *m, const struct gopclntab_range *range)
{
	for (uint64_t i = 0; i < MAX_PAIR_INSTRUCTIONS; i++) {
		uint64_t pc = range->begin + i * 4;
		uint32_t code;
		int r = instruction(m->rows, pc, &code);

		if (r < 0)
			return r;
		if (pc >= range->end || (code & BL_MASK) == BL)
			return 0;
		if ((code & STP_MASK) != STP_X29_X30_SP || STP_OFF(code) < 0)
			continue;
		m->frame = FRAME_PUSHED;
		m->pair_off = STP_OFF(code);
		m->saved_pc = pc + 4;
		return 0;
	}
	return 0;
}

static int find_frame(void *data, const struct gopclntab_range *range, int32_t depth_before)
{
	struct machine *m = data;
	uint64_t pc = range->begin;
	uint32_t code[5]; /* two before, three behind */

	if (m->frame != FRAME_NONE || depth_before != 0)
		return 0;

	for (size_t i = 0; i < ARRAY_SIZE(code); i++) {
		int r = instruction(m->rows, pc - 8 + i * 4, &code[i]);

		if (r < 0)
			return r;
	}
	if ((code[1] & STR_PRE_MASK) == STR_X30_SP_PRE)
		m->frame = FRAME_RA;
	m->saved_pc = pc;
	m->depth = range->value;
	if (code[2] == STUR_X29_SP_8) {
		m->frame = FRAME_PAIR;
		m->saved_pc = pc + 4;
	} else if (code[1] == MOV_SP_X20 && code[0] == STP_X29_X30_X20_8) {
		m->frame = FRAME_PAIR;
	}
	size_t next = 2 + (m->saved_pc - pc) / 4;
	if (m->frame == FRAME_PAIR && code[next] == SUB_X29_SP_8)
		m->pointed_pc = m->saved_pc + 4;
	return m->frame == FRAME_NONE ? find_pair(m, range) : 0;
}

static int find_switch(void *data)
{
	struct machine *m = data;
	const struct gopclntab_func *func = m->rows->func;
	uint64_t n = MIN_OF(func->end - func->begin, (uint64_t)SWITCH_CODE_BYTES);

	for (uint64_t i = 0; i + 4 <= n; i += 4) {
		uint64_t next = func->begin + i + 4;
		uint32_t code;
		int r = instruction(m->rows, func->begin + i, &code);

		if (r < 0)
			return r;
		/* The large prologue is no switch. */
		bool moves_sp = ((code & MOV_SP_MASK) == MOV_SP && code != MOV_SP_X20 &&
				 code != MOV_SP_SP) ||
				(code & AND_SP_MASK) == AND_SP;
		if (moves_sp && !m->switched_pc)
			m->switched_pc = next;
		go_asides_see(&m->asides, m->rows->role, code, moves_sp, next);
	}
	go_asides_end(&m->asides, func->end);
	return 0;
}

static void rule_by_x29(int32_t depth, struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){
		.cfa = RULE_CFA_REG,
		.cfa_reg = RULE_ARM64_FP,
		.cfa_off = depth + 8,
		.fp = RULE_FP_CFA,
		.fp_off = -depth - 8,
		.ra = RULE_RA_CFA,
		.ra_off = -depth,
		.flags = RULE_SWITCH,
	};
}

static void rule_by_depth(const struct machine *m, uint64_t pc, int32_t depth,
			  struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){
		.cfa = RULE_CFA_REG,
		.cfa_reg = RULE_ARM64_SP,
		.cfa_off = depth,
		.fp = RULE_FP_SAME,
		.ra = RULE_RA_REG,
		.ra_reg = RULE_ARM64_LR,
	};
	if (depth == 0 || m->frame == FRAME_NONE ||
	    (m->frame == FRAME_PUSHED && (pc < m->saved_pc || m->pair_off >= depth)))
		return;
	rule->ra = RULE_RA_CFA;
	rule->ra_reg = 0;
	if (m->frame == FRAME_PUSHED) {
		rule->ra_off = m->pair_off + 8 - depth;
		rule->fp = RULE_FP_CFA;
		rule->fp_off = m->pair_off - depth;
		return;
	}
	if (m->rows->role == GO_ROLE_INJECTED)
		rule->cfa_off += INJECTED_BYTES;
	rule->ra_off = -rule->cfa_off;
	if (m->frame == FRAME_PAIR && pc >= m->saved_pc) {
		rule->fp = RULE_FP_DEREF;
		rule->fp_reg = RULE_ARM64_SP;
		rule->fp_off = -8;
	}
}

/* x29 is where the function was called from, wherever sp is. One that loses it loads it when it is back, where sp tells as much. */
static bool points_back(const struct machine *m, uint64_t pc)
{
	if (m->asides.n > 0 && (pc < m->switched_pc || pc >= m->asides.items[0].end))
		return false;
	return m->pointed_pc && pc >= m->pointed_pc;
}

static void rule_at(const void *data, uint64_t pc, int32_t depth, bool popping,
		    struct unwind_rule *rule)
{
	const struct machine *m = data;
	bool switched = m->switched_pc && pc >= m->switched_pc;
	bool switches = m->rows->role == GO_ROLE_SWITCH || m->rows->role == GO_ROLE_CALLS_C;
	const struct go_aside *aside = go_asides_at(&m->asides, pc);

	if (depth < 0 || depth > GO_MAX_DEPTH) {
		m->rows->stats->n_unrepresentable++;
		*rule = (struct unwind_rule){ 0 };
	} else if (m->rows->role == GO_ROLE_LEAVE && switched) {
		*rule = (struct unwind_rule){ .cfa = RULE_CFA_REG,
					      .cfa_reg = RULE_ARM64_SP,
					      .fp = RULE_FP_UNDEFINED,
					      .ra = RULE_RA_UNDEFINED };
	} else if (aside && m->frame == FRAME_PAIR && depth > 0) {
		go_aside_rule(aside, m->depth, rule);
	} else if (switches && depth > 0 && points_back(m, pc) && !popping) {
		rule_by_x29(m->depth, rule);
	} else if (switches && depth == 0 && m->frame == FRAME_NONE && switched) {
		/* Without a frame, x29 is the caller's: its size is not known here. */
		m->rows->stats->n_unrepresentable++;
		*rule = (struct unwind_rule){ 0 };
	} else {
		rule_by_depth(m, pc, depth, rule);
	}
}

static int find_cuts(void *data, const struct go_depths *depths, struct go_cuts *cuts)
{
	struct machine *m = data;
	const struct gopclntab_range *range = &depths->range;
	/* All epilogues restore sp last, in one instruction. */
	bool pops = (m->rows->role == GO_ROLE_SWITCH || m->rows->role == GO_ROLE_CALLS_C) &&
		    range->value > 0 && depths->has_next && depths->next.value == 0;

	*cuts = (struct go_cuts){ .at = { m->saved_pc, m->pointed_pc, m->switched_pc },
				  .pop = pops ? range->end - 4 : range->end };
	for (size_t i = 0; i < m->asides.n; i++) {
		cuts->at[N_CUTS + 2 * i] = m->asides.items[i].begin;
		cuts->at[N_CUTS + 2 * i + 1] = m->asides.items[i].end;
	}
	return 0;
}

int go_rows_aarch64(struct go_rows *rows, struct go_depths *depths)
{
	static const struct go_machine aarch64 = { find_switch, find_frame, find_cuts, rule_at };
	struct machine m = { .rows = rows };

	return go_rows_by_depth(rows, depths, &aarch64, &m);
}
