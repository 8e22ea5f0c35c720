/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPython in a file that exports nothing and has no symbols: a static program that was stripped. From 3.13 on the section .PyRuntime is where
 * _PyRuntime is, whose first words describe the rest; PyCode_Type is found by what it holds. Pure.
 *
 *	PyTypeObject	object header, ob_size, tp_name → "code", tp_basicsize, tp_itemsize
 */
#ifndef XAGENT_AGENT_RUNTIMES_PYTHON_STRIPPED_H
#define XAGENT_AGENT_RUNTIMES_PYTHON_STRIPPED_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/object/elf.h"

/* Of the file's writable data, and of its relocations, as much is looked through: Debian's 3.15 has 1 MiB and none, a position independent one 1 MiB. */
#define PYTHON_STRIPPED_MAX_BYTES ((uint64_t)16 << 20)

/* Where _PyRuntime is linked to be, whatever it holds. False: there is no such section. Sections are loaded. */
bool python_stripped_runtime(const struct elf *elf, uint64_t *ret_runtime_at);
/* … and PyCode_Type, whose objects have `code_bytes` before their bytecode, and whose own type is at `type_off`. */
bool python_stripped_code_type(const struct elf *elf, uint64_t code_bytes, uint64_t type_off,
			       uint64_t *ret_code_type_at);

#endif
