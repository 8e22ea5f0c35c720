/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where Go's functions on AArch64 are on another stack with an x29 that does not lead back.
 *
 * Two load the x29 that was left on that stack (src/runtime/asm_arm64.s):
 *
 *	runtime.asmcgocall, seen from 1.16 to 1.26, twice, for two ways
 *		mov x2, sp … mov sp, x0 … str x4, [sp] … str x4, [sp, #8]; blr x1 … mov sp, x5
 *		         from here by x2 │                               │ by what was noted │
 *	runtime.systemstack, before 1.25
 *		mov sp, x3; ldr x29, [x28, #bp]; … blr x3 … ldr x28, [x3, #curg]; … mov sp, x0
 *		                               │ by the goroutine of the m whose g0 is in x28 │
 *
 * Pure: the caller reads the instructions.
 */
#ifndef XAGENT_AGENT_OBJECT_GO_GO_ASIDES_H
#define XAGENT_AGENT_OBJECT_GO_GO_ASIDES_H

#include "agent/object/go/go_unwind_internal.h"

/* asmcgocall's two ways have two each. */
#define GO_ASIDES_MAX 4

/* A piece of code, and how its CFA is found, less the frame's depth. */
struct go_aside {
	uint64_t begin, end;
	struct unwind_rule by;
};

/* All 0: nothing seen yet. */
struct go_asides {
	struct go_aside items[GO_ASIDES_MAX];
	size_t n;
	bool is_open; /* the last of them has no end yet */
	bool is_away; /* sp was moved, and not back */
};

/* The function's instructions in their order; pc is behind `code`. Further ones than fit are left out: by x29, as everywhere. */
void go_asides_see(struct go_asides *a, enum go_role role, uint32_t code, bool moves_sp,
		   uint64_t pc);
/* No more instructions. */
void go_asides_end(struct go_asides *a, uint64_t pc);

/* The one that holds pc, or NULL; valid as long as `a`. */
const struct go_aside *go_asides_at(const struct go_asides *a, uint64_t pc);

/* depth: of the frame, which lies where it was left. */
void go_aside_rule(const struct go_aside *aside, int32_t depth, struct unwind_rule *ret_rule);

#endif
