/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What somebody needs who is to help from afar, as one zip file: the configuration without its secrets, metrics, the last lines of
 * the log, all components, and facts about host and process. Loop thread.
 */
#ifndef XAGENT_AGENT_CLI_SUPPORT_SUPPORT_H
#define XAGENT_AGENT_CLI_SUPPORT_SUPPORT_H

#include "agent/http/server.h"

struct agent;

/* Answers later: a zip file. */
void support_answer(struct agent *a, const struct http_call *call, struct http_answer *answer);

#endif
