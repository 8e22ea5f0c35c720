/* SPDX-License-Identifier: Apache-2.0 */
/* The source of names of ELF files and the vDSO. */
#include "agent/symbol/object_symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/symbol/constants.h"
#include "agent/symbol/object.h"
#include "agent/util/macro.h"

struct object_symbols {
	struct symbolizer symbolizer;
	struct telemetry *telemetry;
	struct arena *names;
	enum demangle_mode mode;
	struct hash_table objects;
	struct list lru; /* most recently used first */
	size_t bytes;
	size_t max_bytes;
	uint64_t interval;
};

static void count(struct object_symbols *s, enum telemetry_counter counter)
{
	if (s->telemetry)
		telemetry_count(s->telemetry, counter, 1);
}

static struct object *oldest(const struct object_symbols *s)
{
	return list_empty(&s->lru) ? NULL : LIST_ENTRY(s->lru.prev, struct object, lru);
}

static void remove_object(struct object_symbols *s, struct object *o)
{
	s->bytes -= object_bytes(o);
	list_remove(&o->lru);
	hash_remove(&s->objects, &o->node);
	object_free(o);
}

/* Indices of the least recently used objects, but not of the one at work. */
static void evict_symtabs(struct object_symbols *s, const struct object *keep)
{
	for (struct list *node = s->lru.prev; node != &s->lru && s->bytes > s->max_bytes;
	     node = node->prev) {
		struct object *o = LIST_ENTRY(node, struct object, lru);

		if (o == keep || !o->symtab)
			continue;
		s->bytes -= object_bytes(o);
		object_drop_symtab(o);
		s->bytes += object_bytes(o);
		count(s, TELEMETRY_symbol_cache_evictions);
	}
}

static void evict_objects(struct object_symbols *s)
{
	while (s->bytes > s->max_bytes && oldest(s)) {
		if (oldest(s)->symtab)
			count(s, TELEMETRY_symbol_cache_evictions);
		remove_object(s, oldest(s));
	}
}

static uint64_t hash_file(const struct mapped_file *file)
{
	return hash_u64(file->key.inode ^ hash_u64(file->key.dev ^ (uint64_t)file->id << 32));
}

static struct object *find_object(const struct object_symbols *s, const struct mapped_file *file)
{
	HASH_FOREACH_MATCH (&s->objects, hash_file(file), node) {
		struct object *o = CONTAINER_OF(node, struct object, node);

		if (o->id == file->id && o->key.dev == file->key.dev &&
		    o->key.inode == file->key.inode)
			return o;
	}
	return NULL;
}

static struct object *add_object(struct object_symbols *s, const struct mapped_file *file)
{
	_cleanup_(object_freep) struct object *o = NULL;

	if (object_new(file, &o) < 0 || hash_insert(&s->objects, &o->node, hash_file(file)) < 0)
		return NULL;
	list_push_front(&s->lru, &o->lru);
	o->interval = s->interval;
	s->bytes += object_bytes(o);
	return TAKE_PTR(o);
}

/* NULL when memory is out. */
static struct object *use_object(struct object_symbols *s, const struct mapped_file *file)
{
	struct object *o = find_object(s, file);

	if (!o)
		return add_object(s, file);
	list_remove(&o->lru);
	list_push_front(&s->lru, &o->lru);
	if (o->interval != s->interval) {
		o->interval = s->interval;
		s->bytes -= object_bytes(o);
		object_revalidate(o, file);
		s->bytes += object_bytes(o);
	}
	return o;
}

/* As object_function(), loading what is missing. Keeps the books. */
static int find_name(struct object_symbols *s, struct object *o, const struct location *location,
		     const char **ret_name)
{
	uint64_t vaddr;

	s->bytes -= object_bytes(o);
	int r = object_load(o, location->file);
	if (r == 0)
		r = object_vaddr(o, location->file_off, &vaddr)
			    ? object_function(o, location->file, vaddr, s->mode, ret_name)
			    : OBJECT_NO_NAME;
	s->bytes += object_bytes(o);
	if (r == OBJECT_MALFORMED)
		count(s, TELEMETRY_objects_malformed);
	evict_symtabs(s, o);
	return r;
}

static int resolve(struct symbolizer *self, const struct location *location,
		   struct frames *ret_frames)
{
	struct object_symbols *s = CONTAINER_OF(self, struct object_symbols, symbolizer);
	const char *name;

	if (location->kind != LOCATION_FILE)
		return SYMBOLIZER_PASS;
	struct object *o = use_object(s, location->file);
	if (!o || find_name(s, o, location, &name) != 0)
		return SYMBOLIZER_PASS;
	ret_frames->n = 1;
	ret_frames->items[0] =
		(struct frame){ .function = name, .file = "", .object = &o->frame_object };
	return 0;
}

void object_symbols_name_by_file(struct object_symbols *s, const struct location *location,
				 struct frames *ret_frames)
{
	struct object *o = use_object(s, location->file);
	char address[sizeof("+0x") + 16];
	uint64_t shown = location->file_off;

	count(s, TELEMETRY_frames_unresolved);
	ret_frames->n = 1;
	if (!o) {
		ret_frames->items[0] = symbol_frame_unknown();
		return;
	}
	(void)object_vaddr(o, location->file_off, &shown);
	int n = snprintf(address, sizeof(address), "+0x%" PRIx64, shown);
	size_t base = strlen(o->basename);
	char *name = arena_alloc(s->names, base + (size_t)n + 1);
	if (name) {
		memcpy(name, o->basename, base);
		memcpy(name + base, address, (size_t)n + 1);
	}
	ret_frames->items[0] = (struct frame){ .function = name ? name : o->basename,
					       .file = "",
					       .object = &o->frame_object };
}

int object_symbols_new(size_t max_bytes, struct telemetry *telemetry, struct arena *names,
		       struct object_symbols **ret_symbols)
{
	struct object_symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->symbolizer.resolve = resolve;
	s->telemetry = telemetry;
	s->names = names;
	s->max_bytes = max_bytes;
	list_init(&s->lru);
	*ret_symbols = s;
	return 0;
}

void object_symbols_free(struct object_symbols *s)
{
	if (!s)
		return;
	while (oldest(s))
		remove_object(s, oldest(s));
	hash_fini(&s->objects);
	free(s);
}

struct symbolizer *object_symbols_symbolizer(struct object_symbols *s)
{
	return &s->symbolizer;
}

void object_symbols_begin(struct object_symbols *s)
{
	s->interval++;
}

void object_symbols_end(struct object_symbols *s)
{
	evict_symtabs(s, NULL);
	evict_objects(s);
}

void object_symbols_set_demangle(struct object_symbols *s, enum demangle_mode mode)
{
	s->mode = mode;
	LIST_FOREACH (&s->lru, node) {
		struct object *o = LIST_ENTRY(node, struct object, lru);

		s->bytes -= object_bytes(o);
		object_drop_functions(o);
		s->bytes += object_bytes(o);
	}
}

size_t object_symbols_bytes(const struct object_symbols *s)
{
	return s->bytes;
}
