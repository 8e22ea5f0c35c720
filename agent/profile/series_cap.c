/* SPDX-License-Identifier: Apache-2.0 */
/* The cap on series. */
#include "agent/profile/series_cap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/hash.h"
#include "agent/util/macro.h"

/* An active series; never `other`. */
struct place {
	struct hash_node node; /* by series_hash() */
	struct labels *labels; /* a reference */
	uint16_t source;
	uint64_t sent_ns;
};

struct series_cap {
	size_t max;
	struct labels *other;  /* a reference */
	uint64_t other_active; /* bits by source: each has an `other` of its own */
	uint64_t other_sent_ns[EVENT_ALL_SOURCES];
	struct hash_table places; /* at most max */
	struct labels *biggest;	  /* a reference, or NULL */
};

/* A new series with a hundredth of an interval's samples is not kept out by those that are silent: else a host that was relabelled into few
 * series had nothing but `other` for an hour. So a hundred in an interval come this way at most; none where samples are few, and whose they
 * are is chance: this is half a second of a CPU at the usual rate. */
#define BIG_PART 100
#define BIG_MIN 50

/* Who wants a place in this interval, the most deserving first. */
enum claim_rank {
	CLAIM_ACTIVE, /* it has a place, and is in the interval */
	CLAIM_BIG,    /* new */
	CLAIM_SILENT, /* it has a place */
	CLAIM_SMALL,  /* new */
};

struct claim {
	enum claim_rank rank;
	struct labels *labels; /* borrowed */
	uint16_t source;
	struct place *place;   /* NULL: it is new */
	struct series *series; /* NULL: it is not in the interval */
	size_t index;	       /* in the interval's list */
	uint64_t n_samples;
};

struct claims {
	struct claim *items;
	size_t n;
	uint64_t others; /* bits by source: in the interval already, by its own labels */
};

_Static_assert(EVENT_ALL_SOURCES <= 64, "a bit for each");

int series_cap_new(size_t max, struct labels *other, struct series_cap **ret_cap)
{
	struct series_cap *cap = calloc(1, sizeof(*cap));

	assert(other);
	if (!cap)
		return -ENOMEM;
	cap->max = max;
	cap->other = labels_ref(other);
	*ret_cap = cap;
	return 0;
}

static void place_free(struct series_cap *cap, struct place *p)
{
	hash_remove(&cap->places, &p->node);
	labels_unref(p->labels);
	free(p);
}

void series_cap_free(struct series_cap *cap)
{
	if (!cap)
		return;
	HASH_FOREACH (&cap->places, node)
		place_free(cap, CONTAINER_OF(node, struct place, node));
	assert(cap->places.n == 0);
	hash_fini(&cap->places);
	labels_unref(cap->biggest);
	labels_unref(cap->other);
	free(cap);
}

static struct place *place_find(const struct series_cap *cap, const struct labels *l,
				uint16_t source)
{
	HASH_FOREACH_MATCH (&cap->places, series_hash(l, source), node) {
		struct place *p = CONTAINER_OF(node, struct place, node);

		if (p->source == source && labels_equal(p->labels, l))
			return p;
	}
	return NULL;
}

void series_cap_set(struct series_cap *cap, size_t max, struct labels *other)
{
	assert(other);
	for (uint16_t source = 0; source < EVENT_ALL_SOURCES; source++) {
		struct place *p = place_find(cap, other, source);

		if (p)
			place_free(cap, p);
	}
	if (!labels_equal(cap->other, other))
		cap->other_active = 0;
	labels_ref(other);
	labels_unref(cap->other);
	cap->other = other;
	cap->max = max;
}

static int place_new(struct series_cap *cap, const struct claim *c, uint64_t now_ns)
{
	_cleanup_free_ struct place *p = malloc(sizeof(*p));
	int r = p ? hash_insert(&cap->places, &p->node, series_hash(c->labels, c->source))
		  : -ENOMEM;

	assert(c->source < EVENT_ALL_SOURCES);
	if (r < 0)
		return r;
	p->labels = labels_ref(c->labels);
	p->source = c->source;
	p->sent_ns = now_ns;
	(void)TAKE_PTR(p);
	return 0;
}

static void forget_inactive(struct series_cap *cap, uint64_t now_ns)
{
	HASH_FOREACH (&cap->places, node) {
		struct place *p = CONTAINER_OF(node, struct place, node);

		if (now_ns - p->sent_ns > SERIES_ACTIVE_NS)
			place_free(cap, p);
	}
	for (uint16_t source = 0; source < EVENT_ALL_SOURCES; source++)
		if (now_ns - cap->other_sent_ns[source] > SERIES_ACTIVE_NS)
			cap->other_active &= ~(1ULL << source);
}

static struct claim claim_of(const struct series_cap *cap, const struct interval *i,
			     struct series *s)
{
	struct claim c = { .labels = s->labels,
			   .source = s->source,
			   .place = place_find(cap, s->labels, s->source),
			   .series = s,
			   .n_samples = s->n_samples };

	if (c.place)
		c.rank = CLAIM_ACTIVE;
	else if (s->n_samples >= BIG_MIN && s->n_samples >= i->n_samples / BIG_PART)
		c.rank = CLAIM_BIG;
	else
		c.rank = CLAIM_SMALL;
	return c;
}

static int claims_make(const struct series_cap *cap, const struct interval *i, struct claims *c)
{
	*c = (struct claims){ .items = calloc(cap->places.n + i->n_series + 1,
					      sizeof(c->items[0])) };
	if (!c->items)
		return -ENOMEM;
	for (struct series *s = i->series; s; s = s->next) {
		if (labels_equal(s->labels, cap->other)) {
			c->others |= 1ULL << s->source;
			continue;
		}
		c->items[c->n] = claim_of(cap, i, s);
		c->items[c->n].index = c->n;
		c->n++;
	}
	HASH_FOREACH (&cap->places, node) {
		struct place *p = CONTAINER_OF(node, struct place, node);

		if (!interval_series(i, p->labels, p->source))
			c->items[c->n++] = (struct claim){ .rank = CLAIM_SILENT,
							   .labels = p->labels,
							   .source = p->source,
							   .place = p };
	}
	return 0;
}

/* Which of two sets is first, so that equals are told apart in the same way each time, whoever made them. */
static int labels_order(const struct labels *a, const struct labels *b)
{
	for (size_t i = 0; i < a->n && i < b->n; i++) {
		int order = strcmp(a->items[i].name, b->items[i].name);

		if (order == 0)
			order = strcmp(a->items[i].value, b->items[i].value);
		if (order != 0)
			return order;
	}
	return (a->n > b->n) - (a->n < b->n);
}

/* By rank, then by samples, then by who was sent last. */
static int claim_order(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->n_samples != y->n_samples)
		return x->n_samples > y->n_samples ? -1 : 1;
	if (x->place && x->place->sent_ns != y->place->sent_ns)
		return x->place->sent_ns > y->place->sent_ns ? -1 : 1;
	int order = labels_order(x->labels, y->labels);
	return order ? order : (x->source > y->source) - (x->source < y->source);
}

static int grant(struct series_cap *cap, const struct claim *c, uint64_t now_ns)
{
	if (!c->place)
		return place_new(cap, c, now_ns);
	if (c->series)
		c->place->sent_ns = now_ns;
	return 0;
}

static void note_folded(struct series_cap *cap, const struct claim *c, struct series_cap_folded *f)
{
	f->n_series++;
	f->n_samples += c->n_samples;
	if (f->biggest && c->n_samples <= f->n_biggest_samples)
		return;
	labels_ref(c->labels);
	labels_unref(cap->biggest);
	cap->biggest = c->labels;
	f->biggest = c->labels;
	f->n_biggest_samples = c->n_samples;
}

/* The series may be gone afterwards, and its labels with it. */
static int fold(struct series_cap *cap, struct interval *i, const struct claim *c)
{
	int r = c->series ? interval_relabel(i, c->series, cap->other) : 0;

	if (r < 0)
		return r;
	if (c->place)
		place_free(cap, c->place);
	return 0;
}

static int by_index(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

/* In the order of the interval's list: that is walked from its begin for each that leaves it, and so no further than over those that stay. */
static int fold_all(struct series_cap *cap, struct interval *i, struct claim *claims, size_t n,
		    struct series_cap_folded *f)
{
	int r = 0;

	for (size_t at = 0; at < n; at++)
		if (claims[at].series)
			note_folded(cap, &claims[at], f);
	if (n > 1)
		qsort(claims, n, sizeof(claims[0]), by_index);
	for (size_t at = 0; r == 0 && at < n; at++)
		r = fold(cap, i, &claims[at]);
	return r;
}

/* Sources with samples beyond the places that are granted: who is silent gives a place away without being folded. */
static uint64_t folded_sources(const struct claims *c, size_t n_granted)
{
	uint64_t sources = 0;

	for (size_t at = n_granted; at < c->n; at++)
		if (c->items[at].series)
			sources |= 1ULL << c->items[at].source;
	return sources;
}

static size_t n_granted_beside(const struct series_cap *cap, const struct claims *c,
			       uint64_t others)
{
	size_t n_others = (size_t)__builtin_popcountll(others);

	return MIN_OF(c->n, cap->max > n_others ? cap->max - n_others : 0);
}

/* How many get a place. Each `other` that is needed takes one, for which a series more may have to be folded. */
static size_t count_granted(const struct series_cap *cap, const struct claims *c)
{
	uint64_t others = c->others | cap->other_active;
	uint64_t needed = others | folded_sources(c, n_granted_beside(cap, c, others));

	while (needed != others) {
		others = needed;
		needed |= folded_sources(c, n_granted_beside(cap, c, others));
	}
	return n_granted_beside(cap, c, others);
}

/* Decides for all of them, the most deserving first. */
static int settle(struct series_cap *cap, struct interval *i, const struct claims *c,
		  uint64_t now_ns, struct series_cap_folded *f)
{
	size_t n_granted = count_granted(cap, c);
	uint64_t others = c->others | folded_sources(c, n_granted);
	int r = 0;

	for (size_t at = 0; r == 0 && at < n_granted; at++)
		r = grant(cap, &c->items[at], now_ns);
	if (r == 0)
		r = fold_all(cap, i, c->items + n_granted, c->n - n_granted, f);
	cap->other_active |= others;
	for (uint16_t source = 0; source < EVENT_ALL_SOURCES; source++)
		if (others & 1ULL << source)
			cap->other_sent_ns[source] = now_ns;
	return r;
}

int series_cap_apply(struct series_cap *cap, struct interval *i, uint64_t now_mono_ns,
		     struct series_cap_folded *ret_folded)
{
	struct series_cap_folded folded = { 0 };
	struct claims c;

	labels_unref(cap->biggest);
	cap->biggest = NULL;
	forget_inactive(cap, now_mono_ns);
	int r = claims_make(cap, i, &c);
	if (r < 0)
		return r;
	if (c.n > 1)
		qsort(c.items, c.n, sizeof(c.items[0]), claim_order);
	r = settle(cap, i, &c, now_mono_ns, &folded);
	free(c.items);
	if (r == 0)
		*ret_folded = folded;
	return r;
}

size_t series_cap_max(const struct series_cap *cap)
{
	return cap->max;
}

size_t series_cap_n_active(const struct series_cap *cap)
{
	return cap->places.n + (size_t)__builtin_popcountll(cap->other_active);
}
