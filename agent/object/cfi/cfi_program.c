/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame instructions: each changes the state, or moves on in the code. A row is the state as it
 * was when the code moved on.
 *
 * An instruction that is not known has operands that are not known: what follows cannot be read. The
 * same is done where instructions contradict each other.
 */
#include "agent/object/cfi/cfi_program.h"

#include <elf.h>

#include "agent/object/cfi/cfi.h"
#include "agent/object/cfi/cfi_expression.h"

/* The two highest bits, with an operand in the others; 0: the others are the instruction. */
#define CFA_PRIMARY 0xc0
#define CFA_OPERAND 0x3f
#define CFA_ADVANCE_LOC 0x40
#define CFA_OFFSET 0x80
#define CFA_RESTORE 0xc0

#define CFA_NOP 0x00
#define CFA_SET_LOC 0x01
#define CFA_ADVANCE_LOC1 0x02
#define CFA_ADVANCE_LOC2 0x03
#define CFA_ADVANCE_LOC4 0x04
#define CFA_OFFSET_EXTENDED 0x05
#define CFA_RESTORE_EXTENDED 0x06
#define CFA_UNDEFINED 0x07
#define CFA_SAME_VALUE 0x08
#define CFA_REGISTER 0x09
#define CFA_REMEMBER_STATE 0x0a
#define CFA_RESTORE_STATE 0x0b
#define CFA_DEF_CFA 0x0c
#define CFA_DEF_CFA_REGISTER 0x0d
#define CFA_DEF_CFA_OFFSET 0x0e
#define CFA_DEF_CFA_EXPRESSION 0x0f
#define CFA_EXPRESSION 0x10
#define CFA_OFFSET_EXTENDED_SF 0x11
#define CFA_DEF_CFA_SF 0x12
#define CFA_DEF_CFA_OFFSET_SF 0x13
#define CFA_VAL_OFFSET 0x14
#define CFA_VAL_OFFSET_SF 0x15
#define CFA_VAL_EXPRESSION 0x16
/* Of vendors: MIPS, LSB ("GNU"), "DWARF for the Arm 64-bit Architecture" §4.4. */
#define CFA_MIPS_ADVANCE_LOC8 0x1d
#define CFA_AARCH64_NEGATE_RA_STATE_WITH_PC 0x2c
#define CFA_NEGATE_RA_STATE 0x2d /* of other machines: GNU_window_save */
#define CFA_GNU_ARGS_SIZE 0x2e
#define CFA_GNU_NEGATIVE_OFFSET_EXTENDED 0x2f

struct run {
	const struct dwarf_abi *abi;
	const struct cfi_cie *cie;
	struct cfi_cursor code;
	bool in_cie; /* there is no initial state yet, and no place to move from */
	uint64_t func_vaddr;
	uint64_t loc;  /* from where the state holds */
	uint64_t next; /* to where the code moves on */
	struct cfi_state state;
	bool rule_is_right; /* `rule` still is what the state says */
	struct unwind_rule rule;
	size_t n_remembered;
	struct {
		struct cfi_state state;
		bool rule_is_right;
		struct unwind_rule rule;
	} remembered[CFI_MAX_REMEMBERED];
};

enum step {
	STEP_STAY,
	STEP_MOVE, /* to run->next */
	STEP_BAD,
};

/* What does not fit becomes a number that no rule takes. */
static int64_t scaled_signed(int64_t n, int64_t factor)
{
	int64_t product;

	return __builtin_mul_overflow(n, factor, &product) ? INT64_MAX : product;
}

static int64_t scaled(uint64_t n, int64_t factor)
{
	return n > INT64_MAX ? INT64_MAX : scaled_signed((int64_t)n, factor);
}

static uint8_t narrow_reg(uint64_t reg)
{
	return reg < CFI_NO_REG ? (uint8_t)reg : CFI_NO_REG;
}

static bool follows(const struct run *run, uint64_t reg)
{
	return reg == run->abi->fp || reg == run->cie->ra_column || reg == run->abi->sp;
}

static enum step set(struct run *run, uint64_t reg, struct cfi_value value)
{
	if (!follows(run, reg))
		return STEP_STAY;
	run->rule_is_right = false;
	if (reg == run->abi->fp)
		run->state.fp = value;
	/* One that is said to be lost is the CFA all the same: nobody could go on without. */
	if (reg == run->abi->sp)
		run->state.sp = value.kind == CFI_UNDEFINED ? (struct cfi_value){ 0 } : value;
	if (reg == run->cie->ra_column)
		run->state.ra = value;
	return STEP_STAY;
}

static enum step set_kind(struct run *run, uint64_t reg, enum cfi_kind kind)
{
	return set(run, reg, (struct cfi_value){ .kind = (uint8_t)kind });
}

static enum step set_saved(struct run *run, uint64_t reg, int64_t off)
{
	return set(run, reg, (struct cfi_value){ .kind = CFI_SAVED, .off = off });
}

static enum step restore(struct run *run, uint64_t reg)
{
	if (run->in_cie)
		return STEP_BAD;
	if (!follows(run, reg))
		return STEP_STAY;
	run->rule_is_right = false;
	if (reg == run->abi->fp)
		run->state.fp = run->cie->initial.fp;
	if (reg == run->abi->sp)
		run->state.sp = run->cie->initial.sp;
	if (reg == run->cie->ra_column)
		run->state.ra = run->cie->initial.ra;
	return STEP_STAY;
}

static enum step advance(struct run *run, uint64_t n)
{
	uint64_t delta;

	if (run->in_cie || __builtin_mul_overflow(n, run->cie->code_align, &delta) ||
	    __builtin_add_overflow(run->loc, delta, &run->next))
		return STEP_BAD;
	return delta ? STEP_MOVE : STEP_STAY;
}

static enum step set_loc(struct run *run)
{
	struct cfi_bases bases = run->cie->bases;

	bases.func_vaddr = run->func_vaddr;
	run->next = cfi_pointer(&run->code, run->cie->encoding, &bases);
	if (run->in_cie || run->next < run->loc)
		return STEP_BAD;
	return run->next > run->loc ? STEP_MOVE : STEP_STAY;
}

static enum step remember(struct run *run)
{
	if (run->n_remembered == CFI_MAX_REMEMBERED)
		return STEP_BAD;
	run->remembered[run->n_remembered].state = run->state;
	run->remembered[run->n_remembered].rule_is_right = run->rule_is_right;
	run->remembered[run->n_remembered++].rule = run->rule;
	return STEP_STAY;
}

static enum step recall(struct run *run)
{
	if (run->n_remembered == 0)
		return STEP_BAD;
	run->state = run->remembered[--run->n_remembered].state;
	run->rule_is_right = run->remembered[run->n_remembered].rule_is_right;
	run->rule = run->remembered[run->n_remembered].rule;
	return STEP_STAY;
}

static enum step def_cfa(struct run *run, uint64_t reg, int64_t off)
{
	run->state.cfa =
		(struct cfi_value){ .kind = CFI_IN_REG, .reg = narrow_reg(reg), .off = off };
	run->rule_is_right = false;
	return STEP_STAY;
}

/* These two need a CFA that is a register and an offset (DWARF 5 §6.4.2.2). */
static enum step def_cfa_offset(struct run *run, int64_t off)
{
	if (run->state.cfa.kind != CFI_IN_REG || run->state.cfa.is_expression)
		return STEP_BAD;
	run->state.cfa.off = off;
	/* Most rows differ from the one before in this only. */
	if (run->rule.cfa == RULE_CFA_REG && run->state.sp.kind == CFI_SAME && off == (int32_t)off)
		run->rule.cfa_off = (int32_t)off;
	else
		run->rule_is_right = false;
	return STEP_STAY;
}

static enum step def_cfa_register(struct run *run, uint64_t reg)
{
	if (run->state.cfa.kind != CFI_IN_REG || run->state.cfa.is_expression)
		return STEP_BAD;
	run->state.cfa.reg = narrow_reg(reg);
	run->rule_is_right = false;
	return STEP_STAY;
}

/* expression := uleb length, operations */
static struct cfi_expression read_expression(struct run *run)
{
	uint64_t n = cfi_uleb(&run->code);

	return cfi_expression(run->abi, cfi_take(&run->code, n));
}

static enum step def_cfa_expression(struct run *run)
{
	static const uint8_t kinds[] = {
		[CFI_EXPRESSION_OTHER] = CFI_OTHER,
		[CFI_EXPRESSION_REG] = CFI_IN_REG,
		[CFI_EXPRESSION_DEREF] = CFI_AT_REG,
		[CFI_EXPRESSION_PLT] = CFI_PLT,
	};
	struct cfi_expression e = read_expression(run);

	run->state.cfa = (struct cfi_value){ .kind = kinds[e.shape],
					     .reg = narrow_reg(e.reg),
					     .is_expression = true,
					     .add = e.add,
					     .off = e.off };
	run->rule_is_right = false;
	return STEP_STAY;
}

/* The register is saved where the expression says. */
static enum step expression(struct run *run)
{
	uint64_t reg = cfi_uleb(&run->code);
	struct cfi_expression e = read_expression(run);
	struct cfi_value value = { .kind = CFI_OTHER };

	if (e.shape == CFI_EXPRESSION_REG)
		value = (struct cfi_value){ .kind = CFI_AT_REG,
					    .reg = narrow_reg(e.reg),
					    .off = e.off };
	return set(run, reg, value);
}

/* The register was what the expression says. For a return address that another register holds, musl and glibc write it so; a frame
 * pointer is never said that way. */
static enum step val_expression(struct run *run)
{
	uint64_t reg = cfi_uleb(&run->code);
	struct cfi_expression e = read_expression(run);
	bool is_plain = reg == run->cie->ra_column && e.off == 0;

	if (e.shape == CFI_EXPRESSION_REG && (is_plain || reg == run->abi->sp))
		return set(run, reg,
			   (struct cfi_value){
				   .kind = CFI_IN_REG, .reg = narrow_reg(e.reg), .off = e.off });
	return set_kind(run, reg, CFI_OTHER);
}

static enum step in_register(struct run *run)
{
	uint64_t reg = cfi_uleb(&run->code);
	uint64_t where = cfi_uleb(&run->code);

	return set(run, reg, (struct cfi_value){ .kind = CFI_IN_REG, .reg = narrow_reg(where) });
}

/* Two operands each: a register, and what is said of it. */
static enum step def_cfa_op(struct run *run, bool is_signed)
{
	uint64_t reg = cfi_uleb(&run->code);

	return def_cfa(run, reg,
		       is_signed ? scaled_signed(cfi_sleb(&run->code), run->cie->data_align)
				 : scaled(cfi_uleb(&run->code), 1));
}

static enum step offset_op(struct run *run, uint64_t reg)
{
	uint64_t n = cfi_uleb(&run->code);

	return follows(run, reg) ? set_saved(run, reg, scaled(n, run->cie->data_align)) : STEP_STAY;
}

static enum step offset_sf_op(struct run *run)
{
	uint64_t reg = cfi_uleb(&run->code);

	return set_saved(run, reg, scaled_signed(cfi_sleb(&run->code), run->cie->data_align));
}

static enum step negative_offset_op(struct run *run)
{
	uint64_t reg = cfi_uleb(&run->code);
	int64_t off = scaled(cfi_uleb(&run->code), run->cie->data_align);

	return set_saved(run, reg, scaled_signed(off, -1));
}

static enum step val_offset_op(struct run *run)
{
	uint64_t reg = cfi_uleb(&run->code);
	/* Signed or not, it is as long. */
	uint64_t off = cfi_uleb(&run->code);
	bool is_cfa = reg == run->abi->sp && off == 0;

	return set_kind(run, reg, is_cfa ? CFI_SAME : CFI_OTHER);
}

static enum step step_extended(struct run *run, uint8_t op)
{
	struct cfi_cursor *c = &run->code;

	switch (op) {
	case CFA_NOP:
	case CFA_NEGATE_RA_STATE: /* that an address is signed is seen on the address */
		return STEP_STAY;
	case CFA_SET_LOC:
		return set_loc(run);
	case CFA_ADVANCE_LOC2:
		return advance(run, cfi_u16(c));
	case CFA_ADVANCE_LOC4:
		return advance(run, cfi_u32(c));
	case CFA_MIPS_ADVANCE_LOC8:
		return advance(run, cfi_u64(c));
	case CFA_OFFSET_EXTENDED:
		return offset_op(run, cfi_uleb(c));
	case CFA_OFFSET_EXTENDED_SF:
		return offset_sf_op(run);
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		return negative_offset_op(run);
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
		return val_offset_op(run);
	case CFA_RESTORE_EXTENDED:
		return restore(run, cfi_uleb(c));
	case CFA_UNDEFINED:
		return set_kind(run, cfi_uleb(c), CFI_UNDEFINED);
	case CFA_SAME_VALUE:
		return set_kind(run, cfi_uleb(c), CFI_SAME);
	case CFA_REGISTER:
		return in_register(run);
	case CFA_EXPRESSION:
		return expression(run);
	case CFA_VAL_EXPRESSION:
		return val_expression(run);
	case CFA_REMEMBER_STATE:
		return remember(run);
	case CFA_RESTORE_STATE:
		return recall(run);
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_SF:
		return def_cfa_op(run, op == CFA_DEF_CFA_SF);
	case CFA_DEF_CFA_REGISTER:
		return def_cfa_register(run, cfi_uleb(c));
	case CFA_DEF_CFA_OFFSET_SF:
		return def_cfa_offset(run, scaled_signed(cfi_sleb(c), run->cie->data_align));
	case CFA_DEF_CFA_EXPRESSION:
		return def_cfa_expression(run);
	case CFA_GNU_ARGS_SIZE: /* of no concern to CFA */
		(void)cfi_uleb(c);
		return STEP_STAY;
	case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
		return run->abi->machine == EM_AARCH64 ? STEP_STAY : STEP_BAD;
	}
	return STEP_BAD;
}

static enum step step(struct run *run)
{
	uint8_t op = *run->code.at++;
	uint8_t operand = op & CFA_OPERAND;

	switch (op & CFA_PRIMARY) {
	case CFA_ADVANCE_LOC:
		return advance(run, operand);
	case CFA_OFFSET:
		return offset_op(run, operand);
	case CFA_RESTORE:
		return restore(run, operand);
	}
	if (op == CFA_DEF_CFA_OFFSET)
		return def_cfa_offset(run, scaled(cfi_uleb(&run->code), 1));
	if (op == CFA_ADVANCE_LOC1)
		return advance(run, cfi_u8(&run->code));
	return step_extended(run, op);
}

/* Runs up to where the code moves on; to `end` when it does no more. False: a bad instruction. */
static bool run_row(struct run *run, uint64_t end)
{
	while (run->code.at < run->code.end) {
		enum step s = step(run);

		if (s != STEP_STAY)
			return s == STEP_MOVE && !run->code.failed;
	}
	run->next = end;
	/* What fails is at its end. */
	return !run->code.failed;
}

static void run_init(struct run *run, const struct dwarf_abi *abi, const struct cfi_cie *cie,
		     const struct cfi_cursor *code)
{
	/* Not all of it: what is remembered needs no first value. */
	run->abi = abi;
	run->cie = cie;
	run->code = *code;
	run->in_cie = false;
	run->func_vaddr = 0;
	run->loc = 0;
	run->next = 0;
	run->state = cie->initial;
	run->rule = cie->initial_rule;
	run->rule_is_right = cie->has_initial_rule;
	run->n_remembered = 0;
}

/* False: the state says more than a rule can. */
static bool make_rule(struct run *run)
{
	if (!run->rule_is_right)
		run->rule_is_right = cfi_state_rule(&run->state, run->abi, run->cie->ra_column,
						    run->cie->is_signal, &run->rule);
	return run->rule_is_right;
}

bool cfi_program_initial(const struct dwarf_abi *abi, struct cfi_cie *cie,
			 struct cfi_cursor program)
{
	struct run run;

	run_init(&run, abi, cie, &program);
	run.in_cie = true;
	if (!run_row(&run, 0))
		return false;
	cie->initial = run.state;
	cie->has_initial_rule = make_rule(&run);
	cie->initial_rule = run.rule;
	return true;
}

/* Where rows go. */
struct sink {
	uint64_t begin;
	uint64_t end;
	unwind_row_fn fn;
	void *data;
	struct unwind_source_stats *stats;
};

/* The row that ends where the code moves on to. */
static inline int put_row(struct run *run, const struct sink *to)
{
	uint64_t loc = run->loc;

	run->loc = run->next;
	if (run->next <= to->begin)
		return 0;
	if (!make_rule(run))
		to->stats->n_unrepresentable++;
	return to->fn(loc > to->begin ? loc : to->begin, &run->rule, to->data);
}

/* How far `code` moves on by one instruction with an operand of one byte at most; 0: it does not. */
static inline uint8_t short_advance(const uint8_t *code)
{
	if ((code[0] & CFA_PRIMARY) == CFA_ADVANCE_LOC)
		return code[0] & CFA_OPERAND;
	return code[0] == CFA_ADVANCE_LOC1 ? code[1] : 0;
}

/* Passes over what changes nothing that is followed: nine of ten registers saved, and padding. False: it is something else. */
static inline bool skip_idle(const struct run *run, const uint8_t **at)
{
	const uint8_t *code = *at;

	if (code[0] == CFA_NOP)
		*at += 1;
	else if ((code[0] & CFA_PRIMARY) == CFA_OFFSET && code[1] < 0x80 &&
		 !follows(run, code[0] & CFA_OPERAND))
		*at += 2;
	else
		return false;
	return true;
}

/* What nearly all rows are made of, up to an instruction that step() is for. */
static int put_usual_rows(struct run *run, const struct sink *to)
{
	const uint8_t *at = run->code.at;
	const uint8_t *end = run->code.end;
	int r = 0;

	while (r >= 0 && end - at >= 2 && run->loc < to->end) {
		uint8_t n = short_advance(at);

		if (n > 0) {
			if (advance(run, n) != STEP_MOVE)
				break;
			at += at[0] == CFA_ADVANCE_LOC1 ? 2 : 1;
			r = put_row(run, to);
		} else if (at[0] == CFA_DEF_CFA_OFFSET && at[1] < 0x80) {
			if (def_cfa_offset(run, at[1]) != STEP_STAY)
				break;
			at += 2;
		} else if (!skip_idle(run, &at)) {
			break;
		}
	}
	run->code.at = at;
	return r;
}

static void end_badly(struct run *run, const struct sink *to)
{
	to->stats->n_bad_fdes++;
	run->next = to->end;
	run->rule = (struct unwind_rule){ 0 };
	run->rule_is_right = true;
}

int cfi_program_rows(const struct dwarf_abi *abi, const struct cfi_cie *cie,
		     const struct cfi_fde *fde, uint64_t begin, uint64_t end, unwind_row_fn fn,
		     void *data, struct unwind_source_stats *stats)
{
	const struct sink to = { begin, end, fn, data, stats };
	struct run run;
	int r = 0;

	run_init(&run, abi, cie, &fde->program);
	run.loc = run.func_vaddr = fde->begin;
	while (r >= 0 && run.loc < end) {
		r = put_usual_rows(&run, &to);
		if (r < 0 || run.loc >= end)
			break;
		if (!run_row(&run, end))
			end_badly(&run, &to);
		r = put_row(&run, &to);
	}
	return r < 0 ? r : 0;
}
