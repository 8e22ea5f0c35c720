/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a process is profiled, as JSON:
 *
 *	{ "pid", "name", "exe", "service_name", "service_name_source", "profiled", "why", "fix" }
 *
 * A look leaves no trace in what profiles: it has a table of processes of its own, which is the worker's and the loop's in turn.
 */
#ifndef XAGENT_AGENT_CLI_WEB_PROCESS_JSON_H
#define XAGENT_AGENT_CLI_WEB_PROCESS_JSON_H

#include <jansson.h>
#include <stdint.h>

#include "agent/cli/web/why_missing.h"
#include "agent/component/graph/graph.h"

/* One process of an answer. */
struct process_found {
	uint32_t pid;
	struct process *process; /* borrowed from the table; NULL: there is no memory */
	struct why_missing facts;
	struct ebpf_judgement judgement;
	char *component_id, *problem; /* copies for the facts, owned */
};

/* What /proc tells of f->pid; may wait as reads of others' files do. 0 or -ENOMEM. */
int process_found_look(struct process_table *processes, struct process_found *f);
/* Loop thread: what becomes of it. */
void process_found_judge(const struct graph *g, struct process_table *processes,
			 struct process_found *f);
/* A new reference, NULL without memory. Any thread that has the table. */
json_t *process_found_json(struct process_table *processes, struct telemetry *telemetry,
			   struct process_found *f);
/* Loop thread. */
void process_found_fini(struct process_found *f);

#endif
