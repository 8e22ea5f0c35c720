/* SPDX-License-Identifier: Apache-2.0 */
/* What the mapping events of one process may cost. */
#include "agent/process/event_budget.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/util/hash.h"

struct account {
	uint32_t pid; /* 0: nobody's */
	bool is_over; /* in this window */
	bool is_told; /* nothing was left out since the last report */
	uint64_t n_bytes;
	uint64_t last_ns; /* of what was left out */
};

struct event_budget {
	size_t max_bytes;
	uint64_t window_ends_ns;
	size_t n_untold;
	struct account accounts[EVENT_BUDGET_SETS][EVENT_BUDGET_WAYS];
};

int event_budget_new(size_t max_bytes, struct event_budget **ret_budget)
{
	struct event_budget *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->max_bytes = max_bytes ? max_bytes : EVENT_BUDGET_BYTES;
	*ret_budget = b;
	return 0;
}

void event_budget_free(struct event_budget *b)
{
	free(b);
}

static struct account *account_at(struct event_budget *b, size_t i)
{
	return &b->accounts[i / EVENT_BUDGET_WAYS][i % EVENT_BUDGET_WAYS];
}

static bool is_untold(const struct account *a)
{
	return a->last_ns && !a->is_told;
}

void event_budget_begin(struct event_budget *b, uint64_t now_ns)
{
	if (now_ns < b->window_ends_ns)
		return;
	b->window_ends_ns = now_ns + EVENT_BUDGET_WINDOW_NS;
	for (size_t i = 0; i < (size_t)EVENT_BUDGET_SETS * EVENT_BUDGET_WAYS; i++) {
		struct account *a = account_at(b, i);

		if (is_untold(a))
			*a = (struct account){ .pid = a->pid, .last_ns = a->last_ns };
		else
			*a = (struct account){ 0 };
	}
}

/* Its own, or one to begin with; NULL: all in its place have something left out. */
static struct account *account_of(struct event_budget *b, uint32_t pid)
{
	struct account *set = b->accounts[hash_u64(pid) % EVENT_BUDGET_SETS];
	struct account *least = NULL;

	for (size_t i = 0; i < EVENT_BUDGET_WAYS; i++) {
		struct account *a = &set[i];

		if (a->pid == pid)
			return a;
		if (!a->is_over && !is_untold(a) && (!least || a->n_bytes < least->n_bytes))
			least = a;
	}
	if (least)
		*least = (struct account){ .pid = pid };
	return least;
}

enum event_budget_answer event_budget_charge(struct event_budget *b, uint32_t pid, size_t n_bytes,
					     uint64_t time_ns)
{
	struct account *a = account_of(b, pid);

	if (!a)
		return EVENT_BUDGET_TAKE;
	a->n_bytes += n_bytes;
	if (a->n_bytes <= b->max_bytes)
		return EVENT_BUDGET_TAKE;
	bool is_first = !a->is_over;
	if (!is_untold(a))
		b->n_untold++;
	a->is_over = true;
	a->is_told = false;
	/* Rings are read one after the other. */
	if (time_ns > a->last_ns)
		a->last_ns = time_ns;
	return is_first ? EVENT_BUDGET_FIRST : EVENT_BUDGET_LEAVE;
}

void event_budget_report(struct event_budget *b,
			 void (*fn)(uint32_t pid, uint64_t last_ns, void *data), void *data)
{
	for (size_t i = 0; i < (size_t)EVENT_BUDGET_SETS * EVENT_BUDGET_WAYS && b->n_untold > 0;
	     i++) {
		struct account *a = account_at(b, i);

		if (!is_untold(a))
			continue;
		a->is_told = true;
		b->n_untold--;
		fn(a->pid, a->last_ns, data);
	}
}
