/* SPDX-License-Identifier: Apache-2.0 */
/* What one instruction of x86-64 does to a frame. */
#include "agent/object/stub_step.h"

#include <string.h>

#define RAX 0u
#define RCX 1u
#define RDX 2u
#define RBX 3u
#define RSP 4u
#define RBP 5u

/* A frame beyond this is none: an analysis gone astray. The largest known is 40 KB; musl's getcwd
 * and the like have 4 KB. */
#define MAX_FRAME_BYTES (1 << 24)

#define OP_1(i, op) ((i)->map == STUB_INSN_MAP_1 && (i)->opcode == (op))
#define OP_0F(i, op) \
	((i)->map == STUB_INSN_MAP_0F && !(i)->is_vector_encoded && (i)->opcode == (op))

enum stub_flow stub_step_flow(const struct stub_insn *i)
{
	if (i->map == STUB_INSN_MAP_0F && !i->is_vector_encoded) {
		if ((i->opcode & 0xf0) == 0x80)
			return STUB_FLOW_BRANCH;
		return i->opcode == 0x0b || i->opcode == 0xb9 || i->opcode == 0xff ? STUB_FLOW_END
										   : STUB_FLOW_NEXT;
	}
	if (i->map != STUB_INSN_MAP_1)
		return STUB_FLOW_NEXT;
	switch (i->opcode) {
	case 0xe8:
		return STUB_FLOW_CALL;
	case 0xe9:
	case 0xeb:
		return STUB_FLOW_JUMP;
	case 0xe0: /* LOOPNE, LOOPE, LOOP, JRCXZ */
	case 0xe1:
	case 0xe2:
	case 0xe3:
		return STUB_FLOW_BRANCH;
	case 0xc2:
	case 0xc3:
	case 0xca:
	case 0xcb:
	case 0xcf:
		return STUB_FLOW_RETURN;
	case 0xf4:
	case 0xcc:
		return STUB_FLOW_END;
	case 0xff:
		switch (i->modrm >> 3 & 7) {
		case 2:
		case 3:
			return STUB_FLOW_CALL;
		case 4:
		case 5:
			return STUB_FLOW_INDIRECT;
		default:
			return STUB_FLOW_NEXT;
		}
	}
	return (i->opcode & 0xf0) == 0x70 ? STUB_FLOW_BRANCH : STUB_FLOW_NEXT;
}

static void lose_sp(struct stub_frame *f)
{
	f->has_sp = 0;
	f->sp_off = 0;
}

static void lose_bp(struct stub_frame *f)
{
	f->has_bp = 0;
	f->bp_off = 0;
}

static void set_fp(struct stub_frame *f, enum stub_fp fp, int32_t fp_off)
{
	f->fp = (uint8_t)fp;
	f->fp_off = fp_off;
}

static void set_sp(struct stub_frame *f, int64_t sp_off)
{
	lose_sp(f);
	if (sp_off < -MAX_FRAME_BYTES || sp_off > MAX_FRAME_BYTES)
		return;
	f->has_sp = 1;
	f->sp_off = (int32_t)sp_off;
	/* What lies below the stack pointer may be overwritten at any time. */
	if (f->fp == STUB_FP_SAVED && -f->fp_off > f->sp_off)
		set_fp(f, STUB_FP_LOST, 0);
	if (f->ra == STUB_RA_STACK && f->sp_off < 8)
		f->ra = STUB_RA_LOST;
}

static void move_sp(struct stub_frame *f, int64_t by)
{
	if (f->has_sp)
		set_sp(f, f->sp_off + by);
}

/* The distance of a register from CFA, when it is known. */
static bool cfa_minus(const struct stub_frame *f, unsigned int reg, int32_t *ret_off)
{
	if (reg == RSP && f->has_sp)
		*ret_off = f->sp_off;
	else if (reg == RBP && f->has_bp)
		*ret_off = f->bp_off;
	else
		return false;
	return true;
}

/* Whether the memory operand is the word at CFA + *ret_off. */
static bool frame_slot(const struct stub_frame *f, const struct stub_insn *i, int64_t *ret_off)
{
	int32_t off;

	if (!i->has_memory || i->has_segment || i->has_address_size ||
	    stub_insn_index(i) != STUB_INSN_NO_REG || !cfa_minus(f, stub_insn_base(i), &off))
		return false;
	*ret_off = (int64_t)i->disp - off;
	return true;
}

/* The register gets a value that nobody knows. */
static void clobber(struct stub_frame *f, unsigned int reg)
{
	if (reg == RSP) {
		lose_sp(f);
	} else if (reg == RBP) {
		lose_bp(f);
		if (f->fp == STUB_FP_SAME)
			set_fp(f, STUB_FP_LOST, 0);
	} else if (f->ra == STUB_RA_REG && f->ra_reg == reg) {
		f->ra = STUB_RA_LOST;
	}
}

/* Operations on bytes; without REX, registers 4 to 7 are then the second bytes of 0 to 3. */
static bool is_byte_operation(const struct stub_insn *i)
{
	uint8_t op = i->opcode;

	if (i->map == STUB_INSN_MAP_0F)
		return (op >= 0x90 && op < 0xa0) || op == 0xb0 || op == 0xc0;
	if (i->map != STUB_INSN_MAP_1)
		return false;
	if (op < 0x40 || (op >= 0xd0 && op < 0xd4))
		return !(op & 1);
	return op == 0x80 || op == 0x86 || op == 0x88 || op == 0x8a || (op >= 0xb0 && op < 0xb8) ||
	       op == 0xc0 || op == 0xc6 || op == 0xf6 || op == 0xfe;
}

static unsigned int written(const struct stub_insn *i, unsigned int reg)
{
	return i->rex == 0 && reg >= 4 && reg < 8 && is_byte_operation(i) ? reg - 4 : reg;
}

static unsigned int written_reg(const struct stub_insn *i)
{
	return written(i, stub_insn_reg(i));
}

static unsigned int written_rm(const struct stub_insn *i)
{
	return written(i, stub_insn_rm(i));
}

static bool is_fp_slot(const struct stub_frame *f, int64_t off)
{
	return f->fp == STUB_FP_SAVED && f->fp_off == off;
}

static void push(struct stub_frame *f, unsigned int reg)
{
	bool is_return = f->has_sp && f->sp_off == 0 &&
			 ((f->ra == STUB_RA_REG && f->ra_reg == reg) ||
			  (f->ra == STUB_RA_LOST && reg == STUB_INSN_NO_REG));

	move_sp(f, 8);
	/* vfork pops its return address and pushes it again; sigsetjmp through memory. */
	if (is_return) {
		f->ra = STUB_RA_STACK;
		f->ra_reg = 0;
	}
	if (reg == RBP && f->fp == STUB_FP_SAME && f->has_sp)
		set_fp(f, STUB_FP_SAVED, -f->sp_off);
}

static void pop(struct stub_frame *f, unsigned int reg)
{
	bool is_return = f->has_sp && f->sp_off == 8 && f->ra == STUB_RA_STACK;
	bool is_fp = f->has_sp && reg == RBP && is_fp_slot(f, -(int64_t)f->sp_off);

	if (is_fp)
		set_fp(f, STUB_FP_SAME, 0);
	if (is_fp)
		lose_bp(f);
	else
		clobber(f, reg);
	if (reg == RSP)
		return;
	move_sp(f, -8);
	if (is_return && reg < STUB_INSN_NO_REG && reg != RBP) {
		f->ra = STUB_RA_REG;
		f->ra_reg = (uint8_t)reg;
	}
}

/* LEAVE: rsp = rbp, pop rbp. */
static void leave(struct stub_frame *f)
{
	if (f->has_bp)
		set_sp(f, f->bp_off);
	else
		lose_sp(f);
	pop(f, RBP);
}

/* to = from, registers of 64 bits. */
static void copy_register(struct stub_frame *f, unsigned int to, unsigned int from)
{
	int32_t off = 0;
	bool known = cfa_minus(f, from, &off);

	if (from == RBP && f->fp == STUB_FP_SAME && to != RBP)
		f->is_fp_copied = 1;
	if (to == from)
		return;
	clobber(f, to);
	if (!known)
		return;
	if (to == RSP) {
		set_sp(f, off);
	} else if (to == RBP) {
		f->has_bp = 1;
		f->bp_off = off;
	}
}

static void lea(struct stub_frame *f, const struct stub_insn *i)
{
	unsigned int to = stub_insn_reg(i);
	int64_t off = 0;
	bool known = frame_slot(f, i, &off) && (i->rex & 8);

	clobber(f, to);
	if (!known)
		return;
	if (to == RSP) {
		set_sp(f, -off);
	} else if (to == RBP && off >= -MAX_FRAME_BYTES && off <= MAX_FRAME_BYTES) {
		f->has_bp = 1;
		f->bp_off = (int32_t)-off;
	}
}

/* 80, 81, 83: only ADD and SUB of whole registers are followed; CMP writes nothing. */
static void group_1(struct stub_frame *f, const struct stub_insn *i)
{
	unsigned int kind = i->modrm >> 3 & 7;
	unsigned int to = written_rm(i);
	int64_t by = kind == 5 ? i->imm : -i->imm;

	if (kind == 7 || i->has_memory)
		return;
	bool followed = (kind == 0 || kind == 5) && (i->rex & 8) && i->opcode != 0x80;
	if (followed && to == RSP) {
		move_sp(f, by);
	} else if (followed && to == RBP && f->has_bp && by >= -MAX_FRAME_BYTES &&
		   by <= MAX_FRAME_BYTES) {
		int64_t off = f->bp_off + by;

		lose_bp(f);
		if (off >= -MAX_FRAME_BYTES && off <= MAX_FRAME_BYTES) {
			f->has_bp = 1;
			f->bp_off = (int32_t)off;
		}
	} else {
		clobber(f, to);
	}
}

/* MOV to memory: the caller's rbp may be kept in a slot without a push. */
static void store(struct stub_frame *f, const struct stub_insn *i)
{
	int64_t off;

	if (stub_insn_reg(i) == RBP && f->fp == STUB_FP_SAME)
		f->is_fp_copied = 1;
	if (!frame_slot(f, i, &off))
		return;
	if (stub_insn_reg(i) == RBP && f->fp == STUB_FP_SAME && (i->rex & 8) && f->has_sp &&
	    off <= -16 && -off <= f->sp_off)
		set_fp(f, STUB_FP_SAVED, (int32_t)off);
	else if (is_fp_slot(f, off))
		set_fp(f, STUB_FP_LOST, 0);
}

static void load(struct stub_frame *f, const struct stub_insn *i)
{
	int64_t off;
	bool is_fp = stub_insn_reg(i) == RBP && (i->rex & 8) && frame_slot(f, i, &off) &&
		     is_fp_slot(f, off);

	clobber(f, stub_insn_reg(i));
	if (is_fp)
		set_fp(f, STUB_FP_SAME, 0);
}

/* rbp is cleared in the outermost frame (psABI §3.4.1), and nowhere else before it was saved. */
static void clear_register(struct stub_frame *f, unsigned int reg)
{
	bool is_root = reg == RBP && f->fp == STUB_FP_SAME && !f->has_bp && !f->is_fp_copied;

	clobber(f, reg);
	if (!is_root)
		return;
	f->ra = STUB_RA_ROOT;
	f->ra_reg = 0;
	set_fp(f, STUB_FP_SAME, 0);
}

/* 88 … 8B, and the ALU forms 00 … 3B: two operands, of which one is written. */
static void two_operands(struct stub_frame *f, const struct stub_insn *i)
{
	bool is_mov = i->opcode >= 0x88;
	bool to_reg = i->opcode & 2;
	unsigned int to = to_reg ? written_reg(i) : written_rm(i);
	unsigned int from = to_reg ? stub_insn_rm(i) : stub_insn_reg(i);
	bool is_cmp = (i->opcode & 0xf8) == 0x38;
	bool is_xor = (i->opcode & 0xf8) == 0x30;

	if (is_cmp)
		return;
	if (i->has_memory) {
		if (is_mov && to_reg && (i->opcode & 1))
			load(f, i);
		else if (to_reg)
			clobber(f, to);
		else if (is_mov)
			store(f, i);
		return;
	}
	if (is_mov && (i->opcode & 1) && (i->rex & 8))
		copy_register(f, to, from);
	else if (is_xor && to == from && (i->opcode & 1) && !i->has_operand_size)
		clear_register(f, to);
	else
		clobber(f, to);
}

static void exchange(struct stub_frame *f, unsigned int a, unsigned int b)
{
	if (a == b)
		return;
	clobber(f, a);
	clobber(f, b);
}

static void write_rm(struct stub_frame *f, const struct stub_insn *i)
{
	int64_t off;

	if (!i->has_memory)
		clobber(f, written_rm(i));
	else if (frame_slot(f, i, &off) && is_fp_slot(f, off))
		set_fp(f, STUB_FP_LOST, 0);
}

static void group_5(struct stub_frame *f, const struct stub_insn *i)
{
	switch (i->modrm >> 3 & 7) {
	case 0:
	case 1:
		write_rm(f, i);
		return;
	case 6:
		push(f, i->has_memory ? STUB_INSN_NO_REG : stub_insn_rm(i));
		return;
	}
}

/* What a call may change is the callee's to save, but for these. */
static void call(struct stub_frame *f)
{
	if (f->ra == STUB_RA_REG && (f->ra_reg < RBX || f->ra_reg > RBP) && f->ra_reg < 12)
		f->ra = STUB_RA_LOST;
}

static void step_80_to_8f(const struct stub_insn *i, struct stub_frame *f)
{
	switch (i->opcode) {
	case 0x80:
	case 0x81:
	case 0x83:
		group_1(f, i);
		return;
	case 0x86:
	case 0x87:
		clobber(f, written_reg(i));
		write_rm(f, i);
		return;
	case 0x88:
	case 0x89:
	case 0x8a:
	case 0x8b:
		two_operands(f, i);
		return;
	case 0x8c:
		write_rm(f, i);
		return;
	case 0x8d:
		lea(f, i);
		return;
	case 0x8f:
		pop(f, i->has_memory ? STUB_INSN_NO_REG : stub_insn_rm(i));
		return;
	}
}

/* The pushed word of 2 bytes is not followed. */
static bool is_odd_push(const struct stub_insn *i)
{
	bool pushes = (i->opcode & 0xf0) == 0x50 || i->opcode == 0x68 || i->opcode == 0x6a ||
		      i->opcode == 0x8f || i->opcode == 0x9c || i->opcode == 0x9d ||
		      (i->opcode == 0xff && (i->modrm >> 3 & 7) == 6);

	return pushes && i->has_operand_size;
}

static void step_one_byte(const struct stub_insn *i, struct stub_frame *f)
{
	uint8_t op = i->opcode;

	if (is_odd_push(i)) {
		lose_sp(f);
		return;
	}
	if (op < 0x40) {
		if ((op & 7) < 4)
			two_operands(f, i);
	} else if (op >= 0x50 && op < 0x58) {
		push(f, stub_insn_opcode_reg(i));
	} else if (op >= 0x58 && op < 0x60) {
		pop(f, stub_insn_opcode_reg(i));
	} else if (op >= 0x80 && op < 0x90) {
		step_80_to_8f(i, f);
	} else if (op >= 0x90 && op < 0x98) {
		exchange(f, RAX, stub_insn_opcode_reg(i));
	} else if (op >= 0xb0 && op < 0xc0) {
		clobber(f, written(i, stub_insn_opcode_reg(i)));
	} else if (op >= 0xd0 && op < 0xd4) {
		write_rm(f, i);
	} else {
		switch (op) {
		case 0x63:
		case 0x69:
		case 0x6b:
			clobber(f, stub_insn_reg(i));
			return;
		case 0x68:
		case 0x6a:
		case 0x9c:
			push(f, STUB_INSN_RIP);
			return;
		case 0x9d:
			pop(f, STUB_INSN_RIP);
			return;
		case 0xc0:
		case 0xc1:
		case 0xc6:
		case 0xc7:
		case 0xfe:
			write_rm(f, i);
			return;
		case 0xc8:
			/* ENTER: nobody uses it. */
			lose_sp(f);
			clobber(f, RBP);
			return;
		case 0xc9:
			leave(f);
			return;
		case 0xe8:
			call(f);
			return;
		case 0xf6:
		case 0xf7:
			/* TEST writes nothing, MUL and DIV rax and rdx. */
			if ((i->modrm >> 3 & 7) == 2 || (i->modrm >> 3 & 7) == 3)
				write_rm(f, i);
			else if ((i->modrm >> 3 & 7) > 3) {
				clobber(f, RAX);
				clobber(f, RDX);
			}
			return;
		case 0xff:
			if ((i->modrm >> 3 & 7) == 2)
				call(f);
			group_5(f, i);
			return;
		}
	}
}

/* Instructions of map 0F whose destination is the general register of the ModRM byte. */
static bool writes_reg_0f(const struct stub_insn *i)
{
	uint8_t op = i->opcode;

	return (op >= 0x40 && op < 0x50) || op == 0x02 || op == 0x03 || op == 0x2c || op == 0x2d ||
	       op == 0x50 || op == 0xaf || op == 0xb2 || op == 0xb4 || op == 0xb5 || op == 0xb6 ||
	       op == 0xb7 || op == 0xb8 || (op >= 0xbc && op < 0xc2) || op == 0xc5 || op == 0xd7;
}

static bool writes_rm_0f(const struct stub_insn *i)
{
	uint8_t op = i->opcode;

	return (op >= 0x90 && op < 0xa0) || op == 0x00 || op == 0x01 || op == 0x20 || op == 0x21 ||
	       op == 0xa4 || op == 0xa5 || op == 0xab || op == 0xac || op == 0xad || op == 0xb0 ||
	       op == 0xb1 || op == 0xb3 || (op == 0xba && (i->modrm >> 3 & 7) > 4) || op == 0xbb ||
	       op == 0xc0 || op == 0xc1 || (op == 0x7e && !i->has_rep) ||
	       (op == 0xc7 && !i->has_memory) || (op == 0xae && i->has_rep);
}

static void step_two_byte(const struct stub_insn *i, struct stub_frame *f)
{
	if (OP_0F(i, 0xa0) || OP_0F(i, 0xa8)) {
		push(f, STUB_INSN_RIP);
		return;
	}
	if (OP_0F(i, 0xa1) || OP_0F(i, 0xa9)) {
		pop(f, STUB_INSN_RIP);
		return;
	}
	if (OP_0F(i, 0xa2)) { /* CPUID */
		for (unsigned int reg = RAX; reg <= RBX; reg++)
			clobber(f, reg);
		return;
	}
	if (OP_0F(i, 0x05)) /* SYSCALL */ {
		clobber(f, RAX);
		clobber(f, RCX);
		clobber(f, 11);
		return;
	}
	if (i->opcode >= 0xc8 && i->opcode < 0xd0 && !i->is_vector_encoded)
		clobber(f, stub_insn_opcode_reg(i));
	if (writes_reg_0f(i))
		clobber(f, stub_insn_reg(i));
	if (writes_rm_0f(i))
		write_rm(f, i);
}

/* Of the other maps only what may name a general register: MOVBE, CRC32, BMI, PEXTR, RORX. */
static void step_other(const struct stub_insn *i, struct stub_frame *f)
{
	if (i->map == STUB_INSN_MAP_0F3A && i->opcode >= 0x14 && i->opcode <= 0x17)
		write_rm(f, i);
	if (i->opcode >= 0xf0 && i->opcode <= 0xf8)
		clobber(f, stub_insn_reg(i));
	if (i->map == STUB_INSN_MAP_0F38 && (i->opcode == 0xf3 || i->opcode == 0xf6))
		clobber(f, i->vvvv);
	if (i->map == STUB_INSN_MAP_XOP && i->opcode <= 0x12) {
		clobber(f, stub_insn_reg(i));
		clobber(f, i->vvvv);
	}
}

void stub_step(const struct stub_insn *i, struct stub_frame *frame)
{
	if (i->map == STUB_INSN_MAP_1)
		step_one_byte(i, frame);
	else if (i->map == STUB_INSN_MAP_0F)
		step_two_byte(i, frame);
	else
		step_other(i, frame);
}

bool stub_frame_meet(struct stub_frame *frame, const struct stub_frame *other)
{
	struct stub_frame before = *frame;

	if (frame->has_sp && (!other->has_sp || frame->sp_off != other->sp_off))
		lose_sp(frame);
	if (frame->has_bp && (!other->has_bp || frame->bp_off != other->bp_off))
		lose_bp(frame);
	if (frame->fp != other->fp || frame->fp_off != other->fp_off)
		set_fp(frame, STUB_FP_LOST, 0);
	if (frame->ra != other->ra || frame->ra_reg != other->ra_reg) {
		frame->ra = STUB_RA_LOST;
		frame->ra_reg = 0;
	}
	frame->is_fp_copied |= other->is_fp_copied;
	return memcmp(&before, frame, sizeof(before)) != 0;
}

bool stub_frame_may_return(const struct stub_frame *frame)
{
	if (frame->ra == STUB_RA_ROOT)
		return true;
	return frame->has_sp && frame->sp_off == 8 && frame->fp == STUB_FP_SAME &&
	       frame->ra == STUB_RA_STACK;
}

/* Hardware to DWARF (psABI figure 3.36). */
static uint8_t dwarf_register(unsigned int reg)
{
	static const uint8_t low[8] = { RULE_X86_RAX, RULE_X86_RCX, RULE_X86_RDX, RULE_X86_RBX,
					RULE_X86_RSP, RULE_X86_RBP, RULE_X86_RSI, RULE_X86_RDI };

	return reg < 8 ? low[reg] : (uint8_t)reg;
}

static void rule_of_root(struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){
		.cfa = RULE_CFA_REG, .cfa_reg = RULE_X86_RSP, .cfa_off = 8, .ra = RULE_RA_UNDEFINED
	};
}

void stub_frame_rule(const struct stub_frame *frame, struct unwind_rule *ret_rule)
{
	struct unwind_rule rule = { 0 };

	if (frame->ra == STUB_RA_ROOT) {
		rule_of_root(ret_rule);
		return;
	}
	if ((!frame->has_sp && !frame->has_bp) || frame->ra == STUB_RA_LOST) {
		*ret_rule = rule;
		return;
	}
	rule.cfa = RULE_CFA_REG;
	rule.cfa_reg = frame->has_bp ? RULE_X86_RBP : RULE_X86_RSP;
	rule.cfa_off = frame->has_bp ? frame->bp_off : frame->sp_off;
	rule.fp = frame->fp == STUB_FP_SAME    ? RULE_FP_SAME
		  : frame->fp == STUB_FP_SAVED ? RULE_FP_CFA
					       : RULE_FP_UNDEFINED;
	rule.fp_off = frame->fp == STUB_FP_SAVED ? frame->fp_off : 0;
	rule.ra = frame->ra == STUB_RA_REG ? RULE_RA_REG : RULE_RA_CFA;
	rule.ra_reg = frame->ra == STUB_RA_REG ? dwarf_register(frame->ra_reg) : 0;
	rule.ra_off = frame->ra == STUB_RA_REG ? 0 : -8;
	*ret_rule = rule;
}
