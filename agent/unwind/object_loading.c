/* SPDX-License-Identifier: Apache-2.0 */
/* The unwind rules of mapped files: which tables are in the arena. One is built at a time. */
#include <errno.h>
#include <stdlib.h>

#include "agent/unwind/debug_elf.h"
#include "agent/unwind/object_tables_private.h"
#include "agent/util/reader.h"

/* Whatever walks have remembered of tables is to be looked up anew. */
static void raise_epoch(struct object_tables *t)
{
	if (t->options.epoch)
		__atomic_add_fetch(t->options.epoch, 1, __ATOMIC_RELEASE);
}

/* A walk that finds an odd serial, or another one behind what it has read, does without the table. */
static void slot_publish(struct object_tables *t, uint32_t slot, const struct wire_object *object)
{
	struct wire_object *to = &t->objects[slot];
	uint32_t serial = t->last_publication += 2;

	__atomic_store_n(&to->serial, serial - 1, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	to->base_vaddr = object->base_vaddr;
	to->n_buckets = object->n_buckets;
	to->pages_at = object->pages_at;
	to->rules_at = object->rules_at;
	to->escapes_at = object->escapes_at;
	to->n_escapes = object->n_escapes;
	to->n_rule_words = object->n_rule_words;
	__atomic_store_n(&to->serial, serial, __ATOMIC_RELEASE);
	raise_epoch(t);
}

static void slot_withdraw(struct object_tables *t, uint32_t slot)
{
	__atomic_store_n(&t->objects[slot].n_rule_words, 0, __ATOMIC_RELEASE);
	raise_epoch(t);
}

void object_table_touch(struct object_tables *t, struct shared_table *table)
{
	table->used_ns = t->now_ns;
	list_remove(&table->lru);
	list_push_back(&t->tables, &table->lru);
}

static void table_free(struct object_tables *t, struct shared_table *table)
{
	list_remove(&table->lru);
	t->table_bytes -= table->n_bytes;
	if (table->n_bytes > 0)
		row_table_remove(t->options.arena, &table->object);
	free(table);
}

static void entry_load(struct object_tables *t, struct object_entry *e, struct shared_table *table)
{
	e->table = table;
	table->n_files++;
	e->state = OBJECT_LOADED;
	slot_publish(t, e->slot, &table->object);
	object_table_touch(t, table);
}

void object_entry_unload(struct object_tables *t, struct object_entry *e)
{
	struct shared_table *table = e->table;

	if (!table)
		return;
	slot_withdraw(t, e->slot);
	e->table = NULL;
	e->state = OBJECT_IDLE;
	if (--table->n_files == 0)
		table_free(t, table);
}

static void evict(struct object_tables *t, struct shared_table *table)
{
	telemetry_count(t->options.telemetry, TELEMETRY_unwind_table_evictions, 1);
	HASH_FOREACH (&t->entries, node) {
		struct object_entry *e = CONTAINER_OF(node, struct object_entry, node);

		/* The last one frees it. */
		if (e->table == table)
			object_entry_unload(t, e);
	}
}

/* What tables that nobody came by lately take, as far as it is needed. */
static uint64_t idle_bytes(const struct object_tables *t, uint64_t n_needed)
{
	uint64_t found = 0;

	LIST_FOREACH (&t->tables, node) {
		const struct shared_table *table = LIST_ENTRY(node, struct shared_table, lru);

		if (found >= n_needed || table->used_ns + OBJECT_TABLES_KEEP_NS > t->now_ns)
			break;
		found += table->n_bytes;
	}
	return found;
}

/* Withdraws tables that nobody came by lately until n_bytes less are used. False, and nothing withdrawn, when there are not enough. */
static bool make_room(struct object_tables *t, uint64_t n_bytes)
{
	uint64_t found = idle_bytes(t, n_bytes);

	if (found < n_bytes)
		return false;
	while (found > 0) {
		struct shared_table *table = LIST_ENTRY(t->tables.next, struct shared_table, lru);

		found -= table->n_bytes;
		evict(t, table);
	}
	return true;
}

/* Whether a table of that size could be placed by now. */
static bool may_have_room(const struct object_tables *t, uint64_t n_bytes)
{
	if (n_bytes > t->options.max_table_bytes)
		return false;
	return t->table_bytes + n_bytes <= t->options.max_table_bytes ||
	       idle_bytes(t, n_bytes) >= n_bytes;
}

/* The worker has built it all the same: what a file claims to be is no reason to walk by another one's rules. */
static struct shared_table *table_find(struct object_tables *t, uint64_t digest)
{
	LIST_FOREACH (&t->tables, node) {
		struct shared_table *table = LIST_ENTRY(node, struct shared_table, lru);

		if (table->digest == digest)
			return table;
	}
	return NULL;
}

void object_entry_put_off(struct object_tables *t, struct object_entry *e, int error)
{
	e->state = OBJECT_UNREADABLE;
	e->error = error;
	e->retry_ns = t->now_ns + (reader_is_passing(error) ? OBJECT_TABLES_PASSING_NS
							     : OBJECT_TABLES_RETRY_NS);
}

static void no_room(struct object_tables *t, struct object_entry *e, uint64_t needed_bytes)
{
	e->state = OBJECT_NO_ROOM;
	e->needed_bytes = needed_bytes;
	e->retry_ns = t->now_ns + OBJECT_TABLES_RETRY_NS;
	telemetry_count(t->options.telemetry, TELEMETRY_unwind_tables_no_room, 1);
}

bool object_entry_may_want(const struct object_tables *t, const struct object_entry *e)
{
	if (e->slot < WIRE_OBJECT_FIRST || !list_empty(&e->wanted) || e == t->building)
		return false;
	return (e->state != OBJECT_NO_ROOM && e->state != OBJECT_UNREADABLE) ||
	       t->now_ns >= e->retry_ns;
}

void object_entry_want(struct object_tables *t, struct object_entry *e)
{
	/* Building it again would find no room again. */
	if (e->state == OBJECT_NO_ROOM && !may_have_room(t, e->needed_bytes)) {
		e->retry_ns = t->now_ns + OBJECT_TABLES_RETRY_NS;
		return;
	}
	/* The debug file's rules would be missing. */
	if (e->debug_fd == DEBUG_ELF_LATER)
		return;
	e->state = OBJECT_WANTED;
	list_push_back(&t->wanted, &e->wanted);
}

/* A file without rules has a table that says so: there frame pointers are followed. */
static int place(struct object_tables *t, const struct object_build *b,
		 struct shared_table *ret_table)
{
	const struct row_table_stats *stats = b->table ? row_table_stats(b->table) : NULL;

	if (!b->table) {
		ret_table->object.n_rule_words = 1;
		return 0;
	}
	ret_table->n_bytes = stats->n_bytes;
	ret_table->n_rows = stats->n_rows;
	if (t->table_bytes + stats->n_bytes > t->options.max_table_bytes)
		return -ENOSPC;
	int r = row_table_place(b->table, t->options.arena, &ret_table->object);
	if (r == 0)
		ret_table->object.base_vaddr -= b->bias;
	return r;
}

static int load(struct object_tables *t, struct object_entry *e, const struct object_build *b)
{
	struct shared_table *same = table_find(t, b->digest);
	_cleanup_free_ struct shared_table *table = same ? NULL : calloc(1, sizeof(*table));

	if (same) {
		entry_load(t, e, same);
		return 0;
	}
	if (!table)
		return -ENOMEM;
	list_init(&table->lru);
	int r = place(t, b, table);
	if (r < 0)
		return r;
	table->digest = b->digest;
	t->table_bytes += table->n_bytes;
	entry_load(t, e, TAKE_PTR(table));
	return 0;
}

/* Into the arena, or away; what was evicted to make room becomes free only after the grace time, so a build may wait for it once. */
static void settle(struct object_tables *t, struct object_build *b, bool may_wait)
{
	struct object_entry *e = t->building;
	int r = b->result == ROW_TABLE_TOO_LARGE ? -ENOSPC
		: b->result < 0			 ? b->result
						 : load(t, e, b);

	if (r == -ENOSPC && may_wait && b->table &&
	    make_room(t, row_table_stats(b->table)->n_bytes)) {
		t->built = b;
		return;
	}
	if (r == -ENOSPC)
		no_room(t, e, b->table ? row_table_stats(b->table)->n_bytes : UINT64_MAX);
	else if (r < 0)
		object_entry_put_off(t, e, r);
	t->building = NULL;
	object_build_free(b);
}

static void start_next(struct object_tables *t);

static void on_built(struct worker_job *job)
{
	struct object_build *b = CONTAINER_OF(job, struct object_build, job);
	struct object_tables *t = b->data;

	settle(t, b, true);
	start_next(t);
}

static int start(struct object_tables *t, struct object_entry *e)
{
	_cleanup_(object_build_freep) struct object_build *b = NULL;
	int r = object_build_new(e->file, e->debug_fd, t->options.max_build_bytes, &t->key, &b);

	if (r < 0)
		return r;
	b->job.done = on_built;
	b->data = t;
	r = worker_submit(t->options.worker, &b->job);
	if (r < 0)
		return r;
	t->building = e;
	b = NULL;
	return 0;
}

static void start_next(struct object_tables *t)
{
	while (!t->building && !t->stopped && !list_empty(&t->wanted)) {
		struct object_entry *e = LIST_ENTRY(t->wanted.next, struct object_entry, wanted);

		list_remove(&e->wanted);
		int r = start(t, e);
		if (r == -EAGAIN) {
			list_push_front(&t->wanted, &e->wanted);
			return;
		}
		if (r < 0)
			object_entry_put_off(t, e, r);
	}
}

void object_loading_tick(struct object_tables *t)
{
	struct object_build *b = t->built;

	t->built = NULL;
	if (b)
		settle(t, b, false);
	start_next(t);
}
