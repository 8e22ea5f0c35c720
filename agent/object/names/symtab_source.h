/* SPDX-License-Identifier: Apache-2.0 */
/* Source: the symbol tables of one ELF file, the object's own or one that describes it. */
#ifndef XAGENT_AGENT_OBJECT_NAMES_SYMTAB_SOURCE_H
#define XAGENT_AGENT_OBJECT_NAMES_SYMTAB_SOURCE_H

#include "agent/object/names/function_source.h"
#include "agent/object/names/symtab.h"

/* Both are borrowed until free; `text` as of symtab_new_of(). 0, FUNCTION_SOURCE_NONE (no function), -errno. */
int symtab_source_new(struct elf *elf, enum symtab_tables tables, const struct elf *text,
		      struct function_source **ret_source);

/* Whether the file has symbols beyond those of the dynamic linker: it is not stripped. Loads its sections. */
bool symtab_has_static(struct elf *elf);

#endif
