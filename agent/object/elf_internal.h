/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of struct elf, for the files that read headers. */
#ifndef XAGENT_AGENT_OBJECT_ELF_INTERNAL_H
#define XAGENT_AGENT_OBJECT_ELF_INTERNAL_H

#include "agent/object/elf.h"

struct elf {
	struct bytes bytes;
	bool is_64;
	uint16_t machine;
	uint16_t object_type;
	uint64_t section_table_off;
	uint32_t n_header_sections; /* as the ELF header says; 0: the first section does */
	uint32_t names_index;
	struct elf_segment *segments; /* owned */
	size_t n_segments;
	bool sections_loaded;
	struct elf_section *sections; /* owned, NULL while n_sections is 0 */
	size_t n_sections;
	char *names; /* owned, NUL terminated; NULL when there are none */
	size_t names_bytes;
};

#endif
