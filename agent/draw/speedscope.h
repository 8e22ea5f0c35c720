/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile for speedscope: https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources, a "sampled" profile. Pure.
 *
 * One profile for each event, with the process as the outermost frame; weights are CPU time in nanoseconds, as in a pprof, or counts.
 */
#ifndef XAGENT_AGENT_DRAW_SPEEDSCOPE_H
#define XAGENT_AGENT_DRAW_SPEEDSCOPE_H

#include "agent/draw/flame_facts.h"
#include "agent/store/tree/call_tree.h"

struct speedscope_part {
	const struct call_tree *tree; /* finished */
	const struct flame_facts *facts;
};

/* Of one part at least, in that order. 0 or -errno. */
int speedscope_json(const struct speedscope_part *parts, size_t n, struct buf *out);

#endif
