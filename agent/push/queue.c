/* SPDX-License-Identifier: Apache-2.0 */
/* What waits to be sent to one endpoint. */
#include "agent/push/queue.h"

#include <assert.h>

#include "agent/push/body.h"

void push_queue_init(struct push_queue *q, size_t max_items, size_t max_bytes)
{
	*q = (struct push_queue){ .max_items = max_items, .max_bytes = max_bytes, .next_seq = 1 };
	list_init(&q->entries);
}

void push_queue_fini(struct push_queue *q)
{
	assert(list_empty(&q->entries) && q->n == 0 && q->n_bytes == 0);
	(void)q;
}

void push_queue_put(struct push_queue *q, struct push_entry *entry)
{
	struct list *after = q->entries.prev;

	if (entry->seq == 0)
		entry->seq = q->next_seq++;
	while (after != &q->entries && LIST_ENTRY(after, struct push_entry, node)->seq > entry->seq)
		after = after->prev;
	list_push_front(after, &entry->node);
	q->n++;
	q->n_bytes += entry->profile->n;
}

bool push_queue_is_over(const struct push_queue *q)
{
	return q->n > q->max_items || q->n_bytes > q->max_bytes;
}

bool push_queue_is_half_full(const struct push_queue *q)
{
	return q->n > q->max_items / 2 || q->n_bytes > q->max_bytes / 2;
}

static struct push_entry *push_queue_take(struct push_queue *q, struct push_entry *entry)
{
	if (!entry)
		return NULL;
	list_remove(&entry->node);
	q->n--;
	q->n_bytes -= entry->profile->n;
	return entry;
}

struct push_entry *push_queue_take_oldest(struct push_queue *q)
{
	if (list_empty(&q->entries))
		return NULL;
	return push_queue_take(q, LIST_ENTRY(q->entries.next, struct push_entry, node));
}

struct push_entry *push_queue_take_small(struct push_queue *q, size_t max_bytes)
{
	LIST_FOREACH (&q->entries, node) {
		struct push_entry *entry = LIST_ENTRY(node, struct push_entry, node);

		if (entry->profile->n <= max_bytes)
			return push_queue_take(q, entry);
	}
	return NULL;
}

struct push_entry *push_queue_take_next(struct push_queue *q, uint64_t now_ns)
{
	struct push_entry *best = NULL;

	LIST_FOREACH (&q->entries, node) {
		struct push_entry *entry = LIST_ENTRY(node, struct push_entry, node);

		if (entry->profile->begin_ns <= now_ns &&
		    (!best || entry->n_attempts < best->n_attempts))
			best = entry;
	}
	return push_queue_take(q, best);
}

struct push_entry *push_queue_take_fresh(struct push_queue *q, uint64_t now_ns, size_t n_bytes)
{
	LIST_FOREACH (&q->entries, node) {
		struct push_entry *entry = LIST_ENTRY(node, struct push_entry, node);

		if (entry->profile->begin_ns <= now_ns && entry->n_attempts == 0 &&
		    n_bytes + entry->profile->n <= PUSH_MAX_BATCH_BYTES)
			return push_queue_take(q, entry);
	}
	return NULL;
}

uint64_t push_queue_next_begin(const struct push_queue *q, uint64_t now_ns)
{
	uint64_t next_ns = 0;

	LIST_FOREACH (&q->entries, node) {
		uint64_t begin_ns = LIST_ENTRY(node, struct push_entry, node)->profile->begin_ns;

		if (begin_ns > now_ns && (next_ns == 0 || begin_ns < next_ns))
			next_ns = begin_ns;
	}
	return next_ns;
}

struct push_entry *push_queue_take_late(struct push_queue *q, uint64_t now_ns)
{
	LIST_FOREACH (&q->entries, node) {
		struct push_entry *entry = LIST_ENTRY(node, struct push_entry, node);

		if (entry->profile->deadline_ns < now_ns)
			return push_queue_take(q, entry);
	}
	return NULL;
}
