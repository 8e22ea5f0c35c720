/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the agent (status_json.h), over HTTP: answers later. Loop thread. */
#ifndef XAGENT_AGENT_CLI_WEB_STATUS_ANSWER_H
#define XAGENT_AGENT_CLI_WEB_STATUS_ANSWER_H

#include "agent/http/server.h"

/* A handler; `data` is the agent. */
void status_answer(const struct http_call *call, struct http_answer *answer, void *data);

#endif
