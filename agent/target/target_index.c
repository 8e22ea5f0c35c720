/* SPDX-License-Identifier: Apache-2.0 */
/* The targets of a set, found by what selects them. */
#include "agent/target/target_index.h"

#include <assert.h>
#include <string.h>

#include "agent/util/macro.h"

/* One pid may be that of several processes, one after the other: the last target wins of those that take the start. */
struct target *target_index_pid(const struct target_index *x, uint32_t pid, uint64_t start_ns)
{
	struct target *found = NULL;

	HASH_FOREACH_MATCH (&x->by_pid, hash_u64(pid), node) {
		struct target *t = CONTAINER_OF(node, struct target, node);

		if (t->selector.pid == pid && selector_takes_start(&t->selector, start_ns) &&
		    (!found || t > found))
			found = t;
	}
	return found;
}

/* Of equal ones only the last counts. */
static bool has_selector(const struct target_index *x, const struct selector *by)
{
	HASH_FOREACH_MATCH (&x->by_pid, hash_u64(by->pid), node) {
		const struct selector *it = &CONTAINER_OF(node, struct target, node)->selector;

		if (it->pid == by->pid && it->have_start == by->have_start &&
		    it->start_ns == by->start_ns)
			return true;
	}
	return false;
}

static struct target *find_container(const struct target_index *x, const char *id, uint64_t hash)
{
	HASH_FOREACH_MATCH (&x->by_container, hash, node) {
		struct target *t = CONTAINER_OF(node, struct target, node);

		if (strcmp(t->selector.container_id, id) == 0)
			return t;
	}
	return NULL;
}

/* Called from the last target to the first, so one that is known already wins. */
static int index_target(struct target_index *x, struct target *t)
{
	const struct selector *by = &t->selector;

	switch (by->kind) {
	case SELECTOR_PID:
		if (has_selector(x, by))
			return 0;
		return hash_insert(&x->by_pid, &t->node, hash_u64(by->pid));
	case SELECTOR_CONTAINER:
		if (find_container(x, by->container_id, t->id_hash))
			return 0;
		return hash_insert(&x->by_container, &t->node, t->id_hash);
	case SELECTOR_NONE:
		break;
	}
	return 0;
}

static uint64_t hash_address(const struct labels *l)
{
	return hash_u64((uintptr_t)l);
}

static const struct target *find_labels(const struct target_index *x, const struct labels *l)
{
	HASH_FOREACH_MATCH (&x->by_labels, hash_address(l), node) {
		const struct target *t = CONTAINER_OF(node, struct target, labels_node);

		if (t->labels == l)
			return t;
	}
	return NULL;
}

/* As `before`, a target of the same labels, does; NULL: there is none. */
static void select_by(struct target *t, const struct target *before)
{
	if (before) {
		t->selector = before->selector;
		t->id_hash = before->id_hash;
		return;
	}
	selector_from_labels(t->labels, &t->selector);
	if (t->selector.kind == SELECTOR_CONTAINER)
		t->id_hash = hash_str(t->selector.container_id);
}

static int add_target(struct target_index *x, struct target *t, const struct target *before,
		      bool with_series)
{
	select_by(t, before);
	x->n_unusable += t->selector.kind == SELECTOR_NONE;
	if (before && before->series && with_series)
		t->series = labels_ref(before->series);
	int r = hash_insert(&x->by_labels, &t->labels_node, hash_address(t->labels));
	return r < 0 ? r : index_target(x, t);
}

int target_index_init(struct target_index *x, struct labels *const *targets, size_t n,
		      const struct target_index *before, bool with_series)
{
	int r = 0;

	assert(n == 0 || targets);
	*x = (struct target_index){ .items = calloc(MAX_OF(n, (size_t)1), sizeof(x->items[0])) };
	if (!x->items)
		return -ENOMEM;
	x->n = n;
	for (size_t i = n; r == 0 && i-- > 0;) {
		struct target *t = &x->items[i];

		t->labels = labels_ref(targets[i]);
		r = add_target(x, t, before ? find_labels(before, t->labels) : NULL, with_series);
	}
	return r;
}

void target_fini(struct target *t)
{
	labels_unref(t->series);
	labels_unref(t->labels);
}

void target_index_fini(struct target_index *x)
{
	for (size_t i = 0; i < x->n; i++)
		target_fini(&x->items[i]);
	hash_fini(&x->by_pid);
	hash_fini(&x->by_container);
	hash_fini(&x->by_labels);
	free(x->items);
	*x = (struct target_index){ 0 };
}

struct target *target_index_container(const struct target_index *x, const char *id)
{
	return find_container(x, id, hash_str(id));
}
