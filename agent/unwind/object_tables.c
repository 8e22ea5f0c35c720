/* SPDX-License-Identifier: Apache-2.0 */
/* The unwind rules of mapped files: slots of the object table, and single rules. */
#include "agent/unwind/object_tables.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/unwind/debug_elf.h"
#include "agent/unwind/object_tables_private.h"
#include "agent/unwind/row_table.h"
#include "agent/util/clock.h"
#include "agent/util/reader.h"

#define SWEEP_NS NS_PER_S
/* A debug file that could not be looked for is looked for once more. Until then there is no table. */
#define DEBUG_AGAIN_NS NS_PER_S

static size_t map_bytes(const struct object_tables *t)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (size_t)t->options.max_objects * sizeof(struct wire_object);

	return (bytes + page - 1) / page * page;
}

static int map_objects(struct object_tables *t)
{
	int flags = t->options.objects_fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	void *p = mmap(NULL, map_bytes(t), PROT_READ | PROT_WRITE, flags, t->options.objects_fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	t->objects = p;
	return 0;
}

int object_tables_new(const struct object_tables_options *o, struct object_tables **ret_tables)
{
	_cleanup_(object_tables_freep) struct object_tables *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->options = *o;
	t->now_ns = clock_mono_ns();
	list_init(&t->wanted);
	list_init(&t->opened);
	list_init(&t->tables);
	siphash_key_init(&t->key);
	t->cache = calloc(RULE_CACHE_ENTRIES, sizeof(*t->cache));
	int r = t->cache ? slots_init(&t->slots, WIRE_OBJECT_FIRST, o->max_objects) : -ENOMEM;
	if (r == 0)
		r = map_objects(t);
	if (r < 0)
		return r;
	*ret_tables = TAKE_PTR(t);
	return 0;
}

static void entry_close(struct object_tables *t, struct object_entry *e)
{
	if (!e->rules)
		return;
	object_rules_free(e->rules);
	e->rules = NULL;
	list_remove(&e->opened);
	t->n_opened--;
}

static void entry_free(struct object_tables *t, struct object_entry *e)
{
	object_entry_unload(t, e);
	entry_close(t, e);
	list_remove(&e->wanted);
	hash_remove(&t->entries, &e->node);
	if (e->slot >= WIRE_OBJECT_FIRST)
		slots_give(&t->slots, e->slot, clock_mono_ns());
	reader_close(e->debug_fd);
	mapped_file_unref(e->file);
	free(e);
}

void object_tables_free(struct object_tables *t)
{
	if (!t)
		return;
	object_build_free(t->built);
	HASH_FOREACH (&t->entries, node)
		entry_free(t, CONTAINER_OF(node, struct object_entry, node));
	hash_fini(&t->entries);
	if (t->objects)
		(void)munmap(t->objects, map_bytes(t));
	slots_fini(&t->slots);
	free(t->cache);
	free(t);
}

void object_tables_stop(struct object_tables *t)
{
	t->stopped = true;
}

static struct object_entry *entry_find(const struct object_tables *t, uint32_t file_id)
{
	HASH_FOREACH_MATCH (&t->entries, hash_u64(file_id), node) {
		struct object_entry *e = CONTAINER_OF(node, struct object_entry, node);

		if (e->file->id == file_id)
			return e;
	}
	return NULL;
}

static void entry_take_slot(struct object_tables *t, struct object_entry *e)
{
	uint32_t slot = slots_take(&t->slots, t->now_ns);

	e->slot = slot ? slot : WIRE_OBJECT_ABSENT;
}

static struct object_entry *entry_new(struct object_tables *t, struct mapped_file *f)
{
	struct object_entry *e = calloc(1, sizeof(*e));

	if (!e || hash_insert(&t->entries, &e->node, hash_u64(f->id)) < 0) {
		free(e);
		return NULL;
	}
	e->file = mapped_file_ref(f);
	e->debug_fd = -1;
	e->serial = ++t->last_serial;
	e->used_ns = t->now_ns;
	entry_take_slot(t, e);
	list_init(&e->wanted);
	list_init(&e->opened);
	return e;
}

static struct object_entry *entry_get(struct object_tables *t, struct mapped_file *f)
{
	struct object_entry *e = entry_find(t, f->id);

	return e ? e : entry_new(t, f);
}

uint32_t object_tables_hold(struct object_tables *t, struct mapped_file *f)
{
	struct object_entry *e = entry_get(t, f);

	if (e && e->slot == WIRE_OBJECT_ABSENT)
		entry_take_slot(t, e);
	if (!e || e->slot == WIRE_OBJECT_ABSENT)
		return WIRE_OBJECT_ABSENT;
	e->n_holds++;
	return e->slot;
}

void object_tables_give(struct object_tables *t, struct mapped_file *f)
{
	struct object_entry *e = entry_find(t, f->id);

	assert(e && e->n_holds > 0);
	e->n_holds--;
}

static void entry_use(struct object_tables *t, struct object_entry *e)
{
	e->used_ns = t->now_ns;
	if (e->table)
		object_table_touch(t, e->table);
}

void object_tables_touch(struct object_tables *t, uint32_t file_id)
{
	struct object_entry *e = entry_find(t, file_id);

	if (e)
		entry_use(t, e);
}

static void close_oldest(struct object_tables *t)
{
	size_t max = t->options.max_opened ? t->options.max_opened : OBJECT_TABLES_MAX_OPENED;

	if (t->n_opened >= max)
		entry_close(t, LIST_ENTRY(t->opened.next, struct object_entry, opened));
}

/* Once: where file systems hang there shall be tables all the same. */
static void put_off_debug(const struct object_tables *t, struct object_entry *e)
{
	if (e->debug_again_ns)
		e->debug_fd = DEBUG_ELF_NONE;
	else
		e->debug_again_ns = t->now_ns + DEBUG_AGAIN_NS;
}

static int entry_open_rules(struct object_tables *t, struct process *p, struct object_entry *e)
{
	bool is_searched = e->debug_fd == -1;
	int r = object_rules_new(p, e->file, &e->debug_fd, &e->rules);

	if (r < 0) {
		object_entry_put_off(t, e, r);
		return r;
	}
	if (is_searched && e->debug_fd == DEBUG_ELF_LATER)
		put_off_debug(t, e);
	close_oldest(t);
	list_push_back(&t->opened, &e->opened);
	t->n_opened++;
	return 0;
}

/* When it makes sense to try, and for whom, is known there: what fails now may be possible for the next process. */
static int entry_open_file(struct object_tables *t, struct process *p, struct object_entry *e)
{
	int r = e->file->vdso ? 0 : process_open_file(t->options.processes, p, e->file);

	if (r < 0) {
		e->state = OBJECT_UNREADABLE;
		e->retry_ns = 0;
	}
	return r;
}

int object_entry_open(struct object_tables *t, struct process *p, struct object_entry *e)
{
	if (e->debug_fd == DEBUG_ELF_LATER && t->now_ns >= e->debug_again_ns) {
		e->debug_fd = -1;
		entry_close(t, e);
	}
	if (e->rules) {
		list_remove(&e->opened);
		list_push_back(&t->opened, &e->opened);
		return 0;
	}
	if (e->state == OBJECT_UNREADABLE && t->now_ns < e->retry_ns)
		return e->error;
	int r = entry_open_file(t, p, e);
	if (r == 0)
		r = entry_open_rules(t, p, e);
	if (r == 0 && e->state == OBJECT_UNREADABLE)
		e->state = OBJECT_IDLE;
	return r;
}

/* What a look-up for which a read was given up has kept may lack something. */
static void entry_doubt(struct object_tables *t, struct object_entry *e, int result)
{
	if (reader_is_passing(result))
		entry_close(t, e);
}

static struct cached_rule *cache_slot(struct object_tables *t, const struct object_entry *e,
				      uint64_t file_off)
{
	uint64_t hash = hash_u64(file_off ^ ((uint64_t)e->serial << 40));

	return &t->cache[hash % RULE_CACHE_ENTRIES];
}

static int entry_rule(struct object_tables *t, struct process *p, struct object_entry *e,
		      uint64_t file_off, struct unwind_rule *ret_rule)
{
	struct cached_rule *c = cache_slot(t, e, file_off);

	if (c->serial == e->serial && c->file_off == file_off) {
		*ret_rule = c->rule;
		return 0;
	}
	int r = object_entry_open(t, p, e);
	if (r < 0)
		return r;
	r = object_rules_at(e->rules, file_off, ret_rule);
	entry_doubt(t, e, r);
	if (r < 0)
		return r;
	if (e->debug_fd == DEBUG_ELF_LATER)
		return ret_rule->cfa == RULE_CFA_NONE ? -EAGAIN : 0;
	*c = (struct cached_rule){ .serial = e->serial, .file_off = file_off, .rule = *ret_rule };
	return 0;
}

int object_tables_rule(struct object_tables *t, struct process *p, struct mapped_file *f,
		       uint64_t file_off, bool wanted, struct unwind_rule *ret_rule)
{
	struct object_entry *e = entry_get(t, f);

	*ret_rule = (struct unwind_rule){ 0 };
	if (!e)
		return -EAGAIN;
	entry_use(t, e);
	if (e->table) {
		row_table_lookup(t->options.arena, &e->table->object, file_off, ret_rule);
		return 0;
	}
	int r = entry_rule(t, p, e, file_off, ret_rule);
	if (wanted && object_entry_may_want(t, e) && object_entry_open(t, p, e) == 0)
		object_entry_want(t, e);
	return reader_is_passing(r) ? -EAGAIN : 0;
}

void object_tables_register(struct object_tables *t, struct process *p, struct mapped_file *f,
			    uint64_t file_off, uint8_t reg, struct unwind_rule *ret_rule)
{
	struct object_entry *e = entry_get(t, f);

	*ret_rule = (struct unwind_rule){ .fp = RULE_FP_UNDEFINED };
	if (e && object_entry_open(t, p, e) == 0)
		entry_doubt(t, e, object_rules_register_at(e->rules, file_off, reg, ret_rule));
}

int object_tables_code(struct object_tables *t, struct process *p, struct mapped_file *f,
		       uint64_t file_off, void *dst, size_t n)
{
	struct bytes bytes;
	int r = f->vdso ? 0 : process_open_file(t->options.processes, p, f);

	if (r == 0)
		r = object_bytes_open(f, &bytes);
	return r == 0 ? bytes_read(&bytes, file_off, dst, n) : r;
}

static bool entry_is_unused(const struct object_tables *t, const struct object_entry *e)
{
	return e->n_holds == 0 && e != t->building && list_empty(&e->wanted);
}

static int compare_times(const void *va, const void *vb)
{
	const uint64_t *a = va;
	const uint64_t *b = vb;

	return *a < *b ? -1 : *a > *b;
}

/* What was used before is forgotten. When memory is out, time alone counts. */
static uint64_t idle_since(const struct object_tables *t)
{
	_cleanup_free_ uint64_t *times = NULL;
	uint64_t since = t->now_ns - MIN_OF(t->now_ns, OBJECT_TABLES_IDLE_NS);
	size_t n = 0;

	if (t->entries.n <= OBJECT_TABLES_MAX_IDLE)
		return since;
	times = calloc(t->entries.n, sizeof(*times));
	if (!times)
		return since;
	HASH_FOREACH (&t->entries, node) {
		const struct object_entry *e = CONTAINER_OF(node, struct object_entry, node);

		if (entry_is_unused(t, e))
			times[n++] = e->used_ns;
	}
	if (n <= OBJECT_TABLES_MAX_IDLE)
		return since;
	qsort(times, n, sizeof(*times), compare_times);
	return MAX_OF(since, times[n - OBJECT_TABLES_MAX_IDLE]);
}

static void sweep(struct object_tables *t)
{
	if (t->now_ns < t->swept_ns + SWEEP_NS)
		return;
	t->swept_ns = t->now_ns;
	uint64_t since = idle_since(t);
	HASH_FOREACH (&t->entries, node) {
		struct object_entry *e = CONTAINER_OF(node, struct object_entry, node);

		if (entry_is_unused(t, e) && e->used_ns < since)
			entry_free(t, e);
	}
}

void object_tables_tick(struct object_tables *t, uint64_t now_ns)
{
	t->now_ns = now_ns;
	object_loading_tick(t);
	sweep(t);
}

void object_tables_stats(const struct object_tables *t, struct object_tables_stats *ret_stats)
{
	*ret_stats = (struct object_tables_stats){ .n_files = (uint32_t)t->entries.n,
						   .table_bytes = t->table_bytes };
	HASH_FOREACH (&t->entries, node)
		ret_stats->n_by_state[CONTAINER_OF(node, struct object_entry, node)->state]++;
	LIST_FOREACH (&t->tables, node) {
		ret_stats->n_tables++;
		ret_stats->n_rows += LIST_ENTRY(node, struct shared_table, lru)->n_rows;
	}
}
