/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of a JVM: where its structures have what is read of them in a tick (bpf/runtimes/hotspot_thread.h), and which JavaThread each one is. Everything
 * is read from the memory of the process, which may hold anything: what is found is bounded, and only where to look.
 */
#ifndef XAGENT_AGENT_RUNTIMES_HOTSPOT_THREADS_H
#define XAGENT_AGENT_RUNTIMES_HOTSPOT_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/runtimes/runtime.h"
#include "bpf/runtimes/hotspot.h"
#include "bpf/runtimes/hotspot_thread.h"

/* Of one process; later ones have no name but that of the kernel. */
#define HOTSPOT_MAX_THREADS 4096

/* A JVM, as far as it is known. */
struct hotspot_vm {
	struct hotspot_threads kernel; /* generation and exec_id are the caller's */
	struct hotspot_layout layout;  /* as it was published */
	/* Where the list of threads is; is_linked: JDK 8 has the first one there, each leads to the next. */
	uint64_t list_at;
	bool is_linked;
	uint16_t next, list_length, list_threads;
	/* What is needed to find out how names are read, from the first thread that has one. */
	bool is_zgc; /* its references are to be corrected before they are followed: no names */
	uint64_t heap_at, narrow_base_at, narrow_shift_at, class_base_at, class_shift_at;
	uint16_t moving, moved;
	uint16_t super, constants, fields, n_fields, field_stream;
	/* What is needed to find where frames of virtual threads lie: the JVM's table of classes that it knows by itself, or one of its words, … */
	uint64_t classes_at;
	uint16_t methods, method_code, blob_bytes, layout_helper, thread_state;
};

struct hotspot_thread_id {
	uint32_t own_tid;
	uint64_t address;
	uint64_t class; /* of the JVM's own: its table of virtual functions */
	bool is_plain;	/* it is of the class of the first thread: it compiles nothing */
};

/* `table_at`: gHotSpotVMStructs points to it. False: threads cannot be told, or not read now. */
bool hotspot_vm_read(const struct hotspot_layout *layout, uint64_t table_at,
		     const struct runtime_memory *memory, struct hotspot_vm *ret_vm);

/* How many there are in ret_threads, which has room for HOTSPOT_MAX_THREADS. Finds out how names are read, as long as that is not known (vm->kernel.has_names). */
size_t hotspot_vm_threads(struct hotspot_vm *vm, const struct runtime_memory *memory,
			  struct hotspot_thread_id *ret_threads);

#endif
