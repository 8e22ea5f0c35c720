/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What somebody needs who is to help from afar, as one zip file: the configuration without its secrets, metrics, the last lines of
 * the log, all components, and facts about host and process. Loop thread.
 */
#ifndef XAGENT_AGENT_CLI_SUPPORT_H
#define XAGENT_AGENT_CLI_SUPPORT_H

#include "agent/util/buf.h"

struct agent;

/* Appends to `out`; 0 or -errno. */
int support_bundle_write(struct agent *a, struct buf *out);

#endif
