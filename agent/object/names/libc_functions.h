/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the GNU C library that have no symbol in a stripped file, and in which threads wait. What a program calls is exported, and
 * ends with a jump to them, so that it leaves no frame:
 *
 *	sem_wait: fast path ──► jmp __new_sem_wait_slow64
 *
 * So whoever is jumped to by a function of that name is known, and where it is as well. Pure, but for reading the file.
 */
#ifndef XAGENT_AGENT_OBJECT_NAMES_LIBC_FUNCTIONS_H
#define XAGENT_AGENT_OBJECT_NAMES_LIBC_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "agent/object/elf.h"

#define LIBC_FUNCTIONS_MAX 4

struct libc_function {
	uint64_t begin; /* vaddr */
	const char *name;
};

/* How many, each once, ascending; 0 of another file. 64-bit x86 and Arm. The section table must be loaded, if there is one. */
size_t libc_functions_find(const struct elf *elf,
			   struct libc_function ret_functions[LIBC_FUNCTIONS_MAX]);

#endif
