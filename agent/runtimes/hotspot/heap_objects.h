/* SPDX-License-Identifier: Apache-2.0 */
/* How objects of a JVM's heap are read: where a class of the JDK has a field, and how objects refer to each other and to their classes. */
#ifndef XAGENT_AGENT_RUNTIMES_HOTSPOT_HEAP_OBJECTS_H
#define XAGENT_AGENT_RUNTIMES_HOTSPOT_HEAP_OBJECTS_H

#include "agent/runtimes/hotspot/threads.h"

/* From an object of java.lang.Thread, or of a class that extends it, that has a name: fills vm->kernel. False: it has none, or cannot be read. */
bool heap_objects_find_names(struct hotspot_vm *vm, const struct runtime_memory *memory,
			     uint64_t thread_object);

/* Whether a class, which may be any address, has that name, as it is in a class file. */
bool heap_class_is(const struct hotspot_vm *vm, const struct runtime_memory *memory, uint64_t class,
		   const char *name);

/* Where objects of a class have the field; HOTSPOT_THREAD_NONE: there is none. */
uint16_t heap_field_of(const struct hotspot_vm *vm, const struct runtime_memory *memory,
		       uint64_t class, const char *name);

/* Whether the slot of the class's pool is that text. */
bool heap_constant_is(const struct hotspot_vm *vm, const struct runtime_memory *memory,
		      uint64_t class, uint32_t index, const char *text);

#endif
