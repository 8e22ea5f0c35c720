/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Targets: which series a process belongs to.
 *
 * A target whose labels tell its name has one series, made at its first match and kept. One that is
 * named after its processes (and the default) is asked for each of them.
 */
#include "agent/target/target.h"

#include <string.h>

#include "agent/target/selector.h"
#include "agent/target/series.h"
#include "agent/target/service_name.h"
#include "agent/util/hash.h"
#include "agent/util/macro.h"

struct target {
	struct hash_node node; /* of by_pid or by_container */
	struct selector selector;
	struct labels *labels;
	struct labels *series; /* NULL until matched, and where the process gives the name */
};

struct target_set {
	struct target *targets; /* as configured; those that are in no index select nothing */
	size_t n_targets;
	struct hash_table by_pid;
	struct hash_table by_container;
	struct target fallback; /* the default target; its labels may be none */
	bool targets_only;
	struct series_pool series;
};

static struct target *find_pid(const struct target_set *s, uint32_t pid)
{
	HASH_FOREACH_MATCH (&s->by_pid, hash_u64(pid), node) {
		struct target *t = CONTAINER_OF(node, struct target, node);

		if (t->selector.pid == pid)
			return t;
	}
	return NULL;
}

static struct target *find_container(const struct target_set *s, const char *id)
{
	HASH_FOREACH_MATCH (&s->by_container, hash_str(id), node) {
		struct target *t = CONTAINER_OF(node, struct target, node);

		if (strcmp(t->selector.container_id, id) == 0)
			return t;
	}
	return NULL;
}

/* Called from the last target to the first, so one that is known already wins. */
static int index_target(struct target_set *s, struct target *t)
{
	const struct selector *by = &t->selector;

	switch (by->kind) {
	case SELECTOR_PID:
		if (find_pid(s, by->pid))
			return 0;
		return hash_insert(&s->by_pid, &t->node, hash_u64(by->pid));
	case SELECTOR_CONTAINER:
		if (find_container(s, by->container_id))
			return 0;
		return hash_insert(&s->by_container, &t->node, hash_str(by->container_id));
	case SELECTOR_NONE:
		break;
	}
	return 0;
}

static int add_targets(struct target_set *s, const struct target_set_options *o)
{
	size_t n = MIN_OF(o->n_targets, (size_t)TARGETS_MAX), n_rejected = o->n_targets - n;

	s->targets = calloc(MAX_OF(n, (size_t)1), sizeof(s->targets[0]));
	if (!s->targets)
		return -ENOMEM;
	s->n_targets = n;
	for (size_t i = n; i-- > 0;) {
		struct target *t = &s->targets[i];

		t->labels = labels_ref(o->targets[i]);
		selector_from_labels(t->labels, &t->selector);
		n_rejected += t->selector.kind == SELECTOR_NONE;
		int r = index_target(s, t);
		if (r < 0)
			return r;
	}
	telemetry_count(o->telemetry, TELEMETRY_targets_rejected, n_rejected);
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
	r = series_pool_init(&s->series, SERIES_POOL_MAX, o->host, o->telemetry);
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

static void target_fini(struct target *t)
{
	labels_unref(t->series);
	labels_unref(t->labels);
}

void target_set_free(struct target_set *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_targets; i++)
		target_fini(&s->targets[i]);
	target_fini(&s->fallback);
	hash_fini(&s->by_pid);
	hash_fini(&s->by_container);
	series_pool_fini(&s->series);
	free(s->targets);
	free(s);
}

size_t target_set_n(const struct target_set *s)
{
	return s->by_pid.n + s->by_container.n;
}

bool target_set_pids_only(const struct target_set *s)
{
	return s->targets_only && s->by_container.n == 0;
}

/* NULL: not to be profiled. */
static struct target *select_target(struct target_set *s, struct process_table *processes,
				    struct process *p)
{
	struct target *t = find_pid(s, p->pid);

	if (t && selector_takes_start(&t->selector, p->start_ns))
		return t;
	if (s->by_container.n > 0) {
		t = find_container(s, process_identity(processes, p)->cgroup.container_id);
		if (t)
			return t;
	}
	return s->targets_only ? NULL : &s->fallback;
}

int target_set_match(struct target_set *s, struct process_table *processes, struct process *p,
		     struct labels **ret_labels)
{
	struct target *t = select_target(s, processes, p);
	int found = t == &s->fallback ? TARGET_DEFAULT : TARGET_FOUND;
	struct service_name name;

	if (!t)
		return TARGET_NONE;
	if (t->series) {
		*ret_labels = labels_ref(t->series);
		return found;
	}
	bool by_labels = service_name_from_labels(t->labels, &name);
	if (!by_labels)
		service_name_from_process(process_identity(processes, p), &name);
	/* A name that the target gives stays there, where hygiene counts what it does to it. */
	bool given = by_labels && name.source == SERVICE_NAME_LABEL;
	int r = series_pool_get(&s->series, t->labels, given ? NULL : name.text, ret_labels);
	if (r < 0)
		return r;
	if (by_labels)
		t->series = labels_ref(*ret_labels);
	return found;
}
