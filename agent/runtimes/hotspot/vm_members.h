/* SPDX-License-Identifier: Apache-2.0 */
/* Members of the JVM's structures by their names, from the table in a process's memory (gHotSpotVMStructs). What the file's table tells is in vm_structs.h. */
#ifndef XAGENT_AGENT_RUNTIMES_HOTSPOT_VM_MEMBERS_H
#define XAGENT_AGENT_RUNTIMES_HOTSPOT_VM_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/runtimes/runtime.h"

/* Names are shorter than this. */
#define VM_NAME_BYTES 32

struct vm_member {
	const char *type, *field;
	bool is_there;
	bool is_static;
	uint64_t at;		     /* an offset; of a static member its address */
	char of_type[VM_NAME_BYTES]; /* its own type */
};

/*
 * Fills the n members, of which not all need be there. The table is at `table_at` in memory, which may hold anything: it ends with an entry without a
 * name, and after HOTSPOT_MAX_ENTRIES. False: it cannot be read, or there is no memory.
 */
bool vm_members_find(const struct runtime_memory *memory, uint64_t table_at,
		     struct vm_member *members, size_t n);

#endif
