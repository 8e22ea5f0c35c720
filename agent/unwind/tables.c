/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel half knows of processes.
 *
 *	entry (pid) ──► range (one struct mappings, shared by forks) ──► an array in the arena, slots of the object table
 *
 * A range is referenced by its entries; the last one to go gives its place back to the arena. A process that is not to be profiled has an
 * entry without a range.
 */
#include "agent/unwind/tables.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#include "agent/unwind/wire_mapping.h"

#define MAPPING_WORDS (sizeof(struct wire_mapping) / WIRE_WORD_BYTES)

struct range {
	struct mappings *mappings; /* a reference; the key of `ranges` by address */
	uint32_t at;
	unsigned int n_entries;
	struct hash_node node;
};

struct entry {
	uint32_t pid;
	uint32_t generation; /* 0: refused */
	uint32_t exec_id;    /* of the image that has these mappings */
	struct range *range; /* NULL: refused */
	uint32_t runtime;    /* struct wire_process */
	struct hash_node node;
	struct list lru;
};

struct retired {
	uint32_t generation;	   /* 0: none */
	struct mappings *mappings; /* a reference */
};

struct tables {
	struct tables_options options;
	struct hash_table ranges;
	struct hash_table entries;
	struct list lru;			    /* entries, least recently sampled first */
	struct retired retired[TABLES_MAX_RETIRED]; /* a ring */
	uint32_t n_retired;
	uint32_t last_generation;
	uint32_t n_mappings;
};

int tables_new(const struct tables_options *o, struct tables **ret_tables)
{
	struct tables *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->options = *o;
	list_init(&t->lru);
	*ret_tables = t;
	return 0;
}

static void range_release_objects(struct tables *t, const struct range *range)
{
	const struct wire_mapping *array = kernel_arena_ptr(t->options.arena, range->at);
	const struct mappings *m = range->mappings;

	for (uint32_t i = 0; i < m->n; i++)
		if (array[i].object >= WIRE_OBJECT_FIRST)
			object_tables_give(t->options.objects, m->items[i].file);
}

static void range_unref(struct tables *t, struct range *range)
{
	if (!range || --range->n_entries > 0)
		return;
	hash_remove(&t->ranges, &range->node);
	range_release_objects(t, range);
	t->n_mappings -= range->mappings->n;
	kernel_arena_give(t->options.arena, range->at, range->mappings->n * MAPPING_WORDS);
	mappings_unref(range->mappings);
	free(range);
}

static void retire(struct tables *t, const struct entry *e)
{
	struct retired *old;

	if (!e->range)
		return;
	old = &t->retired[t->n_retired++ % TABLES_MAX_RETIRED];
	mappings_unref(old->mappings);
	*old = (struct retired){ e->generation, mappings_ref(e->range->mappings) };
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
	for (uint32_t i = 0; i < TABLES_MAX_RETIRED; i++)
		mappings_unref(t->retired[i].mappings);
	hash_fini(&t->entries);
	hash_fini(&t->ranges);
	free(t);
}

static struct entry *entry_find(const struct tables *t, uint32_t pid)
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
	const struct tables_runtimes *runtimes = &t->options.runtimes;

	(void)bpf_map_delete_elem(t->options.processes_fd, &e->pid);
	if (e->runtime && runtimes->retract)
		runtimes->retract(e->pid, runtimes->data);
	hash_remove(&t->entries, &e->node);
	list_remove(&e->lru);
	retire(t, e);
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

static void range_fill(struct tables *t, const struct range *range)
{
	struct wire_mapping *to = kernel_arena_ptr(t->options.arena, range->at);
	const struct mappings *m = range->mappings;

	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t object = wire_mapping_is_named(&m->items[i])
					  ? object_tables_hold(t->options.objects, m->items[i].file)
					  : WIRE_OBJECT_FP;

		to[i] = wire_mapping_from(&m->items[i], object);
	}
}

/* What is evicted becomes free only after the grace time: it makes room for later calls, not for this one. */
static void make_room(struct tables *t, uint32_t n_words, uint32_t pid)
{
	while (kernel_arena_waiting_words(t->options.arena) < n_words && evict_one(t, pid))
		;
}

static int range_new(struct tables *t, struct mappings *m, uint32_t pid, struct range **ret_range)
{
	_cleanup_free_ struct range *range = calloc(1, sizeof(*range));

	if (!range)
		return -ENOMEM;
	int r = kernel_arena_take(t->options.arena, m->n * MAPPING_WORDS, &range->at);
	if (r < 0) {
		make_room(t, m->n * MAPPING_WORDS, pid);
		return r;
	}
	r = hash_insert(&t->ranges, &range->node, range_hash(m));
	if (r < 0) {
		kernel_arena_give_unseen(t->options.arena, range->at, m->n * MAPPING_WORDS);
		return r;
	}
	range->mappings = mappings_ref(m);
	t->n_mappings += m->n;
	range_fill(t, range);
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

/* The array's stores must be visible before the entry that points to it: the system call is a full barrier. */
static int entry_write(struct tables *t, uint32_t pid, const struct wire_process *value)
{
	return bpf_map_update_elem(t->options.processes_fd, &pid, value, BPF_ANY) < 0 ? -errno : 0;
}

/* Makes the entry if there is none. */
static int entry_put(struct tables *t, uint32_t pid, const struct wire_process *value,
		     struct entry **entry)
{
	if (!*entry && t->entries.n >= t->options.max_processes)
		(void)evict_one(t, pid);
	int r = entry_write(t, pid, value);
	if (r == 0 && !*entry) {
		r = entry_new(t, pid, entry);
		if (r < 0)
			(void)bpf_map_delete_elem(t->options.processes_fd, &pid);
	}
	return r;
}

static void entry_set(struct tables *t, struct entry *e, struct range *range, uint32_t generation)
{
	struct range *old = e->range;

	retire(t, e);
	e->range = range;
	e->generation = generation;
	range_unref(t, old);
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

/* 0 is for "none". */
static uint32_t next_generation(struct tables *t)
{
	if (++t->last_generation == 0)
		t->last_generation = 1;
	return t->last_generation;
}

static uint32_t publish_runtime(struct tables *t, const struct process *p)
{
	const struct tables_runtimes *runtimes = &t->options.runtimes;

	return runtimes->publish ? runtimes->publish(p, runtimes->data) : RUNTIME_NONE;
}

static void retract_runtime(struct tables *t, uint32_t pid)
{
	if (t->options.runtimes.retract)
		t->options.runtimes.retract(pid, t->options.runtimes.data);
}

static int publish(struct tables *t, const struct process *p, struct entry *e)
{
	uint32_t generation = next_generation(t);
	struct range *range = NULL;
	int r = range_for(t, p, &range);

	if (r < 0)
		return r;
	uint32_t runtime = publish_runtime(t, p);
	r = entry_put(t, p->pid,
		      &(struct wire_process){ .mappings_at = range->at,
					      .n_mappings = range->mappings->n,
					      .generation = generation,
					      .exec_id = p->exec_id,
					      .runtime = runtime },
		      &e);
	if (r < 0) {
		range_unref(t, range);
		/* An entry that there was retracts its own. */
		if (runtime && !(e && e->runtime))
			retract_runtime(t, p->pid);
		return r;
	}
	if (e->runtime && !runtime)
		retract_runtime(t, p->pid);
	entry_set(t, e, range, generation);
	e->exec_id = p->exec_id;
	e->runtime = runtime;
	return 0;
}

int tables_refuse(struct tables *t, uint32_t pid, uint64_t cgroup_id)
{
	struct wire_process value = { .refused_cgroup = (uint32_t)cgroup_id };
	struct entry *e = entry_find(t, pid);
	int r = entry_put(t, pid, &value, &e);

	if (r < 0)
		return r;
	entry_set(t, e, NULL, 0);
	list_remove(&e->lru);
	list_push_front(&t->lru, &e->lru);
	return 0;
}

void tables_forgive(struct tables *t)
{
	HASH_FOREACH (&t->entries, node) {
		struct entry *e = CONTAINER_OF(node, struct entry, node);

		if (!e->range)
			entry_free(t, e);
	}
}

static bool is_published(const struct entry *e, const struct process *p)
{
	return e && e->range && e->range->mappings == p->mappings && e->exec_id == p->exec_id;
}

int tables_publish(struct tables *t, const struct process *p)
{
	struct entry *e = entry_find(t, p->pid);

	return p->mappings && is_published(e, p) ? 0 : tables_publish_anew(t, p);
}

int tables_publish_anew(struct tables *t, const struct process *p)
{
	struct entry *e = entry_find(t, p->pid);

	if (!p->mappings || p->mappings->n == 0) {
		tables_retract(t, p->pid);
		return -ENOSPC;
	}
	int r = p->mappings->n > WIRE_MAX_PROCESS_MAPPINGS ? -ENOSPC : publish(t, p, e);
	if (r < 0) {
		/* Better no entry than an old one. */
		tables_retract(t, p->pid);
		telemetry_count(t->options.telemetry, TELEMETRY_mapping_table_full, 1);
	}
	return r;
}

const struct mappings *tables_mappings(const struct tables *t, uint32_t pid, uint32_t generation)
{
	const struct entry *e = entry_find(t, pid);

	if (generation == 0)
		return NULL;
	if (e && e->generation == generation)
		return e->range->mappings;
	for (uint32_t i = 0; i < TABLES_MAX_RETIRED; i++)
		if (t->retired[i].generation == generation)
			return t->retired[i].mappings;
	return NULL;
}

void tables_each(struct tables *t, void (*fn)(uint32_t pid, void *data), void *data)
{
	_cleanup_free_ uint32_t *pids = calloc(t->entries.n + 1, sizeof(*pids));
	size_t n = 0;

	if (!pids)
		return;
	LIST_FOREACH (&t->lru, node) {
		const struct entry *e = LIST_ENTRY(node, struct entry, lru);

		if (e->range)
			pids[n++] = e->pid;
	}
	for (size_t i = 0; i < n; i++)
		fn(pids[i], data);
}

uint32_t tables_n_processes(const struct tables *t)
{
	return (uint32_t)t->entries.n;
}

uint32_t tables_n_mappings(const struct tables *t)
{
	return t->n_mappings;
}
