/* SPDX-License-Identifier: Apache-2.0 */
/* Components as JSON over HTTP. Loop thread. */
#ifndef XAGENT_AGENT_CLI_WEB_COMPONENTS_ANSWER_H
#define XAGENT_AGENT_CLI_WEB_COMPONENTS_ANSWER_H

#include "agent/http/server.h"

struct agent;

/* Answers later: the component of a module ("": the root) with that id, arguments, exports and debug information for who may see them
 * (disclosure.h); with local_id "" all components of the module, without these. 404: there is no such component; 500: no such module. */
void components_answer(struct agent *a, const char *module_id, const char *local_id,
		       const struct http_call *call, struct http_answer *answer);

#endif
