/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go's functions in text without call frame information. They are covered by Go's own tables, and
 * have another way with the stack.
 */
#ifndef XAGENT_AGENT_OBJECT_NOCFI_NOCFI_GO_H
#define XAGENT_AGENT_OBJECT_NOCFI_NOCFI_GO_H

#include <stdbool.h>

#include "agent/object/nocfi/nocfi_gaps.h"

/* Whether a section says that the text is Go's: then all of it is left to Go's tables. The section table must be loaded. */
bool nocfi_go_is_all(const struct elf *elf);
/* Where the system's linker has put Go's table among other data, the program has C code besides: takes Go's functions out of the gaps,
 * the rest is looked at. Nothing without a section table. 0 or -errno. */
int nocfi_go_cut(struct elf *elf, struct nocfi_ranges *gaps);

#endif
