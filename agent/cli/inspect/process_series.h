/* SPDX-License-Identifier: Apache-2.0 */
/* Which series a process is in where no configuration says otherwise, and why. Loop thread only. */
#ifndef XAGENT_AGENT_CLI_INSPECT_PROCESS_SERIES_H
#define XAGENT_AGENT_CLI_INSPECT_PROCESS_SERIES_H

#include "agent/process/process.h"
#include "agent/target/container_metadata.h"
#include "agent/target/label.h"
#include "agent/target/process_place.h"
#include "agent/target/service_name.h"

struct process_series {
	struct container_metadata *metadata;
	const struct container_facts *container; /* of the container metadata; NULL: not asked */
	struct process_place place;
	struct service_name name;
	struct labels *labels; /* a reference; NULL: not known */
};

/* `telemetry`: any. 0 or -errno; fini may follow either. */
int process_series_find(struct process_table *processes, struct process *p,
			struct telemetry *telemetry, struct process_series *ret_series);
void process_series_fini(struct process_series *s);
#define _cleanup_process_series_ _cleanup_(process_series_fini)

#endif
