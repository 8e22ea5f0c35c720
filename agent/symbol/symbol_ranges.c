/* SPDX-License-Identifier: Apache-2.0 */
/* What is known so far of one file's addresses. */
#include "agent/symbol/symbol_ranges.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/util/cleanup.h"
#include "agent/util/macro.h"

/* What malloc adds to an entry, and its place in the array. */
#define ALLOCATION_BYTES 24

static size_t range_bytes(const struct symbol_range *range)
{
	return sizeof(*range) + range->name_bytes + 1 + ALLOCATION_BYTES;
}

void symbol_ranges_fini(struct symbol_ranges *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->items[i]);
	free(s->items);
	*s = (struct symbol_ranges){ 0 };
}

/* How many begin at or before the address. */
static size_t upper_bound(const struct symbol_ranges *s, uint64_t vaddr)
{
	size_t low = 0;
	size_t high = s->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->items[mid]->begin <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct symbol_range *symbol_ranges_find(const struct symbol_ranges *s, uint64_t vaddr)
{
	size_t after = upper_bound(s, vaddr);

	return after > 0 && vaddr < s->items[after - 1]->end ? s->items[after - 1] : NULL;
}

static int reserve(struct symbol_ranges *s)
{
	size_t cap = s->cap + s->cap / 2 + 8;

	if (s->n < s->cap)
		return 0;
	struct symbol_range **more = realloc(s->items, cap * sizeof(*more));
	if (!more)
		return -ENOMEM;
	s->items = more;
	s->cap = cap;
	return 0;
}

static void count(struct symbol_ranges *s, const struct symbol_range *range)
{
	s->bytes += range_bytes(range);
	s->n_passing += range->is_passing;
	s->n_nameless += range->name_bytes == 0;
}

int symbol_ranges_add(struct symbol_ranges *s, uint64_t vaddr, const struct symbol_range *range,
		      struct str name, const struct symbol_range **ret_range)
{
	size_t at = upper_bound(s, vaddr);
	int r = reserve(s);

	if (r < 0)
		return r;
	struct symbol_range *copy = malloc(sizeof(*copy) + name.n + 1);
	if (!copy)
		return -ENOMEM;
	*copy = *range;
	copy->name_bytes = (uint32_t)name.n;
	if (name.n > 0)
		memcpy(copy->name, name.p, name.n);
	copy->name[name.n] = '\0';
	if (at > 0)
		copy->begin = MAX_OF(copy->begin, s->items[at - 1]->end);
	if (at < s->n)
		copy->end = MIN_OF(copy->end, s->items[at]->begin);
	memmove(&s->items[at + 1], &s->items[at], (s->n - at) * sizeof(*s->items));
	s->items[at] = copy;
	s->n++;
	count(s, copy);
	*ret_range = copy;
	return 0;
}

static void keep_only(struct symbol_ranges *s, bool (*is_kept)(const struct symbol_range *range))
{
	size_t n = s->n;

	s->n = s->bytes = s->n_passing = s->n_nameless = 0;
	for (size_t i = 0; i < n; i++) {
		struct symbol_range *range = s->items[i];

		if (!is_kept(range)) {
			free(range);
			continue;
		}
		s->items[s->n++] = range;
		count(s, range);
	}
}

static bool is_lasting(const struct symbol_range *range)
{
	return !range->is_passing;
}

static bool has_name(const struct symbol_range *range)
{
	return range->name_bytes > 0;
}

void symbol_ranges_drop_passing(struct symbol_ranges *s)
{
	if (s->n_passing > 0)
		keep_only(s, is_lasting);
}

void symbol_ranges_drop_nameless(struct symbol_ranges *s)
{
	if (s->n_nameless > 0)
		keep_only(s, has_name);
}
