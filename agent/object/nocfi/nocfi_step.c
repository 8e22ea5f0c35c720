/* SPDX-License-Identifier: Apache-2.0 */
/* What one instruction of x86-64 does to a frame. */
#include "agent/object/nocfi/nocfi_step.h"

enum nocfi_flow nocfi_step_flow(const struct nocfi_insn *i)
{
	if (i->map == NOCFI_INSN_MAP_0F && !i->is_vector_encoded) {
		if ((i->opcode & 0xf0) == 0x80)
			return NOCFI_FLOW_BRANCH;
		return i->opcode == 0x0b || i->opcode == 0xb9 || i->opcode == 0xff
			       ? NOCFI_FLOW_END
			       : NOCFI_FLOW_NEXT;
	}
	if (i->map != NOCFI_INSN_MAP_1)
		return NOCFI_FLOW_NEXT;
	switch (i->opcode) {
	case 0xe8:
		return NOCFI_FLOW_CALL;
	case 0xe9:
	case 0xeb:
		return NOCFI_FLOW_JUMP;
	case 0xe0: /* LOOPNE, LOOPE, LOOP, JRCXZ */
	case 0xe1:
	case 0xe2:
	case 0xe3:
		return NOCFI_FLOW_BRANCH;
	case 0xc2:
	case 0xc3:
	case 0xca:
	case 0xcb:
	case 0xcf:
		return NOCFI_FLOW_RETURN;
	case 0xf4:
	case 0xcc:
		return NOCFI_FLOW_END;
	case 0xff:
		switch (i->modrm >> 3 & 7) {
		case 2:
		case 3:
			return NOCFI_FLOW_CALL;
		case 4:
		case 5:
			return NOCFI_FLOW_INDIRECT;
		default:
			return NOCFI_FLOW_NEXT;
		}
	}
	return (i->opcode & 0xf0) == 0x70 ? NOCFI_FLOW_BRANCH : NOCFI_FLOW_NEXT;
}

bool nocfi_step_is_padding(const struct nocfi_insn *i)
{
	if (i->map == NOCFI_INSN_MAP_0F)
		return i->opcode == 0x1f && !i->is_vector_encoded;
	return i->map == NOCFI_INSN_MAP_1 &&
	       ((i->opcode == 0x90 && !(i->rex & 1) && !i->has_rep) || i->opcode == 0xcc);
}

/* Whether the memory operand is the word at CFA + *ret_off. */
static bool frame_slot(const struct nocfi_frame *f, const struct nocfi_insn *i, int64_t *ret_off)
{
	int32_t off;

	if (!i->has_memory || i->has_segment || i->has_address_size ||
	    nocfi_insn_index(i) != NOCFI_INSN_NO_REG ||
	    !nocfi_frame_off(f, nocfi_insn_base(i), &off))
		return false;
	*ret_off = (int64_t)i->disp - off;
	return true;
}

/* Operations on bytes; without REX, registers 4 to 7 are then the second bytes of 0 to 3. */
static bool is_byte_operation(const struct nocfi_insn *i)
{
	uint8_t op = i->opcode;

	if (i->map == NOCFI_INSN_MAP_0F)
		return (op >= 0x90 && op < 0xa0) || op == 0xb0 || op == 0xc0;
	if (i->map != NOCFI_INSN_MAP_1)
		return false;
	if (op < 0x40 || (op >= 0xd0 && op < 0xd4))
		return !(op & 1);
	return op == 0x80 || op == 0x86 || op == 0x88 || op == 0x8a || (op >= 0xb0 && op < 0xb8) ||
	       op == 0xc0 || op == 0xc6 || op == 0xf6 || op == 0xfe;
}

static unsigned int written(const struct nocfi_insn *i, unsigned int reg)
{
	return i->rex == 0 && reg >= 4 && reg < 8 && is_byte_operation(i) ? reg - 4 : reg;
}

static unsigned int written_reg(const struct nocfi_insn *i)
{
	return written(i, nocfi_insn_reg(i));
}

static unsigned int written_rm(const struct nocfi_insn *i)
{
	return written(i, nocfi_insn_rm(i));
}

static void lea(struct nocfi_frame *f, const struct nocfi_insn *i)
{
	unsigned int to = nocfi_insn_reg(i);
	int64_t off = 0;
	bool known = frame_slot(f, i, &off) && (i->rex & 8);

	nocfi_frame_clobber(f, to);
	if (known)
		nocfi_frame_set(f, to, -off);
}

/* 80, 81, 83: only ADD and SUB of whole registers are followed; CMP writes nothing. */
static void group_1(struct nocfi_frame *f, const struct nocfi_insn *i)
{
	unsigned int kind = i->modrm >> 3 & 7;
	unsigned int to = written_rm(i);

	if (kind == 7 || i->has_memory)
		return;
	bool followed = (kind == 0 || kind == 5) && (i->rex & 8) && i->opcode != 0x80;
	if (followed)
		nocfi_frame_add(f, to, kind == 0 ? i->imm : -i->imm);
	else
		nocfi_frame_clobber(f, to);
}

/* MOV to memory: the caller's rbp may be kept in a slot without a push. */
static void store(struct nocfi_frame *f, const struct nocfi_insn *i)
{
	int64_t off;

	if (nocfi_insn_reg(i) == NOCFI_RBP && f->fp == NOCFI_FP_SAME)
		f->is_fp_copied = 1;
	if (!frame_slot(f, i, &off))
		return;
	if (nocfi_insn_reg(i) == NOCFI_RBP && f->fp == NOCFI_FP_SAME && (i->rex & 8) && f->has_sp &&
	    off <= -16 && -off <= f->sp_off)
		nocfi_frame_set_fp(f, NOCFI_FP_SAVED, (int32_t)off);
	else if (nocfi_frame_is_fp_slot(f, off))
		nocfi_frame_set_fp(f, NOCFI_FP_LOST, 0);
}

static void load(struct nocfi_frame *f, const struct nocfi_insn *i)
{
	int64_t off;
	bool is_fp = nocfi_insn_reg(i) == NOCFI_RBP && (i->rex & 8) && frame_slot(f, i, &off) &&
		     nocfi_frame_is_fp_slot(f, off);

	nocfi_frame_clobber(f, nocfi_insn_reg(i));
	if (is_fp)
		nocfi_frame_set_fp(f, NOCFI_FP_SAME, 0);
}

/* 88 … 8B, and the ALU forms 00 … 3B: two operands, of which one is written. */
static void two_operands(struct nocfi_frame *f, const struct nocfi_insn *i)
{
	bool is_mov = i->opcode >= 0x88;
	bool to_reg = i->opcode & 2;
	unsigned int to = to_reg ? written_reg(i) : written_rm(i);
	unsigned int from = to_reg ? nocfi_insn_rm(i) : nocfi_insn_reg(i);
	bool is_cmp = (i->opcode & 0xf8) == 0x38;
	bool is_xor = (i->opcode & 0xf8) == 0x30;

	if (is_cmp)
		return;
	if (i->has_memory) {
		if (is_mov && to_reg && (i->opcode & 1))
			load(f, i);
		else if (to_reg)
			nocfi_frame_clobber(f, to);
		else if (is_mov)
			store(f, i);
		return;
	}
	if (is_mov && (i->opcode & 1) && (i->rex & 8))
		nocfi_frame_copy(f, to, from);
	else if (is_xor && to == from && (i->opcode & 1) && !i->has_operand_size)
		nocfi_frame_clear(f, to);
	else
		nocfi_frame_clobber(f, to);
}

static void exchange(struct nocfi_frame *f, unsigned int a, unsigned int b)
{
	if (a == b)
		return;
	nocfi_frame_clobber(f, a);
	nocfi_frame_clobber(f, b);
}

static void write_rm(struct nocfi_frame *f, const struct nocfi_insn *i)
{
	int64_t off;

	if (!i->has_memory)
		nocfi_frame_clobber(f, written_rm(i));
	else if (frame_slot(f, i, &off) && nocfi_frame_is_fp_slot(f, off))
		nocfi_frame_set_fp(f, NOCFI_FP_LOST, 0);
}

static void group_5(struct nocfi_frame *f, const struct nocfi_insn *i)
{
	switch (i->modrm >> 3 & 7) {
	case 0:
	case 1:
		write_rm(f, i);
		return;
	case 6:
		nocfi_frame_push(f, i->has_memory ? NOCFI_INSN_NO_REG : nocfi_insn_rm(i));
		return;
	}
}

static void step_80_to_8f(const struct nocfi_insn *i, struct nocfi_frame *f)
{
	switch (i->opcode) {
	case 0x80:
	case 0x81:
	case 0x83:
		group_1(f, i);
		return;
	case 0x86:
	case 0x87:
		nocfi_frame_clobber(f, written_reg(i));
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
		nocfi_frame_pop(f, i->has_memory ? NOCFI_INSN_NO_REG : nocfi_insn_rm(i));
		return;
	}
}

/* The pushed word of 2 bytes is not followed. */
static bool is_odd_push(const struct nocfi_insn *i)
{
	bool pushes = (i->opcode & 0xf0) == 0x50 || i->opcode == 0x68 || i->opcode == 0x6a ||
		      i->opcode == 0x8f || i->opcode == 0x9c || i->opcode == 0x9d ||
		      (i->opcode == 0xff && (i->modrm >> 3 & 7) == 6);

	return pushes && i->has_operand_size;
}

static void step_one_byte(const struct nocfi_insn *i, struct nocfi_frame *f)
{
	uint8_t op = i->opcode;

	if (is_odd_push(i)) {
		nocfi_frame_lose_sp(f);
		return;
	}
	if (op < 0x40) {
		if ((op & 7) < 4)
			two_operands(f, i);
	} else if (op >= 0x50 && op < 0x58) {
		nocfi_frame_push(f, nocfi_insn_opcode_reg(i));
	} else if (op >= 0x58 && op < 0x60) {
		nocfi_frame_pop(f, nocfi_insn_opcode_reg(i));
	} else if (op >= 0x80 && op < 0x90) {
		step_80_to_8f(i, f);
	} else if (op >= 0x90 && op < 0x98) {
		exchange(f, NOCFI_RAX, nocfi_insn_opcode_reg(i));
	} else if (op >= 0xb0 && op < 0xc0) {
		nocfi_frame_clobber(f, written(i, nocfi_insn_opcode_reg(i)));
	} else if (op >= 0xd0 && op < 0xd4) {
		write_rm(f, i);
	} else {
		switch (op) {
		case 0x63:
		case 0x69:
		case 0x6b:
			nocfi_frame_clobber(f, nocfi_insn_reg(i));
			return;
		case 0x68:
		case 0x6a:
		case 0x9c:
			nocfi_frame_push(f, NOCFI_INSN_RIP);
			return;
		case 0x9d:
			nocfi_frame_pop(f, NOCFI_INSN_RIP);
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
			nocfi_frame_lose_sp(f);
			nocfi_frame_clobber(f, NOCFI_RBP);
			return;
		case 0xc9:
			nocfi_frame_leave(f);
			return;
		case 0xe8:
			nocfi_frame_call(f);
			return;
		case 0xf6:
		case 0xf7:
			/* TEST writes nothing, MUL and DIV rax and rdx. */
			if ((i->modrm >> 3 & 7) == 2 || (i->modrm >> 3 & 7) == 3)
				write_rm(f, i);
			else if ((i->modrm >> 3 & 7) > 3) {
				nocfi_frame_clobber(f, NOCFI_RAX);
				nocfi_frame_clobber(f, NOCFI_RDX);
			}
			return;
		case 0xff:
			if ((i->modrm >> 3 & 7) == 2)
				nocfi_frame_call(f);
			group_5(f, i);
			return;
		}
	}
}

/* Instructions of map 0F whose destination is the general register of the ModRM byte. */
static bool writes_reg_0f(const struct nocfi_insn *i)
{
	uint8_t op = i->opcode;

	return (op >= 0x40 && op < 0x50) || op == 0x02 || op == 0x03 || op == 0x2c || op == 0x2d ||
	       op == 0x50 || op == 0xaf || op == 0xb2 || op == 0xb4 || op == 0xb5 || op == 0xb6 ||
	       op == 0xb7 || op == 0xb8 || (op >= 0xbc && op < 0xc2) || op == 0xc5 || op == 0xd7;
}

static bool writes_rm_0f(const struct nocfi_insn *i)
{
	uint8_t op = i->opcode;

	return (op >= 0x90 && op < 0xa0) || op == 0x00 || op == 0x01 || op == 0x20 || op == 0x21 ||
	       op == 0xa4 || op == 0xa5 || op == 0xab || op == 0xac || op == 0xad || op == 0xb0 ||
	       op == 0xb1 || op == 0xb3 || (op == 0xba && (i->modrm >> 3 & 7) > 4) || op == 0xbb ||
	       op == 0xc0 || op == 0xc1 || (op == 0x7e && !i->has_rep) ||
	       (op == 0xc7 && !i->has_memory) || (op == 0xae && i->has_rep);
}

/* All others with VEX or EVEX write vector or mask registers, which have the same numbers as general
 * registers. */
static bool vector_writes_reg_0f(const struct nocfi_insn *i)
{
	switch (i->opcode) {
	case 0x2c: /* VCVTTSS2SI, VCVTSS2SI */
	case 0x2d:
	case 0x50: /* VMOVMSKPS */
	case 0x93: /* KMOV */
	case 0xc5: /* VPEXTRW */
	case 0xd7: /* VPMOVMSKB */
		return true;
	case 0x78: /* VCVTTSS2USI, VCVTSS2USI */
	case 0x79:
		return i->has_rep || i->has_repne;
	default:
		return false;
	}
}

static void step_vector_two_byte(const struct nocfi_insn *i, struct nocfi_frame *f)
{
	if (vector_writes_reg_0f(i))
		nocfi_frame_clobber(f, nocfi_insn_reg(i));
	/* VMOVD, VMOVQ */
	if (i->opcode == 0x7e && !i->has_rep)
		write_rm(f, i);
}

static void step_two_byte(const struct nocfi_insn *i, struct nocfi_frame *f)
{
	if (i->is_vector_encoded) {
		step_vector_two_byte(i, f);
		return;
	}
	if (i->opcode == 0xa0 || i->opcode == 0xa8) {
		nocfi_frame_push(f, NOCFI_INSN_RIP);
		return;
	}
	if (i->opcode == 0xa1 || i->opcode == 0xa9) {
		nocfi_frame_pop(f, NOCFI_INSN_RIP);
		return;
	}
	if (i->opcode == 0xa2) { /* CPUID */
		for (unsigned int reg = NOCFI_RAX; reg <= NOCFI_RBX; reg++)
			nocfi_frame_clobber(f, reg);
		return;
	}
	if (i->opcode == 0x05) { /* SYSCALL */
		nocfi_frame_clobber(f, NOCFI_RAX);
		nocfi_frame_clobber(f, NOCFI_RCX);
		nocfi_frame_clobber(f, 11);
		return;
	}
	if (i->opcode >= 0xc8 && i->opcode < 0xd0)
		nocfi_frame_clobber(f, nocfi_insn_opcode_reg(i));
	if (writes_reg_0f(i))
		nocfi_frame_clobber(f, nocfi_insn_reg(i));
	if (writes_rm_0f(i))
		write_rm(f, i);
}

/* Of the other maps only what may name a general register: MOVBE, CRC32, BMI, PEXTR, RORX. */
static void step_other(const struct nocfi_insn *i, struct nocfi_frame *f)
{
	if (i->map == NOCFI_INSN_MAP_0F3A && i->opcode >= 0x14 && i->opcode <= 0x17)
		write_rm(f, i);
	if (i->opcode >= 0xf0 && i->opcode <= 0xf8)
		nocfi_frame_clobber(f, nocfi_insn_reg(i));
	if (i->map == NOCFI_INSN_MAP_0F38 && (i->opcode == 0xf3 || i->opcode == 0xf6))
		nocfi_frame_clobber(f, i->vvvv);
	if (i->map == NOCFI_INSN_MAP_XOP && i->opcode <= 0x12) {
		nocfi_frame_clobber(f, nocfi_insn_reg(i));
		nocfi_frame_clobber(f, i->vvvv);
	}
}

void nocfi_step(const struct nocfi_insn *i, struct nocfi_frame *frame)
{
	if (i->map == NOCFI_INSN_MAP_1)
		step_one_byte(i, frame);
	else if (i->map == NOCFI_INSN_MAP_0F)
		step_two_byte(i, frame);
	else
		step_other(i, frame);
}
