/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables that the kernel half reads.
 *
 *	entry (pid) ──► range (one struct mappings, shared by forks) ──► [first, first + n) of the array
 *
 * A range is referenced by its entries; when the last one goes it is put on the `quarantine` list until the grace time is over.
 */
#include "agent/unwind/tables.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/unwind/extent.h"
#include "agent/unwind/wire_mapping.h"
#include "agent/util/clock.h"

struct range {
	struct mappings *mappings; /* a reference; the key of `ranges` by address */
	uint32_t first;
	uint32_t n;
	unsigned int n_entries;
	uint64_t given_up_ns;
	struct hash_node node;
	struct list quarantine;
};

struct entry {
	uint32_t pid;
	struct range *range;
	struct hash_node node;
	struct list lru;
};

struct tables {
	struct tables_options options;
	struct wire_mapping *array;
	size_t array_bytes;
	struct extents extents;
	struct hash_table ranges;
	struct hash_table entries;
	struct list lru; /* entries, least recently sampled first */
	struct list quarantine;
};

static int tables_map(struct tables *t)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (size_t)t->options.max_mappings * sizeof(struct wire_mapping);

	t->array_bytes = (bytes + page - 1) / page * page;
	void *p = mmap(NULL, t->array_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		       t->options.mappings_fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	t->array = p;
	return 0;
}

int tables_new(const struct tables_options *o, struct tables **ret_tables)
{
	_cleanup_(tables_freep) struct tables *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->options = *o;
	list_init(&t->lru);
	list_init(&t->quarantine);
	int r = extents_init(&t->extents, o->max_mappings);
	if (r == 0)
		r = tables_map(t);
	if (r < 0)
		return r;
	*ret_tables = TAKE_PTR(t);
	return 0;
}

static void range_free(struct tables *t, struct range *range)
{
	list_remove(&range->quarantine);
	(void)extents_give(&t->extents, range->first, range->n);
	mappings_unref(range->mappings);
	free(range);
}

static void range_unref(struct tables *t, struct range *range)
{
	if (--range->n_entries > 0)
		return;
	hash_remove(&t->ranges, &range->node);
	range->given_up_ns = clock_mono_ns();
	list_push_back(&t->quarantine, &range->quarantine);
}

void tables_free(struct tables *t)
{
	if (!t)
		return;
	HASH_FOREACH (&t->entries, node) {
		struct entry *e = CONTAINER_OF(node, struct entry, node);

		range_unref(t, e->range);
		free(e);
	}
	LIST_FOREACH (&t->quarantine, node)
		range_free(t, LIST_ENTRY(node, struct range, quarantine));
	hash_fini(&t->entries);
	hash_fini(&t->ranges);
	extents_fini(&t->extents);
	if (t->array)
		(void)munmap(t->array, t->array_bytes);
	free(t);
}

void tables_reclaim(struct tables *t, uint64_t now_ns)
{
	LIST_FOREACH (&t->quarantine, node) {
		struct range *range = LIST_ENTRY(node, struct range, quarantine);

		if (range->given_up_ns + TABLES_GRACE_NS > now_ns)
			break;
		range_free(t, range);
	}
}

static struct entry *entry_find(struct tables *t, uint32_t pid)
{
	HASH_FOREACH_MATCH (&t->entries, hash_u64(pid), node) {
		struct entry *e = CONTAINER_OF(node, struct entry, node);

		if (e->pid == pid)
			return e;
	}
	return NULL;
}

static void entry_free(struct tables *t, struct entry *e)
{
	(void)bpf_map_delete_elem(t->options.processes_fd, &e->pid);
	hash_remove(&t->entries, &e->node);
	list_remove(&e->lru);
	range_unref(t, e->range);
	free(e);
}

void tables_retract(struct tables *t, uint32_t pid)
{
	struct entry *e = entry_find(t, pid);

	if (e)
		entry_free(t, e);
}

void tables_touch(struct tables *t, uint32_t pid)
{
	struct entry *e = entry_find(t, pid);

	if (!e)
		return;
	list_remove(&e->lru);
	list_push_back(&t->lru, &e->lru);
}

static uint64_t range_hash(const struct mappings *m)
{
	return hash_u64((uintptr_t)m);
}

static struct range *range_find(struct tables *t, const struct mappings *m)
{
	HASH_FOREACH_MATCH (&t->ranges, range_hash(m), node) {
		struct range *range = CONTAINER_OF(node, struct range, node);

		if (range->mappings == m)
			return range;
	}
	return NULL;
}

/* Gives up the process that was sampled longest ago, but never `keep_pid`. False when there is none. */
static bool evict_one(struct tables *t, uint32_t keep_pid)
{
	LIST_FOREACH (&t->lru, node) {
		struct entry *e = LIST_ENTRY(node, struct entry, lru);

		if (e->pid == keep_pid)
			continue;
		entry_free(t, e);
		return true;
	}
	return false;
}

/* What is evicted becomes free only after the grace time, so one eviction a call makes room for later calls, not for this one. */
static int range_new(struct tables *t, struct mappings *m, uint32_t pid, struct range **ret_range)
{
	_cleanup_free_ struct range *range = calloc(1, sizeof(*range));

	if (!range)
		return -ENOMEM;
	list_init(&range->quarantine);
	range->n = m->n;
	if (extents_take(&t->extents, m->n, &range->first) < 0) {
		(void)evict_one(t, pid);
		return -ENOSPC;
	}
	int r = hash_insert(&t->ranges, &range->node, range_hash(m));
	if (r < 0) {
		(void)extents_give(&t->extents, range->first, range->n);
		return r;
	}
	range->mappings = mappings_ref(m);
	for (uint32_t i = 0; i < m->n; i++)
		t->array[range->first + i] = wire_mapping_from(&m->items[i]);
	*ret_range = TAKE_PTR(range);
	return 0;
}

static int entry_new(struct tables *t, uint32_t pid, struct entry **ret_entry)
{
	_cleanup_free_ struct entry *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->pid = pid;
	list_init(&e->lru);
	int r = hash_insert(&t->entries, &e->node, hash_u64(pid));
	if (r < 0)
		return r;
	list_push_back(&t->lru, &e->lru);
	*ret_entry = TAKE_PTR(e);
	return 0;
}

static int entry_write(struct tables *t, const struct process *p, const struct range *range)
{
	struct wire_process value = {
		.first = range->first,
		.n_mappings = range->n,
		.generation = p->generation,
	};

	/* The array's stores must be visible before the entry that points to it: the system call is a full barrier. */
	return bpf_map_update_elem(t->options.processes_fd, &p->pid, &value, BPF_ANY) < 0 ? -errno
											  : 0;
}

static int range_for(struct tables *t, const struct process *p, struct range **ret_range)
{
	struct range *range = range_find(t, p->mappings);
	int r = 0;

	if (!range)
		r = range_new(t, p->mappings, p->pid, &range);
	if (r < 0)
		return r;
	range->n_entries++;
	*ret_range = range;
	return 0;
}

static int publish(struct tables *t, const struct process *p)
{
	struct range *range = NULL;
	struct entry *e = entry_find(t, p->pid);
	int r = range_for(t, p, &range);

	if (r < 0)
		return r;
	if (!e && t->entries.n >= t->options.max_processes)
		(void)evict_one(t, p->pid);
	r = entry_write(t, p, range);
	if (r == 0 && !e) {
		r = entry_new(t, p->pid, &e);
		if (r < 0)
			(void)bpf_map_delete_elem(t->options.processes_fd, &p->pid);
	}
	if (r < 0) {
		range_unref(t, range);
		return r;
	}
	if (e->range)
		range_unref(t, e->range);
	e->range = range;
	return 0;
}

int tables_publish(struct tables *t, const struct process *p)
{
	int r;

	if (!p->mappings || p->mappings->n == 0 || p->mappings->n > WIRE_MAX_PROCESS_MAPPINGS) {
		tables_retract(t, p->pid);
		return -ENOSPC;
	}
	r = publish(t, p);
	if (r < 0) {
		/* Better no entry than an old one. */
		tables_retract(t, p->pid);
		telemetry_count(t->options.telemetry, TELEMETRY_mapping_table_full, 1);
	}
	return r;
}

uint32_t tables_n_processes(const struct tables *t)
{
	return (uint32_t)t->entries.n;
}

uint32_t tables_n_mappings(const struct tables *t)
{
	return t->extents.used;
}
