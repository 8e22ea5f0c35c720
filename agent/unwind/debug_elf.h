/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The separate debug file of an object, where it has unwind rules: those of functions that were compiled without any for the running
 * program. Whoever looks rules up one by one, and whoever builds the table, must use the same: so it is looked for once, and its
 * descriptor handed on.
 */
#ifndef XAGENT_AGENT_UNWIND_DEBUG_ELF_H
#define XAGENT_AGENT_UNWIND_DEBUG_ELF_H

#include "agent/object/elf.h"
#include "agent/process/process.h"

/* It was looked for, and there is none. */
#define DEBUG_ELF_NONE (-2)
/* It could not be looked for just now. */
#define DEBUG_ELF_LATER (-3)

/* Looks below the process's root, then below our own. 0; DEBUG_FILE_NONE: not there, or without rules; -errno: it was not looked for to the
 * end. */
int debug_elf_find(struct elf *elf, const struct process *p, const struct mapped_file *f,
		   int *ret_fd);
/* 0, -errno. The descriptor is borrowed. */
int debug_elf_new(int fd, struct elf **ret_debug);

#endif
