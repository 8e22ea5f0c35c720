/* SPDX-License-Identifier: Apache-2.0 */
/* A reader: answers what the agent asks of one file. Runs in a process that is confined and may open nothing. */
#ifndef XAGENT_AGENT_DWARF_ANSWERING_H
#define XAGENT_AGENT_DWARF_ANSWERING_H

#include <stdint.h>

#include "agent/object/bytes.h"

/* Beside the file's budget: libdw reads one line table that may need as much again, and the allocator's share. */
#define DWARF_SLACK_BYTES ((uint64_t)16 << 20)

/* Until the agent ends the channel `fd`. With the addresses that were mapped before, memory is limited to what the file's budget allows. */
void dwarf_answer_all(int fd, const struct bytes *file, uint64_t mapped_bytes);

#endif
