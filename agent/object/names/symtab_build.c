/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a symbol index is made.
 *
 * A sweep over the candidates in order of address. `open` is the stack of sized symbols that hold
 * the sweep's address and reach beyond those above them, so their ends grow towards the bottom;
 * when the top one ends, the next goes on and gets a new entry.
 */
#include "agent/object/names/symtab_build.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/names/symtab.h"
#include "agent/util/cleanup.h"
#include "agent/util/macro.h"

/* Symbols inside of symbols: assembly has two or three levels. Beyond it an outer symbol is not
 * resumed. */
#define MAX_OPEN 64

#define RADIX_BITS 11
#define RADIX ((uint32_t)1 << RADIX_BITS)

static void radix_pass(const struct symtab_candidate *from, struct symtab_candidate *to, size_t n,
		       unsigned int shift)
{
	uint32_t at[RADIX] = { 0 };
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i++)
		at[(from[i].start >> shift) & (RADIX - 1)]++;
	for (uint32_t digit = 0; digit < RADIX; digit++) {
		uint32_t count = at[digit];

		at[digit] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[at[(from[i].start >> shift) & (RADIX - 1)]++] = from[i];
}

struct symtab_candidate *symtab_sort(struct symtab_candidate *candidates,
				     struct symtab_candidate *scratch, size_t n)
{
	radix_pass(candidates, scratch, n, 0);
	radix_pass(scratch, candidates, n, RADIX_BITS);
	radix_pass(candidates, scratch, n, 2 * RADIX_BITS);
	return scratch;
}

struct open_symbol {
	uint32_t end;
	uint32_t ref;
};

struct sweep {
	struct symtab_entry *entries;
	size_t n;
	size_t cap;
	struct open_symbol open[MAX_OPEN];
	size_t n_open;
	uint32_t unsized_end; /* 0: no unsized symbol is open */
};

static int emit(struct sweep *s, uint32_t start, uint32_t ref)
{
	if (s->n == s->cap) {
		size_t cap = s->cap + s->cap / 2 + 64;
		struct symtab_entry *entries = realloc(s->entries, cap * sizeof(*entries));

		if (!entries)
			return -ENOMEM;
		s->entries = entries;
		s->cap = cap;
	}
	s->entries[s->n++] = (struct symtab_entry){ start, ref };
	return 0;
}

/* Ends what ends at or before `start`; where something outer goes on before it, that gets an entry.
 */
static int close_until(struct sweep *s, uint32_t start)
{
	if (s->unsized_end && s->unsized_end <= start) {
		uint32_t end = s->unsized_end;

		s->unsized_end = 0;
		if (end < start && emit(s, end, SYMTAB_REF_NONE) < 0)
			return -ENOMEM;
	}
	while (s->n_open > 0 && s->open[s->n_open - 1].end <= start) {
		uint32_t end = s->open[--s->n_open].end;

		if (s->n_open > 0 && end < start && s->open[s->n_open - 1].end > end &&
		    emit(s, end, s->open[s->n_open - 1].ref) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void open_sized(struct sweep *s, const struct symtab_candidate *c)
{
	struct open_symbol o = { c->start + c->size_bytes, c->rank & SYMTAB_REF_MASK };

	while (s->n_open > 0 && s->open[s->n_open - 1].end <= o.end)
		s->n_open--;
	if (s->n_open < MAX_OPEN)
		s->open[s->n_open++] = o;
}

static uint32_t preference(const struct symtab_candidate *c)
{
	return c->rank >> SYMTAB_REF_INDEX_BITS;
}

/* All n candidates begin at the same address. */
static int sweep_group(struct sweep *s, const struct symtab_candidate *group, size_t n)
{
	const struct symtab_candidate *best = group;
	const struct symtab_candidate *longest = NULL;
	size_t n_aliases = 0;

	for (size_t i = 0; i < n; i++) {
		if (preference(&group[i]) < preference(best))
			best = &group[i];
		if (!(group[i].rank & (SYMTAB_RANK_UNSIZED | SYMTAB_RANK_NOTYPE)) &&
		    (!longest || group[i].size_bytes > longest->size_bytes))
			longest = &group[i];
	}
	if (close_until(s, group->start) < 0)
		return -ENOMEM;
	/* What is no sized function has no say inside of a sized symbol. */
	if ((best->rank & (SYMTAB_RANK_UNSIZED | SYMTAB_RANK_NOTYPE)) && s->n_open > 0)
		return 0;
	for (size_t i = 0; i < n && n_aliases < SYMTAB_MAX_ALIASES; i++) {
		if (preference(&group[i]) != preference(best))
			continue;
		if (emit(s, group[i].start, group[i].rank & SYMTAB_REF_MASK) < 0)
			return -ENOMEM;
		n_aliases++;
	}
	s->unsized_end = 0;
	if (best->rank & SYMTAB_RANK_UNSIZED) {
		s->unsized_end = best->start + best->size_bytes;
		return 0;
	}
	if (longest && longest->size_bytes > best->size_bytes)
		open_sized(s, longest);
	open_sized(s, best);
	return 0;
}

int symtab_flatten(const struct symtab_candidate *sorted, size_t n,
		   struct symtab_entry **ret_entries, size_t *ret_n)
{
	struct sweep s = { 0 };
	int r = 0;

	for (size_t i = 0; i < n && r == 0;) {
		size_t end = i + 1;

		while (end < n && sorted[end].start == sorted[i].start)
			end++;
		assert(end == n || sorted[end].start > sorted[i].start);
		r = sweep_group(&s, &sorted[i], end - i);
		i = end;
	}
	if (r == 0)
		r = close_until(&s, UINT32_MAX);
	_cleanup_free_ struct symtab_entry *entries = s.entries;
	if (r < 0)
		return r;
	if (s.n > 0 && s.n < s.cap) {
		struct symtab_entry *less = realloc(entries, s.n * sizeof(*less));

		entries = less ? less : entries;
	}
	*ret_entries = TAKE_PTR(entries);
	*ret_n = s.n;
	return 0;
}
