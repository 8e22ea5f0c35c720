/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one instruction of x86-64 does to what is known of a function's frame, and where control goes
 * behind it. What is not understood makes things unknown, never wrong. Pure.
 */
#ifndef XAGENT_AGENT_OBJECT_NOCFI_NOCFI_STEP_H
#define XAGENT_AGENT_OBJECT_NOCFI_NOCFI_STEP_H

#include "agent/object/nocfi/nocfi_frame.h"
#include "agent/object/nocfi/nocfi_insn.h"

enum nocfi_flow {
	NOCFI_FLOW_NEXT,
	NOCFI_FLOW_CALL,     /* goes on behind it, if the callee returns */
	NOCFI_FLOW_BRANCH,   /* to next, or to its target */
	NOCFI_FLOW_JUMP,     /* to its target */
	NOCFI_FLOW_INDIRECT, /* to where a register or memory says */
	NOCFI_FLOW_RETURN,
	NOCFI_FLOW_END, /* HLT, UD2, INT3 */
};

/* Where control goes; the target of branches and jumps is i->imm behind the instruction. */
enum nocfi_flow nocfi_step_flow(const struct nocfi_insn *i);
/* What fills the place between functions: NOPs of any length, INT3. */
bool nocfi_step_is_padding(const struct nocfi_insn *i);
/* *frame as it is behind the instruction. */
void nocfi_step(const struct nocfi_insn *i, struct nocfi_frame *frame);

#endif
