/* SPDX-License-Identifier: Apache-2.0 */
/* Profile types, label names, label values. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/query/query_private.h"

struct collecting {
	struct query_intern texts;
	const char *label; /* whose values; NULL: the names of labels */
};

void query_names_fini(struct query_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		query_free(names->items[i]);
	query_free(names->items);
	*names = (struct query_names){ 0 };
}

/* Of each text once a segment. */
static int add_text(struct collecting *c, const struct segment *s, uint32_t text, bool *seen)
{
	const char *bytes = segment_text(s, text);
	uint32_t number;

	if (seen[text])
		return 0;
	seen[text] = true;
	return query_intern_add(&c->texts, bytes, strlen(bytes), &number);
}

static int add_series(struct collecting *c, const struct segment *s, size_t i, uint32_t label,
		      bool *seen)
{
	struct segment_series series;
	int r = 0;

	segment_series(s, i, &series);
	for (size_t k = 0; k < series.n_labels && r == 0; k++) {
		const struct segment_label *l = &series.labels[k];

		if (!c->label)
			r = add_text(c, s, l->name, seen);
		else if (l->name == label && l->value != 0)
			r = add_text(c, s, l->value, seen);
	}
	return r;
}

static int collect_part(void *user, const struct query_part *part)
{
	struct collecting *c = user;
	const struct segment *s = part->segment;
	_cleanup_query_free_ bool *seen =
		query_calloc(part->q->memory, segment_n_texts(s), sizeof(*seen));
	uint32_t label = c->label ? segment_find_text(s, c->label) : SEGMENT_NONE;
	int r = 0;

	if (!seen)
		return -ENOMEM;
	if (c->label && label == SEGMENT_NONE)
		return 0;
	for (size_t i = 0; i < segment_n_series(s) && r == 0; i++) {
		struct query_slots slots = query_slots(part, i);

		if (slots.first < slots.end)
			r = add_series(c, s, i, label, seen);
	}
	return r;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int sorted_copy(const struct query_intern *texts, struct query_names *ret_names)
{
	_cleanup_(query_names_fini) struct query_names names = {
		.items = query_calloc(texts->memory, texts->n + 1, sizeof(*names.items)),
	};

	if (!names.items)
		return -ENOMEM;
	for (; names.n < texts->n; names.n++) {
		names.items[names.n] = query_strdup(texts->memory, texts->items[names.n].bytes);
		if (!names.items[names.n])
			return -ENOMEM;
	}
	qsort(names.items, names.n, sizeof(*names.items), compare);
	*ret_names = names;
	names = (struct query_names){ 0 };
	return 0;
}

static void collecting_fini(struct collecting *c)
{
	query_intern_fini(&c->texts);
}

static int collect(const struct query *q, const char *label, struct query_names *ret_names)
{
	_cleanup_(collecting_fini) struct collecting c = { .label = label };
	int r;

	query_intern_init(&c.texts, q->memory, SIZE_MAX);
	r = query_each_part(q, collect_part, &c);
	return r < 0 ? r : sorted_copy(&c.texts, ret_names);
}

int query_profile_types(const struct query *q, struct query_names *ret_ids)
{
	return collect(q, "__profile_type__", ret_ids);
}

int query_label_names(const struct query *q, struct query_names *ret_names)
{
	return collect(q, NULL, ret_names);
}

int query_label_values(const struct query *q, const char *name, struct query_names *ret_values)
{
	return collect(q, name, ret_values);
}
