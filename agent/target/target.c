/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Targets: which series a process belongs to.
 *
 * A target whose labels tell its name has one series, made at its first match and kept. One that is
 * named after its processes (and the default) is asked for each of them.
 */
#include "agent/target/target.h"

#include <assert.h>
#include <string.h>

#include "agent/target/process_place.h"
#include "agent/target/series.h"
#include "agent/target/service_name.h"
#include "agent/target/target_index.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

struct target_set {
	struct target_index index;
	struct target fallback; /* the default target; its labels may be none */
	bool targets_only;
	bool fallback_given; /* the default's labels are somebody's choice */
	struct container_metadata *metadata;
	bool script_names;
	struct series_pool *series; /* a reference; the sets before and after have it too */
};

static int add_targets(struct target_set *s, const struct target_set_options *o)
{
	const struct target_set *before = o->previous;
	size_t n = MIN_OF(o->n_targets, (size_t)TARGETS_MAX);
	int r = target_index_init(&s->index, o->targets, n, before ? &before->index : NULL,
				  before && before->series == s->series);

	if (r < 0)
		return r;
	telemetry_count(o->telemetry, TELEMETRY_targets_rejected,
			o->n_targets - n + s->index.n_unusable);
	return 0;
}

static bool same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

/* A series that was made before is the same object, and what the label sanitizer did to it is counted once. */
static int open_series(struct target_set *s, const struct target_set_options *o)
{
	struct series_pool *pool = o->previous ? o->previous->series : NULL;

	if (pool && same_text(pool->host, o->host) && pool->telemetry == o->telemetry &&
	    pool->notes == o->notes) {
		series_pool_sweep(pool);
		s->series = series_pool_ref(pool);
		return 0;
	}
	int r = series_pool_new(SERIES_POOL_MAX, o->host, o->telemetry, &s->series);
	if (r < 0)
		return r;
	s->series->notes = o->notes;
	return 0;
}

int target_set_new(const struct target_set_options *o, struct target_set **ret_set)
{
	const struct labels *fallback = o->default_target;
	_cleanup_(target_set_freep) struct target_set *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->targets_only = o->have_targets && o->targets_only;
	s->fallback_given = fallback;
	s->metadata = o->metadata;
	s->script_names = o->script_names;
	r = open_series(s, o);
	if (r < 0)
		return r;
	r = labels_new(fallback ? fallback->items : NULL, fallback ? fallback->n : 0,
		       &s->fallback.labels);
	if (r < 0)
		return r;
	r = add_targets(s, o);
	if (r < 0)
		return r;
	*ret_set = TAKE_PTR(s);
	return 0;
}

void target_set_free(struct target_set *s)
{
	if (!s)
		return;
	target_index_fini(&s->index);
	target_fini(&s->fallback);
	series_pool_unref(s->series);
	free(s);
}

size_t target_set_n(const struct target_set *s)
{
	return s->index.by_pid.n + s->index.by_container.n;
}

bool target_set_pids_only(const struct target_set *s)
{
	return s->targets_only && s->index.by_container.n == 0;
}

/* NULL: not to be profiled. */
static struct target *select_target(struct target_set *s, struct process_table *processes,
				    struct process *p)
{
	struct target *t = target_index_pid(&s->index, p->pid, p->start_ns);

	if (t)
		return t;
	if (s->index.by_container.n > 0) {
		t = target_index_container(&s->index,
					   process_identity(processes, p)->cgroup.container_id);
		if (t)
			return t;
	}
	return s->targets_only ? NULL : &s->fallback;
}

/* What the target says; without one, where the process runs. */
static int base_labels(const struct target_set *s, const struct target *t,
		       const struct service_name_facts *facts, struct labels **ret_labels)
{
	struct label items[PROCESS_PLACE_LABELS_MAX];
	struct process_place place;

	assert(t->labels);
	if (t != &s->fallback || s->fallback_given) {
		*ret_labels = labels_ref(t->labels);
		return 0;
	}
	process_place_find(facts->identity, facts->container, &place);
	return labels_new(items, process_place_labels(&place, items), ret_labels);
}

/* A series named after the process. */
static int match_process(struct target_set *s, const struct target *t, uint32_t pid,
			 const struct process_identity *id, struct labels **ret_labels)
{
	_cleanup_(labels_unrefp) struct labels *base = NULL;
	struct service_name_facts facts = { .identity = id, .scripts = s->script_names };
	struct service_name name;

	if (s->metadata)
		facts.container =
			container_metadata_find(s->metadata, &id->cgroup, pid, clock_mono_ns());
	int r = base_labels(s, t, &facts, &base);
	if (r < 0)
		return r;
	service_name_from_process(&facts, &name);
	return series_pool_get(s->series, base, name.text, ret_labels);
}

/* … after its target, which so has one series for all of its processes. */
static int match_target(struct target_set *s, struct target *t, const struct service_name *name,
			struct labels **ret_labels)
{
	assert(!t->series);
	/* A name that the target gives stays there, where the label sanitizer counts what it does to it. */
	const char *text = name->source == SERVICE_NAME_LABEL ? NULL : name->text;
	int r = series_pool_get(s->series, t->labels, text, ret_labels);

	if (r < 0)
		return r;
	t->series = labels_ref(*ret_labels);
	return 0;
}

int target_set_match(struct target_set *s, struct process_table *processes, struct process *p,
		     struct labels **ret_labels)
{
	struct target *t = select_target(s, processes, p);
	int found = t == &s->fallback ? TARGET_DEFAULT : TARGET_FOUND;
	struct service_name name;
	int r;

	if (!t)
		return TARGET_NONE;
	if (t->series) {
		*ret_labels = labels_ref(t->series);
		return found;
	}
	if (service_name_from_labels(t->labels, &name))
		r = match_target(s, t, &name, ret_labels);
	else
		r = match_process(s, t, p->pid, process_identity(processes, p), ret_labels);
	return r < 0 ? r : found;
}

int target_set_series(struct target_set *s, const char *service_name, struct labels **ret_labels)
{
	_cleanup_(labels_unrefp) struct labels *none = NULL;
	int r = labels_new(NULL, 0, &none);

	return r < 0 ? r : series_pool_get(s->series, none, service_name, ret_labels);
}
