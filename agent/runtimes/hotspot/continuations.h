/* SPDX-License-Identifier: Apache-2.0 */
/* Where a JVM has frames of virtual threads that are on the heap: the layout of their objects, and the code that their stacks begin with. */
#ifndef XAGENT_AGENT_RUNTIMES_HOTSPOT_CONTINUATIONS_H
#define XAGENT_AGENT_RUNTIMES_HOTSPOT_CONTINUATIONS_H

#include "agent/runtimes/hotspot/threads.h"

/*
 * Fills vm->kernel.chunks as soon as all of it is there: the code is made before the first virtual thread runs. How objects have their class has to be known (has_names).
 */
void hotspot_find_continuations(struct hotspot_vm *vm, const struct runtime_memory *memory);

#endif
