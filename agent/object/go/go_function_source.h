/* SPDX-License-Identifier: Apache-2.0 */
/* Source: the functions of Go's own tables. */
#ifndef XAGENT_AGENT_OBJECT_GO_GO_FUNCTION_SOURCE_H
#define XAGENT_AGENT_OBJECT_GO_GO_FUNCTION_SOURCE_H

#include "agent/object/elf.h"
#include "agent/object/names/function_source.h"

/* `elf` is borrowed until free. 0, FUNCTION_SOURCE_NONE (no Go program), -errno. */
int go_function_source_new(struct elf *elf, struct function_source **ret_source);

#endif
