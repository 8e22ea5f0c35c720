/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that discovery has looked at. */
#include "agent/discovery/found_processes.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/discovery/discovery_process.h"
#include "agent/target/selector.h"
#include "agent/util/macro.h"

#define FIRST_ROOM 64

static void found_fini(struct found *f)
{
	labels_unref(f->labels);
	labels_unref(f->joined);
}

void found_processes_fini(struct found_processes *p)
{
	for (size_t i = 0; i < p->n; i++)
		found_fini(&p->items[i]);
	free(p->items);
	*p = (struct found_processes){ 0 };
}

/* Where the process is, or belongs. */
static size_t place_of(const struct found_processes *p, uint32_t pid, uint64_t start_ns)
{
	size_t low = 0, high = p->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct found *f = &p->items[mid];

		if (f->pid < pid || (f->pid == pid && f->start_ns < start_ns))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

size_t found_first(const struct found_processes *p, uint32_t pid)
{
	return place_of(p, pid, 0);
}

bool found_is_of(const struct found_processes *p, size_t at, uint32_t pid)
{
	return at < p->n && p->items[at].pid == pid;
}

struct found *found_find(const struct found_processes *p, uint32_t pid, uint64_t start_ns)
{
	uint64_t from_ns = start_ns - MIN_OF(start_ns, (uint64_t)SELECTOR_START_SLACK_NS);
	size_t at = place_of(p, pid, from_ns);

	return found_is_of(p, at, pid) &&
			       p->items[at].start_ns <= start_ns + SELECTOR_START_SLACK_NS
		       ? &p->items[at]
		       : NULL;
}

static int reserve(struct found_processes *p)
{
	size_t n_room = MAX_OF(p->n_room * 2, (size_t)FIRST_ROOM);

	if (p->n < p->n_room)
		return 0;
	struct found *grown = reallocarray(p->items, n_room, sizeof(grown[0]));
	if (!grown)
		return -ENOMEM;
	p->items = grown;
	p->n_room = n_room;
	return 0;
}

int found_insert(struct found_processes *p, struct found *f)
{
	size_t at = place_of(p, f->pid, f->start_ns);

	if (p->n >= p->max) {
		p->n_skipped++;
		found_fini(f);
		return DISCOVERY_SAME;
	}
	int r = reserve(p);
	if (r < 0) {
		found_fini(f);
		return r;
	}
	assert(p->n < p->n_room && at <= p->n);
	memmove(&p->items[at + 1], &p->items[at], (p->n - at) * sizeof(p->items[0]));
	p->items[at] = *f;
	p->n++;
	return f->labels ? DISCOVERY_CHANGED : DISCOVERY_SAME;
}

int found_replace(struct found *old, struct found *f)
{
	bool same = old->labels == f->labels ||
		    (old->labels && f->labels && labels_equal(old->labels, f->labels));

	assert(old->pid == f->pid);
	f->told = same && old->told;
	found_fini(old);
	*old = *f;
	return same ? DISCOVERY_SAME : DISCOVERY_CHANGED;
}

void found_remove(struct found_processes *p, size_t at)
{
	assert(at < p->n);
	found_fini(&p->items[at]);
	p->n--;
	memmove(&p->items[at], &p->items[at + 1], (p->n - at) * sizeof(p->items[0]));
}

int found_keep(struct found_processes *p, bool (*keep)(struct found *f))
{
	int outcome = DISCOVERY_SAME;
	size_t n_kept = 0;

	for (size_t i = 0; i < p->n; i++) {
		struct found *f = &p->items[i];

		if (keep(f)) {
			p->items[n_kept++] = *f;
			continue;
		}
		if (f->labels)
			outcome = DISCOVERY_CHANGED;
		found_fini(f);
	}
	p->n = n_kept;
	return outcome;
}

void found_unjoin(struct found *f)
{
	labels_unref(f->joined);
	f->joined = NULL;
	f->container = NULL;
}
