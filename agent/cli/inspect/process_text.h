/* SPDX-License-Identifier: Apache-2.0 */
/* How what is known of a process is shown to people. Pure; everything ends with a line break. */
#ifndef XAGENT_AGENT_CLI_INSPECT_PROCESS_TEXT_H
#define XAGENT_AGENT_CLI_INSPECT_PROCESS_TEXT_H

#include <stdint.h>

#include "agent/cli/inspect/mapping_facts.h"
#include "agent/cli/inspect/process_series.h"
#include "agent/process/process.h"
#include "agent/util/buf.h"

struct process_text {
	const struct process *process;
	const struct process_identity *identity;
	const struct process_series *series; /* NULL: not known */
	const char *user;		     /* name of identity->uid; "": none */
	const char *parent_name;	     /* "": not known */
	const char *started;		     /* a date; "": not known */
	uint64_t age_ns;
};

/* "process PID (NAME)" and a line for each thing that is known. */
void process_text_identity(struct buf *out, const struct process_text *t);

/* What it is called in profiles without a configuration, why so, and the labels. */
void process_text_series(struct buf *out, const struct process_series *series);

/* "3 days 4 h", "4 h 5 min", "5 min 6 s", "6 s". */
void process_text_age(struct buf *out, uint64_t age_ns);

void process_text_mappings_head(struct buf *out, uint32_t n_mappings, uint32_t n_files);
/* `facts` NULL: of a file that has been shown. */
void process_text_mapping(struct buf *out, const struct mapping *m,
			  const struct mapping_facts *facts);

#endif
