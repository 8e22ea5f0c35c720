/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel half is told of the runtimes of processes. */
#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

#include "agent/process/thread_memory.h"
#include "agent/runtimes/runtime_tables_private.h"
#include "agent/util/log.h"

static bool look_up(const struct runtime_tables *t, uint32_t pid, uint32_t place,
		    struct wire_runtime *ret_runtime)
{
	uint64_t key = wire_runtime_key(pid, place);

	return bpf_map_lookup_elem(t->maps.runtimes_fd, &key, ret_runtime) == 0;
}

bool runtime_tables_of(const struct runtime_tables *t, uint32_t pid, enum runtime_kind kind,
		       struct wire_runtime *ret_runtime)
{
	for (uint32_t place = 0; place < RUNTIMES_OF_PROCESS; place++)
		if (look_up(t, pid, place, ret_runtime) && ret_runtime->kind == kind)
			return true;
	return false;
}

static int read_memory(void *data, uint64_t addr, void *dst, size_t n)
{
	return thread_memory_read(data, addr, dst, n);
}

static bool ask_runtime(struct wire_runtime *wire, uint32_t pid)
{
	const struct runtime *runtime = runtime_of(wire->kind);
	struct thread_memory of_process = { .pid = pid, .tid = pid };
	const struct runtime_memory memory = { .read = read_memory, .data = &of_process };

	return !runtime || !runtime->publish || runtime->publish(wire, pid, &memory);
}

static void forget(uint32_t kind, uint32_t pid)
{
	const struct runtime *runtime = runtime_of(kind);

	if (runtime && runtime->retract)
		runtime->retract(pid);
}

/* What another file of the process tells of the same runtime. */
static void join_part(struct runtime_tables *t, const struct process *p, struct wire_runtime *wire)
{
	const struct runtime *runtime = runtime_of(wire->kind);
	const struct holder *part =
		runtime && runtime->join ? runtime_tables_part(t, p, wire->kind) : NULL;

	if (part)
		runtime->join(wire, &part->file.wire);
}

/* What its file tells. */
static void fill_by_file(const struct mapped_runtime *r, struct wire_runtime *ret_wire)
{
	/* The first executable segment begins somewhere in its first page. */
	uint64_t linked = r->holder->file.wire.base & ~((uint64_t)sysconf(_SC_PAGESIZE) - 1);

	*ret_wire = r->holder->file.wire;
	ret_wire->base = r->mapping->begin - linked;
}

bool runtime_tables_file_of(struct runtime_tables *t, const struct process *p,
			    enum runtime_kind kind, struct wire_runtime *ret_runtime)
{
	struct mapped_runtime runtimes[RUNTIMES_OF_PROCESS];
	size_t n = runtime_tables_mapped(t, p, runtimes);

	for (size_t i = 0; i < n; i++) {
		if (runtimes[i].holder->file.wire.kind != kind)
			continue;
		fill_by_file(&runtimes[i], ret_runtime);
		return true;
	}
	return false;
}

/* What is told of it, but for its place. False: it cannot be told, for now. */
static bool fill(struct runtime_tables *t, const struct process *p, const struct mapped_runtime *r,
		 struct wire_runtime *ret_wire)
{
	const struct holder *h = r->holder;

	fill_by_file(r, ret_wire);
	if (ret_wire->flags & WIRE_RUNTIME_CLAIMS)
		ret_wire->words[WIRE_CLAIMED_AT] += (uint64_t)h->file_id << WIRE_FRAME_OFFSET_BITS;
	join_part(t, p, ret_wire);
	return ask_runtime(ret_wire, p->pid);
}

static bool put(struct runtime_tables *t, uint32_t pid, uint32_t place,
		const struct wire_runtime *wire)
{
	uint64_t key = wire_runtime_key(pid, place);

	if (bpf_map_update_elem(t->maps.runtimes_fd, &key, wire, BPF_ANY) == 0)
		return true;
	log_debug("a runtime is not walked", LOG_ERR(-errno), LOG_UINT("pid", pid));
	(void)bpf_map_delete_elem(t->maps.runtimes_fd, &key);
	forget(wire->kind, pid);
	return false;
}

static bool has_kind(const struct wire_runtime *wires, size_t n, uint32_t kind)
{
	for (size_t i = 0; i < n; i++)
		if (wires[i].kind == kind)
			return true;
	return false;
}

/* What was told and is not any more: runtimes, and places. */
static void retract_others(struct runtime_tables *t, uint32_t pid, const struct wire_runtime *wires,
			   size_t n)
{
	for (uint32_t place = 0; place < RUNTIMES_OF_PROCESS; place++) {
		uint64_t key = wire_runtime_key(pid, place);
		struct wire_runtime had;

		if (!look_up(t, pid, place, &had))
			continue;
		if (!has_kind(wires, n, had.kind))
			forget(had.kind, pid);
		if (place >= n)
			(void)bpf_map_delete_elem(t->maps.runtimes_fd, &key);
	}
}

void runtime_tables_retract(struct runtime_tables *t, uint32_t pid)
{
	retract_others(t, pid, NULL, 0);
}

enum runtime_kind runtime_tables_publish(struct runtime_tables *t, const struct process *p,
					 bool *ret_all)
{
	struct mapped_runtime runtimes[RUNTIMES_OF_PROCESS];
	struct wire_runtime wires[RUNTIMES_OF_PROCESS];
	size_t n_mapped = runtime_tables_mapped(t, p, runtimes), n = 0;

	for (size_t i = 0; i < n_mapped; i++)
		n += fill(t, p, &runtimes[i], &wires[n]);
	retract_others(t, p->pid, wires, n);
	/* The one beside is there before the first says so. */
	while (n > 1 && !put(t, p->pid, n - 1, &wires[n - 1]))
		n--;
	if (n > 1)
		wires[0].flags |= WIRE_RUNTIME_IS_FIRST;
	if (n && !put(t, p->pid, 0, &wires[0])) {
		runtime_tables_retract(t, p->pid);
		n = 0;
	}
	*ret_all = n == n_mapped;
	return n ? (enum runtime_kind)wires[0].kind : RUNTIME_NONE;
}
