/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the sources of running programs. */
#include "agent/runtimes/source_table.h"

#include <stdlib.h>

#include "agent/util/macro.h"

static struct source_slot *find(struct source_table *t, uint32_t pid, uint32_t exec_id,
				const struct source_function *f, bool is_end)
{
	for (size_t i = 0; i < SOURCE_TABLE_SLOTS; i++) {
		struct source_slot *s = &t->slots[i];

		if (s->pid == pid && s->exec_id == exec_id && s->source == f->source &&
		    s->n_source == f->n_source && s->is_end == is_end)
			return s;
	}
	return NULL;
}

static bool wants_end(const struct source_function *f)
{
	return f->end == 0;
}

const struct source_facts *source_table_find(struct source_table *t, uint32_t pid, uint32_t exec_id,
					     const struct source_function *f)
{
	struct source_slot *s = pid ? find(t, pid, exec_id, f, false) : NULL;

	if (!s && pid && wants_end(f))
		s = find(t, pid, exec_id, f, true);
	if (!s)
		return NULL;
	s->used = ++t->n_asked;
	return &s->facts;
}

static void drop(struct source_table *t, struct source_slot *s)
{
	free(s->facts.bytes);
	t->n_bytes -= s->facts.n;
	*s = (struct source_slot){ 0 };
}

/* The one that was asked for longest ago; NULL: all are free. */
static struct source_slot *oldest(struct source_table *t)
{
	struct source_slot *found = NULL;

	for (size_t i = 0; i < SOURCE_TABLE_SLOTS; i++)
		if (t->slots[i].pid && (!found || t->slots[i].used < found->used))
			found = &t->slots[i];
	return found;
}

static struct source_slot *free_slot(struct source_table *t, size_t *n_dropped)
{
	for (size_t i = 0; i < SOURCE_TABLE_SLOTS; i++)
		if (!t->slots[i].pid)
			return &t->slots[i];
	struct source_slot *s = oldest(t);
	drop(t, s);
	++*n_dropped;
	return s;
}

size_t source_table_put(struct source_table *t, uint32_t pid, uint32_t exec_id,
			const struct source_function *f, struct source_facts facts)
{
	struct source_slot *there = pid ? find(t, pid, exec_id, f, wants_end(f)) : NULL;
	size_t n_dropped = 0;

	if (there)
		drop(t, there);
	if (!pid || facts.n > t->max_bytes) {
		free(facts.bytes);
		n_dropped += facts.n > 0;
		facts = (struct source_facts){ 0 };
	}
	if (!pid)
		return n_dropped;
	for (; t->n_bytes + facts.n > t->max_bytes; n_dropped++)
		drop(t, oldest(t));
	*free_slot(t, &n_dropped) = (struct source_slot){ .pid = pid,
							  .exec_id = exec_id,
							  .source = f->source,
							  .n_source = f->n_source,
							  .is_end = wants_end(f),
							  .used = ++t->n_asked,
							  .facts = facts };
	t->n_bytes += facts.n;
	return n_dropped;
}

void source_table_clear(struct source_table *t)
{
	for (size_t i = 0; i < SOURCE_TABLE_SLOTS; i++)
		if (t->slots[i].pid)
			drop(t, &t->slots[i]);
}
