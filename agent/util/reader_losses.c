/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that are lost, and who is avoided because of them. */
#include <assert.h>

#include "agent/util/macro.h"
#include "agent/util/reader_private.h"

static bool is_same(const struct reader_subject *a, const struct reader_subject *b)
{
	if (a->pid || b->pid)
		return a->pid == b->pid && (!a->start || !b->start || a->start == b->start);
	return a->dev != 0 && a->dev == b->dev;
}

/* Calls of one who is to blame, and of his control group. */
struct load {
	uint32_t n_who, n_place;
};

static bool is_too_much(const struct load *n)
{
	return n->n_who >= READER_MAX_LOST_EACH || n->n_place >= READER_MAX_LOST_TOGETHER;
}

static void add_blame(struct load *n, const struct reader_blame *blame,
		      const struct reader_blame *other)
{
	n->n_who += blame->who && other->who == blame->who;
	n->n_place += blame->place && other->place == blame->place;
}

static struct load count_lost(const struct reader_losses *l, const struct reader_blame *blame)
{
	struct load n = { 0 };

	for (size_t i = 0; i < READER_MAX_LOST; i++)
		if (l->items[i].is_used)
			add_blame(&n, blame, &l->items[i].blame);
	return n;
}

/* Adds those that run. */
static uint32_t add_running(const struct reader_losses *l, const struct reader_blame *blame,
			    struct load *n)
{
	uint32_t n_running = 0;

	for (const struct reader_running *at = l->running; at; at = at->next) {
		add_blame(n, blame, at->is_blamed ? &at->blame : blame);
		n_running++;
	}
	return n_running;
}

static bool is_avoided(const struct reader_losses *l, const struct reader_subject *subject,
		       uint64_t now_ns)
{
	for (size_t i = 0; i < READER_MAX_LOST; i++)
		if (l->items[i].is_used && is_same(&l->items[i].subject, subject) &&
		    now_ns < l->items[i].retry_ns)
			return true;
	return false;
}

static void put_off(struct reader_losses *l, const struct reader_subject *subject, uint64_t now_ns)
{
	for (size_t i = 0; i < READER_MAX_LOST; i++) {
		struct reader_lost *lost = &l->items[i];

		if (!lost->is_used || !is_same(&lost->subject, subject))
			continue;
		lost->wait_ns = MIN_OF(2 * lost->wait_ns, READER_LAST_RETRY_NS);
		lost->retry_ns = now_ns + lost->wait_ns;
	}
}

enum reader_verdict reader_losses_admit(struct reader_losses *l,
					const struct reader_subject *subject,
					const struct reader_blame *blame, uint64_t now_ns)
{
	struct load n = count_lost(l, blame);

	if (l->n >= READER_MAX_LOST || is_avoided(l, subject, now_ns) || is_too_much(&n))
		return READER_AVOIDED;
	if (l->n + add_running(l, blame, &n) >= READER_MAX_LOST || is_too_much(&n))
		return READER_CROWDED;
	put_off(l, subject, now_ns);
	return READER_ADMITTED;
}

void reader_losses_enter(struct reader_losses *l, struct reader_running *running)
{
	running->next = l->running;
	l->running = running;
}

void reader_losses_leave(struct reader_losses *l, struct reader_running *running)
{
	struct reader_running **at = &l->running;

	while (*at != running)
		at = &(*at)->next;
	*at = running->next;
}

struct reader_lost *reader_losses_add(struct reader_losses *l, const struct reader_subject *subject,
				      const struct reader_blame *blame, uint64_t now_ns)
{
	size_t i = 0;

	while (i < READER_MAX_LOST && l->items[i].is_used)
		i++;
	assert(i < READER_MAX_LOST);
	l->items[i] = (struct reader_lost){
		.is_used = true,
		.subject = *subject,
		.blame = *blame,
		.begin_ns = now_ns,
		.retry_ns = now_ns + READER_FIRST_RETRY_NS,
		.wait_ns = READER_FIRST_RETRY_NS,
	};
	l->n++;
	return &l->items[i];
}

void reader_losses_remove(struct reader_losses *l, struct reader_lost *lost)
{
	assert(lost->is_used && l->n > 0);
	lost->is_used = false;
	l->n--;
}

const struct reader_lost *reader_losses_to_say(struct reader_losses *l, uint64_t now_ns)
{
	for (size_t i = 0; i < READER_MAX_LOST; i++) {
		struct reader_lost *lost = &l->items[i];

		if (!lost->is_used || lost->is_said || now_ns - lost->begin_ns < READER_SAY_NS)
			continue;
		lost->is_said = true;
		return lost;
	}
	return NULL;
}
