/* SPDX-License-Identifier: Apache-2.0 */
/* Where a task is back on its CPU, and in its own context. */
#ifndef XAGENT_AGENT_SAMPLE_SWITCH_RETURN_H
#define XAGENT_AGENT_SAMPLE_SWITCH_RETURN_H

struct bpf_program;

enum switch_return {
	SWITCH_RETURN_SEEN,
	/* The kernel tells nobody. What is a sample is decided when a task leaves its CPU (bpf/events/predicted.bpf.h). */
	SWITCH_RETURN_UNSEEN,
};

/*
 * The scheduler's tracepoint at the end of a switch (6.17 or so), else the return of schedule(), where the kernel lets programs be attached to functions: that is tried.
 * The verifier loads the program for the one or for the other.
 */
enum switch_return switch_return_choose(struct bpf_program *program, const char *event);

#endif
