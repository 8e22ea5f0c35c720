/* SPDX-License-Identifier: Apache-2.0 */
/* JSON as the body of an answer. Any thread that has both. */
#ifndef XAGENT_AGENT_CLI_WEB_ANSWER_JSON_H
#define XAGENT_AGENT_CLI_WEB_ANSWER_JSON_H

#include <jansson.h>

#include "agent/http/server.h"

/* Takes `json`; NULL: memory was out, which becomes a 500. */
void answer_json(struct http_answer *answer, json_t *json);

#endif
