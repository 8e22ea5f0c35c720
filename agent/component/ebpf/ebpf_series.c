/* SPDX-License-Identifier: Apache-2.0 */
/* The series of pyroscope.ebpf: what has gone into each, and the cap on their number. */
#include "agent/component/ebpf/ebpf_private.h"

#include <assert.h>
#include <stdlib.h>

#include "agent/component/ebpf/profile_name.h"
#include "agent/util/log.h"

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

/* It goes on for as long as nobody changes anything. */
#define SAY_AGAIN_NS (3600 * NS_PER_S)

static const struct metric_family series_active = {
	"xagent_series_active",
	"Series sent within the last hour, \"other\" included.",
	METRIC_GAUGE,
	{ "component_path", "component_id" }
};

void ebpf_cap_fini(struct ebpf_cap *c)
{
	series_cap_free(c->cap);
	*c = (struct ebpf_cap){ 0 };
}

static int set_cap(struct ebpf_cap *c, size_t max, struct labels *other)
{
	if (!c->cap)
		return series_cap_new(max, other, &c->cap);
	series_cap_set(c->cap, max, other);
	return 0;
}

static void say_folded(struct ebpf_cap *c, const struct component *component,
		       const struct series_cap_folded *f, uint64_t now_ns)
{
	const char *biggest = labels_get(f->biggest, "service_name");

	if (c->said && now_ns - c->said_ns < SAY_AGAIN_NS)
		return;
	c->said = true;
	c->said_ns = now_ns;
	log_warn("more series than max_series: the smallest new ones are sent as "
		 "service_name=\"" SERIES_CAP_OTHER "\"",
		 LOG_STR("component_id", component->id), LOG_UINT("folded_series", f->n_series),
		 LOG_UINT("folded_samples", f->n_samples),
		 LOG_UINT("max_series", series_cap_max(c->cap)),
		 LOG_STR("biggest_folded", biggest ? biggest : ""),
		 LOG_STR("fix",
			 "drop a label that has many values with discovery.relabel, or raise "
			 "max_series (Pyroscope grants a tenant 5000 series by default)"));
}

void ebpf_cap_apply(struct ebpf_cap *c, const struct component *component, size_t max,
		    struct labels *other, struct interval *i, uint64_t now_mono_ns)
{
	struct telemetry *t = component->env->telemetry;
	const char *labels[] = { component->path, component->local_id };
	struct series_cap_folded folded = { 0 };
	int r = set_cap(c, max, other);

	if (r == 0)
		r = series_cap_apply(c->cap, i, now_mono_ns, &folded);
	if (r < 0) {
		log_warn("cannot cap the number of series", LOG_STR("component_id", component->id),
			 LOG_ERR(r));
		return;
	}
	metric_set(telemetry_series(t, &series_active, labels),
		   (double)series_cap_n_active(c->cap));
	telemetry_count(t, TELEMETRY_series_folded, folded.n_series);
	telemetry_count(t, TELEMETRY_samples_folded, folded.n_samples);
	if (folded.n_series > 0)
		say_folded(c, component, &folded, now_mono_ns);
}
