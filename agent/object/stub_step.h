/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one instruction of x86-64 does to what is known of a function's frame: the stack pointer, a
 * frame pointer, where the caller's rbp and the return address are. What is not understood makes
 * things unknown, never wrong. Pure.
 */
#ifndef XAGENT_AGENT_OBJECT_STUB_STEP_H
#define XAGENT_AGENT_OBJECT_STUB_STEP_H

#include "agent/object/stub_insn.h"
#include "bpf/rule.h"

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

enum stub_flow {
	STUB_FLOW_NEXT,
	STUB_FLOW_CALL,	    /* goes on behind it, if the callee returns */
	STUB_FLOW_BRANCH,   /* to next, or to its target */
	STUB_FLOW_JUMP,	    /* to its target */
	STUB_FLOW_INDIRECT, /* to where a register or memory says */
	STUB_FLOW_RETURN,
	STUB_FLOW_END, /* HLT, UD2, INT3 */
};

/* Where control goes; the target of branches and jumps is i->imm behind the instruction. */
enum stub_flow stub_step_flow(const struct stub_insn *i);
/* *frame as it is behind the instruction. */
void stub_step(const struct stub_insn *i, struct stub_frame *frame);
/* What is known on both of two ways. True when *frame has lost something. */
bool stub_frame_meet(struct stub_frame *frame, const struct stub_frame *other);
/* Nothing is left on the stack, and the caller's rbp is back. */
bool stub_frame_may_return(const struct stub_frame *frame);
void stub_frame_rule(const struct stub_frame *frame, struct unwind_rule *ret_rule);

#endif
