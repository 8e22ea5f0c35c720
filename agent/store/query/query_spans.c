/* SPDX-License-Identifier: Apache-2.0 */
/* What was done within spans, in one profile. */
#include <errno.h>
#include <stdlib.h>

#include "agent/store/query/query_steps.h"
#include "agent/util/macro.h"

struct loading {
	struct query_spans *spans;
	const struct query_part *part;
	const bool *within;
	int r;
};

void query_spans_fini(struct query_spans *spans)
{
	query_free(spans->items);
	*spans = (struct query_spans){ 0 };
}

static int compare(const void *a, const void *b)
{
	const struct query_span *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static int make_room(struct query_spans *spans, struct query_memory *memory)
{
	size_t cap = MAX_OF(2 * spans->cap, (size_t)64);
	struct query_span *items = query_realloc(memory, spans->items, cap, sizeof(*items));

	if (!items)
		return -ENOMEM;
	spans->items = items;
	spans->cap = cap;
	return 0;
}

static void take_value(void *user, uint32_t node, int64_t value)
{
	struct loading *l = user;
	uint64_t id = l->within && !l->within[node] ? 0 : segment_node_span(l->part->segment, node);

	if (id == 0 || l->r < 0)
		return;
	if (l->spans->n == l->spans->cap)
		l->r = make_room(l->spans, l->part->q->memory);
	if (l->r == 0)
		l->spans->items[l->spans->n++] = (struct query_span){ id, value };
}

/* Each once. */
static void merge(struct query_spans *spans)
{
	size_t n = 0;

	qsort(spans->items, spans->n, sizeof(*spans->items), compare);
	for (size_t i = 1; i < spans->n; i++) {
		struct query_span *to = &spans->items[n], *from = &spans->items[i];

		if (to->id != from->id)
			spans->items[++n] = *from;
		else if (__builtin_add_overflow(to->value, from->value, &to->value))
			to->value = INT64_MAX;
	}
	spans->n = spans->n ? n + 1 : 0;
}

int query_spans_load(struct query_spans *spans, const struct query_part *part, size_t slot,
		     const bool *within)
{
	struct loading l = { .spans = spans, .part = part, .within = within };

	spans->n = 0;
	segment_each_value(part->segment, slot, take_value, &l);
	if (l.r == 0 && spans->n > 0)
		merge(spans);
	return l.r;
}
