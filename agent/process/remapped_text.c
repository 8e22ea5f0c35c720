/* SPDX-License-Identifier: Apache-2.0 */
/* Claims on anonymous memory: what a set of mappings says. */
#include "agent/process/remapped_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/macro.h"

int remapped_texts_new(struct remapped_texts **ret_claims)
{
	struct remapped_texts *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	*ret_claims = c;
	return 0;
}

void remapped_texts_free(struct remapped_texts *c)
{
	if (!c)
		return;
	for (unsigned int i = 0; i < c->n; i++)
		mapped_file_unref(c->items[i].file);
	free(c);
}

int remapped_texts_copy(const struct remapped_texts *from, struct remapped_texts **ret_claims)
{
	struct remapped_texts *c = malloc(sizeof(*c));

	if (!c)
		return -ENOMEM;
	*c = *from;
	for (unsigned int i = 0; i < c->n; i++)
		(void)mapped_file_ref(c->items[i].file);
	*ret_claims = c;
	return 0;
}

void remapped_texts_remove(struct remapped_texts *c, unsigned int at)
{
	mapped_file_unref(c->items[at].file);
	c->n--;
	memmove(c->items + at, c->items + at + 1, (c->n - at) * sizeof(c->items[0]));
}

/* Both say the same of where the file begins, and there is nothing between them. */
static bool goes_on(const struct remapped_text *a, const struct remapped_text *b)
{
	return a->file == b->file &&
	       a->guess.begin - a->guess.file_off == b->guess.begin - b->guess.file_off &&
	       a->guess.begin <= b->guess.end && b->guess.begin <= a->guess.end;
}

static void take_in(struct remapped_text *to, const struct remapped_text *c)
{
	if (c->guess.begin < to->guess.begin) {
		to->guess.begin = c->guess.begin;
		to->guess.file_off = c->guess.file_off;
	}
	to->guess.end = MAX_OF(to->guess.end, c->guess.end);
	if (to->beside_begin == to->beside_end) {
		to->beside_begin = c->beside_begin;
		to->beside_end = c->beside_end;
	}
}

void remapped_texts_add(struct remapped_texts *c, const struct remapped_text *claim)
{
	struct remapped_text add = *claim;

	for (unsigned int i = 0; i < c->n;) {
		if (!goes_on(&c->items[i], &add)) {
			i++;
			continue;
		}
		take_in(&add, &c->items[i]);
		remapped_texts_remove(c, i);
	}
	if (c->n == REMAPPED_TEXTS_MAX)
		remapped_texts_remove(c, 0);
	c->items[c->n++] = add;
}

static bool overlaps(const struct remapped_text *claim, uint64_t begin, uint64_t end)
{
	return claim->guess.begin < end && begin < claim->guess.end;
}

void remapped_texts_drop(struct remapped_texts *c, uint64_t begin, uint64_t end)
{
	for (unsigned int i = c ? c->n : 0; i-- > 0;)
		if (overlaps(&c->items[i], begin, end))
			remapped_texts_remove(c, i);
}

void remapped_texts_renew(struct remapped_texts *c, uint64_t begin, uint64_t end)
{
	for (unsigned int i = 0; c && i < c->n; i++) {
		if (!overlaps(&c->items[i], begin, end))
			continue;
		c->items[i].n_tries = 0;
		c->items[i].due_ns = 0;
	}
}

/* The first of a file in [begin, end), from index `at` on; set->n: none. */
static uint32_t next_text(const struct mappings *set, uint32_t at, uint64_t end)
{
	for (; at < set->n && set->items[at].begin < end; at++)
		if (set->items[at].kind == MAPPING_FILE)
			return at;
	return set->n;
}

bool mappings_hold_text(const struct mappings *set, uint64_t begin, uint64_t end)
{
	return set && next_text(set, mappings_first_ending_after(set, begin), end) < set->n;
}

void remapped_texts_cover(struct remapped_texts *c, const struct mappings *set, uint64_t begin,
			  uint64_t end)
{
	uint32_t at = next_text(set, mappings_first_ending_after(set, begin), end);

	for (; at < set->n; at = next_text(set, at + 1, end)) {
		const struct mapping *m = &set->items[at];
		uint64_t from = MAX_OF(m->begin, begin);

		remapped_texts_add(
			c, &(struct remapped_text){ .guess = { from, MIN_OF(m->end, end),
							       m->file_off + (from - m->begin) },
						    .file = mapped_file_ref(m->file) });
	}
}

unsigned int remapped_texts_due(const struct remapped_texts *c, uint64_t now_ns)
{
	for (unsigned int i = 0; i < c->n; i++)
		if (c->items[i].due_ns <= now_ns)
			return i;
	return REMAPPED_TEXTS_MAX;
}
