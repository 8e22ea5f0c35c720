/* SPDX-License-Identifier: Apache-2.0 */
/* Components of the graph as JSON, for web pages and the support bundle. Any thread that has the snapshot. */
#ifndef XAGENT_AGENT_COMPONENT_JSON_COMPONENT_JSON_H
#define XAGENT_AGENT_COMPONENT_JSON_COMPONENT_JSON_H

#include <jansson.h>

#include "agent/component/json/component_snapshot.h"

/* New references, NULL when memory is out. */
json_t *component_json(const struct component_snapshot *s, size_t i);
/* The components of a module ("": of the root), in order of evaluation; `module_id` NULL: of all. */
json_t *components_json(const struct component_snapshot *s, const char *module_id);

#endif
