/* SPDX-License-Identifier: Apache-2.0 */
/* How a `struct mappings` is made. */
#include "agent/process/mapping_edit.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/macro.h"

static int edit_reserve(struct mapping_edit *e, size_t n)
{
	if (n <= e->cap)
		return 0;
	size_t cap = MAX_OF(n, e->cap * 2);
	struct mapping *items = reallocarray(e->items, cap, sizeof(*items));
	if (!items)
		return -ENOMEM;
	e->items = items;
	e->cap = cap;
	return 0;
}

int mapping_edit_init(struct mapping_edit *e, const struct mappings *from)
{
	*e = (struct mapping_edit){ 0 };
	if (!from || from->n == 0)
		return 0;
	/* One is put, and one may be split off by it. */
	int r = edit_reserve(e, (size_t)from->n + 2);
	if (r < 0)
		return r;
	memcpy(e->items, from->items, from->n * sizeof(*e->items));
	e->n = from->n;
	for (size_t i = 0; i < e->n; i++)
		if (e->items[i].file)
			(void)mapped_file_ref(e->items[i].file);
	return 0;
}

void mapping_edit_fini(struct mapping_edit *e)
{
	for (size_t i = 0; i < e->n; i++)
		mapped_file_unref(e->items[i].file);
	free(e->items);
	*e = (struct mapping_edit){ 0 };
}

/* Index of the first item that ends after `begin`. */
static size_t first_ending_after(const struct mapping *items, size_t n, uint64_t begin)
{
	size_t low = 0;

	while (low < n) {
		size_t middle = low + (n - low) / 2;

		if (items[middle].end <= begin)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

static bool same_bytes(const struct mapping *outer, const struct mapping *inner)
{
	if (outer->kind != inner->kind || outer->file != inner->file)
		return false;
	/* Events do not tell the names that programs give. */
	if (inner->kind == MAPPING_ANON)
		return !inner->name || outer->name == inner->name;
	return inner->file_off - outer->file_off == inner->begin - outer->begin;
}

bool mappings_cover(const struct mappings *set, const struct mapping *m)
{
	const struct mapping *outer = mappings_find(set, m->begin);

	return outer && outer->end >= m->end && same_bytes(outer, m);
}

/* The bytes of a file that `m` has are in the set already, wherever. */
static bool has_bytes(const struct mappings *set, const struct mapping *m)
{
	for (size_t i = 0; i < set->n; i++) {
		const struct mapping *other = &set->items[i];

		if (m->file && other->file == m->file && other->file_off <= m->file_off &&
		    m->file_off - other->file_off <= other->end - other->begin &&
		    m->end - m->begin <=
			    other->end - other->begin - (m->file_off - other->file_off))
			return true;
	}
	return false;
}

/* A runtime that maps its own code once more into the memory that it has for code to be made (V8). */
static bool is_brought_near(const struct mappings *set, const struct mapping *was,
			    const struct mapping *m)
{
	return was->kind == MAPPING_ANON && m->kind != MAPPING_ANON && has_bytes(set, m);
}

bool mappings_differ(const struct mappings *set, const struct mapping *m)
{
	size_t n = set ? set->n : 0;

	for (size_t i = n ? first_ending_after(set->items, n, m->begin) : 0; i < n; i++) {
		const struct mapping *was = &set->items[i];
		bool is_anon = was->kind == MAPPING_ANON && m->kind == MAPPING_ANON;

		if (was->begin >= m->end)
			break;
		if (!is_anon && !same_bytes(was, m) && !is_brought_near(set, was, m))
			return true;
	}
	return false;
}

static void items_insert(struct mapping_edit *e, size_t at, const struct mapping *m)
{
	assert(e->n < e->cap);
	memmove(e->items + at + 1, e->items + at, (e->n - at) * sizeof(*e->items));
	e->items[at] = *m;
	e->n++;
}

static void items_remove(struct mapping_edit *e, size_t at, size_t n)
{
	for (size_t i = at; i < at + n; i++)
		mapped_file_unref(e->items[i].file);
	memmove(e->items + at, e->items + at + n, (e->n - at - n) * sizeof(*e->items));
	e->n -= n;
}

static void cut_front(struct mapping *m, uint64_t begin)
{
	if (m->kind != MAPPING_ANON)
		m->file_off += begin - m->begin;
	m->begin = begin;
}

/* Clears [begin, end) and returns the index where a mapping of that range belongs. There is room
 * for the split. */
static size_t edit_clear(struct mapping_edit *e, uint64_t begin, uint64_t end)
{
	size_t at = first_ending_after(e->items, e->n, begin);

	if (at < e->n && e->items[at].begin < begin) {
		struct mapping right = e->items[at];

		e->items[at++].end = begin;
		if (right.end > end) {
			cut_front(&right, end);
			if (right.file)
				(void)mapped_file_ref(right.file);
			items_insert(e, at, &right);
			return at;
		}
	}
	size_t n = 0;
	while (at + n < e->n && e->items[at + n].end <= end)
		n++;
	items_remove(e, at, n);
	if (at < e->n && e->items[at].begin < end)
		cut_front(&e->items[at], end);
	return at;
}

static bool are_anon_neighbours(const struct mapping *a, const struct mapping *b)
{
	return a->kind == MAPPING_ANON && b->kind == MAPPING_ANON && a->end == b->begin &&
	       a->name == b->name;
}

static void edit_join(struct mapping_edit *e, size_t at)
{
	if (at + 1 < e->n && are_anon_neighbours(&e->items[at], &e->items[at + 1])) {
		e->items[at].end = e->items[at + 1].end;
		items_remove(e, at + 1, 1);
	}
	if (at > 0 && are_anon_neighbours(&e->items[at - 1], &e->items[at])) {
		e->items[at - 1].end = e->items[at].end;
		items_remove(e, at, 1);
	}
}

int mapping_edit_put(struct mapping_edit *e, const struct mapping *m)
{
	assert(m->begin < m->end && (m->kind == MAPPING_ANON) == !m->file);
	int r = edit_reserve(e, e->n + 2);

	if (r < 0)
		return r;
	size_t at = edit_clear(e, m->begin, m->end);
	items_insert(e, at, m);
	edit_join(e, at);
	if (e->n > MAPPINGS_MAX)
		items_remove(e, MAPPINGS_MAX, e->n - MAPPINGS_MAX);
	return 0;
}

int mapping_edit_finish(struct mapping_edit *e, struct mappings **ret_mappings)
{
	struct mappings *m = malloc(sizeof(*m) + e->n * sizeof(m->items[0]));

	if (!m)
		return -ENOMEM;
	m->n_refs = 1;
	m->n = (uint32_t)e->n;
	if (e->n > 0)
		memcpy(m->items, e->items, e->n * sizeof(m->items[0]));
	free(e->items);
	*e = (struct mapping_edit){ 0 };
	*ret_mappings = m;
	return 0;
}
