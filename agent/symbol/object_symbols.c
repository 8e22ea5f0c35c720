/* SPDX-License-Identifier: Apache-2.0 */
/* The source of names of ELF files and the vDSO. */
#include "agent/symbol/object_symbols.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/symbol/constants.h"
#include "agent/symbol/object.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "agent/util/siphash.h"
#include "agent/util/str.h"

/* A path that is told to people; the end of a longer one is left out. */
#define FAILED_FILE_BYTES 256
/* What is left of the memory for sources when files and names have used up theirs: a quarter. */
#define SOURCES_SHARE 4

struct object_symbols {
	struct elf_symbols_options options;
	struct siphash_key key;
	struct arena *names;
	struct hash_table objects;
	struct list lru; /* most recently used first */
	struct shared_elf_symbols shared_elf_symbols;
	size_t bytes; /* of objects without their shared symbols */
	uint64_t interval;
	uint64_t now_ns;
	uint64_t lines_left_ns;
	char failed_file[FAILED_FILE_BYTES];
};

static void count(struct object_symbols *s, enum telemetry_counter counter, uint64_t n)
{
	if (s->options.telemetry && n > 0)
		telemetry_count(s->options.telemetry, counter, n);
}

static struct object_context context_of(struct object_symbols *s)
{
	return (struct object_context){ &s->shared_elf_symbols, &s->key,
					s->options.lines || s->options.inlines, s->now_ns };
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
	object_free(o, &s->shared_elf_symbols);
}

/* Of everything together. */
static void evict_sources(struct object_symbols *s, size_t max_bytes,
			  const struct elf_symbols *keep)
{
	size_t left = max_bytes - MIN_OF(s->bytes, max_bytes);

	count(s, TELEMETRY_symbol_cache_evictions,
	      shared_elf_symbols_evict_sources(&s->shared_elf_symbols, left, keep, s->interval));
}

/* What files and their names hold. */
static size_t lasting_bytes(const struct object_symbols *s)
{
	return s->bytes + s->shared_elf_symbols.bytes - s->shared_elf_symbols.source_bytes;
}

static size_t max_lasting_bytes(const struct object_symbols *s)
{
	return s->options.max_bytes - s->options.max_bytes / SOURCES_SHARE;
}

static void evict_objects(struct object_symbols *s, size_t max_bytes)
{
	while (lasting_bytes(s) > max_bytes && oldest(s))
		remove_object(s, oldest(s));
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
	struct object *o = NULL;

	if (object_new(file, &o) < 0)
		return NULL;
	if (hash_insert(&s->objects, &o->node, hash_file(file)) < 0) {
		object_free(o, &s->shared_elf_symbols);
		return NULL;
	}
	list_push_front(&s->lru, &o->lru);
	o->interval = s->interval;
	s->bytes += object_bytes(o);
	return o;
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
		struct object_context context = context_of(s);

		o->interval = s->interval;
		s->bytes -= object_bytes(o);
		object_revalidate(o, file, &context);
		s->bytes += object_bytes(o);
	}
	return o;
}

static int load(struct object_symbols *s, struct object *o, const struct mapped_file *file)
{
	struct object_context context = context_of(s);

	s->bytes -= object_bytes(o);
	int r = object_load(o, file, &context);
	s->bytes += object_bytes(o);
	if (r == OBJECT_MALFORMED)
		count(s, TELEMETRY_objects_malformed, 1);
	return r;
}

/* One address of a file that is loaded. */
struct question {
	struct object_symbols *s;
	struct object *o;
	struct elf_symbols_access access;
	uint64_t vaddr;
};

/* 0, OBJECT_NO_NAME, -errno. */
static int find_name(const struct question *q, const char **ret_name)
{
	struct elf_symbols *elf_symbols = q->o->elf_symbols;

	/* One more will be made now. */
	if (!elf_symbols_has_sources(elf_symbols) && !elf_symbols_knows(elf_symbols, q->vaddr))
		evict_sources(q->s, max_lasting_bytes(q->s), elf_symbols);
	shared_elf_symbols_begin_change(&q->s->shared_elf_symbols, elf_symbols);
	int r = elf_symbols_name(elf_symbols, &q->s->options, &q->access, q->vaddr, ret_name);
	shared_elf_symbols_end_change(&q->s->shared_elf_symbols, elf_symbols);
	return r == ELF_SYMBOLS_NO_NAME ? OBJECT_NO_NAME : r;
}

/* NULL: there are none. */
static const struct line_answer *find_lines(const struct question *q)
{
	const struct line_answer *lines = NULL;
	struct elf_symbols *elf_symbols = q->o->elf_symbols;

	if (!q->s->options.lines && !q->s->options.inlines)
		return NULL;
	shared_elf_symbols_begin_change(&q->s->shared_elf_symbols, elf_symbols);
	int r = elf_symbols_lines(elf_symbols, &q->s->options, &q->access, q->vaddr,
				  &q->s->lines_left_ns, &lines);
	shared_elf_symbols_end_change(&q->s->shared_elf_symbols, elf_symbols);
	if (r == ELF_SYMBOLS_NO_TIME)
		count(q->s, TELEMETRY_frames_without_lines, 1);
	if (r == ELF_SYMBOLS_FAILED)
		str_copy_utf8(q->s->failed_file, sizeof(q->s->failed_file),
			      str_from(q->o->frame_object.path));
	return r == 0 ? lines : NULL;
}

/* The last of the frames is the function itself: it goes by its symbol, as without lines. */
static const char *function_of(const struct line_answer *lines, uint32_t i, const char *name)
{
	if (i + 1 == lines->n && name)
		return name;
	return lines->frames[i].function[0] ? lines->frames[i].function
					    : symbol_frame_unknown().function;
}

static void fill(const struct question *q, const char *name, const struct line_answer *lines,
		 struct frames *ret_frames)
{
	const struct elf_symbols_options *o = &q->s->options;
	uint32_t first = lines && !o->inlines ? lines->n - 1 : 0;
	uint32_t n = lines ? MIN_OF(lines->n, (uint32_t)FRAMES_MAX) : 1;

	ret_frames->n = 0;
	for (uint32_t i = first; i < n; i++)
		ret_frames->items[ret_frames->n++] = (struct frame){
			.function = lines ? function_of(lines, i, name) : name,
			.file = lines && o->lines ? lines->frames[i].file : "",
			.line = lines && o->lines ? lines->frames[i].line : 0,
			.object = &q->o->frame_object,
		};
}

static bool resolve_in(const struct question *q, struct frames *ret_frames)
{
	const char *name = NULL;
	int r = find_name(q, &name);
	const struct line_answer *lines = r < 0 ? NULL : find_lines(q);

	evict_sources(q->s, q->s->options.max_bytes, q->o->elf_symbols);
	if (r != 0 && !(lines && lines->frames[lines->n - 1].function[0]))
		return false;
	fill(q, name, lines, ret_frames);
	return true;
}

bool object_symbols_resolve(struct object_symbols *s, const struct mapped_file *file,
			    uint64_t file_off, struct frames *ret_frames)
{
	struct question q = { .s = s, .o = use_object(s, file) };

	if (!q.o || load(s, q.o, file) != 0 || !object_vaddr(q.o, file_off, &q.vaddr))
		return false;
	q.access =
		(struct elf_symbols_access){ file->vdso ? -1 : file->fd, mapped_file_debug_fd(file),
					     q.o->frame_object.build_id, s->interval, s->now_ns };
	return resolve_in(&q, ret_frames);
}

/* What a place without a name is told by. */
static uint64_t shown_address(const struct object *o, uint64_t file_off)
{
	uint64_t shown = file_off;

	if (object_vaddr(o, file_off, &shown))
		(void)elf_symbols_function_begin(o->elf_symbols, shown, &shown);
	return shown;
}

void object_symbols_name_by_file(struct object_symbols *s, const struct mapped_file *file,
				 uint64_t file_off, struct frames *ret_frames)
{
	struct object *o = use_object(s, file);
	char address[sizeof("+0x") + 16];

	count(s, TELEMETRY_frames_unresolved, 1);
	ret_frames->n = 1;
	if (!o) {
		ret_frames->items[0] = symbol_frame_unknown();
		return;
	}
	int n = snprintf(address, sizeof(address), "+0x%" PRIx64, shown_address(o, file_off));
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

int object_symbols_new(const struct elf_symbols_options *options, struct arena *names,
		       struct object_symbols **ret_symbols)
{
	struct object_symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->options = *options;
	s->names = names;
	siphash_key_init(&s->key);
	list_init(&s->lru);
	shared_elf_symbols_init(&s->shared_elf_symbols);
	*ret_symbols = s;
	return 0;
}

void object_symbols_free(struct object_symbols *s)
{
	if (!s)
		return;
	while (oldest(s))
		remove_object(s, oldest(s));
	assert(s->objects.n == 0 && s->bytes == 0);
	shared_elf_symbols_fini(&s->shared_elf_symbols);
	hash_fini(&s->objects);
	free(s);
}

void object_symbols_begin(struct object_symbols *s, uint64_t now_ns)
{
	s->interval++;
	s->now_ns = now_ns;
	s->lines_left_ns = OBJECT_SYMBOLS_LINES_NS;
	s->failed_file[0] = '\0';
}

void object_symbols_end(struct object_symbols *s)
{
	shared_elf_symbols_end_interval(&s->shared_elf_symbols, s->interval);
	evict_objects(s, max_lasting_bytes(s));
	evict_sources(s, s->options.max_bytes, NULL);
}

bool object_symbols_is_full(const struct object_symbols *s)
{
	return lasting_bytes(s) > max_lasting_bytes(s);
}

void object_symbols_make_room(struct object_symbols *s)
{
	evict_objects(s, s->options.max_bytes / 2);
}

void object_symbols_set_demangle(struct object_symbols *s, enum demangle_mode mode)
{
	if (s->options.demangle != mode)
		shared_elf_symbols_drop_names(&s->shared_elf_symbols);
	s->options.demangle = mode;
}

const char *object_symbols_failed_file(const struct object_symbols *s)
{
	return s->failed_file;
}

size_t object_symbols_bytes(const struct object_symbols *s)
{
	return s->bytes + s->shared_elf_symbols.bytes;
}

size_t object_symbols_n_shared_elf_symbols(const struct object_symbols *s)
{
	return s->shared_elf_symbols.n;
}
