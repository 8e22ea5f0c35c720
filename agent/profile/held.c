/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits whose sample came when they began, with its stack and without values (WIRE_HELD). Ends tell the values, by the number of the sample: of a part, when an interval ends or
 * the wait goes on, and of the rest when it is over. Until then the stack is kept here, and goes from interval to interval.
 *
 * A thread waits for one thing at a time: of each event it has one here. Another one takes its place, for the end of the former was lost.
 */
#include "agent/profile/session_private.h"

#include <stdlib.h>
#include <string.h>

#include "agent/util/macro.h"

/* Threads that wait at once. Of more, the values are not had. */
#define HELD_MAX 65536

struct held {
	struct hash_node node; /* by its event and its thread */
	uint64_t id;
	struct kept_stack kept;
	uint32_t pid;
	enum event event;
	uint16_t source;
	enum wait_reason reason;
	bool is_counted; /* its sample is in a profile */
};

static uint64_t key_of(enum event event, uint64_t id)
{
	return hash_u64(WIRE_HELD_THREAD(id) << 8 | (uint64_t)event);
}

static struct held *find(const struct session *s, enum event event, uint64_t id)
{
	HASH_FOREACH_MATCH (&s->held.table, key_of(event, id), node) {
		struct held *h = CONTAINER_OF(node, struct held, node);

		if (h->event == event && WIRE_HELD_THREAD(h->id) == WIRE_HELD_THREAD(id))
			return h;
	}
	return NULL;
}

static void forget(struct session *s, struct held *h)
{
	if (!h->is_counted) {
		s->held.n_waiting--;
		telemetry_count(s->options.telemetry, TELEMETRY_samples_dropped_unended, 1);
	}
	hash_remove(&s->held.table, &h->node);
	kept_stack_fini(&h->kept);
	free(h);
}

static void count_missing(const struct session *s)
{
	telemetry_count(s->options.telemetry, TELEMETRY_ends_missing, 1);
}

/* NULL: there is no room. */
static struct held *held_new(struct session *s, enum event event, uint64_t id)
{
	struct held *h = s->held.table.n < HELD_MAX ? calloc(1, sizeof(*h)) : NULL;

	if (h && hash_insert(&s->held.table, &h->node, key_of(event, id)) < 0)
		free(TAKE_PTR(h));
	s->held.n_waiting += h != NULL;
	return h;
}

void session_hold(struct session *s, const struct sample *sample)
{
	const struct wire_sample *head = sample->head;
	uint64_t id = head->values[WIRE_VALUE_ID];
	struct held *h = find(s, head->record.event, id);

	if (h) {
		/* The stack of one wait may come a second time, with more names. */
		if (h->id != id)
			count_missing(s);
		forget(s, h);
	}
	h = held_new(s, head->record.event, id);
	if (!h) {
		telemetry_count(s->options.telemetry, TELEMETRY_samples_dropped_unended, 1);
		return;
	}
	h->id = id;
	h->kept.stack = s->interval->last;
	h->pid = head->pid;
	h->event = head->record.event;
	h->source = head->record.source;
	h->reason = head->reason;
}

/* Ready to be added. */
static struct samples samples_of(const struct held *h, const int64_t values[EVENT_MAX_VALUES])
{
	struct samples one = interval_samples_of(h->kept.stack);

	one.labels = h->kept.stack->series->labels;
	one.event = h->event;
	one.source = h->source;
	one.values = values;
	one.count = !h->is_counted;
	one.reason = h->reason;
	return one;
}

/* None: nothing is to be had of it. */
static bool take_values(const struct wire_end *end, int64_t ret_values[EVENT_MAX_VALUES])
{
	bool has_any = false;

	for (size_t v = 0; v < EVENT_MAX_VALUES; v++) {
		ret_values[v] = (int64_t)MIN_OF(end->values[v], (uint64_t)INT64_MAX);
		has_any |= ret_values[v] > 0;
	}
	return has_any;
}

static int add_end(struct session *s, struct held *h, const struct wire_end *end)
{
	const struct wire_sample head = { .record = end->record, .pid = h->pid, .reason = h->reason };
	int64_t values[EVENT_MAX_VALUES];
	struct samples one;

	/* Nobody wants it any more, or nothing is told. */
	if (!h->kept.stack || !h->kept.stack->series->labels || !take_values(end, values))
		return 0;
	one = samples_of(h, values);
	int r = session_add_values(s, &head, &one);
	if (r == 0 && !h->is_counted) {
		h->is_counted = true;
		s->held.n_waiting--;
	}
	return r;
}

void session_wait_end(struct session *s, const struct wire_end *end)
{
	struct held *h = find(s, end->record.event, end->id);
	int r;

	/* One whose sample nobody wanted is not here. */
	if (!h || h->id != end->id)
		return;
	s->stacks.waker = session_waker_of(s, h->event, end->values[WIRE_VALUE_WAKER]);
	r = add_end(s, h, end);
	free(TAKE_PTR(s->stacks.waker));
	/* The interval has used up its memory: it goes out early, and the stack is the next one's. */
	if (r < 0 && session_close_interval(s) == 0)
		r = add_end(s, h, end);
	if (r < 0)
		count_missing(s);
	if (!end->goes_on)
		forget(s, h);
}

static bool is_there(const struct session *s, uint32_t pid)
{
	return pid == 0 || process_table_find(s->processes.table, pid);
}

/* One whose process is gone has an end that was lost. */
void session_held_look(struct session *s)
{
	HASH_FOREACH (&s->held.table, node) {
		struct held *h = CONTAINER_OF(node, struct held, node);

		if (is_there(s, h->pid)) {
			kept_stack_look(&h->kept);
			continue;
		}
		count_missing(s);
		forget(s, h);
	}
}

void session_held_carry(struct session *s, struct interval *next)
{
	HASH_FOREACH (&s->held.table, node) {
		struct held *h = CONTAINER_OF(node, struct held, node);

		if (kept_stack_carry(&h->kept, s->interval, next) < 0)
			count_missing(s);
	}
}

void session_held_close(struct session *s)
{
	HASH_FOREACH (&s->held.table, node)
		forget(s, CONTAINER_OF(node, struct held, node));
	hash_fini(&s->held.table);
}
