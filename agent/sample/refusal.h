/* SPDX-License-Identifier: Apache-2.0 */
/* Why sampling is not possible on this machine: from facts to one line that names what is missing and what to do. Pure but for the reader. */
#ifndef XAGENT_AGENT_SAMPLE_REFUSAL_H
#define XAGENT_AGENT_SAMPLE_REFUSAL_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/util/buf.h"

struct refusal_facts {
	uint64_t capabilities; /* effective, as /proc/self/status prints them */
	bool have_btf;
	bool lockdown_confidentiality; /* refuses BPF reads of kernel memory */
	int perf_event_paranoid;
	char kernel_release[65];
};

void refusal_facts_read(struct refusal_facts *ret_facts);

/* Appends the line for the step that failed with -errno `error` ("load", "attach" …). */
void refusal_explain(const struct refusal_facts *f, const char *step, int error, struct buf *out);

/*
 * Appends why a program that failed with -errno `error` cannot be attached to the kernel's function that `event` needs, and what would do instead: a tracepoint. False,
 * and nothing, where it is not that programs cannot be attached to functions.
 */
bool refusal_of_function(const char *event, const char *function, const char *tracepoint, int error,
			 struct buf *out);

/* What the agent lacks before anything was tried; appends and returns true when it cannot work. */
bool refusal_expected(const struct refusal_facts *f, struct buf *out);

/* What will work by half only: appends and returns true when something is missing that sampling itself does not need. */
bool refusal_shortcomings(const struct refusal_facts *f, struct buf *out);

#endif
