/* SPDX-License-Identifier: Apache-2.0 */
/* A component of the graph as JSON, for web pages and the support bundle. New references, NULL when memory is out. Loop thread only. */
#ifndef XAGENT_AGENT_COMPONENT_COMPONENT_JSON_H
#define XAGENT_AGENT_COMPONENT_COMPONENT_JSON_H

#include <jansson.h>

#include "agent/component/graph.h"

/* `detail`: with arguments, exports and what it has to say about itself. */
json_t *component_json(const struct graph *g, size_t i, bool detail);

/* The components of a module ("": of the root), in order of evaluation; `module_id` NULL: of all. */
json_t *components_json(const struct graph *g, const char *module_id, bool detail);

#endif
