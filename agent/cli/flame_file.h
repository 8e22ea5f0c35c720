/* SPDX-License-Identifier: Apache-2.0 */
/* A tree as the one file that a person asked for. */
#ifndef XAGENT_AGENT_CLI_FLAME_FILE_H
#define XAGENT_AGENT_CLI_FLAME_FILE_H

#include "agent/cli/flame_facts.h"
#include "agent/cli/flame_tree.h"
#include "agent/cli/profile_format.h"

/* Finishes the calls; facts->n_samples is taken from it. `format` is one that is a graph. 0 or -errno. */
int flame_file(enum profile_format format, struct flame_tree *tree, const struct flame_facts *facts,
	       struct buf *out);

#endif
