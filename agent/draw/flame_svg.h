/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flame graph as a still picture: SVG that needs no script and no other file.
 *
 * The root is on top and colours are those of the page. Each bar has a tooltip (<title>). The picture has a ground of its own, which follows
 * the viewer from light to dark where the viewer says so.
 */
#ifndef XAGENT_AGENT_DRAW_FLAME_SVG_H
#define XAGENT_AGENT_DRAW_FLAME_SVG_H

#include "agent/draw/flame_facts.h"
#include "agent/draw/flame_tree.h"

/* Of a tree whose calls are finished; one without samples gives a picture that says so. What would be too narrow or too deep to be seen is
 * left out, and counted in the last line. 0 or -ENOBUFS. */
int flame_svg(const struct flame_tree *tree, const struct flame_facts *facts, struct buf *out);

#endif
