/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One instruction of x86-64 machine code: how long it is, and what of it tells the way of the stack
 * pointer. No mnemonics, no operands of vectors.
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2 and
 * appendix A; AMD64 Architecture Programmer's Manual, volume 3 (XOP). Pure.
 */
#ifndef XAGENT_AGENT_OBJECT_NOCFI_NOCFI_INSN_H
#define XAGENT_AGENT_OBJECT_NOCFI_NOCFI_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longer ones raise #GP. */
#define NOCFI_INSN_MAX_BYTES 15

enum nocfi_insn_map {
	NOCFI_INSN_MAP_1, /* one-byte opcodes */
	NOCFI_INSN_MAP_0F,
	NOCFI_INSN_MAP_0F38,
	NOCFI_INSN_MAP_0F3A,
	NOCFI_INSN_MAP_EVEX, /* EVEX maps 5 and 6: vectors of half precision */
	NOCFI_INSN_MAP_XOP,
};

struct nocfi_insn {
	uint8_t n_bytes;
	uint8_t map;	/* enum nocfi_insn_map */
	uint8_t opcode; /* behind the escapes */
	uint8_t modrm;	/* 0 when there is none */
	uint8_t rex;	/* 0100WRXB; of VEX, EVEX and XOP what corresponds */
	uint8_t sib;
	uint8_t vvvv; /* the third register of VEX, EVEX and XOP */
	bool has_modrm;
	bool has_memory;	/* the ModRM byte names memory */
	bool is_vector_encoded; /* VEX, EVEX, XOP */
	bool has_operand_size;	/* 0x66, or what stands for it */
	bool has_repne;		/* 0xf2 */
	bool has_rep;		/* 0xf3 */
	bool has_segment;	/* fs: or gs: */
	bool has_address_size;	/* 0x67 */
	int32_t disp;		/* of memory */
	int64_t imm;		/* immediates and branch distances; the first of ENTER's */
};

/* The instruction at `code`, of which n bytes are there. False: it is cut, or none that is
 * known. */
bool nocfi_insn_decode(const uint8_t *code, size_t n, struct nocfi_insn *ret_insn);

/* Registers have their hardware numbers: rax 0, rcx 1, rdx 2, rbx 3, rsp 4, rbp 5, rsi 6, rdi 7. */
static inline unsigned int nocfi_insn_reg(const struct nocfi_insn *i)
{
	return ((i->modrm >> 3) & 7u) | ((i->rex & 4u) << 1);
}

static inline unsigned int nocfi_insn_rm(const struct nocfi_insn *i)
{
	return (i->modrm & 7u) | ((i->rex & 1u) << 3);
}

static inline unsigned int nocfi_insn_opcode_reg(const struct nocfi_insn *i)
{
	return (i->opcode & 7u) | ((i->rex & 1u) << 3);
}

#define NOCFI_INSN_NO_REG 16u
#define NOCFI_INSN_RIP 17u

/* The base and index registers of a memory operand. */
unsigned int nocfi_insn_base(const struct nocfi_insn *i);
unsigned int nocfi_insn_index(const struct nocfi_insn *i);

#endif
