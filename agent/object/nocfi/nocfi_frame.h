/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of a function's frame on x86-64: the stack pointer, a frame pointer, where the
 * caller's rbp and the return address are; and what the operations that instructions are made of
 * leave of it. Distances are CFA minus register. Pure.
 */
#ifndef XAGENT_AGENT_OBJECT_NOCFI_NOCFI_FRAME_H
#define XAGENT_AGENT_OBJECT_NOCFI_NOCFI_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/rule.h"

/* Hardware numbers; others go by their numbers alone. */
enum nocfi_reg {
	NOCFI_RAX,
	NOCFI_RCX,
	NOCFI_RDX,
	NOCFI_RBX,
	NOCFI_RSP,
	NOCFI_RBP,
};

enum nocfi_fp {
	NOCFI_FP_SAME,	/* rbp is the caller's */
	NOCFI_FP_SAVED, /* at CFA + fp_off */
	NOCFI_FP_LOST,
};

enum nocfi_ra {
	NOCFI_RA_STACK, /* at CFA − 8 */
	NOCFI_RA_REG,	/* popped into ra_reg (vfork) */
	NOCFI_RA_LOST,
	NOCFI_RA_ROOT, /* there is no caller */
};

struct nocfi_frame {
	uint8_t has_sp; /* CFA = rsp + sp_off */
	uint8_t has_bp; /* CFA = rbp + bp_off */
	uint8_t fp;	/* enum nocfi_fp */
	uint8_t ra;	/* enum nocfi_ra */
	uint8_t ra_reg; /* hardware number */
	/* The caller's rbp went somewhere: clearing it is not the end of the stack. */
	uint8_t is_fp_copied;
	uint8_t zero[2];
	int32_t sp_off;
	int32_t bp_off;
	int32_t fp_off;
};

/* At a function's first instruction. */
#define NOCFI_FRAME_ENTRY ((struct nocfi_frame){ .has_sp = 1, .sp_off = 8 })

/* The distance of a register, when it is known. */
bool nocfi_frame_off(const struct nocfi_frame *f, unsigned int reg, int32_t *ret_off);
/* Whether the caller's rbp is saved at CFA + off. */
bool nocfi_frame_is_fp_slot(const struct nocfi_frame *f, int64_t off);

void nocfi_frame_lose_sp(struct nocfi_frame *f);
void nocfi_frame_set_fp(struct nocfi_frame *f, enum nocfi_fp fp, int32_t fp_off);
/* The register gets a value that nobody knows. */
void nocfi_frame_clobber(struct nocfi_frame *f, unsigned int reg);
/* It becomes CFA − off. Only for one that was clobbered. */
void nocfi_frame_set(struct nocfi_frame *f, unsigned int reg, int64_t off);
void nocfi_frame_add(struct nocfi_frame *f, unsigned int reg, int64_t by);
/* to = from, registers of 64 bits. */
void nocfi_frame_copy(struct nocfi_frame *f, unsigned int to, unsigned int from);
/* The register becomes 0. */
void nocfi_frame_clear(struct nocfi_frame *f, unsigned int reg);
/* NOCFI_INSN_NO_REG: memory; NOCFI_INSN_RIP: something else. */
void nocfi_frame_push(struct nocfi_frame *f, unsigned int reg);
void nocfi_frame_pop(struct nocfi_frame *f, unsigned int reg);
/* LEAVE: rsp = rbp, pop rbp. */
void nocfi_frame_leave(struct nocfi_frame *f);
void nocfi_frame_call(struct nocfi_frame *f);

/* What is known on both of two ways. True when *frame has lost something. */
bool nocfi_frame_meet(struct nocfi_frame *frame, const struct nocfi_frame *other);
/* Nothing is left on the stack, and the caller's rbp is back. */
bool nocfi_frame_may_return(const struct nocfi_frame *frame);
void nocfi_frame_rule(const struct nocfi_frame *frame, struct unwind_rule *ret_rule);

#endif
