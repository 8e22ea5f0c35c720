/* SPDX-License-Identifier: Apache-2.0 */
/* What has gone into each series. */
#include "agent/component/ebpf_series.h"

#include <assert.h>
#include <stdlib.h>

#include "agent/component/profile_name.h"

void ebpf_series_init(struct ebpf_series *s)
{
	*s = (struct ebpf_series){ .table = HASH_TABLE_INIT };
	list_init(&s->ages);
}

static void forget(struct ebpf_series *s, struct ebpf_series_entry *e)
{
	assert(s->n > 0);
	hash_remove(&s->table, &e->node);
	list_remove(&e->age);
	labels_unref(e->series);
	labels_unref(e->labels);
	free(e);
	s->n--;
}

void ebpf_series_fini(struct ebpf_series *s)
{
	LIST_FOREACH (&s->ages, at)
		forget(s, LIST_ENTRY(at, struct ebpf_series_entry, age));
	assert(s->n == 0 && list_empty(&s->ages));
	hash_fini(&s->table);
}

static bool is_of(const struct ebpf_series_entry *e, const struct labels *series)
{
	return e->series == series || labels_equal(e->series, series);
}

static struct ebpf_series_entry *find(const struct ebpf_series *s, const struct labels *series,
				      const struct labels *labels)
{
	HASH_FOREACH_MATCH (&s->table, series->hash, node) {
		struct ebpf_series_entry *e = CONTAINER_OF(node, struct ebpf_series_entry, node);

		if (is_of(e, series) && labels_equal(e->labels, labels))
			return e;
	}
	return NULL;
}

static struct ebpf_series_entry *entry_new(struct ebpf_series *s, struct labels *series,
					   bool is_cpu, struct labels *labels)
{
	struct ebpf_series_entry *e = calloc(1, sizeof(*e));

	if (!e || hash_insert(&s->table, &e->node, series->hash) < 0) {
		free(e);
		return NULL;
	}
	list_init(&e->age);
	e->series = labels_ref(series);
	e->is_cpu = is_cpu;
	e->labels = labels_ref(labels);
	s->n++;
	return e;
}

void ebpf_series_add(struct ebpf_series *s, struct labels *series, enum event event,
		     struct labels *labels, uint64_t n_samples)
{
	struct ebpf_series_entry *e = find(s, series, labels);

	assert(event < EVENT_MAX);
	if (!e && s->n >= EBPF_SERIES_MAX)
		forget(s, LIST_ENTRY(s->ages.next, struct ebpf_series_entry, age));
	if (!e)
		e = entry_new(s, series, event == EVENT_CPU, labels);
	if (!e)
		return;
	e->n_samples += n_samples;
	list_remove(&e->age);
	list_push_back(&s->ages, &e->age);
}

static void count_process(struct ebpf_series *s, const struct labels *series, bool is_cpu)
{
	HASH_FOREACH_MATCH (&s->table, series->hash, node) {
		struct ebpf_series_entry *e = CONTAINER_OF(node, struct ebpf_series_entry, node);

		e->n_processes += e->is_cpu == is_cpu && is_of(e, series);
	}
}

void ebpf_series_count_process(struct ebpf_series *s, struct labels *labels)
{
	_cleanup_(labels_unrefp) struct labels *other = NULL;

	count_process(s, labels, true);
	if (profile_name_without(labels, &other) == 0)
		count_process(s, other, false);
}
