/* SPDX-License-Identifier: Apache-2.0 */
/* The source of names of memory without a file. */
#include "agent/symbol/jit_symbols.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "agent/symbol/jitdump.h"
#include "agent/symbol/perf_map.h"
#include "agent/util/hash.h"
#include "agent/util/list.h"
#include "agent/util/macro.h"

/* Less is no index to speak of: some hundred functions. */
#define MIN_INDEX_BYTES 16384
#define MAX_NAME_BYTES MAX_OF(PERF_MAP_MAX_NAME_BYTES, JITDUMP_MAX_NAME_BYTES)
/* U+FFFD is three bytes. */
#define UTF8_WORST 3

struct jit_symbols {
	struct telemetry *telemetry;
	struct arena *names;
	struct hash_table objects;
	struct list lru; /* most recently used first */
	size_t bytes;
	size_t max_bytes;
	uint64_t interval;
	uint64_t n_read; /* in this interval */
	uint64_t now_ns;
};

/* What one process's files tell. */
struct jit_object {
	struct hash_node node;
	struct list lru;
	struct file_key map_key;
	struct file_key dump_key;
	uint64_t interval; /* that it was last used in */
	size_t bytes;	   /* as accounted */
	uint64_t n_dropped;
	struct perf_map map;
	struct jitdump dump;
};

static const struct frame_object jit_frame_object = { FRAME_OBJECT_ANON, "[jit]", "" };

static void count(struct jit_symbols *s, enum telemetry_counter counter, uint64_t n)
{
	if (s->telemetry && n > 0)
		telemetry_count(s->telemetry, counter, n);
}

static void account(struct jit_symbols *s, struct jit_object *o)
{
	size_t now = sizeof(*o) + perf_map_bytes(&o->map) + jitdump_bytes(&o->dump);
	uint64_t n_dropped = o->map.ranges.n_dropped + o->dump.ranges.n_dropped;

	s->bytes += now - o->bytes;
	o->bytes = now;
	count(s, TELEMETRY_jit_functions_dropped, n_dropped - o->n_dropped);
	o->n_dropped = n_dropped;
}

static void object_remove(struct jit_symbols *s, struct jit_object *o)
{
	s->bytes -= o->bytes;
	list_remove(&o->lru);
	hash_remove(&s->objects, &o->node);
	perf_map_fini(&o->map);
	jitdump_fini(&o->dump);
	free(o);
}

static uint64_t hash_files(const struct jit_files *j)
{
	return hash_u64(j->map.inode ^
			hash_u64(j->map.dev ^ hash_u64(j->dump.inode ^ hash_u64(j->dump.dev))));
}

static bool is_key(struct file_key a, struct file_key b)
{
	return a.dev == b.dev && a.inode == b.inode;
}

static struct jit_object *object_find(const struct jit_symbols *s, const struct jit_files *j)
{
	HASH_FOREACH_MATCH (&s->objects, hash_files(j), node) {
		struct jit_object *o = CONTAINER_OF(node, struct jit_object, node);

		if (is_key(o->map_key, j->map) && is_key(o->dump_key, j->dump))
			return o;
	}
	return NULL;
}

/* At the end of the list are those that were used longest ago. */
static void make_room(struct jit_symbols *s, size_t bytes)
{
	while (s->bytes + bytes > s->max_bytes && !list_empty(&s->lru)) {
		struct jit_object *o = LIST_ENTRY(s->lru.prev, struct jit_object, lru);

		if (o->interval == s->interval)
			return;
		object_remove(s, o);
		count(s, TELEMETRY_symbol_cache_evictions, 1);
	}
}

/* What may be taken besides `own`: at least half of all is offered to whom is used now, unless others are used, too. */
static size_t room(struct jit_symbols *s, size_t own)
{
	make_room(s, s->max_bytes / 2);
	return s->max_bytes - MIN_OF(s->bytes - own, s->max_bytes);
}

static struct jit_object *object_add(struct jit_symbols *s, const struct jit_files *j)
{
	struct jit_object *o = room(s, 0) < MIN_INDEX_BYTES ? NULL : calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->map_key = j->map;
	o->dump_key = j->dump;
	list_init(&o->lru);
	perf_map_init(&o->map, 0);
	jitdump_init(&o->dump, 0);
	if (hash_insert(&s->objects, &o->node, hash_files(j)) < 0) {
		free(o);
		return NULL;
	}
	list_push_front(&s->lru, &o->lru);
	account(s, o);
	return o;
}

static uint64_t may_read(const struct jit_symbols *s)
{
	uint64_t left = JIT_SYMBOLS_MAX_READ_ALL - MIN_OF(s->n_read, JIT_SYMBOLS_MAX_READ_ALL);

	return MIN_OF(left, JIT_SYMBOLS_MAX_READ);
}

/* What fails leaves what was known before. */
static void object_read(struct jit_symbols *s, struct jit_object *o, const struct jit_files *j)
{
	size_t parts = j->map_fd >= 0 && j->dump_fd >= 0 ? 2 : 1;
	size_t max_bytes = room(s, o->bytes) / parts;
	struct bytes b;
	uint64_t n_read = 0;

	perf_map_set_max(&o->map, max_bytes);
	jitdump_set_max(&o->dump, max_bytes);
	if (j->map_fd >= 0 && bytes_from_fd(j->map_fd, &b) == 0)
		(void)perf_map_read(&o->map, &b, may_read(s), &n_read);
	s->n_read += n_read;
	n_read = 0;
	if (j->dump_fd >= 0 && bytes_from_fd(j->dump_fd, &b) == 0)
		(void)jitdump_read(&o->dump, &b, may_read(s), &n_read);
	s->n_read += n_read;
	account(s, o);
}

/* NULL: no memory left for it. */
static struct jit_object *object_use(struct jit_symbols *s, const struct jit_files *j)
{
	struct jit_object *o = object_find(s, j);

	if (!o)
		o = object_add(s, j);
	if (!o || o->interval == s->interval)
		return o;
	o->interval = s->interval;
	list_remove(&o->lru);
	list_push_front(&s->lru, &o->lru);
	object_read(s, o, j);
	make_room(s, 0);
	return o;
}

/* The jitdump first: it is exact, also where code has moved. */
static int read_name(const struct jit_symbols *s, const struct jit_object *o,
		     const struct jit_files *j, uint64_t pc, const struct jit_moment *at,
		     struct buf *name)
{
	int r = JITDUMP_NONE;

	if (j->dump_fd >= 0)
		r = jitdump_name(&o->dump, &(struct bytes){ .fd = j->dump_fd }, pc, at->time_ns,
				 s->now_ns, name);
	if (r != 0 && j->map_fd >= 0)
		r = perf_map_name(&o->map, &(struct bytes){ .fd = j->map_fd }, pc, at->map_bytes,
				  name);
	return r;
}

/* As it may be shown, in the arena; NULL: none. */
static const char *shown(struct jit_symbols *s, struct str raw)
{
	char text[MAX_NAME_BYTES * UTF8_WORST + 1];

	str_copy_utf8(text, sizeof(text), raw);
	return text[0] ? arena_strndup(s->names, text, strlen(text)) : NULL;
}

static const char *name_of(struct jit_symbols *s, const struct jit_files *j, uint64_t pc,
			   const struct jit_moment *at)
{
	_cleanup_buf_ struct buf raw = BUF_INIT(MAX_NAME_BYTES + 1);
	bool is_told = j && (j->map_fd >= 0 || j->dump_fd >= 0);
	struct jit_object *o = is_told ? object_use(s, j) : NULL;

	if (o && read_name(s, o, j, pc, at, &raw) == 0)
		return shown(s, (struct str){ buf_str(&raw), raw.len });
	return NULL;
}

bool jit_symbols_resolve(struct jit_symbols *s, const struct jit_files *jit, uint64_t pc,
			 const struct jit_moment *at, const char *memory, struct frames *ret_frames)
{
	const char *name = name_of(s, jit, pc, at);

	if (!name && memory)
		name = shown(s, str_from(memory));
	if (!name)
		return false;
	ret_frames->n = 1;
	ret_frames->items[0] =
		(struct frame){ .function = name, .file = "", .object = &jit_frame_object };
	return true;
}

int jit_symbols_new(size_t max_bytes, struct telemetry *telemetry, struct arena *names,
		    struct jit_symbols **ret_symbols)
{
	struct jit_symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->telemetry = telemetry;
	s->names = names;
	s->max_bytes = max_bytes;
	list_init(&s->lru);
	*ret_symbols = s;
	return 0;
}

void jit_symbols_free(struct jit_symbols *s)
{
	if (!s)
		return;
	LIST_FOREACH (&s->lru, node)
		object_remove(s, LIST_ENTRY(node, struct jit_object, lru));
	assert(s->objects.n == 0 && s->bytes == 0);
	hash_fini(&s->objects);
	free(s);
}

void jit_symbols_begin(struct jit_symbols *s, uint64_t now_ns)
{
	s->now_ns = now_ns;
	s->interval++;
	s->n_read = 0;
}

void jit_symbols_end(struct jit_symbols *s)
{
	LIST_FOREACH (&s->lru, node) {
		struct jit_object *o = LIST_ENTRY(node, struct jit_object, lru);

		if (s->interval - o->interval >= JIT_SYMBOLS_MAX_IDLE)
			object_remove(s, o);
	}
}

size_t jit_symbols_bytes(const struct jit_symbols *s)
{
	return s->bytes;
}
