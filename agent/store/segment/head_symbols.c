/* SPDX-License-Identifier: Apache-2.0 */
/* What all series of a head share: texts, functions, mappings, locations, and the tree of stacks. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "agent/store/segment/head_private.h"
#include "agent/util/hash.h"
#include "agent/util/str.h"

/* Each kind of item: look for an equal one, else append. */
struct head_kind {
	struct head_array *items;
	struct id_table *ids;
	size_t item_bytes;
};

static int head_intern(struct head *h, const struct head_kind *kind, const void *key,
		       const void *item, uint64_t hash, uint32_t *ret_id)
{
	uint32_t id = id_table_find(kind->ids, hash, h, key);

	if (id == ID_NONE) {
		int r = head_grow(h, kind->items, 1, kind->item_bytes);

		r = r < 0 ? r : head_grow_ids(h, kind->ids);
		if (r < 0)
			return r;
		id = (uint32_t)kind->items->n++;
		memcpy((char *)kind->items->items + id * kind->item_bytes, item, kind->item_bytes);
		id_table_insert(kind->ids, hash, id);
	}
	*ret_id = id;
	return 0;
}

static uint64_t text_hash(const void *owner, uint32_t id)
{
	const struct head *h = owner;
	const char *text = head_text_at(h, id);

	return hash_bytes(text, strlen(text), h->options.seed);
}

static bool text_equal(const void *owner, uint32_t id, const void *key)
{
	const struct str *text = key;
	const char *known = head_text_at(owner, id);

	return strncmp(known, text->p, text->n) == 0 && known[text->n] == '\0';
}

int head_text(struct head *h, const char *bytes, size_t n, uint32_t *ret_text)
{
	const struct str key = { bytes, n };
	const struct head_kind kind = { &h->texts, &h->text_ids, sizeof(uint32_t) };
	uint32_t offset = (uint32_t)h->pool.n;
	size_t n_texts = h->texts.n;
	/* In the pool first: the item is its place there. */
	int r = head_grow(h, &h->pool, n + 1, 1);

	assert(n == 0 || !memchr(bytes, '\0', n));
	if (r < 0)
		return r;
	r = head_intern(h, &kind, &key, &offset, hash_bytes(bytes, n, h->options.seed), ret_text);
	if (r < 0 || h->texts.n == n_texts)
		return r;
	memcpy((char *)h->pool.items + offset, bytes, n);
	((char *)h->pool.items)[offset + n] = '\0';
	h->pool.n += n + 1;
	return 0;
}

static uint64_t function_hash(const void *owner, uint32_t id)
{
	const struct head *h = owner;
	const struct segment_function *f = h->functions.items;

	return hash_bytes(&f[id], sizeof(*f), h->options.seed);
}

static bool function_equal(const void *owner, uint32_t id, const void *key)
{
	const struct segment_function *f = ((const struct head *)owner)->functions.items;

	return memcmp(&f[id], key, sizeof(*f)) == 0;
}

int head_function(struct head *h, const struct segment_function *function, uint32_t *ret_function)
{
	const struct head_kind kind = { &h->functions, &h->function_ids, sizeof(*function) };

	assert(function->name < h->texts.n && function->system_name < h->texts.n);
	assert(function->filename < h->texts.n);
	return head_intern(h, &kind, function, function,
			   hash_bytes(function, sizeof(*function), h->options.seed), ret_function);
}

/* The words of a mapping; the structure has padding, which would not compare. */
static uint64_t mapping_key_hash(const struct head *h, const struct segment_mapping *m)
{
	const uint64_t words[] = { m->start, m->limit, m->file_off,
				   (uint64_t)m->filename << 32 | m->build_id,
				   (uint64_t)m->has_functions << 3 |
					   (uint64_t)m->has_filenames << 2 |
					   (uint64_t)m->has_lines << 1 | m->has_inlines };

	return hash_bytes(words, sizeof(words), h->options.seed);
}

static uint64_t mapping_hash(const void *owner, uint32_t id)
{
	const struct head *h = owner;
	const struct segment_mapping *m = h->mappings.items;

	return mapping_key_hash(h, &m[id]);
}

static bool mapping_equal(const void *owner, uint32_t id, const void *key)
{
	const struct segment_mapping *a = ((const struct head *)owner)->mappings.items;
	const struct segment_mapping *b = key;

	a += id;
	return a->start == b->start && a->limit == b->limit && a->file_off == b->file_off &&
	       a->filename == b->filename && a->build_id == b->build_id &&
	       a->has_functions == b->has_functions && a->has_filenames == b->has_filenames &&
	       a->has_lines == b->has_lines && a->has_inlines == b->has_inlines;
}

int head_mapping(struct head *h, const struct segment_mapping *mapping, uint32_t *ret_mapping)
{
	const struct head_kind kind = { &h->mappings, &h->mapping_ids, sizeof(*mapping) };

	assert(mapping->filename < h->texts.n && mapping->build_id < h->texts.n);
	return head_intern(h, &kind, mapping, mapping, mapping_key_hash(h, mapping), ret_mapping);
}

static uint64_t location_key_hash(const struct head *h, const struct segment_location *l)
{
	uint64_t seed = hash_u64(hash_u64(h->options.seed ^ l->address) ^ l->mapping);

	return hash_bytes(l->lines, l->n_lines * sizeof(*l->lines), seed);
}

static struct segment_location location_at(const struct head *h, uint32_t id)
{
	const struct head_location *l = h->locations.items;
	const struct segment_line *lines = h->lines.items;

	l += id;
	return (struct segment_location){ l->n_lines ? lines + l->first_line : NULL, l->n_lines,
					  l->address, l->mapping };
}

static uint64_t location_hash(const void *owner, uint32_t id)
{
	const struct segment_location l = location_at(owner, id);

	return location_key_hash(owner, &l);
}

static bool location_equal(const void *owner, uint32_t id, const void *key)
{
	const struct segment_location a = location_at(owner, id), *b = key;

	return a.address == b->address && a.mapping == b->mapping && a.n_lines == b->n_lines &&
	       (a.n_lines == 0 || memcmp(a.lines, b->lines, a.n_lines * sizeof(*a.lines)) == 0);
}

int head_location(struct head *h, const struct segment_location *location, uint32_t *ret_location)
{
	const struct head_kind kind = { &h->locations, &h->location_ids,
					sizeof(struct head_location) };
	const struct head_location item = { (uint32_t)h->lines.n, (uint32_t)location->n_lines,
					    location->mapping, location->address };
	size_t n_locations = h->locations.n;
	int r = head_grow(h, &h->lines, location->n_lines, sizeof(*location->lines));

	assert(location->n_lines > 0 || location->address != 0);
	assert(location->mapping == SEGMENT_NONE || location->mapping < h->mappings.n ||
	       (location->mapping == SEGMENT_SPAN && location->n_lines == 0));
	if (r < 0)
		return r;
	r = head_intern(h, &kind, location, &item, location_key_hash(h, location), ret_location);
	if (r < 0 || h->locations.n == n_locations)
		return r;
	if (location->n_lines > 0)
		memcpy((struct segment_line *)h->lines.items + h->lines.n, location->lines,
		       location->n_lines * sizeof(*location->lines));
	h->lines.n += location->n_lines;
	h->n_addresses += location->address != 0;
	return 0;
}

static uint64_t node_key_hash(const struct head *h, struct segment_node node)
{
	return hash_u64(h->options.seed ^
			hash_u64(h->options.seed + ((uint64_t)node.parent << 32 | node.location)));
}

static uint64_t node_hash(const void *owner, uint32_t id)
{
	const struct head *h = owner;

	return node_key_hash(h, ((const struct segment_node *)h->nodes.items)[id]);
}

static bool node_equal(const void *owner, uint32_t id, const void *key)
{
	const struct segment_node *nodes = ((const struct head *)owner)->nodes.items;
	const struct segment_node *node = key;

	return nodes[id].parent == node->parent && nodes[id].location == node->location;
}

int head_node(struct head *h, struct segment_node node, uint32_t *ret_node)
{
	const struct head_kind kind = { &h->nodes, &h->node_ids, sizeof(node) };

	assert(node.parent < h->nodes.n && node.location < h->locations.n);
	return head_intern(h, &kind, &node, &node, node_key_hash(h, node), ret_node);
}

void head_init_symbols(struct head *h)
{
	h->text_ids = (struct id_table){ .hash = text_hash, .equal = text_equal };
	h->function_ids = (struct id_table){ .hash = function_hash, .equal = function_equal };
	h->mapping_ids = (struct id_table){ .hash = mapping_hash, .equal = mapping_equal };
	h->location_ids = (struct id_table){ .hash = location_hash, .equal = location_equal };
	h->node_ids = (struct id_table){ .hash = node_hash, .equal = node_equal };
}
