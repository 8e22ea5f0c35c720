/* SPDX-License-Identifier: Apache-2.0 */
/* Samples by their text labels: each set is a series. Numbers are dropped, and so are the ids that a server keeps inside of a profile. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/ingest/ingest_private.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"
#include "pprof/profile.pb-c.h"

static const char *const inner_names[] = { "profile_id", "span_id", "trace_id" };
/* These two name a span. */
#define N_SPAN_NAMES 2
#define SPAN_ID_DIGITS 16

static bool becomes_label(const struct ingest *in, const Perftools__Profiles__Label *l)
{
	const char *name = ingest_text(in, l->key);

	if (!ingest_text(in, l->str)[0])
		return false;
	/* A label of the push wins. */
	for (size_t i = 0; i < in->base.n; i++)
		if (strcmp(name, in->base.items[i].name) == 0)
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(inner_names); i++)
		if (strcmp(name, inner_names[i]) == 0)
			return false;
	return true;
}

uint64_t ingest_span_id(const struct ingest *in, const void *sample)
{
	const Perftools__Profiles__Sample *s = sample;
	uint64_t id = 0, ids[N_SPAN_NAMES] = { 0 };

	for (size_t i = 0; i < s->n_label; i++)
		for (size_t k = 0; k < N_SPAN_NAMES; k++) {
			struct str text = str_from(ingest_text(in, s->label[i]->str));

			if (strcmp(ingest_text(in, s->label[i]->key), inner_names[k]) == 0 &&
			    text.n == SPAN_ID_DIGITS &&
			    str_parse_u64(text, 16, UINT64_MAX, &id) == 0)
				ids[k] = id;
		}
	return ids[1] ? ids[1] : ids[0];
}

/* By name, each once; of several the first. */
static void sort_labels(struct ingest_labels *labels)
{
	size_t n = 0;

	/* Insertion keeps the order of equal names, and there are a hundred at most. */
	for (size_t i = 0; i < labels->n; i++) {
		struct label l = labels->items[i];
		size_t at = n;

		while (at > 0 && strcmp(labels->items[at - 1].name, l.name) > 0)
			at--;
		if (at > 0 && strcmp(labels->items[at - 1].name, l.name) == 0)
			continue;
		memmove(labels->items + at + 1, labels->items + at, (n - at) * sizeof(l));
		labels->items[at] = l;
		n++;
	}
	labels->n = n;
}

static bool read_labels(struct ingest *in, const Perftools__Profiles__Sample *s,
			struct ingest_labels *ret_labels)
{
	*ret_labels = (struct ingest_labels){ 0 };
	if (s->n_label == 0)
		return true;
	ret_labels->items =
		ingest_memory_alloc(&in->memory, s->n_label * sizeof(*ret_labels->items));
	if (!ret_labels->items)
		return false;
	for (size_t i = 0; i < s->n_label; i++)
		if (becomes_label(in, s->label[i]))
			ret_labels->items[ret_labels->n++] =
				(struct label){ ingest_text(in, s->label[i]->key),
						ingest_text(in, s->label[i]->str) };
	sort_labels(ret_labels);
	return true;
}

/* More than the rules allow in any series. */
static bool is_too_much(const struct ingest_labels *set)
{
	if (set->n > LABELS_MAX)
		return true;
	for (size_t i = 0; i < set->n; i++)
		if (strnlen(set->items[i].name, LABEL_NAME_MAX + 1) > LABEL_NAME_MAX ||
		    strnlen(set->items[i].value, LABEL_VALUE_MAX + 1) > LABEL_VALUE_MAX)
			return true;
	return false;
}

/* Texts of one table: where they lie tells most of them to be equal. */
static int compare_texts(const char *a, const char *b)
{
	return a == b ? 0 : strcmp(a, b);
}

static int compare_sets(const struct ingest_labels *a, const struct ingest_labels *b)
{
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	for (size_t i = 0; i < a->n; i++) {
		int order = compare_texts(a->items[i].name, b->items[i].name);

		order = order ? order : compare_texts(a->items[i].value, b->items[i].value);
		if (order)
			return order;
	}
	return 0;
}

static int compare_samples(const void *a, const void *b, void *data)
{
	const struct ingest_labels *sets = data;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = compare_sets(&sets[x], &sets[y]);

	return order ? order : x < y ? -1 : x > y;
}

/* A label of the push wins over one of a sample. */
static int group_labels(struct ingest *in, const struct ingest_labels *set,
			struct ingest_labels *ret_labels, struct buf *why)
{
	/* One more for what the rules may add. */
	size_t room = in->base.n + set->n + 1;
	struct ingest_labels all = { ingest_memory_alloc(&in->memory, room * sizeof(*all.items)),
				     in->base.n };

	if (!all.items)
		return ingest_no_memory(in, why);
	memcpy(all.items, in->base.items, in->base.n * sizeof(*all.items));
	if (set->n > 0)
		memcpy(all.items + all.n, set->items, set->n * sizeof(*all.items));
	all.n += set->n;
	sort_labels(&all);
	*ret_labels = all;
	return ingest_check_labels(in, ret_labels, why);
}

static int make_group(struct ingest *in, const struct ingest_labels *set, size_t first, size_t n,
		      struct buf *why)
{
	struct ingest_group *group = &in->groups[in->n_groups++];

	group->first = first;
	group->n = n;
	return group_labels(in, set, &group->labels, why);
}

static int split_groups(struct ingest *in, const struct ingest_labels *sets, size_t n_samples,
			struct buf *why)
{
	size_t n_types = ((const Perftools__Profiles__Profile *)in->profile)->n_sample_type;
	size_t n_groups = n_samples > 0;

	for (size_t i = 1; i < n_samples; i++)
		n_groups += compare_sets(&sets[in->order[i - 1]], &sets[in->order[i]]) != 0;
	if (n_groups * n_types > INGEST_MAX_SERIES) {
		(void)buf_printf(why, "the profile makes %zu series, limit: %d", n_groups * n_types,
				 INGEST_MAX_SERIES);
		return INGEST_REFUSED_SAMPLES;
	}
	in->groups = ingest_memory_calloc(&in->memory, n_groups + 1, sizeof(*in->groups));
	if (!in->groups)
		return ingest_no_memory(in, why);
	for (size_t i = 0, end; i < n_samples; i = end) {
		const struct ingest_labels *set = &sets[in->order[i]];

		if (!ingest_goes_on(in))
			return -ECANCELED;
		for (end = i + 1; end < n_samples; end++)
			if (compare_sets(set, &sets[in->order[end]]) != 0)
				break;
		int r = make_group(in, set, i, end - i, why);
		if (r != INGEST_OPENED)
			return r;
	}
	return INGEST_OPENED;
}

/* All sets are compared with each other, so none may be long: one that is, is refused before, in the words of the rules. */
static int read_sets(struct ingest *in, struct ingest_labels *sets, bool *ret_labelled,
		     struct buf *why)
{
	const Perftools__Profiles__Profile *p = in->profile;
	struct ingest_labels ignored;

	*ret_labelled = false;
	for (size_t i = 0; i < p->n_sample; i++) {
		in->order[i] = (uint32_t)i;
		if (!ingest_goes_on(in))
			return -ECANCELED;
		if (!read_labels(in, p->sample[i], &sets[i]))
			return ingest_no_memory(in, why);
		if (is_too_much(&sets[i]))
			return group_labels(in, &sets[i], &ignored, why);
		*ret_labelled |= sets[i].n > 0;
	}
	return INGEST_OPENED;
}

int ingest_make_groups(struct ingest *in, struct buf *why)
{
	const Perftools__Profiles__Profile *p = in->profile;
	struct ingest_labels *sets =
		ingest_memory_alloc(&in->memory, (p->n_sample + 1) * sizeof(*sets));
	bool labelled;

	assert(!in->order && !in->groups);
	in->order = ingest_memory_alloc(&in->memory, (p->n_sample + 1) * sizeof(*in->order));
	if (!sets || !in->order)
		return ingest_no_memory(in, why);
	/* The labels of the push keep the rules even when no sample comes with them. */
	if (p->n_sample == 0) {
		struct ingest_labels ignored;

		return group_labels(in, &(struct ingest_labels){ 0 }, &ignored, why);
	}
	int r = read_sets(in, sets, &labelled, why);
	if (r != INGEST_OPENED)
		return r;
	if (labelled)
		qsort_r(in->order, p->n_sample, sizeof(*in->order), compare_samples, sets);
	return split_groups(in, sets, p->n_sample, why);
}
