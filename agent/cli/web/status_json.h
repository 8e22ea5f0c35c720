/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the agent, as JSON: store, components, what became of samples and of stacks, targets, and what a person should know.
 *
 *	{ "version", "hostname", "listen", "started_ms", "now_ms",
 *	  "store": null | { "id", "bytes", "max_bytes", "max_age_s", "oldest_ms", "newest_ms", "profiles", "samples", "series" },
 *	  "components": [{ "id", "state", "message" }],
 *	  "samples": { "ticks", "received", "outcomes": [{ "name", "value", "text" }] },
 *	  "stacks": [{ "end", "value", "text" }],
 *	  "interpreters": [{ "runtime", "result", "value", "text" }],
 *	  "targets": [{ "component", "service_name", "labels", "processes", "samples" }],
 *	  "notes": [sentence] }
 *
 * Outcomes are of ticks: together they are as many, but for those of this moment. Any thread that has the facts; of the agent only what never changes.
 */
#ifndef XAGENT_AGENT_CLI_WEB_STATUS_JSON_H
#define XAGENT_AGENT_CLI_WEB_STATUS_JSON_H

#include <jansson.h>

#include "agent/cli/web/status_facts.h"

/* A new reference, NULL without memory. */
json_t *status_json(const struct agent *a, const struct status_facts *f);

#endif
