/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was built, written where the person wants it.
 *
 * There is one build as a rule. A session that runs out of memory for stacks hands over an interval early, and then there are more:
 * text goes behind what was written, a pprof into a file of its own (FILE.2 …), because profiles cannot be put behind each other.
 */
#ifndef XAGENT_AGENT_CLI_RESULT_H
#define XAGENT_AGENT_CLI_RESULT_H

#include "agent/cli/profile_args.h"
#include "agent/profile/build.h"

struct result {
	const char *file; /* borrowed; NULL: standard output */
	enum profile_format format;
	unsigned int n_files; /* written so far; standard output counts as one */
};

/* 0, or -errno with one line in `why`; what was written before stays. */
int result_write(struct result *r, const struct build *build, struct buf *why);

#endif
