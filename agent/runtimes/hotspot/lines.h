/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of methods, by the table that follows their bytecodes (ConstMethod's compressed line numbers; code/compressedStream.hpp). Pure. */
#ifndef XAGENT_AGENT_RUNTIMES_HOTSPOT_LINES_H
#define XAGENT_AGENT_RUNTIMES_HOTSPOT_LINES_H

#include "agent/runtimes/runtime.h"

/* `position` in bytes of bytecode. The table may hold anything, and more behind its end; lines->format is an enum hotspot_lines. 0: no line, or not known. */
uint32_t hotspot_line(const struct runtime_lines *lines, uint32_t position);

#endif
