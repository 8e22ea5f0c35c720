/* SPDX-License-Identifier: Apache-2.0 */
/* Source: the symbols in .gnu_debugdata, unpacked for as long as the source is there. */
#ifndef XAGENT_AGENT_OBJECT_NAMES_DEBUGDATA_SOURCE_H
#define XAGENT_AGENT_OBJECT_NAMES_DEBUGDATA_SOURCE_H

#include "agent/object/elf.h"
#include "agent/object/names/function_source.h"

/* `elf` is borrowed until free. At most max_bytes are unpacked. 0, FUNCTION_SOURCE_NONE (no such section, or none of use), -errno. */
int debugdata_source_new(struct elf *elf, size_t max_bytes, struct function_source **ret_source);

#endif
