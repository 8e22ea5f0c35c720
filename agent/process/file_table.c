/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that processes map, each once.
 *
 * The hash holds the file that a key means now. A file whose inode was reused, or whose content was
 * replaced while nobody mapped it, is *retired*: taken from the hash, so that the key gets a new
 * file with a new id, while holders of the old one keep it.
 */
#include "agent/process/file_table.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/util/clock.h"
#include "agent/util/foreign_file.h"
#include "agent/util/hash.h"
#include "agent/util/macro.h"
#include "agent/util/reader.h"
#include "bpf/wire.h"

struct file_table {
	struct file_table_options o;
	struct hash_table by_key;
	struct list all;
	struct list idle;     /* unreferenced; the one idle for longest first */
	struct list idle_fds; /* of these, with a descriptor; the same order */
	size_t n;
	size_t n_idle;
	size_t n_idle_fds;
	uint32_t last_id;
	uint8_t *ids_used; /* bit map of ids; made when fresh ids ran out, NULL before */
	struct hash_table names;
};

struct memory_name {
	struct hash_node node;
	char text[FILE_TABLE_NAME_BYTES];
};

int file_table_new(const struct file_table_options *o, struct file_table **ret_table)
{
	struct file_table *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->o = *o;
	t->o.max_files = o->max_files ? o->max_files : FILE_TABLE_MAX_FILES;
	t->o.max_idle = o->max_idle ? o->max_idle : FILE_TABLE_MAX_IDLE;
	t->o.max_idle_fds = o->max_idle_fds ? o->max_idle_fds : FILE_TABLE_MAX_IDLE_FDS;
	t->o.max_id = o->max_id ? o->max_id : WIRE_MAX_OBJECT_ID;
	list_init(&t->all);
	list_init(&t->idle);
	list_init(&t->idle_fds);
	*ret_table = t;
	return 0;
}

/* ---- ids: ascending while fresh ones last, so that a stack under way never meets an id that means
 * another file ---- */

static bool id_is_used(const struct file_table *t, uint32_t id)
{
	return t->ids_used[id / 8] & 1U << id % 8;
}

static void id_mark(struct file_table *t, uint32_t id)
{
	if (t->ids_used)
		t->ids_used[id / 8] |= (uint8_t)(1U << id % 8);
}

static void id_unmark(struct file_table *t, uint32_t id)
{
	if (t->ids_used)
		t->ids_used[id / 8] &= (uint8_t) ~(1U << id % 8);
}

static int ids_start_reuse(struct file_table *t)
{
	t->ids_used = calloc((size_t)t->o.max_id / 8 + 1, 1);
	if (!t->ids_used)
		return -ENOMEM;
	LIST_FOREACH (&t->all, node)
		id_mark(t, LIST_ENTRY(node, struct mapped_file, all)->id);
	t->last_id = 0;
	return 0;
}

/* The cursor goes round, so that an id rests as long as possible before it is used again. */
static int id_take(struct file_table *t, uint32_t *ret_id)
{
	if (!t->ids_used && t->last_id < t->o.max_id) {
		*ret_id = ++t->last_id;
		return 0;
	}
	if (t->n >= t->o.max_id)
		return -ENOSPC;
	int r = t->ids_used ? 0 : ids_start_reuse(t);
	if (r < 0)
		return r;
	do
		t->last_id = t->last_id >= t->o.max_id ? 1 : t->last_id + 1;
	while (id_is_used(t, t->last_id));
	id_mark(t, t->last_id);
	*ret_id = t->last_id;
	return 0;
}

static uint64_t facts_hash(const struct file_facts *facts)
{
	if (facts->vdso)
		return hash_u64(1);
	return hash_u64(facts->key.dev ^ hash_u64(facts->key.inode));
}

static void file_close(struct mapped_file *f)
{
	reader_close(f->fd);
	if (f->has_debug)
		reader_close(f->debug_fd);
	f->fd = -1;
	f->has_debug = false;
}

static size_t n_fds(const struct mapped_file *f)
{
	return (size_t)(f->fd >= 0) + f->has_debug;
}

static void file_forget_idle(struct mapped_file *f)
{
	struct file_table *t = f->table;

	if (!list_empty(&f->lru))
		t->n_idle--;
	if (!list_empty(&f->idle_fds))
		t->n_idle_fds -= n_fds(f);
	list_remove(&f->lru);
	list_remove(&f->idle_fds);
}

static void file_retire(struct mapped_file *f)
{
	if (f->retired)
		return;
	hash_remove(&f->table->by_key, &f->node);
	f->retired = true;
}

static void file_free(struct mapped_file *f)
{
	struct file_table *t = f->table;

	if (t) {
		file_forget_idle(f);
		file_retire(f);
		list_remove(&f->all);
		id_unmark(t, f->id);
		t->n--;
	}
	file_close(f);
	free(f->path);
	free(f);
}

static struct mapped_file *oldest(struct list *head, size_t member_offset)
{
	return (struct mapped_file *)((char *)head->next - member_offset);
}

static void table_trim(struct file_table *t)
{
	while (t->n_idle_fds > t->o.max_idle_fds) {
		struct mapped_file *f =
			oldest(&t->idle_fds, offsetof(struct mapped_file, idle_fds));

		t->n_idle_fds -= n_fds(f);
		file_close(f);
		list_remove(&f->idle_fds);
	}
	while (t->n_idle > t->o.max_idle)
		file_free(oldest(&t->idle, offsetof(struct mapped_file, lru)));
}

static void file_make_idle(struct mapped_file *f)
{
	struct file_table *t = f->table;

	list_push_back(&t->idle, &f->lru);
	t->n_idle++;
	if (f->fd >= 0) {
		list_push_back(&t->idle_fds, &f->idle_fds);
		t->n_idle_fds += n_fds(f);
	}
	table_trim(t);
}

struct mapped_file *mapped_file_ref(struct mapped_file *f)
{
	f->n_refs++;
	return f;
}

void mapped_file_unref(struct mapped_file *f)
{
	if (!f)
		return;
	assert(f->n_refs > 0);
	if (--f->n_refs > 0)
		return;
	if (!f->table || f->retired)
		file_free(f);
	else
		file_make_idle(f);
}

static uint64_t mtime_ns(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * NS_PER_S + (uint64_t)st->st_mtim.tv_nsec;
}

/* Of what a file begins with: headers that say where everything is, and nearly always the build id. */
static uint64_t content_print(int fd)
{
	char bytes[FILE_TABLE_PRINT_BYTES];
	ssize_t n = reader_pread(fd, bytes, sizeof(bytes), 0);

	return n > 0 ? hash_bytes(bytes, (size_t)n, 0) : 0;
}

void mapped_file_take_fd(struct mapped_file *f, int fd)
{
	struct stat st;

	assert(f->fd < 0 && f->n_refs > 0);
	f->fd = fd;
	f->open_error = 0;
	f->checked_ns = clock_mono_ns();
	if (foreign_stat(fd, &st) == 0) {
		f->opened_size = (uint64_t)st.st_size;
		f->opened_mtime_ns = mtime_ns(&st);
		f->opened_print = content_print(fd);
	}
}

void mapped_file_take_debug_fd(struct mapped_file *f, int fd)
{
	assert(f->fd >= 0 && !f->has_debug && f->n_refs > 0);
	f->debug_fd = fd;
	f->debug_missed_ns = 0;
	__atomic_store_n(&f->has_debug, true, __ATOMIC_RELEASE);
}

/* Anybody may touch a file that is executed, nobody may write to it; libraries can be written to at any time. */
bool mapped_file_is_rewritten(const struct mapped_file *f)
{
	struct stat st;

	if (f->fd < 0 || foreign_stat(f->fd, &st) < 0)
		return false;
	if ((uint64_t)st.st_size != f->opened_size)
		return true;
	return mtime_ns(&st) != f->opened_mtime_ns && content_print(f->fd) != f->opened_print;
}

static bool file_matches(const struct mapped_file *f, const struct file_facts *facts)
{
	if (f->vdso || facts->vdso)
		return f->vdso == facts->vdso;
	return f->key.dev == facts->key.dev && f->key.inode == facts->key.inode;
}

/* Events come in rounds: one look at a file does for all that it was mapped by before, whatever is written to it since. */
static bool file_is_rewritten_since(struct mapped_file *f, uint64_t mapped_ns)
{
	uint64_t now_ns = clock_mono_ns();

	if (f->fd < 0 || (mapped_ns && mapped_ns <= f->checked_ns))
		return false;
	if (mapped_file_is_rewritten(f))
		return true;
	f->checked_ns = now_ns;
	return false;
}

static bool file_is_outdated(struct mapped_file *f, const struct file_facts *facts)
{
	bool other_generation =
		f->generation && facts->generation && f->generation != facts->generation;

	/* Samples of the old content may still be waiting for their names: they keep the old file. */
	return other_generation || file_is_rewritten_since(f, facts->mapped_ns);
}

static struct mapped_file *table_find(struct file_table *t, const struct file_facts *facts)
{
	HASH_FOREACH_MATCH (&t->by_key, facts_hash(facts), node) {
		struct mapped_file *f = CONTAINER_OF(node, struct mapped_file, node);

		if (file_matches(f, facts))
			return f;
	}
	return NULL;
}

static void file_free_unlisted(struct mapped_file *f)
{
	f->table = NULL;
	file_free(f);
}
DEFINE_CLEANUP(struct mapped_file *, file_free_unlisted);

static int file_new(struct file_table *t, const struct file_facts *facts,
		    struct mapped_file **ret_file)
{
	_cleanup_(file_free_unlistedp) struct mapped_file *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return -ENOMEM;
	f->fd = -1;
	f->key = facts->vdso ? (struct file_key){ 0 } : facts->key;
	f->vdso = facts->vdso;
	f->deleted = facts->deleted;
	f->generation = facts->generation;
	list_init(&f->lru);
	list_init(&f->idle_fds);
	f->path = strndup(facts->path.n ? facts->path.p : "", facts->path.n);
	if (!f->path)
		return -ENOMEM;
	r = id_take(t, &f->id);
	if (r < 0)
		return r;
	r = hash_insert(&t->by_key, &f->node, facts_hash(facts));
	if (r < 0) {
		id_unmark(t, f->id);
		return r;
	}
	f->table = t;
	list_push_back(&t->all, &f->all);
	t->n++;
	*ret_file = TAKE_PTR(f);
	return 0;
}

/* Makes room by dropping what nobody references. */
static int table_reserve(struct file_table *t)
{
	if (t->n >= MIN_OF(t->o.max_files, (size_t)t->o.max_id) && t->n_idle > 0)
		file_free(oldest(&t->idle, offsetof(struct mapped_file, lru)));
	return t->n >= t->o.max_files ? -ENOSPC : 0;
}

static void file_add_facts(struct mapped_file *f, const struct file_facts *facts)
{
	if (!f->generation)
		f->generation = facts->generation;
	if (facts->path.n > 0 && !f->path[0]) {
		char *path = strndup(facts->path.p, facts->path.n);

		if (path) {
			free(f->path);
			f->path = path;
		}
	}
	f->deleted = facts->deleted;
	f->open_error = 0;
	f->debug_missed_ns = 0;
}

int file_table_get(struct file_table *t, const struct file_facts *facts,
		   struct mapped_file **ret_file)
{
	struct mapped_file *f = table_find(t, facts);

	if (f && file_is_outdated(f, facts)) {
		file_retire(f);
		if (f->n_refs == 0)
			file_free(f);
		f = NULL;
	}
	if (!f) {
		int r = table_reserve(t);

		if (r == 0)
			r = file_new(t, facts, &f);
		if (r < 0)
			return r;
	} else {
		file_forget_idle(f);
		file_add_facts(f, facts);
	}
	*ret_file = mapped_file_ref(f);
	return 0;
}

void file_table_free(struct file_table *t)
{
	if (!t)
		return;
	LIST_FOREACH (&t->all, node) {
		struct mapped_file *f = LIST_ENTRY(node, struct mapped_file, all);

		file_forget_idle(f);
		file_retire(f);
		list_remove(&f->all);
		f->table = NULL;
		if (f->n_refs == 0)
			file_free(f);
	}
	hash_fini(&t->by_key);
	free(t->ids_used);
	HASH_FOREACH (&t->names, node)
		free(CONTAINER_OF(node, struct memory_name, node));
	hash_fini(&t->names);
	free(t);
}

const char *file_table_name(struct file_table *t, struct str name)
{
	char text[FILE_TABLE_NAME_BYTES];

	str_copy_utf8(text, sizeof(text), name);
	if (!text[0])
		return NULL;
	HASH_FOREACH_MATCH (&t->names, hash_str(text), node) {
		struct memory_name *known = CONTAINER_OF(node, struct memory_name, node);

		if (strcmp(known->text, text) == 0)
			return known->text;
	}
	_cleanup_free_ struct memory_name *made =
		t->names.n < FILE_TABLE_MAX_NAMES ? calloc(1, sizeof(*made)) : NULL;
	if (!made || hash_insert(&t->names, &made->node, hash_str(text)) < 0)
		return NULL;
	memcpy(made->text, text, sizeof(text));
	return TAKE_PTR(made)->text;
}

size_t file_table_n(const struct file_table *t)
{
	return t->n;
}

size_t file_table_n_idle(const struct file_table *t)
{
	return t->n_idle;
}
