/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind rules against the truth: a program is run instruction by instruction, calls and returns are watched, and at every instruction the
 * rule in force must give the frame address, return address and frame pointer that the call left behind.
 *
 * The truth: whoever calls leaves the return address at the stack pointer. These slots are remembered by address with the function that
 * was called and the caller's frame pointer, for all stacks of the process, until the stack pointer has passed them. The innermost slot
 * above the stack pointer is the current function's, when that is the function it was left for; where it is not (a stack was copied,
 * another stack is in use) nothing is checked. x86-64.
 */
#ifndef XAGENT_TESTS_SUPPORT_STEP_ORACLE_H
#define XAGENT_TESTS_SUPPORT_STEP_ORACLE_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/rule.h"

struct step_oracle {
	/* The program, found by PATH as execvp() does; argv ends with NULL. */
	char *const *argv;
	/* Instructions of all threads together; 0: to the end. */
	uint64_t max_steps;
	/* These first ones are not checked. */
	uint64_t skip_steps;
	/* Differences that are printed to stderr. */
	uint32_t max_printed;
	void *data;
	/* The rule at an address of the executable as linked, and the begin of the function. 0: there is one. */
	int (*rule_at)(void *data, uint64_t vaddr, struct unwind_rule *ret_rule);
	/* An address for the function that holds vaddr, 0: not known. */
	uint64_t (*function_of)(void *data, uint64_t vaddr);
	/* For messages; may be NULL. */
	const char *(*name_of)(void *data, uint64_t vaddr);
	/* Lowest vaddr of a PT_LOAD, 0 for ET_DYN. */
	uint64_t base_vaddr;
};

struct step_report {
	uint64_t n_steps;
	uint64_t n_inside;   /* in the executable */
	uint64_t n_no_rule;  /* of these, without a rule */
	uint64_t n_unknown;  /* of these, without a truth to compare with */
	uint64_t n_checked;  /* CFA, RA and FP compared */
	uint64_t n_switched; /* of these, on another stack than the CFA's */
	uint64_t n_roots;    /* said to be outermost */
	uint64_t n_signals;  /* signal frames compared */
	uint64_t n_pcs;	     /* different addresses checked */
	uint64_t n_threads;
	uint64_t n_wrong_cfa;
	uint64_t n_wrong_ra;
	uint64_t n_wrong_fp;
};

/* 0, or -errno (-EPERM, -ENOSYS: there is no ptrace here). */
int step_oracle_run(const struct step_oracle *oracle, struct step_report *ret_report);

#endif
