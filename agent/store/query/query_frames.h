/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which stacks, by the functions in them: those that have one of each name and expression that is asked for, wherever, and none of those that are
 * not wanted. Expressions are RE2's and match a part of a name, as the real server's do.
 *
 * One thread at a time: expressions pay for what they take.
 */
#ifndef XAGENT_AGENT_STORE_QUERY_QUERY_FRAMES_H
#define XAGENT_AGENT_STORE_QUERY_QUERY_FRAMES_H

#include <stdbool.h>

#include "agent/store/query/query_memory.h"
#include "agent/store/segment/segment.h"
#include "agent/util/buf.h"

/* Names and expressions together; each is a bit of a frame's. */
#define QUERY_FRAMES_MAX 64

struct query_frames;

int query_frames_new(struct query_frames **ret_frames);
void query_frames_free(struct query_frames *f); /* NULL-safe */
DEFINE_CLEANUP(struct query_frames *, query_frames_free);

enum query_frames_outcome { QUERY_FRAMES_ADDED, QUERY_FRAMES_WRONG };

/* The text is borrowed. QUERY_FRAMES_ADDED; QUERY_FRAMES_WRONG with what is wrong with an expression, or with the number of all; -ENOMEM. */
int query_frames_add(struct query_frames *f, const char *text, bool is_regex, bool is_wanted,
		     struct buf *why);

/* Clears what is not asked for, of the segment's nodes. 0; -ENOMEM; -ETIMEDOUT: an expression takes too long on a name. */
int query_frames_keep(struct query_frames *f, const struct segment *s, struct query_memory *memory,
		      bool *within);

#endif
