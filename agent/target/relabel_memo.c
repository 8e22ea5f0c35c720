/* SPDX-License-Identifier: Apache-2.0 */
/* What rules have made of targets, remembered. */
#include "agent/target/relabel_memo.h"

#include <assert.h>

#include "agent/util/macro.h"

struct entry {
	struct hash_node node;
	struct labels *target; /* references */
	struct labels *result; /* NULL: dropped */
	uint64_t round;	       /* the last one that it came in */
};

static void entry_free(struct relabel_memo *m, struct entry *e)
{
	hash_remove(&m->by_target, &e->node);
	labels_unref(e->target);
	labels_unref(e->result);
	free(e);
}

void relabel_memo_fini(struct relabel_memo *m)
{
	HASH_FOREACH (&m->by_target, node)
		entry_free(m, CONTAINER_OF(node, struct entry, node));
	hash_fini(&m->by_target);
	*m = (struct relabel_memo){ 0 };
}

void relabel_memo_begin(struct relabel_memo *m)
{
	m->round++;
	m->n_seen = 0;
}

static struct entry *entry_find(const struct relabel_memo *m, const struct labels *target)
{
	HASH_FOREACH_MATCH (&m->by_target, target->hash, node) {
		struct entry *e = CONTAINER_OF(node, struct entry, node);

		if (labels_equal(e->target, target))
			return e;
	}
	return NULL;
}

static int entry_new(struct relabel_memo *m, struct labels *target, struct labels *result)
{
	_cleanup_free_ struct entry *e = malloc(sizeof(*e));
	int r = e ? hash_insert(&m->by_target, &e->node, target->hash) : -ENOMEM;

	if (r < 0)
		return r;
	e->target = labels_ref(target);
	e->result = result ? labels_ref(result) : NULL;
	e->round = m->round;
	m->n_seen++;
	(void)TAKE_PTR(e);
	return 0;
}

static int recall(struct relabel_memo *m, struct entry *e, struct labels **ret_labels)
{
	m->n_seen += e->round != m->round;
	e->round = m->round;
	if (!e->result)
		return RELABEL_DROPPED;
	*ret_labels = labels_ref(e->result);
	return RELABEL_KEPT;
}

int relabel_memo_apply(struct relabel_memo *m, struct relabel_rules *rules, struct labels *target,
		       struct relabel_pass *pass, struct labels **ret_labels)
{
	_cleanup_(labels_unrefp) struct labels *made = NULL;
	uint64_t n_losses = pass->n_given_up + pass->n_too_long;
	struct entry *known = entry_find(m, target);

	assert(m->round > 0);
	if (known)
		return recall(m, known, ret_labels);
	int outcome = relabel_rules_apply(rules, target, pass, &made);
	int r = outcome;
	if (outcome >= 0 && n_losses == pass->n_given_up + pass->n_too_long)
		r = entry_new(m, target, made);
	if (r < 0)
		return r;
	if (outcome == RELABEL_KEPT)
		*ret_labels = TAKE_PTR(made);
	return outcome;
}

void relabel_memo_end(struct relabel_memo *m)
{
	assert(m->n_seen <= m->by_target.n);
	if (m->n_seen == m->by_target.n)
		return;
	HASH_FOREACH (&m->by_target, node) {
		struct entry *e = CONTAINER_OF(node, struct entry, node);

		if (e->round != m->round)
			entry_free(m, e);
	}
}
