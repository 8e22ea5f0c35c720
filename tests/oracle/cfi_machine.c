/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluating rules and DWARF expressions on a machine that does not exist. */
#include "tests/oracle/cfi_machine.h"

#include <dwarf.h>
#include <stddef.h>

#define MAX_DEPTH 32

uint64_t machine_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL; /* splitmix64 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static uint64_t memory(uint64_t address)
{
	return machine_random(&address);
}

void machine_init(struct machine *m, uint64_t vaddr)
{
	uint64_t state = vaddr;

	for (int i = 0; i < MACHINE_REGS; i++)
		m->reg[i] = machine_random(&state);
	m->reg[RULE_X86_RIP] = vaddr;
}

static struct answer value(uint64_t v)
{
	return (struct answer){ .told = TOLD_VALUE, .value = v, .is_simple = true };
}

static struct answer told(enum told t)
{
	return (struct answer){ .told = t, .is_simple = t == TOLD_UNDEFINED };
}

static uint64_t plus(uint64_t v, int32_t off)
{
	return v + (uint64_t)(int64_t)off;
}

static struct answer cfa_by_rule(const struct machine *m, const struct dwarf_abi *abi,
				 const struct unwind_rule *r)
{
	uint64_t place = plus(m->reg[r->cfa_reg], r->cfa_off);

	switch ((enum rule_cfa)r->cfa) {
	case RULE_CFA_REG:
		return value(place);
	case RULE_CFA_DEREF:
		return value(plus(memory(place), r->cfa_add));
	case RULE_CFA_PLT:
		return value(m->reg[abi->sp] + 8 +
			     ((m->reg[RULE_X86_RIP] & 15) >= (uint64_t)r->cfa_off ? 8 : 0));
	case RULE_CFA_GO_NOTED:
	case RULE_CFA_GO_LEFT:
	case RULE_CFA_NONE:
		break;
	}
	return told(TOLD_NOTHING);
}

static struct answer fp_by_rule(const struct machine *m, const struct dwarf_abi *abi,
				const struct unwind_rule *r, uint64_t cfa)
{
	switch ((enum rule_fp)r->fp) {
	case RULE_FP_SAME:
		return value(m->reg[abi->fp]);
	case RULE_FP_CFA:
		return value(memory(plus(cfa, r->fp_off)));
	case RULE_FP_DEREF:
		return value(memory(plus(m->reg[r->fp_reg], r->fp_off)));
	case RULE_FP_REG:
		return value(m->reg[r->fp_reg]);
	case RULE_FP_UNDEFINED:
		break;
	}
	return told(TOLD_UNDEFINED);
}

static struct answer ra_by_rule(const struct machine *m, const struct unwind_rule *r, uint64_t cfa)
{
	switch ((enum rule_ra)r->ra) {
	case RULE_RA_CFA:
		return value(memory(plus(cfa, r->ra_off)));
	case RULE_RA_REG:
		return value(m->reg[r->ra_reg]);
	case RULE_RA_DEREF:
		return value(memory(plus(m->reg[r->ra_reg], r->ra_off)));
	case RULE_RA_SIGNAL:
		return told(TOLD_SIGNAL);
	case RULE_RA_UNDEFINED:
		break;
	}
	return told(TOLD_UNDEFINED);
}

struct frame machine_by_rule(const struct machine *m, const struct dwarf_abi *abi,
			     const struct unwind_rule *rule)
{
	struct frame frame = { .cfa = cfa_by_rule(m, abi, rule) };

	if (rule->cfa == RULE_CFA_NONE) {
		frame.fp = frame.ra = told(TOLD_NOTHING);
		return frame;
	}
	frame.fp = fp_by_rule(m, abi, rule, frame.cfa.value);
	frame.ra = ra_by_rule(m, rule, frame.cfa.value);
	return frame;
}

struct stack {
	uint64_t v[MAX_DEPTH];
	size_t n;
	bool is_value; /* DW_OP_stack_value, or a register */
	bool failed;
};

static void push(struct stack *s, uint64_t v)
{
	if (s->n == MAX_DEPTH)
		s->failed = true;
	else
		s->v[s->n++] = v;
}

static uint64_t pop(struct stack *s)
{
	if (s->n == 0) {
		s->failed = true;
		return 0;
	}
	return s->v[--s->n];
}

static void binary(struct stack *s, int op)
{
	uint64_t b = pop(s);
	uint64_t a = pop(s);

	if (op == DW_OP_plus)
		push(s, a + b);
	else if (op == DW_OP_minus)
		push(s, a - b);
	else if (op == DW_OP_and)
		push(s, a & b);
	else if (op == DW_OP_shl)
		push(s, b < 64 ? a << b : 0);
	else
		push(s, (int64_t)a >= (int64_t)b);
}

static uint64_t reg_value(struct stack *s, const struct machine *m, uint64_t reg)
{
	s->failed |= reg >= MACHINE_REGS;
	return s->failed ? 0 : m->reg[reg];
}

static void operation(struct stack *s, const struct machine *m, const Dwarf_Op *op, uint64_t cfa)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		push(s, reg_value(s, m, op->atom - DW_OP_breg0) + op->number);
		return;
	}
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		push(s, op->atom - DW_OP_lit0);
		return;
	}
	switch (op->atom) {
	case DW_OP_bregx:
		push(s, reg_value(s, m, op->number) + op->number2);
		break;
	case DW_OP_regx:
		push(s, reg_value(s, m, op->number));
		s->is_value = true;
		break;
	case DW_OP_call_frame_cfa:
		push(s, cfa);
		break;
	case DW_OP_plus_uconst:
		push(s, pop(s) + op->number);
		break;
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		push(s, op->number);
		break;
	case DW_OP_deref:
		push(s, memory(pop(s)));
		break;
	case DW_OP_plus:
	case DW_OP_minus:
	case DW_OP_and:
	case DW_OP_shl:
	case DW_OP_ge:
		binary(s, op->atom);
		break;
	case DW_OP_stack_value:
		s->is_value = true;
		break;
	default:
		s->failed = true;
	}
}

static bool is_breg(const Dwarf_Op *op)
{
	if (op->atom == DW_OP_bregx)
		return op->number <= RULE_ARM64_SP;
	return op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31;
}

/* What every unwinder has to know. */
static bool is_simple(const Dwarf_Op *ops, size_t n)
{
	if (n == 1)
		return is_breg(ops) || ops->atom == DW_OP_regx || ops->atom == DW_OP_call_frame_cfa;
	if (n != 2)
		return false;
	if (ops[0].atom == DW_OP_call_frame_cfa)
		return ops[1].atom == DW_OP_plus_uconst || is_breg(&ops[1]);
	return is_breg(ops) && ops[1].atom == DW_OP_deref;
}

static struct stack evaluate(const struct machine *m, const Dwarf_Op *ops, size_t n, uint64_t cfa)
{
	struct stack s = { .n = 0 };

	for (size_t i = 0; i < n && !s.failed; i++)
		operation(&s, m, &ops[i], cfa);
	return s;
}

static struct answer answer_of(struct stack *s, bool as_location, const Dwarf_Op *ops, size_t n)
{
	uint64_t v = pop(s);

	if (s->failed)
		return (struct answer){ .told = TOLD_NOTHING };
	return (struct answer){ TOLD_VALUE, as_location && !s->is_value ? memory(v) : v,
				is_simple(ops, n) };
}

static struct answer libdw_register(const struct machine *m, Dwarf_Frame *frame, int reg,
				    uint64_t cfa)
{
	Dwarf_Op room[3];
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_frame_register(frame, reg, room, &ops, &n) != 0)
		return told(TOLD_NOTHING);
	if (n == 0)
		return ops == room ? told(TOLD_UNDEFINED) : value(m->reg[reg]);
	struct stack s = evaluate(m, ops, n, cfa);
	return answer_of(&s, true, ops, n);
}

struct frame machine_by_libdw(const struct machine *m, const struct dwarf_abi *abi,
			      Dwarf_Frame *frame, int ra_column)
{
	struct frame f = { .cfa = told(TOLD_NOTHING) };
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_frame_cfa(frame, &ops, &n) == 0 && n > 0) {
		struct stack s = evaluate(m, ops, n, 0);

		f.cfa = answer_of(&s, false, ops, n);
	}
	uint64_t cfa = f.cfa.value;
	struct answer sp = libdw_register(m, frame, abi->sp, cfa);

	/* What our rules call the CFA is the caller's stack pointer; longjmp's is another one. */
	if (sp.told == TOLD_VALUE)
		f.cfa = sp;
	f.fp = libdw_register(m, frame, abi->fp, cfa);
	f.ra = libdw_register(m, frame, ra_column, cfa);
	return f;
}

bool answers_equal(const struct answer *a, const struct answer *b)
{
	return a->told == b->told && (a->told != TOLD_VALUE || a->value == b->value);
}
