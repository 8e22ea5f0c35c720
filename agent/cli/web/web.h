/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the HTTP side that web pages read: components and what belongs to them, as JSON. */
#ifndef XAGENT_AGENT_CLI_WEB_WEB_H
#define XAGENT_AGENT_CLI_WEB_WEB_H

#include "agent/http/server.h"

struct agent;

/* The routes below /api. 0 or -errno. */
int web_routes_add(struct agent *a);

#endif
