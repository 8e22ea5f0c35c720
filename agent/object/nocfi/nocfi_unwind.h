/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind rules for text without any: procedure linkage tables, entry code, signal return stubs, and functions whose frame can be read off
 * their instructions (musl's, hand-written assembly).
 *
 * The last of the sources: what another one covers is not asked for here.
 */
#ifndef XAGENT_AGENT_OBJECT_NOCFI_NOCFI_UNWIND_H
#define XAGENT_AGENT_OBJECT_NOCFI_NOCFI_UNWIND_H

#include "agent/object/elf.h"
#include "agent/object/rules/unwind_source.h"

/* 0; UNWIND_SOURCE_NONE: nothing is recognised; -errno. `elf` is borrowed until free. */
int nocfi_unwind_new(struct elf *elf, struct unwind_source **ret_source);

#endif
