/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a Go function on x86-64.
 *
 * CFA = rsp + depth + 8, exact at every instruction. Where the caller's rbp is, the table does not say, but the assembler knows two
 * prologues (src/cmd/internal/obj/x86/obj6.go):
 *
 *	from 1.21	push rbp; mov rbp, rsp; sub rsp, n
 *	before		sub rsp, n; mov [rsp+n−8], rbp; lea rbp, [rsp+n−8]
 *
 * Both leave it at CFA − 16, and both epilogues leave the slot alone until it is above the stack pointer. So it is enough to look at the
 * code where the depth first grows. Functions without frame, and assembly that pushes what it likes, have the caller's rbp unchanged.
 *
 * Functions that go to another stack keep rbp while they are there: CFA = rbp + 16. Those of them without a frame (before 1.21) have
 * their caller's frame in rbp: the caller's caller is found, the caller itself is not.
 */
#include <errno.h>
#include <string.h>

#include "agent/object/go/go_unwind_internal.h"
#include "agent/util/macro.h"

/* Functions that go to other stacks have less than 500 bytes. */
#define SWITCH_CODE_BYTES 2048

/* What the prologue does with rbp. */
struct frame {
	bool found;
	bool by_push;
	int32_t slot_off;    /* where it is saved, from CFA */
	int32_t slot_depth;  /* at this depth and deeper */
	uint64_t saved_pc;   /* from here on it is in its slot */
	uint64_t pointed_pc; /* from here on rbp points there; 0: never */
};

struct machine {
	struct go_rows *rows;
	struct frame frame;
	/* The piece of code that may run on another stack; empty when there is none. */
	uint64_t switched_begin;
	uint64_t switched_end;
};

/* Length of `mov [rsp+depth−8], rbp` (opcode 89) or `lea rbp, [rsp+depth−8]` (8d); 0 when it is something else. */
static size_t frame_instruction(const unsigned char *code, unsigned char opcode, int32_t depth)
{
	int32_t want = depth - 8;
	int32_t disp;

	if (code[0] != 0x48 || code[1] != opcode || code[3] != 0x24)
		return 0;
	switch (code[2]) {
	case 0x2c:
		return want == 0 ? 4 : 0;
	case 0x6c:
		return want == (signed char)code[4] ? 5 : 0;
	case 0xac:
		memcpy(&disp, code + 4, sizeof(disp));
		return want == disp ? 8 : 0;
	default:
		return 0;
	}
}

static bool is_mov_rbp_rsp(const unsigned char *code)
{
	return (code[0] == 0x48 && code[1] == 0x89 && code[2] == 0xe5) ||
	       (code[0] == 0x48 && code[1] == 0x8b && code[2] == 0xec);
}

/* The instruction before `pc` pushes rbp. */
static bool is_push_rbp(const unsigned char before[2], const unsigned char *after)
{
	if (before[1] != 0x55)
		return false;
	/* 41 55 is push r13, or the end of another instruction before push rbp. */
	return before[0] != 0x41 || is_mov_rbp_rsp(after);
}

static void frame_by_push(struct frame *frame, const struct gopclntab_range *range,
			  const unsigned char *after)
{
	*frame = (struct frame){
		.found = true,
		.by_push = true,
		.slot_off = -range->value - 8,
		.slot_depth = range->value,
		.saved_pc = range->begin,
		.pointed_pc = is_mov_rbp_rsp(after) ? range->begin + 3 : 0,
	};
}

static void frame_by_store(struct frame *frame, const struct gopclntab_range *range, size_t store,
			   size_t lea)
{
	*frame = (struct frame){
		.found = true,
		.slot_off = -16,
		.slot_depth = range->value,
		.saved_pc = range->begin + store,
		.pointed_pc = lea ? range->begin + store + lea : 0,
	};
}

static int find_frame(void *data, const struct gopclntab_range *range, int32_t depth_before)
{
	struct machine *m = data;
	unsigned char before[2], after[16];

	if (m->frame.found)
		return 0;
	int r = go_code(m->rows, range->begin - sizeof(before), before, sizeof(before));

	if (r < 0)
		return r;
	r = go_code(m->rows, range->begin, after, sizeof(after));
	if (r < 0)
		return r;
	size_t store = frame_instruction(after, 0x89, range->value);
	if (range->value - depth_before == 8 && is_push_rbp(before, after))
		frame_by_push(&m->frame, range, after);
	else if (store > 0 && depth_before == 0)
		frame_by_store(&m->frame, range, store,
			       frame_instruction(after + store, 0x8d, range->value));
	return 0;
}

/* Length of an instruction that sets rsp to something that the table does not tell; 0: it is another one, or a byte in its midst. */
static size_t sets_rsp(const unsigned char *code)
{
	static const unsigned char displacement[] = { 0, 1, 4, 0 };
	unsigned char modrm = code[2];

	/* mov rsp, reg */
	if ((code[0] == 0x48 || code[0] == 0x4c) && code[1] == 0x89 && (modrm & 0xc7) == 0xc4)
		return 3;
	/* mov rsp, reg or memory */
	if ((code[0] == 0x48 || code[0] == 0x49) && code[1] == 0x8b && (modrm & 0x38) == 0x20) {
		bool has_sib = (modrm & 0xc0) != 0xc0 && (modrm & 7) == 4;
		bool is_rip = (modrm & 0xc7) == 5;

		return 3u + has_sib + (is_rip ? 4 : displacement[modrm >> 6]);
	}
	/* and rsp, −16 */
	return code[0] == 0x48 && code[1] == 0x83 && modrm == 0xe4 ? 4 : 0;
}

/* From behind the first instruction that sets rsp to behind the last one. */
static int find_switch(void *data)
{
	struct machine *m = data;
	unsigned char code[SWITCH_CODE_BYTES + 16] = { 0 };
	const struct gopclntab_func *func = m->rows->func;
	size_t n = (size_t)MIN_OF(func->end - func->begin, (uint64_t)SWITCH_CODE_BYTES);

	for (size_t i = 0; i < n; i += 16) {
		int r = go_code(m->rows, func->begin + i, code + i, 16);

		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < n; i++) {
		size_t length = sets_rsp(code + i);

		if (length == 0)
			continue;
		if (m->switched_begin == 0)
			m->switched_begin = func->begin + i + length;
		m->switched_end = func->begin + i + length;
		i += length - 1;
	}
	/* Only one: it does not come back within the function. */
	if (m->rows->role == GO_ROLE_LEAVE || m->switched_end == m->switched_begin)
		m->switched_end = m->switched_begin ? func->end : 0;
	return 0;
}

/* The frame pointer leads back from C, too. */
static bool switches(const struct machine *m)
{
	return m->rows->role == GO_ROLE_SWITCH || m->rows->role == GO_ROLE_CALLS_C;
}

static bool is_switched(const struct machine *m, uint64_t pc)
{
	return pc >= m->switched_begin && pc < m->switched_end;
}

static void rule_by_rbp(struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){
		.cfa = RULE_CFA_REG,
		.cfa_reg = RULE_X86_RBP,
		.cfa_off = 16,
		.fp = RULE_FP_CFA,
		.fp_off = -16,
		.ra = RULE_RA_CFA,
		.ra_off = -8,
		.flags = RULE_SWITCH,
	};
}

static void rule_by_depth(const struct machine *m, uint64_t pc, int32_t depth,
			  struct unwind_rule *rule)
{
	const struct frame *frame = &m->frame;

	if (depth < 0 || depth > GO_MAX_DEPTH) {
		m->rows->stats->n_unrepresentable++;
		*rule = (struct unwind_rule){ 0 };
		return;
	}
	bool saved = frame->found && depth >= frame->slot_depth && pc >= frame->saved_pc;
	*rule = (struct unwind_rule){
		.cfa = RULE_CFA_REG,
		.cfa_reg = RULE_X86_RSP,
		.cfa_off = depth + 8,
		.fp = saved ? RULE_FP_CFA : RULE_FP_SAME,
		.fp_off = saved ? frame->slot_off : 0,
		.ra = RULE_RA_CFA,
		.ra_off = -8,
	};
}

static void rule_at(const void *data, uint64_t pc, int32_t depth, bool popping,
		    struct unwind_rule *rule)
{
	const struct machine *m = data;
	const struct frame *frame = &m->frame;
	bool points = frame->found && frame->pointed_pc && frame->slot_off == -16 &&
		      pc >= frame->pointed_pc && depth >= frame->slot_depth && !popping;

	if (m->rows->role == GO_ROLE_LEAVE && is_switched(m, pc))
		*rule = (struct unwind_rule){ .cfa = RULE_CFA_REG,
					      .cfa_reg = RULE_X86_RSP,
					      .cfa_off = 8,
					      .fp = RULE_FP_UNDEFINED,
					      .ra = RULE_RA_UNDEFINED };
	else if (switches(m) && (frame->found ? points : is_switched(m, pc)))
		rule_by_rbp(rule);
	else
		rule_by_depth(m, pc, depth, rule);
}

/* Where the last instruction of the range begins when it is the `add rsp, n` of an older epilogue, else the range's end. */
static int find_pop(struct machine *m, const struct go_depths *depths, uint64_t *ret_pop)
{
	const struct gopclntab_range *range = &depths->range;
	unsigned char code[7];

	*ret_pop = range->end;
	if (!switches(m) || m->frame.by_push || !depths->has_next || depths->next.value != 0 ||
	    range->value <= 0)
		return 0;
	int r = go_code(m->rows, range->end - sizeof(code), code, sizeof(code));
	if (r < 0)
		return r;
	if (code[0] == 0x48 && code[1] == 0x81 && code[2] == 0xc4)
		*ret_pop = range->end - 7;
	else if (code[3] == 0x48 && code[4] == 0x83 && code[5] == 0xc4)
		*ret_pop = range->end - 4;
	return 0;
}

static int find_cuts(void *data, const struct go_depths *depths, struct go_cuts *cuts)
{
	struct machine *m = data;

	*cuts = (struct go_cuts){ .at = { m->frame.saved_pc, m->frame.pointed_pc, m->switched_begin,
					  m->switched_end } };
	return find_pop(m, depths, &cuts->pop);
}

int go_rows_x86_64(struct go_rows *rows, struct go_depths *depths)
{
	static const struct go_machine x86_64 = { find_switch, find_frame, find_cuts, rule_at };
	struct machine m = { .rows = rows };

	return go_rows_by_depth(rows, depths, &x86_64, &m);
}
