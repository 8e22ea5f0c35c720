/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A defined symbol of a known name: of a shared object by its hash table, in a few reads; of a program that is linked with nothing, by a
 * look through its symbol table.
 */
#ifndef XAGENT_AGENT_OBJECT_NAMES_SYMBOL_BY_NAME_H
#define XAGENT_AGENT_OBJECT_NAMES_SYMBOL_BY_NAME_H

#include <stdbool.h>

#include "agent/object/names/symtab_tables.h"

/* Names of a static program's symbol table that are looked through: C programs have some 30 KiB. Larger ones count as stripped. */
#define SYMBOL_BY_NAME_MAX_STRINGS ((uint64_t)1 << 20)

/* The section table must be loaded, if there is one. False: there is none, or the file cannot be read. 64-bit files. */
bool symbol_by_name(const struct elf *elf, const char *name, struct symbol *ret_symbol);

#endif
