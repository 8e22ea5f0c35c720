/* SPDX-License-Identifier: Apache-2.0 */
/* What is known so far of one file's addresses. */
#include "agent/symbol/symbol_ranges.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/util/cleanup.h"
#include "agent/util/macro.h"

/* What malloc adds to an entry, and its place in the array. */
#define ALLOCATION_BYTES 24

static size_t piece_bytes(const struct piece *piece)
{
	return sizeof(*piece) + piece->name_bytes + 1 + ALLOCATION_BYTES;
}

void symbol_ranges_fini(struct symbol_ranges *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->items[i]);
	free(p->items);
	*p = (struct symbol_ranges){ 0 };
}

/* How many begin at or before the address. */
static size_t upper_bound(const struct symbol_ranges *p, uint64_t vaddr)
{
	size_t low = 0;
	size_t high = p->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (p->items[mid]->begin <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct piece *symbol_ranges_find(const struct symbol_ranges *p, uint64_t vaddr)
{
	size_t after = upper_bound(p, vaddr);

	return after > 0 && vaddr < p->items[after - 1]->end ? p->items[after - 1] : NULL;
}

static int reserve(struct symbol_ranges *p)
{
	size_t cap = p->cap + p->cap / 2 + 8;

	if (p->n < p->cap)
		return 0;
	struct piece **more = realloc(p->items, cap * sizeof(*more));
	if (!more)
		return -ENOMEM;
	p->items = more;
	p->cap = cap;
	return 0;
}

static void count(struct symbol_ranges *p, const struct piece *piece)
{
	p->bytes += piece_bytes(piece);
	p->n_passing += piece->is_passing;
	p->n_nameless += piece->name_bytes == 0;
}

int symbol_ranges_add(struct symbol_ranges *p, uint64_t vaddr, const struct piece *piece,
		      struct str name, const struct piece **ret_piece)
{
	size_t at = upper_bound(p, vaddr);
	int r = reserve(p);

	if (r < 0)
		return r;
	struct piece *copy = malloc(sizeof(*copy) + name.n + 1);
	if (!copy)
		return -ENOMEM;
	*copy = *piece;
	copy->name_bytes = (uint32_t)name.n;
	if (name.n > 0)
		memcpy(copy->name, name.p, name.n);
	copy->name[name.n] = '\0';
	if (at > 0)
		copy->begin = MAX_OF(copy->begin, p->items[at - 1]->end);
	if (at < p->n)
		copy->end = MIN_OF(copy->end, p->items[at]->begin);
	memmove(&p->items[at + 1], &p->items[at], (p->n - at) * sizeof(*p->items));
	p->items[at] = copy;
	p->n++;
	count(p, copy);
	*ret_piece = copy;
	return 0;
}

static void keep_only(struct symbol_ranges *p, bool (*is_kept)(const struct piece *piece))
{
	size_t n = p->n;

	p->n = p->bytes = p->n_passing = p->n_nameless = 0;
	for (size_t i = 0; i < n; i++) {
		struct piece *piece = p->items[i];

		if (!is_kept(piece)) {
			free(piece);
			continue;
		}
		p->items[p->n++] = piece;
		count(p, piece);
	}
}

static bool is_lasting(const struct piece *piece)
{
	return !piece->is_passing;
}

static bool has_name(const struct piece *piece)
{
	return piece->name_bytes > 0;
}

void symbol_ranges_drop_passing(struct symbol_ranges *p)
{
	if (p->n_passing > 0)
		keep_only(p, is_lasting);
}

void symbol_ranges_drop_nameless(struct symbol_ranges *p)
{
	if (p->n_nameless > 0)
		keep_only(p, has_name);
}
