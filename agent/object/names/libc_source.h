/* SPDX-License-Identifier: Apache-2.0 */
/* Source of names: functions of the GNU C library without a symbol (libc_functions.h), as far as unwind information says that they reach. */
#ifndef XAGENT_AGENT_OBJECT_NAMES_LIBC_SOURCE_H
#define XAGENT_AGENT_OBJECT_NAMES_LIBC_SOURCE_H

#include "agent/object/elf.h"
#include "agent/object/names/function_source.h"

/* Loads the sections. 0, FUNCTION_SOURCE_NONE, -errno. */
int libc_source_new(struct elf *elf, size_t max_bytes, struct function_source **ret_source);

#endif
