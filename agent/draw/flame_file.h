/* SPDX-License-Identifier: Apache-2.0 */
/* A tree as the one file that a person asked for. */
#ifndef XAGENT_AGENT_DRAW_FLAME_FILE_H
#define XAGENT_AGENT_DRAW_FLAME_FILE_H

#include "agent/draw/flame_facts.h"
#include "agent/draw/flame_tree.h"

/* Each finishes the calls, and takes facts->n_samples from them. 0 or -errno. */
int flame_file_html(struct flame_tree *tree, const struct flame_facts *facts, struct buf *out);
int flame_file_svg(struct flame_tree *tree, const struct flame_facts *facts, struct buf *out);
/* One tree for each event, FLAME_FILE_MAX at most. */
#define FLAME_FILE_MAX EVENT_LIST_MAX
int flame_file_speedscope(struct flame_tree *const *trees, const struct flame_facts *facts,
			  size_t n, struct buf *out);

#endif
