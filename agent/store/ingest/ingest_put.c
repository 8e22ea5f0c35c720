/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile's samples into a head: what they name is interned, stacks become nodes, and when all has found room the slots are written.
 *
 * Until then a head has gained nothing but texts, functions and nodes; when no slot follows, they go again.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/ingest/ingest_private.h"
#include "agent/store/ingest/ingest_symbols.h"
#include "agent/util/macro.h"
#include "pprof/profile.pb-c.h"

/* What is written at the end. */
struct put_profile {
	uint32_t series;
	struct head_sample *samples;
	size_t n;
};

struct putting {
	struct ingest *in;
	const Perftools__Profiles__Profile *profile;
	struct head *head;
	struct segment *const *closed;
	size_t n_closed;
	uint32_t *nodes; /* of samples; SEGMENT_ROOT: dropped */
	struct put_profile *profiles;
	size_t n_profiles, n_repeated;
	size_t n_bytes; /* that all of them will take of the head, at most */
};

static int no_memory(const struct putting *p)
{
	return p->in->memory.full ? -ENOBUFS : -ENOMEM;
}

/* One number below zero spoils all; zeros alone tell nothing. */
static bool is_worth_keeping(const Perftools__Profiles__Sample *s)
{
	bool some = false;

	for (size_t i = 0; i < s->n_value; i++) {
		if (s->value[i] < 0)
			return false;
		some |= s->value[i] > 0;
	}
	return some;
}

static int put_node(const struct putting *p, struct ingest_symbols *symbols,
		    const Perftools__Profiles__Sample *s, uint32_t *ret_node)
{
	int r = ingest_symbols_stack(symbols, s->location_id, s->n_location_id, ret_node);
	uint64_t span_id = *ret_node == SEGMENT_ROOT ? 0 : ingest_span_id(p->in, s);

	if (r < 0 || !span_id)
		return r;
	return ingest_symbols_span(symbols, span_id, ret_node);
}

static int put_nodes(struct putting *p, struct ingest_symbols *symbols)
{
	for (size_t i = 0; i < p->profile->n_sample; i++) {
		const Perftools__Profiles__Sample *s = p->profile->sample[i];
		int r = 0;

		p->nodes[i] = SEGMENT_ROOT;
		if (!ingest_goes_on(p->in))
			return -ECANCELED;
		if (is_worth_keeping(s))
			r = put_node(p, symbols, s, &p->nodes[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

static int compare_samples(const void *a, const void *b)
{
	uint32_t x = ((const struct head_sample *)a)->node,
		 y = ((const struct head_sample *)b)->node;

	return x < y ? -1 : x > y;
}

/* Equal stacks become one. */
static size_t sum_samples(struct head_sample *samples, size_t n)
{
	size_t n_sums = 0;

	qsort(samples, n, sizeof(*samples), compare_samples);
	for (size_t i = 0; i < n; i++) {
		struct head_sample *last = n_sums > 0 ? &samples[n_sums - 1] : NULL;

		if (!last || last->node != samples[i].node)
			samples[n_sums++] = samples[i];
		else if (__builtin_add_overflow(last->value, samples[i].value, &last->value))
			last->value = INT64_MAX;
	}
	return n_sums;
}

/* Those of one group that have a value of the type. */
static int collect_samples(struct putting *p, const struct ingest_group *group, size_t type,
			   struct put_profile *ret)
{
	const uint32_t *order = p->in->order + group->first;
	size_t n = 0;

	for (size_t i = 0; i < group->n; i++)
		n += p->nodes[order[i]] && p->profile->sample[order[i]]->value[type] > 0;
	struct head_sample *samples =
		ingest_memory_alloc(&p->in->memory, (n + 1) * sizeof(*samples));

	if (!samples)
		return no_memory(p);
	n = 0;
	for (size_t i = 0; i < group->n; i++) {
		int64_t value = p->profile->sample[order[i]]->value[type];

		if (p->nodes[order[i]] && value > 0)
			samples[n++] = (struct head_sample){ p->nodes[order[i]], value };
	}
	*ret = (struct put_profile){ .samples = samples, .n = n > 0 ? sum_samples(samples, n) : 0 };
	return 0;
}

struct type_texts {
	const char *name, *type, *unit, *period_type, *period_unit;
};

static void take_type(const struct putting *p, size_t type, const struct ingest_labels *labels,
		      struct type_texts *ret)
{
	const Perftools__Profiles__ValueType *sample = p->profile->sample_type[type];
	const Perftools__Profiles__ValueType *period = p->profile->period_type;

	*ret = (struct type_texts){ .name = "",
				    .type = ingest_text(p->in, sample->type),
				    .unit = ingest_text(p->in, sample->unit),
				    .period_type = period ? ingest_text(p->in, period->type) : "",
				    .period_unit = period ? ingest_text(p->in, period->unit) : "" };
	for (size_t i = 0; i < labels->n; i++)
		if (strcmp(labels->items[i].name, "__name__") == 0)
			ret->name = labels->items[i].value;
}

/* name:type:unit:period_type:period_unit */
static char *profile_type(struct putting *p, const struct type_texts *t)
{
	const char *const parts[] = { t->name, t->type, t->unit, t->period_type, t->period_unit };
	size_t n = ARRAY_SIZE(parts), at = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		n += strlen(parts[i]);
	char *text = ingest_memory_alloc(&p->in->memory, n + 1);

	for (size_t i = 0; text && i < ARRAY_SIZE(parts); i++) {
		size_t n_part = strlen(parts[i]);

		memcpy(text + at, parts[i], n_part);
		at += n_part;
		text[at++] = i + 1 < ARRAY_SIZE(parts) ? ':' : '\0';
	}
	return text;
}

/* All labels of a series by name; an empty one is none. */
static int make_labels(struct putting *p, const struct ingest_labels *labels, size_t type,
		       struct ingest_labels *out)
{
	struct type_texts t;
	const char *service = "";

	take_type(p, type, labels, &t);
	for (size_t i = 0; i < labels->n; i++) {
		out->items[out->n++] = labels->items[i];
		if (strcmp(labels->items[i].name, "service_name") == 0)
			service = labels->items[i].value;
	}
	const char *id = profile_type(p, &t);
	if (!id)
		return no_memory(p);
	const struct label added[] = { { "__profile_type__", id },
				       { "__type__", t.type },
				       { "__unit__", t.unit },
				       { "__period_type__", t.period_type },
				       { "__period_unit__", t.period_unit },
				       { "__service_name__", service } };

	for (size_t i = 0; i < ARRAY_SIZE(added); i++)
		if (added[i].value[0])
			out->items[out->n++] = added[i];
	qsort(out->items, out->n, sizeof(*out->items), ingest_compare_labels);
	return 0;
}

static int put_series(struct putting *p, const struct ingest_labels *labels, uint32_t *ret_series)
{
	struct segment_label numbers[INGEST_MAX_SERIES_LABELS];

	assert(labels->n <= INGEST_MAX_SERIES_LABELS);
	for (size_t i = 0; i < labels->n; i++) {
		const struct label *l = &labels->items[i];
		int r = head_text(p->head, l->name, strlen(l->name), &numbers[i].name);

		if (r < 0)
			return r;
		r = head_text(p->head, l->value, strlen(l->value), &numbers[i].value);
		if (r < 0)
			return r;
	}
	return head_series(p->head, numbers, labels->n, ret_series);
}

/* One group of samples, one type of value: one profile of one series. */
static int put_one(struct putting *p, const struct ingest_group *group, size_t type)
{
	struct label items[INGEST_MAX_SERIES_LABELS];
	struct ingest_labels labels = { items, 0 };
	struct put_profile x;
	int r = collect_samples(p, group, type, &x);

	if (r < 0 || x.n == 0)
		return r;
	r = make_labels(p, &group->labels, type, &labels);
	if (r < 0)
		return r;
	if (ingest_is_in(p->closed, p->n_closed, &labels, p->in->time_ms)) {
		p->n_repeated++;
		return 0;
	}
	r = put_series(p, &labels, &x.series);
	if (r < 0)
		return r;
	if (head_has(p->head, x.series, p->in->time_ms)) {
		p->n_repeated++;
		return 0;
	}
	p->n_bytes += head_put_bytes(p->head, x.series, p->in->time_ms, x.n);
	p->profiles[p->n_profiles++] = x;
	return 0;
}

static int put_groups(struct putting *p)
{
	for (size_t i = 0; i < p->in->n_groups; i++)
		for (size_t type = 0; type < p->profile->n_sample_type; type++) {
			/* In many closed segments a series is looked for long. */
			bool goes_on = !p->in->budget || read_budget_goes_on_now(p->in->budget);
			int r = goes_on ? put_one(p, &p->in->groups[i], type) : -ECANCELED;

			if (r < 0)
				return r;
		}
	return 0;
}

static int put_prepare(struct putting *p)
{
	struct ingest_symbols symbols;
	size_t n_profiles;

	if (__builtin_mul_overflow(p->in->n_groups + 1, p->profile->n_sample_type, &n_profiles))
		return -ENOBUFS;
	p->nodes =
		ingest_memory_calloc(&p->in->memory, p->profile->n_sample + 1, sizeof(*p->nodes));
	p->profiles = ingest_memory_calloc(&p->in->memory, n_profiles, sizeof(*p->profiles));
	if (!p->nodes || !p->profiles)
		return no_memory(p);
	int r = ingest_symbols_init(&symbols, p->in, p->head);

	r = r < 0 ? r : put_nodes(p, &symbols);
	return r < 0 ? r : put_groups(p);
}

/* Two types of one name, or groups whose labels the rules made equal, end in one series: there the samples are summed. */
static int put_commit(struct putting *p)
{
	int64_t period = p->profile->period > 0 ? p->profile->period : 0;

	for (size_t i = 0; i < p->n_profiles; i++) {
		const struct put_profile *x = &p->profiles[i];
		int r = head_put(p->head, x->series, p->in->time_ms, period, x->samples, x->n);

		if (r < 0)
			return r;
	}
	return 0;
}

int ingest_put(struct ingest *in, struct head *head, struct segment *const *closed, size_t n_closed,
	       struct ingest_result *ret_result)
{
	struct putting p = { .in = in,
			     .profile = in->profile,
			     .head = head,
			     .closed = closed,
			     .n_closed = n_closed };
	struct head_mark mark;

	assert(in->profile && in->order);
	head_mark(head, &mark);
	int r = put_prepare(&p);
	if (r == 0 && !(head_has_room(head, p.n_bytes) && head_takes_time(head, in->time_ms)))
		r = -ENOBUFS;
	/* Nobody would ever look at what it has left there. */
	if (r < 0 || p.n_profiles == 0)
		head_rollback(head, &mark);
	r = r < 0 ? r : put_commit(&p);
	if (r < 0)
		return r;
	*ret_result = (struct ingest_result){ p.n_profiles, p.n_repeated };
	return 0;
}
