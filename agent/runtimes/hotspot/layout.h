/* SPDX-License-Identifier: Apache-2.0 */
/* Where the structures of a process's HotSpot have what is read of them (bpf/runtimes/hotspot.h). */
#ifndef XAGENT_AGENT_RUNTIMES_HOTSPOT_LAYOUT_H
#define XAGENT_AGENT_RUNTIMES_HOTSPOT_LAYOUT_H

#include "agent/runtimes/runtime.h"
#include "bpf/runtimes/hotspot.h"

/* Versions of the JDK. Of JDK 8, HotSpot says that it is 25 without a security version. */
#define HOTSPOT_FIRST_MAJOR 8
#define HOTSPOT_LAST_MAJOR 27

/* Whether the file of such a layout has all that is needed. */
bool hotspot_layout_is_known(const struct hotspot_layout *of_file);

/* Reads offsets and addresses from the table in the memory of a process, whose addresses are raised by `base`. False: they are not there, or not yet. */
bool hotspot_layout_read(const struct hotspot_layout *of_file, uint64_t base,
			 const struct runtime_memory *memory, struct hotspot_layout *ret_layout);

#endif
