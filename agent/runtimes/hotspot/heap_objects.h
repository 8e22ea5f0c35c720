/* SPDX-License-Identifier: Apache-2.0 */
/* How objects of a JVM's heap are read: where a class of the JDK has a field, and how objects refer to each other and to their classes. */
#ifndef XAGENT_AGENT_RUNTIMES_HOTSPOT_HEAP_OBJECTS_H
#define XAGENT_AGENT_RUNTIMES_HOTSPOT_HEAP_OBJECTS_H

#include "agent/runtimes/hotspot/threads.h"

/* From an object of java.lang.Thread, or of a class that extends it, that has a name: fills vm->kernel. False: it has none, or cannot be read. */
bool heap_objects_find_names(struct hotspot_vm *vm, const struct runtime_memory *memory,
			     uint64_t thread_object);

#endif
