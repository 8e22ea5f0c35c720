/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which build of CPython a file holds, and where its structures have what is read of them (bpf/runtimes/python.h).
 *
 * From 3.13 on the interpreter describes itself (_Py_DebugOffsets, in the section .PyRuntime). Those before are known by the functions that they
 * export, and by the size of their code objects: a build that differs (Py_DEBUG, other implementations) has another one. Pure.
 */
#ifndef XAGENT_AGENT_RUNTIMES_PYTHON_LAYOUT_H
#define XAGENT_AGENT_RUNTIMES_PYTHON_LAYOUT_H

#include <stdbool.h>

#include "agent/object/elf.h"
#include "bpf/runtimes/python.h"

/* Minor versions of 3.x. */
#define PYTHON_FIRST_MINOR 6
#define PYTHON_LAST_MINOR 15

/* False: it holds no CPython 3. With seam PYTHON_UNSUPPORTED it holds one that is not known. `ret_is_tail_calling`: each instruction of the bytecode is a
 * function, called by the loop. Sections are loaded. */
bool python_layout_read(const struct elf *elf, struct python_layout *ret_layout,
			bool *ret_is_tail_calling);

/* From the bytes of a _Py_DebugOffsets, which may be anything. Addresses are left alone, but interpreters_at, which is an offset in _PyRuntime. False: it is none, of a version that is
 * not known, or has offsets that cannot be. */
bool python_layout_from_offsets(const uint64_t *words, size_t n, struct python_layout *ret_layout);

/* PYTHON_OFFSETS_WORDS: the longest of them. */
#define PYTHON_OFFSETS_WORDS 111

#endif
