/* SPDX-License-Identifier: Apache-2.0 */
/* Which unit has code at an address, and which function of the unit. */
#include "agent/object/lines/source_index.h"

#include <assert.h>
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "agent/util/macro.h"

/* Functions in namespaces in classes in functions: C++ nests a dozen deep. */
#define MAX_DEPTH 48
/* Spans that begin before an address and may still hold it: functions in functions. */
#define MAX_BACK 64

static int compare_spans(const void *a, const void *b)
{
	const struct source_span *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin > y->begin ? 1 : -1;
	return (x->n_bytes < y->n_bytes) - (x->n_bytes > y->n_bytes);
}

/* Neighbours of one unit become one span; alignment bytes between them are the unit's, too. */
static void merge_spans(struct source_index *index)
{
	size_t n = 0;

	qsort(index->spans, index->n, sizeof(*index->spans), compare_spans);
	for (size_t i = 0; i < index->n; i++) {
		struct source_span *s = &index->spans[i];
		struct source_span *last = n > 0 ? &index->spans[n - 1] : NULL;

		if (last && last->owner == s->owner &&
		    s->begin - last->begin <= (uint64_t)last->n_bytes + 15 &&
		    s->begin - last->begin + s->n_bytes <= UINT32_MAX)
			last->n_bytes = MAX_OF(last->n_bytes,
					       (uint32_t)(s->begin - last->begin + s->n_bytes));
		else
			index->spans[n++] = *s;
	}
	index->n = n;
}

/* What the linker has thrown away is at 0, or at 1 (in lists, where 0 is the end), or at the end of all addresses. */
static bool is_code(uint64_t begin, uint64_t end)
{
	return begin > 1 && begin < end && end - begin <= UINT32_MAX;
}

static int make_room(struct source_index *index)
{
	if (index->n < index->cap)
		return 0;
	if (index->cap == index->max)
		merge_spans(index);
	/* Merging that gains next to nothing would be done again and again. */
	if (index->cap == index->max)
		return index->n < index->max - index->max / 8 ? 0 : -E2BIG;
	size_t more = MIN_OF(index->cap ? index->cap * 2 : 64, index->max);
	struct source_span *spans = reallocarray(index->spans, more, sizeof(*spans));
	if (!spans)
		return -ENOMEM;
	index->spans = spans;
	index->cap = more;
	return 0;
}

struct collecting {
	struct source_index *index;
	uint32_t unit;
};

static int add_span(uint64_t begin, uint64_t end, void *data)
{
	struct collecting *c = data;

	if (!is_code(begin, end))
		return 0;
	int r = make_room(c->index);
	if (r != 0)
		return r;
	assert(c->index->n < c->index->cap);
	c->index->spans[c->index->n++] =
		(struct source_span){ begin, (uint32_t)(end - begin), c->unit };
	return 0;
}

static int add_unit(struct collecting *c, struct source_dwarf *d, struct source_unit *u)
{
	Dwarf_Die die;

	int r = source_dwarf_unit(d, u, SOURCE_RANGES_ONLY, &die);
	if (r != 0)
		return r < 0 ? r : 0;
	r = source_dwarf_ranges(d, &die, add_span, c);
	return r < 0 ? r : 0;
}

int source_index_init(struct source_index *index, struct source_dwarf *d, size_t max_bytes)
{
	struct collecting c = { .index = index };
	int r = 0;

	index->max = max_bytes / sizeof(struct source_span);
	for (size_t i = 0; r == 0 && i < d->units.n; i++) {
		c.unit = (uint32_t)i;
		r = add_unit(&c, d, &d->units.items[i]);
		source_dwarf_drop_if_many(d);
	}
	if (r == -E2BIG || (r == 0 && index->n == 0))
		return SOURCE_IMAGE_NONE;
	if (r < 0)
		return r;
	merge_spans(index);
	struct source_span *less = reallocarray(index->spans, index->n, sizeof(*less));
	if (less) {
		index->spans = less;
		index->cap = index->n;
	}
	return 0;
}

void source_index_fini(struct source_index *index)
{
	free(index->spans);
	*index = (struct source_index){ 0 };
}

size_t source_index_bytes(const struct source_index *index)
{
	return index->cap * sizeof(struct source_span) + index->n_function_bytes;
}

/* The innermost span that holds the address: the last that begins before it, or one of those around that. */
static const struct source_span *locate(const struct source_span *spans, size_t n, uint64_t vaddr)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (spans[mid].begin <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	for (size_t back = 0; low > 0 && back < MAX_BACK; back++) {
		const struct source_span *s = &spans[--low];

		if (vaddr - s->begin < s->n_bytes)
			return s;
	}
	return NULL;
}

struct source_unit *source_index_unit(const struct source_index *index,
				      const struct source_dwarf *d, uint64_t vaddr)
{
	const struct source_span *s = locate(index->spans, index->n, vaddr);

	assert(!s || s->owner < d->units.n);
	return s ? &d->units.items[s->owner] : NULL;
}

/* Finding the functions of one unit. */
struct search {
	struct source_dwarf *d;
	struct source_unit *unit;
	struct source_span *functions;
	size_t n;
	size_t cap;
	uint32_t die_off; /* of the function at hand */
	uint64_t n_left;  /* DIEs that are still looked at */
};

static int add_function(uint64_t begin, uint64_t end, void *data)
{
	struct search *s = data;

	if (!is_code(begin, end))
		return 0;
	if (s->n == s->cap) {
		size_t more = s->cap ? s->cap * 2 : 32;
		struct source_span *functions =
			reallocarray(s->functions, more, sizeof(*functions));

		if (!functions)
			return -ENOMEM;
		s->functions = functions;
		s->cap = more;
	}
	s->functions[s->n++] = (struct source_span){ begin, (uint32_t)(end - begin), s->die_off };
	return 0;
}

static bool may_hold_functions(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_imported_unit:
		return true;
	default:
		return false;
	}
}

static int visit(struct search *s, Dwarf_Die *die, unsigned int depth);

/* DW_AT_sibling is the file's word: only forward. */
static int visit_children(struct search *s, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die die, next;
	int r = 0;

	if (depth == MAX_DEPTH || dwarf_child(parent, &die) != 0)
		return 0;
	while (r == 0 && s->n_left > 0) {
		s->n_left--;
		r = visit(s, &die, depth);
		if (dwarf_siblingof(&die, &next) != 0 ||
		    dwarf_dieoffset(&next) <= dwarf_dieoffset(&die))
			break;
		die = next;
	}
	return r;
}

static int visit(struct search *s, Dwarf_Die *die, unsigned int depth)
{
	int tag = dwarf_tag(die), r = 0;

	if (tag == DW_TAG_subprogram) {
		s->die_off = (uint32_t)(dwarf_dieoffset(die) - s->unit->info_off);
		r = source_dwarf_ranges(s->d, die, add_function, s);
	}
	if (r == 0 && may_hold_functions(tag) && dwarf_haschildren(die) == 1)
		r = visit_children(s, die, depth + 1);
	return r;
}

static int find_functions(struct source_index *index, struct source_dwarf *d, struct source_unit *u,
			  Dwarf_Die *unit_die)
{
	/* A DIE has a byte at least; walks over what has no DW_AT_sibling look at some again, which this does not count. */
	struct search s = { .d = d, .unit = u, .n_left = u->n_bytes };
	int r = visit_children(&s, unit_die, 0);

	if (r < 0) {
		free(s.functions);
		return r;
	}
	if (s.n > 0)
		qsort(s.functions, s.n, sizeof(*s.functions), compare_spans);
	u->functions = s.functions;
	u->n_functions = (uint32_t)s.n;
	u->has_functions = true;
	index->n_function_bytes += s.cap * sizeof(*s.functions);
	return 0;
}

int source_index_function(struct source_index *index, struct source_dwarf *d, struct source_unit *u,
			  Dwarf_Die *unit_die, uint64_t vaddr, Dwarf_Die *ret_function)
{
	int r = u->has_functions ? 0 : find_functions(index, d, u, unit_die);

	if (r < 0)
		return r;
	const struct source_span *f = locate(u->functions, u->n_functions, vaddr);
	return f && dwarf_offdie(d->dwarf, u->info_off + f->owner, ret_function)
		       ? 0
		       : SOURCE_IMAGE_NONE;
}

void source_index_drop_functions(struct source_index *index, struct source_dwarf *d)
{
	for (size_t i = 0; i < d->units.n; i++) {
		struct source_unit *u = &d->units.items[i];

		free(u->functions);
		u->functions = NULL;
		u->n_functions = 0;
		u->has_functions = false;
	}
	index->n_function_bytes = 0;
}
