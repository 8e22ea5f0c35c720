/* SPDX-License-Identifier: Apache-2.0 */
/* What few samples ask for: where the JVM has its threads and their anchors, and how the class of an object is told (struct hotspot_more). */
#ifndef XAGENT_AGENT_RUNTIMES_HOTSPOT_MORE_H
#define XAGENT_AGENT_RUNTIMES_HOTSPOT_MORE_H

#include "agent/runtimes/runtime.h"
#include "bpf/runtimes/hotspot.h"

/* Reads it from the table at this address in the memory of a process. Of what the build or the table does not tell whole the address is 0: all else is
 * shown without it. */
void hotspot_more_read(const struct hotspot_more *of_file, uint64_t table_at,
		       const struct runtime_memory *memory, struct hotspot_more *ret_more);

#endif
