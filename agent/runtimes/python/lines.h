/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of CPython's code objects, by their tables: co_lnotab (Objects/lnotab_notes.txt), co_linetable of 3.10 (PEP 626) and of 3.11 (locations.md). Pure. */
#ifndef XAGENT_AGENT_RUNTIMES_PYTHON_LINES_H
#define XAGENT_AGENT_RUNTIMES_PYTHON_LINES_H

#include "agent/runtimes/runtime.h"

/* `position` in bytes of bytecode. The table may hold anything; lines->format is an enum python_lines. 0: no line, or not known. */
uint32_t python_line(const struct runtime_lines *lines, uint32_t position);

#endif
