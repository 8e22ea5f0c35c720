/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of struct unwind_info, for those that bring sources of their own. */
#ifndef XAGENT_AGENT_OBJECT_RULES_UNWIND_INFO_INTERNAL_H
#define XAGENT_AGENT_OBJECT_RULES_UNWIND_INFO_INTERNAL_H

#include "agent/object/rules/unwind_info.h"

/* DWARF numbers of general registers: 32 on AArch64. */
#define UNWIND_INFO_MAX_REGISTERS 32

struct unwind_info {
	const struct dwarf_abi *abi; /* NULL: a machine that is not unwound */
	struct unwind_source *sources[UNWIND_INFO_MAX_SOURCES]; /* owned, most trusted first */
	size_t n_sources;
	size_t n_kinds;	   /* of sources that have been looked for */
	struct elf *elf;   /* borrowed; NULL without sources of its own */
	struct elf *debug; /* borrowed; NULL: none */
	/* Of single registers, made when they are first asked for; owned. */
	struct unwind_source *registers[UNWIND_INFO_MAX_REGISTERS];
};

/* Without sources yet. 0 or -ENOMEM. */
int unwind_info_new_empty(const struct dwarf_abi *abi, struct unwind_info **ret_info);
/* Consumes the source; at most UNWIND_INFO_MAX_SOURCES. */
void unwind_info_add_take(struct unwind_info *info, struct unwind_source *source);

#endif
