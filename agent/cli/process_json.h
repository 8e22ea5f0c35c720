/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether processes are profiled, as JSON:
 *
 *	{ "processes": [{ "pid", "name", "exe", "service_name", "service_name_source", "profiled", "why", "fix" }], "why" }
 *
 * "why" of the whole is there where it is not what was asked for. Looks at /proc; loop thread. New references, NULL without memory.
 */
#ifndef XAGENT_AGENT_CLI_PROCESS_JSON_H
#define XAGENT_AGENT_CLI_PROCESS_JSON_H

#include <jansson.h>
#include <stdint.h>

#include "agent/component/graph.h"

/* More than a person looks through. */
#define PROCESS_JSON_MAX 50

json_t *process_json(struct graph *g, uint32_t pid);
/* Those with the text in name, executable, command line or service name, whatever its case; PROCESS_JSON_MAX at most. */
json_t *process_json_by_name(struct graph *g, const char *text);

#endif
