/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go's own tables as a source of unwind rules: .gopclntab of Go 1.16 to 1.26, x86-64 and AArch64, also where section headers are
 * stripped or the executable is position independent.
 */
#ifndef XAGENT_AGENT_OBJECT_GO_GO_UNWIND_H
#define XAGENT_AGENT_OBJECT_GO_GO_UNWIND_H

#include "agent/object/elf.h"
#include "agent/object/rules/unwind_source.h"

/* 0; UNWIND_SOURCE_NONE: no Go program, or a table of another version; -errno. `elf` is borrowed until free. */
int go_unwind_new(struct elf *elf, struct unwind_source **ret_source);

#endif
