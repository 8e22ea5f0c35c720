/* SPDX-License-Identifier: Apache-2.0 */
/* Source of names: V8's builtins in a file without a symbol table, called as in others (Builtins_InterpreterEntryTrampoline). */
#ifndef XAGENT_AGENT_OBJECT_V8_BUILTIN_SOURCE_H
#define XAGENT_AGENT_OBJECT_V8_BUILTIN_SOURCE_H

#include "agent/object/elf.h"
#include "agent/object/names/function_source.h"
#include "agent/object/v8/builtins.h"

/* Whether the file may have such. Loads its sections. */
bool v8_has_builtins_without_symbols(struct elf *elf);
/* Consumes the builtins. 0 or -ENOMEM. */
int v8_builtin_source_take(const struct elf *elf, struct v8_builtins *builtins,
			   struct function_source **ret_source);
/* Borrowed until free. 0, FUNCTION_SOURCE_NONE, -errno. */
int v8_builtin_source_new(struct elf *elf, struct function_source **ret_source);

#endif
