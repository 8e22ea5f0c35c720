/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of a function's frame on x86-64: the stack pointer, a frame pointer, where the
 * caller's rbp and the return address are; and what the operations that instructions are made of
 * leave of it. Distances are CFA minus register. Pure.
 */
#ifndef XAGENT_AGENT_OBJECT_STUB_FRAME_H
#define XAGENT_AGENT_OBJECT_STUB_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/rule.h"

/* Hardware numbers; others go by their numbers alone. */
enum stub_reg {
	STUB_RAX,
	STUB_RCX,
	STUB_RDX,
	STUB_RBX,
	STUB_RSP,
	STUB_RBP,
};

enum stub_fp {
	STUB_FP_SAME,  /* rbp is the caller's */
	STUB_FP_SAVED, /* at CFA + fp_off */
	STUB_FP_LOST,
};

enum stub_ra {
	STUB_RA_STACK, /* at CFA − 8 */
	STUB_RA_REG,   /* popped into ra_reg (vfork) */
	STUB_RA_LOST,
	STUB_RA_ROOT, /* there is no caller */
};

struct stub_frame {
	uint8_t has_sp; /* CFA = rsp + sp_off */
	uint8_t has_bp; /* CFA = rbp + bp_off */
	uint8_t fp;	/* enum stub_fp */
	uint8_t ra;	/* enum stub_ra */
	uint8_t ra_reg; /* hardware number */
	/* The caller's rbp went somewhere: clearing it is not the end of the stack. */
	uint8_t is_fp_copied;
	uint8_t zero[2];
	int32_t sp_off;
	int32_t bp_off;
	int32_t fp_off;
};

/* At a function's first instruction. */
#define STUB_FRAME_ENTRY ((struct stub_frame){ .has_sp = 1, .sp_off = 8 })

/* The distance of a register, when it is known. */
bool stub_frame_off(const struct stub_frame *f, unsigned int reg, int32_t *ret_off);
/* Whether the caller's rbp is saved at CFA + off. */
bool stub_frame_is_fp_slot(const struct stub_frame *f, int64_t off);

void stub_frame_lose_sp(struct stub_frame *f);
void stub_frame_set_fp(struct stub_frame *f, enum stub_fp fp, int32_t fp_off);
/* The register gets a value that nobody knows. */
void stub_frame_clobber(struct stub_frame *f, unsigned int reg);
/* It becomes CFA − off. Only for one that was clobbered. */
void stub_frame_set(struct stub_frame *f, unsigned int reg, int64_t off);
void stub_frame_add(struct stub_frame *f, unsigned int reg, int64_t by);
/* to = from, registers of 64 bits. */
void stub_frame_copy(struct stub_frame *f, unsigned int to, unsigned int from);
/* The register becomes 0. */
void stub_frame_clear(struct stub_frame *f, unsigned int reg);
/* STUB_INSN_NO_REG: memory; STUB_INSN_RIP: something else. */
void stub_frame_push(struct stub_frame *f, unsigned int reg);
void stub_frame_pop(struct stub_frame *f, unsigned int reg);
/* LEAVE: rsp = rbp, pop rbp. */
void stub_frame_leave(struct stub_frame *f);
void stub_frame_call(struct stub_frame *f);

/* What is known on both of two ways. True when *frame has lost something. */
bool stub_frame_meet(struct stub_frame *frame, const struct stub_frame *other);
/* Nothing is left on the stack, and the caller's rbp is back. */
bool stub_frame_may_return(const struct stub_frame *frame);
void stub_frame_rule(const struct stub_frame *frame, struct unwind_rule *ret_rule);

#endif
