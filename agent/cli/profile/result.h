/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One file of the result of `xagent profile`, or what goes to a terminal.
 *
 * There is one build as a rule. A session that runs out of memory for stacks hands over an interval early, and then there are more:
 * a table goes behind what was written, a pprof into a file of its own (FILE.2 …), because profiles cannot be put behind each other. What is
 * a graph grows into one tree, folded stacks into one list, and is written at the end.
 */
#ifndef XAGENT_AGENT_CLI_PROFILE_RESULT_H
#define XAGENT_AGENT_CLI_PROFILE_RESULT_H

#include "agent/cli/profile/profile_format.h"
#include "agent/draw/flame_facts.h"
#include "agent/draw/flame_tree.h"
#include "agent/profile/build.h"
#include "agent/util/buf.h"

struct result {
	const char *file; /* borrowed; NULL: standard output */
	enum profile_format format;
	unsigned int n_files;	/* written so far; standard output counts as one */
	struct flame_tree tree; /* of zeroes: the format is no graph */
	struct buf folded;	/* of that format, no stack twice */
	bool has_folded;	/* though it may be empty */
};

/* Of zeroes. 0 or -ENOMEM. */
int result_init(struct result *r, const char *file, enum profile_format format);
void result_fini(struct result *r);

/* What builds for this result, and what it wants as build->data. */
build_fn result_build_fn(const struct result *r);
void *result_build_data(struct result *r);

/* 0, or -errno with one line in `why`; what was written before stays. */
int result_write_part(struct result *r, const struct built *part, struct buf *why);
int result_write(struct result *r, const struct build *build, struct buf *why);

/* Text without a part: nothing of an event was seen. */
int result_write_text(struct result *r, const char *text, struct buf *why);

/* After the last build. As above. */
int result_end(struct result *r, const struct flame_facts *facts, struct buf *why);
/* Of several events, each with its tree and facts: for a format that holds them. */
int result_end_all(struct result *r, struct flame_tree *const *trees,
		   const struct flame_facts *facts, size_t n, struct buf *why);

#endif
