/* SPDX-License-Identifier: Apache-2.0 */
/* Modules of a load, and what names mean in them. */
#include "agent/component/graph/module.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A block's name and its label: import.file.x has three, and no kind has a name of more than four. */
#define ID_MAX_PIECES 8

/* An id as what it is made of, so that looking up takes no memory. */
struct id_key {
	const char *module;
	const char *pieces[ID_MAX_PIECES];
	size_t n_pieces;
};

struct id_entry {
	struct hash_node hash;
	struct node *node;
};

int load_new(struct load **ret_load)
{
	struct load *load = calloc(1, sizeof(*load));

	if (!load)
		return -ENOMEM;
	river_arena_init(&load->arena, GRAPH_MAX_ARENA_BYTES);
	*ret_load = load;
	return 0;
}

void load_free(struct load *load)
{
	if (!load)
		return;
	for (struct module *m = load->modules; m; m = m->every)
		free(m->nodes.items);
	free(load->nodes.items);
	hash_fini(&load->ids);
	river_arena_fini(&load->arena);
	free(load);
}

struct module *module_new(struct load *load, enum module_kind kind, const char *id,
			  struct node *owner, const struct module *like)
{
	struct module *m = river_arena_alloc(&load->arena, sizeof(*m));

	assert((kind == MODULE_ROOT) == !owner);
	if (!m)
		return NULL;
	*m = (struct module){ .kind = kind, .owner = owner, .every = load->modules };
	m->id = river_arena_strndup(&load->arena, id, strlen(id));
	m->path = like ? like->path : "";
	m->depth = like ? like->depth + 1 : 0;
	load->modules = m;
	return m->id ? m : NULL;
}

/* FNV-1a (Fowler, Noll, Vo): goes on where it stopped. */
static uint64_t hash_more(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3ULL;
	return h;
}

static uint64_t hash_start(const char *text)
{
	return hash_more(0xcbf29ce484222325ULL, text);
}

static uint64_t hash_key(const struct id_key *key)
{
	uint64_t h = hash_start(key->module);

	for (size_t i = 0; i < key->n_pieces; i++)
		h = hash_more(hash_more(h, i ? "." : *key->module ? "/" : ""), key->pieces[i]);
	return hash_u64(h);
}

/* What is behind `prefix`; NULL: it does not begin with that. */
static const char *behind(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);

	return text && strncmp(text, prefix, n) == 0 ? text + n : NULL;
}

static bool key_is(const struct id_key *key, const char *id)
{
	id = behind(id, key->module);
	for (size_t i = 0; i < key->n_pieces; i++)
		id = behind(behind(id, i ? "." : *key->module ? "/" : ""), key->pieces[i]);
	return id && !*id;
}

static struct node *find_key(const struct load *load, const struct id_key *key)
{
	HASH_FOREACH_MATCH (&load->ids, hash_key(key), at) {
		struct node *node = CONTAINER_OF(at, struct id_entry, hash)->node;

		if (key_is(key, node->id))
			return node;
	}
	return NULL;
}

int load_add_id(struct load *load, struct node *node)
{
	struct id_entry *entry = river_arena_alloc(&load->arena, sizeof(*entry));

	assert(node->id);
	if (!entry)
		return -ENOMEM;
	entry->node = node;
	return hash_insert(&load->ids, &entry->hash, hash_u64(hash_start(node->id)));
}

struct node *load_find(const struct load *load, const char *id)
{
	return load ? find_key(load, &(struct id_key){ "", { id }, 1 }) : NULL;
}

struct node *module_find(const struct load *load, const struct module *m, const char *kind,
			 const char *label)
{
	return find_key(load, &(struct id_key){ m->id, { kind, label }, 2 });
}

static struct node *find_here(const struct load *load, const struct module *m,
			      const struct river_reference *ref)
{
	struct id_key key = { .module = m->id };
	struct node *node = NULL;

	for (size_t i = 0; !node && i < ref->n_parts && i < ID_MAX_PIECES; i++) {
		key.pieces[key.n_pieces++] = ref->parts[i].text;
		node = find_key(load, &key);
	}
	return node;
}

struct node *module_find_reference(const struct load *load, const struct module *m,
				   const struct river_reference *ref)
{
	struct node *node = NULL;

	for (; m && !node; m = m->outer)
		node = find_here(load, m, ref);
	return node;
}

struct node *module_find_declared(const struct load *load, const struct module *m, const char *name)
{
	static const char *const kinds[] = { "declare", "import.file", "import.string",
					     "import.http", "import.git" };
	struct node *node = NULL;

	for (; m && !node; m = m->lexical)
		for (size_t i = 0; !node && i < ARRAY_SIZE(kinds); i++)
			node = module_find(load, m, kinds[i], name);
	return node;
}

const struct node *module_find_declare(const struct load *load, const struct module *m,
				       const struct river_stmt *use)
{
	const struct node *node = module_find_declared(load, m, use->parts[0].text);
	const char *rest = use->name + strlen(use->parts[0].text);

	if (node && node->role == NODE_DECLARE)
		return *rest ? NULL : node;
	if (!node || !*rest || !node->next_source.modules)
		return NULL;
	return module_find(load, node->next_source.modules, "declare", rest + 1);
}

static const struct module *module_of_variable(const struct module *m, const char *name)
{
	while (m && !(m->var && strcmp(m->var, name) == 0))
		m = m->outer;
	return m;
}

bool module_has_variable(const struct module *m, const char *name)
{
	return strcmp(name, "module_path") == 0 || module_of_variable(m, name);
}

const struct river_value *module_variable(const struct module *m, struct river_arena *arena,
					  const char *name)
{
	const struct module *of = module_of_variable(m, name);

	if (of)
		return of->var_value;
	if (strcmp(name, "module_path") == 0)
		return river_value_string(arena, m->path, strlen(m->path));
	return NULL;
}
