/* SPDX-License-Identifier: Apache-2.0 */
/* What functions of runtimes are called. A group has all of one process and image. */
#include "agent/runtimes/code_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "agent/util/clock.h"
#include "agent/util/list.h"
#include "agent/util/macro.h"
#include "agent/util/siphash.h"
#include "agent/util/str.h"

struct group {
	uint32_t pid;
	uint32_t exec_id;
	bool has_ended;
	bool is_short; /* some of what it has told since the last seed was forgotten */
	struct list entries; /* least recently asked for first */
	size_t n_bytes; /* of the entries, and of their names as if nobody else had them */
	struct list lru;
	struct hash_node node; /* by pid alone */
};

struct entry {
	struct group *group;
	uint64_t function;
	uint32_t print;
	struct code_name *name; /* a reference */
	struct hash_node node;
	struct list of_group;
};

struct code_names {
	struct hash_table names;
	struct hash_table groups;
	struct hash_table entries;
	struct siphash_key key; /* of names: processes choose them */
	struct list living;	/* groups, least recently asked for first */
	struct list ended;
	uint64_t *told_seed;
	size_t bytes;	  /* of everything */
	size_t own_bytes; /* of that, what is here because of functions: at most max_bytes */
	size_t max_bytes;
	bool seed_is_due; /* somebody who lives was forgotten, or a function of his that was is met again */
	uint64_t seed_ns; /* when it was renewed for that reason; 0: never */
};

/* All functions of all processes are told anew: not more often than that. */
#define RENEW_NS (10 * NS_PER_S)

/* An object of malloc(3) with its place in a hash table. */
#define OBJECT_BYTES(n) ((n) + 4 * sizeof(void *))

static void renew_seed(struct code_names *n)
{
	uint64_t seed = 0;

	if (!n->told_seed)
		return;
	/* Before the machine has collected any chance the seed is another one all the same. */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
		seed = 0;
	__atomic_store_n(n->told_seed, seed ^ (*n->told_seed + 1), __ATOMIC_RELEASE);
}

int code_names_new(size_t max_bytes, uint64_t *told_seed, struct code_names **ret_names)
{
	struct code_names *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->max_bytes = max_bytes;
	n->told_seed = told_seed;
	siphash_key_init(&n->key);
	list_init(&n->living);
	list_init(&n->ended);
	renew_seed(n);
	*ret_names = n;
	return 0;
}

size_t code_name_bytes(const struct code_name *name)
{
	return OBJECT_BYTES(sizeof(*name) + strlen(name->function) + strlen(name->file) +
			    strlen(name->source_id) + 3 + name->n_lines);
}

struct code_name *code_name_ref(struct code_name *name)
{
	name->n_refs++;
	return name;
}

void code_name_unref(struct code_name *name)
{
	if (!name || --name->n_refs > 0)
		return;
	if (name->table) {
		name->table->bytes -= code_name_bytes(name);
		hash_remove(&name->table->names, &name->node);
	}
	free(name);
}

static void charge(struct code_names *n, size_t bytes)
{
	n->bytes += bytes;
	n->own_bytes += bytes;
}

static void discharge(struct code_names *n, size_t bytes)
{
	n->bytes -= bytes;
	n->own_bytes -= bytes;
}

static size_t entry_bytes(const struct code_name *name)
{
	return OBJECT_BYTES(sizeof(struct entry)) + code_name_bytes(name);
}

/* Takes the reference; NULL: none any more. */
static void entry_set_name(struct code_names *n, struct entry *e, struct code_name *name)
{
	if (name && name->n_functions++ == 0)
		n->own_bytes += code_name_bytes(name);
	if (e->name && --e->name->n_functions == 0)
		n->own_bytes -= code_name_bytes(e->name);
	e->group->n_bytes += name ? entry_bytes(name) : 0;
	e->group->n_bytes -= e->name ? entry_bytes(e->name) : 0;
	code_name_unref(e->name);
	e->name = name;
}

static void entry_free(struct code_names *n, struct entry *e)
{
	hash_remove(&n->entries, &e->node);
	list_remove(&e->of_group);
	entry_set_name(n, e, NULL);
	discharge(n, OBJECT_BYTES(sizeof(*e)));
	free(e);
}

static void group_free(struct code_names *n, struct group *g)
{
	LIST_FOREACH (&g->entries, node)
		entry_free(n, LIST_ENTRY(node, struct entry, of_group));
	hash_remove(&n->groups, &g->node);
	list_remove(&g->lru);
	discharge(n, OBJECT_BYTES(sizeof(*g)));
	free(g);
}

void code_names_free(struct code_names *n)
{
	if (!n)
		return;
	HASH_FOREACH (&n->groups, node)
		group_free(n, CONTAINER_OF(node, struct group, node));
	HASH_FOREACH (&n->names, node)
		CONTAINER_OF(node, struct code_name, node)->table = NULL;
	hash_fini(&n->entries);
	hash_fini(&n->groups);
	hash_fini(&n->names);
	free(n);
}

static const char *source_id_of(const struct code_text *text)
{
	return text->source_id ? text->source_id : "";
}

/* The texts as they are shown: `to` has room for all and their ends. */
static void make_texts(const struct code_text *text, struct code_name *to, size_t n_texts)
{
	const struct str function = { text->name, text->n_name };
	const struct str file = { text->file, text->n_file };
	const char *source_id = source_id_of(text);
	char *at = to->texts;

	str_copy_utf8(at, n_texts, function);
	if (!*at)
		str_copy_utf8(at, n_texts, str_from("[no name]"));
	to->function = at;
	at += strlen(at) + 1;
	str_copy_utf8(at,
		      n_texts - text->n_lines - strlen(source_id) - 1 - (size_t)(at - to->texts),
		      file);
	to->file = at;
	at += strlen(at) + 1;
	memcpy(at, source_id, strlen(source_id) + 1);
	to->source_id = at;
	at += strlen(at) + 1;
	to->line = text->line;
	to->n_lines = (uint32_t)text->n_lines;
	to->lines_format = text->lines_format;
	to->lines = (const uint8_t *)at;
	if (text->n_lines)
		memcpy(at, text->lines, text->n_lines);
}

static uint64_t name_hash(const struct code_names *n, const struct code_name *name)
{
	size_t n_function = strlen(name->function), n_file = strlen(name->file);
	struct siphash s;

	siphash_init(&s, &n->key);
	siphash_word(&s, name->line);
	siphash_word(&s, (uint64_t)n_function << 32 | n_file);
	siphash_padded(&s, name->function, n_function);
	siphash_padded(&s, name->file, n_file);
	siphash_padded(&s, name->source_id, strlen(name->source_id));
	siphash_padded(&s, name->lines, name->n_lines);
	return siphash_finish(&s, NULL, 0);
}

static struct code_name *name_find(const struct code_names *n, const struct code_name *like,
				   uint64_t hash)
{
	HASH_FOREACH_MATCH (&n->names, hash, node) {
		struct code_name *name = CONTAINER_OF(node, struct code_name, node);

		if (name->line == like->line && strcmp(name->function, like->function) == 0 &&
		    strcmp(name->file, like->file) == 0 &&
		    strcmp(name->source_id, like->source_id) == 0 &&
		    name->n_lines == like->n_lines && name->lines_format == like->lines_format &&
		    memcmp(name->lines, like->lines, name->n_lines) == 0)
			return name;
	}
	return NULL;
}

/* A byte that is no UTF-8 becomes three. */
static size_t texts_bytes(const struct code_text *text)
{
	return 3 * (text->n_name + text->n_file) + sizeof("[no name]") + 2 +
	       strlen(source_id_of(text)) + 1 + text->n_lines;
}

/* To what it is accounted as. */
static void shrink(struct code_name **name)
{
	size_t file_at = (size_t)((*name)->file - (*name)->texts);
	size_t id_at = file_at + strlen((*name)->file) + 1;
	size_t lines_at = id_at + strlen((*name)->source_id) + 1;
	struct code_name *exact = realloc(*name, sizeof(**name) + lines_at + (*name)->n_lines);

	if (!exact)
		return;
	exact->function = exact->texts;
	exact->file = exact->texts + file_at;
	exact->source_id = exact->texts + id_at;
	exact->lines = (const uint8_t *)exact->texts + lines_at;
	*name = exact;
}

struct code_name *code_names_intern(struct code_names *n, const struct code_text *text)
{
	size_t n_texts = texts_bytes(text);
	_cleanup_free_ struct code_name *made = malloc(sizeof(*made) + n_texts);

	if (!made)
		return NULL;
	*made = (struct code_name){ .n_refs = 1, .table = n };
	make_texts(text, made, n_texts);
	shrink(&made);
	uint64_t hash = name_hash(n, made);
	struct code_name *there = name_find(n, made, hash);
	if (there)
		return code_name_ref(there);
	if (hash_insert(&n->names, &made->node, hash) < 0)
		return NULL;
	n->bytes += code_name_bytes(made);
	return TAKE_PTR(made);
}

static struct group *group_find(const struct code_names *n, uint32_t pid, uint32_t exec_id)
{
	HASH_FOREACH_MATCH (&n->groups, hash_u64(pid), node) {
		struct group *g = CONTAINER_OF(node, struct group, node);

		if (g->pid == pid && g->exec_id == exec_id)
			return g;
	}
	return NULL;
}

static void group_touch(struct code_names *n, struct group *g)
{
	list_remove(&g->lru);
	list_push_back(g->has_ended ? &n->ended : &n->living, &g->lru);
}

static struct group *group_get(struct code_names *n, uint32_t pid, uint32_t exec_id)
{
	struct group *g = group_find(n, pid, exec_id);

	if (g)
		return g;
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	g->pid = pid;
	g->exec_id = exec_id;
	list_init(&g->entries);
	list_init(&g->lru);
	if (hash_insert(&n->groups, &g->node, hash_u64(pid)) < 0) {
		free(g);
		return NULL;
	}
	charge(n, OBJECT_BYTES(sizeof(*g)));
	group_touch(n, g);
	return g;
}

static uint64_t entry_hash(const struct group *g, uint64_t function, uint32_t print)
{
	return hash_u64(function ^ hash_u64((uintptr_t)g + print));
}

static struct entry *entry_find(const struct code_names *n, const struct group *g,
				const struct code_key *key)
{
	HASH_FOREACH_MATCH (&n->entries, entry_hash(g, key->function, key->print), node) {
		struct entry *e = CONTAINER_OF(node, struct entry, node);

		if (e->group == g && e->function == key->function && e->print == key->print)
			return e;
	}
	return NULL;
}

static struct entry *entry_get(struct code_names *n, struct group *g, const struct code_key *key)
{
	struct entry *e = entry_find(n, g, key);

	if (e)
		return e;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->group = g;
	e->function = key->function;
	e->print = key->print;
	list_init(&e->of_group);
	if (hash_insert(&n->entries, &e->node, entry_hash(g, key->function, key->print)) < 0) {
		free(e);
		return NULL;
	}
	list_push_back(&g->entries, &e->of_group);
	charge(n, OBJECT_BYTES(sizeof(*e)));
	return e;
}

/* What one process may have when there is no room: has it told more than that, what was asked for longest ago is forgotten, which is code that runs
 * no more where it is made without end. */
#define GROUP_SHARE 8

static void shorten(struct code_names *n, struct group *g, size_t to_bytes)
{
	LIST_FOREACH (&g->entries, node) {
		if (n->own_bytes <= n->max_bytes || g->n_bytes <= to_bytes ||
		    g->entries.next == g->entries.prev)
			return;
		entry_free(n, LIST_ENTRY(node, struct entry, of_group));
		g->is_short = true;
	}
}

static void free_groups(struct code_names *n, struct list *list, const struct group *keep)
{
	LIST_FOREACH (list, node) {
		struct group *g = LIST_ENTRY(node, struct group, lru);

		if (n->own_bytes <= n->max_bytes)
			return;
		if (g == keep)
			continue;
		n->seed_is_due |= !g->has_ended;
		group_free(n, g);
	}
}

static void shorten_all(struct code_names *n)
{
	LIST_FOREACH (&n->living, node)
		shorten(n, LIST_ENTRY(node, struct group, lru), n->max_bytes / GROUP_SHARE);
}

/* `keep` is being filled. */
static void make_room(struct code_names *n, struct group *keep)
{
	free_groups(n, &n->ended, keep);
	shorten_all(n);
	free_groups(n, &n->living, keep);
	shorten(n, keep, 0);
}

static void renew_seed_if_due(struct code_names *n)
{
	if (!n->seed_is_due)
		return;
	uint64_t now_ns = clock_mono_ns();
	if (n->seed_ns && now_ns < n->seed_ns + RENEW_NS)
		return;
	renew_seed(n);
	HASH_FOREACH (&n->groups, node)
		CONTAINER_OF(node, struct group, node)->is_short = false;
	n->seed_is_due = false;
	n->seed_ns = now_ns;
}

int code_names_put(struct code_names *n, const struct code_key *key, const struct code_text *text)
{
	struct group *g = group_get(n, key->pid, key->exec_id);
	struct code_name *name = g ? code_names_intern(n, text) : NULL;
	struct entry *e = name ? entry_get(n, g, key) : NULL;

	if (!e) {
		code_name_unref(name);
		return -ENOMEM;
	}
	entry_set_name(n, e, name);
	/* A pid that is told of anew is another process's. */
	g->has_ended = false;
	group_touch(n, g);
	make_room(n, g);
	renew_seed_if_due(n);
	return 0;
}

static void entry_touch(struct entry *e)
{
	list_remove(&e->of_group);
	list_push_back(&e->group->entries, &e->of_group);
}

struct code_name *code_names_find(struct code_names *n, const struct code_key *key)
{
	struct group *g = group_find(n, key->pid, key->exec_id);
	struct entry *e = g ? entry_find(n, g, key) : NULL;

	if (g)
		group_touch(n, g);
	if (e)
		entry_touch(e);
	else if (g && g->is_short)
		n->seed_is_due = true;
	renew_seed_if_due(n);
	return e ? e->name : NULL;
}

void code_names_retract(struct code_names *n, uint32_t pid)
{
	HASH_FOREACH_MATCH (&n->groups, hash_u64(pid), node) {
		struct group *g = CONTAINER_OF(node, struct group, node);

		if (g->pid != pid)
			continue;
		g->has_ended = true;
		group_touch(n, g);
	}
}

size_t code_names_bytes(const struct code_names *n)
{
	return n->bytes;
}
