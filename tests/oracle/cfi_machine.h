/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine that does not exist: registers of arbitrary values, and memory whose words are a
 * function of their address. Two descriptions of a frame are the same when they give the same values
 * on it, however they are written.
 */
#ifndef XAGENT_TESTS_ORACLE_CFI_MACHINE_H
#define XAGENT_TESTS_ORACLE_CFI_MACHINE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/object/rules/dwarf_abi.h"
#include "bpf/rule.h"

#define MACHINE_REGS 40

struct machine {
	uint64_t reg[MACHINE_REGS]; /* by DWARF number; on x86-64, 16 is the pc */
};

enum told {
	TOLD_VALUE,
	TOLD_UNDEFINED,
	TOLD_SIGNAL,  /* in a signal frame */
	TOLD_NOTHING, /* no frame, or more than we can evaluate */
};

struct answer {
	enum told told;
	uint64_t value;
	bool is_simple; /* libdw: no expression of its own, but for a register, an offset, a deref */
};

/* What a debugger needs of a frame. */
struct frame {
	struct answer cfa;
	struct answer fp;
	struct answer ra;
};

void machine_init(struct machine *m, uint64_t vaddr);
uint64_t machine_random(uint64_t *state);
/* By a rule of ours. */
struct frame machine_by_rule(const struct machine *m, const struct dwarf_abi *abi,
			     const struct unwind_rule *rule);
/* By libdw, whose frame stays the caller's. */
struct frame machine_by_libdw(const struct machine *m, const struct dwarf_abi *abi,
			      Dwarf_Frame *frame, int ra_column);
bool answers_equal(const struct answer *a, const struct answer *b);

#endif
