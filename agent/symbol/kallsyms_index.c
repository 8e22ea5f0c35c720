/* SPDX-License-Identifier: Apache-2.0 */
/* The index of the kernel's symbols, once all are there: in order, and cut into segments and runs. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "agent/symbol/kallsyms_raw.h"

int raw_symbols_push(struct raw_symbols *to, const struct raw_symbol *symbol)
{
	if (to->n == to->cap) {
		size_t cap = to->cap + to->cap / 2 + 1024;
		struct raw_symbol *more = reallocarray(to->items, cap, sizeof(*more));

		if (!more)
			return -ENOMEM;
		to->items = more;
		to->cap = cap;
	}
	to->items[to->n++] = *symbol;
	return 0;
}

static int compare_numbered(const void *va, const void *vb)
{
	const struct raw_symbol *a = va;
	const struct raw_symbol *b = vb;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->name < b->name ? -1 : 1;
}

size_t raw_symbols_n_sorted(const struct raw_symbols *s)
{
	size_t n = s->n > 0;

	while (n < s->n && s->items[n - 1].address < s->items[n].address)
		n++;
	return n;
}

void raw_symbols_unite(struct raw_symbols *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (n == 0 || s->items[i].address != s->items[n - 1].address)
			s->items[n++] = s->items[i];
	s->n = n;
}

/* How many of the first n, which are sorted, lie before an address. */
static size_t n_before(const struct raw_symbols *s, size_t n, uint64_t address)
{
	size_t low = 0;

	while (low < n) {
		size_t mid = low + (n - low) / 2;

		if (s->items[mid].address < address)
			low = mid + 1;
		else
			n = mid;
	}
	return low;
}

/* Batches are sorted; the kernel's come in order. Sorting takes as much memory as what is sorted: that are modules and programs, not the
 * kernel before them. */
static void sort_all(struct raw_symbols *s)
{
	size_t n = raw_symbols_n_sorted(s);
	struct raw_symbol *rest = s->items + n;

	if (n == s->n)
		return;
	qsort(rest, s->n - n, sizeof(*rest), compare_numbered);
	n = n_before(s, n, rest[0].address);
	qsort(s->items + n, s->n - n, sizeof(*rest), compare_numbered);
	raw_symbols_unite(s);
}

static bool begins_segment(const struct raw_symbol *s, uint64_t base)
{
	return s->address - base > UINT32_MAX;
}

static bool begins_run(const struct raw_symbol *s)
{
	return s->module != s[-1].module || s->name != s[-1].name + 1;
}

static void count_parts(const struct raw_symbol *s, size_t n, size_t *ret_segments,
			size_t *ret_runs)
{
	uint64_t base = n > 0 ? s[0].address : 0;

	*ret_segments = *ret_runs = n > 0;
	for (size_t i = 1; i < n; i++) {
		*ret_runs += begins_run(&s[i]);
		if (!begins_segment(&s[i], base))
			continue;
		base = s[i].address;
		++*ret_segments;
	}
}

static void fill(struct kallsyms *k, const struct raw_symbol *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || begins_segment(&s[i], k->segments[k->n_segments - 1].base))
			k->segments[k->n_segments++] =
				(struct kallsyms_segment){ s[i].address, (uint32_t)i };
		if (i == 0 || begins_run(&s[i]))
			k->runs[k->n_runs++] =
				(struct kallsyms_run){ (uint32_t)i, s[i].module, s[i].name };
		k->starts[i] = (uint32_t)(s[i].address - k->segments[k->n_segments - 1].base);
	}
	k->n = n;
}

int kallsyms_build_index(struct kallsyms *k, struct raw_symbols *all)
{
	size_t n_segments, n_runs;

	assert(all->n > 0 && k->n == 0 && !k->starts);
	sort_all(all);
	count_parts(all->items, all->n, &n_segments, &n_runs);
	k->starts = calloc(all->n, sizeof(*k->starts));
	k->segments = calloc(n_segments, sizeof(*k->segments));
	k->runs = calloc(n_runs, sizeof(*k->runs));
	if (!k->starts || !k->segments || !k->runs)
		return -ENOMEM;
	fill(k, all->items, all->n);
	assert(k->n_segments == n_segments && k->n_runs == n_runs);
	return 0;
}
