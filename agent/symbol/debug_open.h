/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the separate debug file of a mapped file while the process lives: names are looked up when the interval is over, and a container
 * may be gone by then. Ours comes first, then that in the process's root: what one container has put there must not name a file that
 * others map, too, where we know better. Of a user's own it is not believed for a file of others (object/debug_owner.h).
 *
 * Loop thread. Only regular files are opened. A checksum is only computed where one of the two files has no build id, by the worker; which
 * candidates had another sum is remembered with the file.
 */
#ifndef XAGENT_AGENT_SYMBOL_DEBUG_OPEN_H
#define XAGENT_AGENT_SYMBOL_DEBUG_OPEN_H

#include <stdint.h>

#include "agent/process/mapping.h"
#include "agent/util/worker.h"

/* How long it holds that there is none, unless another process maps the file. */
#define DEBUG_OPEN_RETRY_NS (300 * NS_PER_S)

/* `file`, mapped by the process `pid`, is referenced, and gets the descriptor if there is one: at once, or when `worker` (borrowed; NULL:
 * nobody waits, it is done here) has looked at the candidates. A file that is not open itself is left alone. */
void debug_open(struct mapped_file *file, uint32_t pid, uint64_t now_ns, struct worker *worker);

#endif
