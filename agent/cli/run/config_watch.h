/* SPDX-License-Identifier: Apache-2.0 */
/* --config.watch: loads the configuration again when its files change. Loop thread only. */
#ifndef XAGENT_AGENT_CLI_RUN_CONFIG_WATCH_H
#define XAGENT_AGENT_CLI_RUN_CONFIG_WATCH_H

#include "agent/util/cleanup.h"

struct agent;
struct config_watch;

/* 0 or -errno. `a` outlives it. */
int config_watch_new(struct agent *a, struct config_watch **ret_watch);
/* NULL-safe. */
void config_watch_free(struct config_watch *w);
DEFINE_CLEANUP(struct config_watch *, config_watch_free);

/* Follows the path anew: to be called before its files are read, so that no change after that goes unseen. */
void config_watch_look(struct config_watch *w);

#endif
