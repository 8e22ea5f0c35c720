/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of speedscope (https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources), sampled and evented. Each profile of a file
 * becomes one here; those of the same name, kind, unit and beginning are one.
 *
 * Weights in a unit of time become nanoseconds of it, others are counts of a clock. (A Pyroscope 1.21 drops all of what is in nanoseconds, and a
 * part of evented profiles: its numbers overflow.)
 */
#ifndef XAGENT_AGENT_RECEIVE_SPEEDSCOPE_READ_H
#define XAGENT_AGENT_RECEIVE_SPEEDSCOPE_READ_H

#include "agent/receive/ingest_meta.h"
#include "agent/receive/stack_profile.h"

/* Values of a file: each takes some 50 bytes while it is read. */
#define SPEEDSCOPE_MAX_VALUES ((size_t)512 << 10)
#define SPEEDSCOPE_MAX_PROFILES 64
#define SPEEDSCOPE_MAX_DEPTH 4096

struct speedscope_profile {
	struct str name, unit;	       /* of the file */
	struct stack_profile *profile; /* the caller's, from then on */
	struct profile_type type;
	bool is_of_several;
};

struct speedscope_reader {
	const char *app; /* tells the type of the only one */
	const struct ingest_meta *meta;
	struct read_budget *budget;
	/* For each. 0 or -errno, which ends it. */
	int (*take)(void *data, const struct speedscope_profile *profile);
	void *data;
	struct buf *why;
};

/* 0; -EBADMSG with a sentence in `why`; what stack_profile_add() or `take` returns. */
int speedscope_read(const struct speedscope_reader *reader, struct str text);

#endif
