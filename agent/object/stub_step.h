/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one instruction of x86-64 does to what is known of a function's frame, and where control goes
 * behind it. What is not understood makes things unknown, never wrong. Pure.
 */
#ifndef XAGENT_AGENT_OBJECT_STUB_STEP_H
#define XAGENT_AGENT_OBJECT_STUB_STEP_H

#include "agent/object/stub_frame.h"
#include "agent/object/stub_insn.h"

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
/* What fills the place between functions: NOPs of any length, INT3. */
bool stub_step_is_padding(const struct stub_insn *i);
/* *frame as it is behind the instruction. */
void stub_step(const struct stub_insn *i, struct stub_frame *frame);

#endif
