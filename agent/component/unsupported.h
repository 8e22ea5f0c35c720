/* SPDX-License-Identifier: Apache-2.0 */
/* Components of Grafana Agent and Alloy that xagent does not have: a file that uses one is not misspelt. */
#ifndef XAGENT_AGENT_COMPONENT_UNSUPPORTED_H
#define XAGENT_AGENT_COMPONENT_UNSUPPORTED_H

#include <stdbool.h>

/* Whether other agents have a component of this name; kinds of the registry are not looked up. */
bool component_is_known_elsewhere(const char *name);

#endif
