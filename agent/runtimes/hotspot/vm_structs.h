/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables that libjvm.so exports for debuggers (gHotSpotVMStructs, gHotSpotVMTypes; vmStructs.hpp of OpenJDK), as its file has them. The loader puts
 * addresses into them, and the JVM's constructors the offsets of fields, so a file tells which entry is which field's, and sizes, and static members.
 */
#ifndef XAGENT_AGENT_RUNTIMES_HOTSPOT_VM_STRUCTS_H
#define XAGENT_AGENT_RUNTIMES_HOTSPOT_VM_STRUCTS_H

#include <stdbool.h>

#include "agent/object/elf.h"
#include "bpf/runtimes/hotspot.h"

/* VMStructEntry: names of type, field and the field's type, is it static, offset, address. */
struct hotspot_entry {
	uint64_t type_name;
	uint64_t field_name;
	uint64_t field_type;
	uint32_t is_static;
	uint32_t zero;
	uint64_t offset;
	uint64_t address;
};

/* Entries: JDK 8 has 1,500. */
#define HOTSPOT_MAX_ENTRIES 4096

/* False: HotSpot is not in the file. With `major` 0 it is a build whose tables cannot be read. Sections are loaded. */
bool hotspot_file_read(const struct elf *elf, struct hotspot_layout *ret_layout,
		       struct hotspot_more *ret_more);

#endif
