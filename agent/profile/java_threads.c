/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of JVMs. A sample says that its thread is not known (own_tid): then the JVM's list of threads is read, and the kernel half is told of all of them. It believes an entry
 * only where the JVM's memory says that it is of this thread.
 */
#include "agent/profile/java_threads.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/process/thread_memory.h"
#include "agent/profile/session_private.h"
#include "agent/runtimes/hotspot/threads.h"
#include "agent/util/clock.h"
#include "agent/util/file.h"
#include "agent/util/macro.h"

/* Between two looks at one process: one that is starting makes threads, later ones may all be new. A look takes some milliseconds where there are a thousand. */
#define FIRST_WAIT_NS (20 * NS_PER_MS)
#define LAST_WAIT_NS (200 * NS_PER_MS)
/* A thread without a JavaThread may get one: it attaches itself. */
#define NOT_JAVA_NS (10 * NS_PER_S)
/* The first characters of what the kernel calls the threads that compile, "C2 CompilerThread0"; later JDKs leave out the middle. */
#define COMM_PREFIX_BYTES 7

struct java_vm {
	uint32_t exec_count; /* of the image */
	uint64_t look_ns;    /* not before */
	uint64_t wait_ns;    /* from the last look to then */
	uint64_t compilers;  /* the class of threads that compile; 0: none was met */
	bool is_read;
	struct hotspot_vm vm;
};

void java_vm_free(struct java_vm *vm)
{
	free(vm);
}

void session_forget_java(struct session *s, uint32_t pid)
{
	java_maps_drop(&s->runtimes.java, pid);
}

static int read_memory(void *data, uint64_t addr, void *dst, size_t n)
{
	return thread_memory_read(data, addr, dst, n);
}

/* What is known of the process's JVM; NULL: nothing, and there is nothing to be known yet. */
static struct java_vm *vm_of(struct process_state *k, const struct process *p)
{
	if (!k->java)
		k->java = calloc(1, sizeof(*k->java));
	if (k->java && k->java->exec_count != p->exec_count)
		*k->java = (struct java_vm){ .exec_count = p->exec_count };
	return k->java;
}

static bool read_vm(struct session *s, struct java_vm *java, const struct process *p,
		    const struct runtime_memory *memory)
{
	struct hotspot_layout of_file, layout;
	struct wire_runtime file, published;

	if (!runtime_tables_file_of(s->runtimes.tables, p, RUNTIME_HOTSPOT, &file) ||
	    !runtime_tables_of(s->runtimes.tables, p->pid, RUNTIME_HOTSPOT, &published))
		return false;
	memcpy(&of_file, file.words, sizeof(of_file));
	memcpy(&layout, published.words, sizeof(layout));
	if (!layout.is_supported || !of_file.table_at)
		return false;
	java->is_read = hotspot_vm_read(&layout, of_file.table_at + file.base, memory, &java->vm);
	java->vm.kernel.generation = ++s->runtimes.java_generation;
	return java->is_read;
}

static bool has_compiler_comm(uint32_t pid, uint32_t tid)
{
	_cleanup_(buf_fini) struct buf comm;
	char path[64];

	buf_init(&comm, 2 * WIRE_COMM_BYTES);
	(void)snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/comm", pid, tid);
	return file_read_piece(AT_FDCWD, path, &comm) == 0 &&
	       (strncmp(buf_str(&comm), "C1 Comp", COMM_PREFIX_BYTES) == 0 ||
		strncmp(buf_str(&comm), "C2 Comp", COMM_PREFIX_BYTES) == 0);
}

/* All threads that compile are of one class. Which one that is, is told by what the kernel calls one of them: the sample's thread, or another whose number is known here, too. */
static void find_compilers(struct java_vm *java, const struct wire_sample *head,
			   const struct hotspot_thread_id *threads, size_t n)
{
	bool is_numbered_alike = head->tid == head->own_tid;

	for (size_t i = 0; i < n && !java->compilers; i++) {
		bool is_own = threads[i].own_tid == head->own_tid;

		if (!threads[i].is_plain && (is_own || is_numbered_alike) &&
		    has_compiler_comm(head->pid, is_own ? head->tid : threads[i].own_tid))
			java->compilers = threads[i].class;
	}
}

static void tell_thread(struct session *s, const struct java_vm *java, uint32_t pid,
			uint32_t own_tid, const struct hotspot_thread *thread)
{
	struct hotspot_thread with = *thread;

	with.generation = java->vm.kernel.generation;
	java_maps_put_thread(&s->runtimes.java, pid, own_tid, &with);
}

/* Threads that may compile are told of once that is known: until then they are looked at again when they are sampled. */
static void tell_threads(struct session *s, struct java_vm *java, const struct wire_sample *head,
			 const struct hotspot_thread_id *threads, size_t n)
{
	struct hotspot_thread own = { .until_ns = clock_mono_ns() + NOT_JAVA_NS };

	find_compilers(java, head, threads, n);
	for (size_t i = 0; i < n; i++) {
		struct hotspot_thread t = { .address = threads[i].address,
					    .is_compiler = java->compilers &&
							   threads[i].class == java->compilers };

		if (threads[i].own_tid == head->own_tid)
			own = t;
		else if (threads[i].is_plain || java->compilers)
			tell_thread(s, java, head->pid, threads[i].own_tid, &t);
	}
	tell_thread(s, java, head->pid, head->own_tid, &own);
}

static void look(struct session *s, struct java_vm *java, const struct sample *sample,
		 const struct process *p)
{
	struct thread_memory of_thread = { .pid = p->pid, .tid = sample->head->tid };
	const struct runtime_memory memory = { .read = read_memory, .data = &of_thread };
	struct hotspot_thread_id *threads;

	if (!java->is_read && !read_vm(s, java, p, &memory))
		return;
	threads = calloc(HOTSPOT_MAX_THREADS, sizeof(*threads));
	if (!threads)
		return;
	size_t n = hotspot_vm_threads(&java->vm, &memory, threads);
	java->vm.kernel.exec_id = sample->head->exec_id;
	if (n > 0 && java_maps_put(&s->runtimes.java, p->pid, &java->vm.kernel))
		tell_threads(s, java, sample->head, threads, n);
	free(threads);
}

void session_meet_java_thread(struct session *s, const struct sample *sample, struct process *p)
{
	struct process_state *k = p->user;
	struct java_vm *java;
	uint64_t now_ns;

	if (!p->pid || !k)
		return;
	java = vm_of(k, p);
	now_ns = clock_mono_ns();
	if (!java || now_ns < java->look_ns)
		return;
	look(s, java, sample, p);
	java->wait_ns = MIN_OF(MAX_OF(2 * java->wait_ns, FIRST_WAIT_NS), LAST_WAIT_NS);
	java->look_ns = now_ns + java->wait_ns;
}
