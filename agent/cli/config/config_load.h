/* SPDX-License-Identifier: Apache-2.0 */
/* From a path to a loaded graph, and what there is to say about it. */
#ifndef XAGENT_AGENT_CLI_CONFIG_CONFIG_LOAD_H
#define XAGENT_AGENT_CLI_CONFIG_CONFIG_LOAD_H

#include "agent/cli/config/config_file.h"
#include "agent/component/graph/graph.h"

/* One load: its texts and its diagnostics. */
struct config_load {
	struct config_texts texts;
	struct river_arena arena;
	struct river_diags diags;
};

void config_load_init(struct config_load *l);
void config_load_fini(struct config_load *l);
#define _cleanup_config_load_ _cleanup_(config_load_fini)

/* RIVER_OK; RIVER_INVALID, diagnostics tell; -errno, with a line in `why`. The graph is as before then. Diagnostics there may be
 * after success too. */
int config_load(struct config_load *l, struct graph *g, const struct config_source *source,
		struct buf *why);

/* All diagnostics with excerpts, on standard error; in colour where that is a terminal. */
void config_load_print(const struct config_load *l);
/* Errors in a line; where several files have some, in a line each that begins with its name. */
void config_load_summary(const struct config_load *l, struct buf *out);
/* Each warning in a line of the log. */
void config_load_log_warnings(const struct config_load *l);

#endif
