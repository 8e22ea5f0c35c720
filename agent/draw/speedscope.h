/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile for speedscope: https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources, a "sampled" profile. Pure.
 *
 * One profile, with the process as the outermost frame; weights are CPU time in nanoseconds, as in a pprof, or counts.
 */
#ifndef XAGENT_AGENT_DRAW_SPEEDSCOPE_H
#define XAGENT_AGENT_DRAW_SPEEDSCOPE_H

#include "agent/draw/flame_facts.h"
#include "agent/store/tree/call_tree.h"

/* Of a finished tree. 0 or -errno. */
int speedscope_json(const struct call_tree *tree, const struct flame_facts *facts, struct buf *out);

#endif
