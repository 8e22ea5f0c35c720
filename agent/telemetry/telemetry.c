/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry: every series of the process, found by family name and label values.
 *
 * The counters of the X-list are ordinary series made at the start, so that each of them is in the
 * first text, as zero. A family is identified by its name: two files may describe the same one, if
 * they describe it alike.
 */
#include "agent/telemetry/telemetry.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/telemetry/metric.h"
#include "agent/util/str.h"

static const struct metric_family telemetry_families[] = {
#define TELEMETRY_FAMILY(n, h) { .name = "xagent_" #n "_total", .help = h, .type = METRIC_COUNTER },
	TELEMETRY_COUNTERS(TELEMETRY_FAMILY)
#undef TELEMETRY_FAMILY
};

static const struct metric_family telemetry_spare_families[] = {
	[METRIC_COUNTER] = { .name = "spare", .type = METRIC_COUNTER },
	[METRIC_SECONDS] = { .name = "spare", .type = METRIC_SECONDS },
	[METRIC_GAUGE] = { .name = "spare", .type = METRIC_GAUGE },
	[METRIC_HISTOGRAM] = { .name = "spare", .type = METRIC_HISTOGRAM },
};

static void telemetry_metric_free(struct metric *m)
{
	for (size_t i = 0; i < m->n_values; i++)
		free(m->values[i]);
	free(m->histogram);
	free(m);
}
DEFINE_CLEANUP(struct metric *, telemetry_metric_free);

static int telemetry_make_counters(struct telemetry *t)
{
	for (size_t i = 0; i < TELEMETRY_COUNTER_MAX; i++) {
		struct metric *m = telemetry_series(t, &telemetry_families[i], NULL);

		if (m == &t->spare[METRIC_COUNTER])
			return -ENOMEM;
		t->counters[i] = m;
	}
	return 0;
}

int telemetry_new(struct telemetry **ret_telemetry)
{
	_cleanup_(telemetry_freep) struct telemetry *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	list_init(&t->scrapes);
	for (int type = 0; type <= METRIC_HISTOGRAM; type++)
		t->spare[type].family = &telemetry_spare_families[type];
	t->spare[METRIC_HISTOGRAM].histogram = &t->spare_histogram;
	int r = telemetry_make_counters(t);
	if (r < 0)
		return r;
	*ret_telemetry = TAKE_PTR(t);
	return 0;
}

void telemetry_free(struct telemetry *t)
{
	if (!t)
		return;
	assert(list_empty(&t->scrapes));
	HASH_FOREACH (&t->series, node) {
		hash_remove(&t->series, node);
		telemetry_metric_free(CONTAINER_OF(node, struct metric, node));
	}
	hash_fini(&t->series);
	free(t);
}

void telemetry_count(struct telemetry *t, enum telemetry_counter counter, uint64_t n)
{
	metric_add(t->counters[counter], n);
}

uint64_t telemetry_get(const struct telemetry *t, enum telemetry_counter counter)
{
	return atomic_load_explicit(&t->counters[counter]->bits, memory_order_relaxed);
}

/* Valid UTF-8 of bounded length, since one bad value would make the whole text unreadable. */
static char *telemetry_copy_value(const char *value)
{
	size_t n = value ? strlen(value) : 0;

	if (n < METRIC_MAX_VALUE_BYTES && str_is_utf8((struct str){ value, n }))
		return strdup(value ? value : "");
	char *copy = malloc(METRIC_MAX_VALUE_BYTES);
	if (copy)
		str_copy_utf8(copy, METRIC_MAX_VALUE_BYTES, (struct str){ value, n });
	return copy;
}

static struct metric *telemetry_metric_new(const struct metric_family *family,
					   const char *const *label_values)
{
	_cleanup_(telemetry_metric_freep) struct metric *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->family = family;
	for (size_t i = 0; family->label_names[i]; i++) {
		m->values[i] = telemetry_copy_value(label_values[i]);
		if (!m->values[i])
			return NULL;
		m->n_values++;
	}
	if (family->type == METRIC_HISTOGRAM) {
		m->histogram = calloc(1, sizeof(*m->histogram));
		if (!m->histogram)
			return NULL;
	}
	return TAKE_PTR(m);
}

static uint64_t telemetry_hash(const struct metric *m)
{
	uint64_t h = hash_str(m->family->name);

	/* The NUL belongs to the hash: ("a", "bc") is another series than ("ab", "c"). */
	for (size_t i = 0; i < m->n_values; i++)
		h = hash_bytes(m->values[i], strlen(m->values[i]) + 1, h);
	return h;
}

static bool telemetry_same_series(const struct metric *a, const struct metric *b)
{
	if (strcmp(a->family->name, b->family->name) != 0 || a->n_values != b->n_values)
		return false;
	for (size_t i = 0; i < a->n_values; i++)
		if (strcmp(a->values[i], b->values[i]) != 0)
			return false;
	return true;
}

struct metric *telemetry_series(struct telemetry *t, const struct metric_family *family,
				const char *const *label_values)
{
	_cleanup_(telemetry_metric_freep) struct metric *m =
		telemetry_metric_new(family, label_values);

	if (!m)
		return &t->spare[family->type];
	uint64_t h = telemetry_hash(m);
	HASH_FOREACH_MATCH (&t->series, h, node) {
		struct metric *known = CONTAINER_OF(node, struct metric, node);

		if (telemetry_same_series(known, m)) {
			assert(known->family->type == family->type);
			return known;
		}
	}
	if (t->series.n >= TELEMETRY_MAX_SERIES || hash_insert(&t->series, &m->node, h) < 0)
		return &t->spare[family->type];
	return TAKE_PTR(m);
}

int telemetry_on_scrape(struct telemetry *t, telemetry_scrape_fn fn, void *data)
{
	struct telemetry_scrape *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->fn = fn;
	s->data = data;
	list_push_back(&t->scrapes, &s->node);
	return 0;
}

void telemetry_off_scrape(struct telemetry *t, telemetry_scrape_fn fn, void *data)
{
	LIST_FOREACH (&t->scrapes, node) {
		struct telemetry_scrape *s = LIST_ENTRY(node, struct telemetry_scrape, node);

		if (s->fn == fn && s->data == data) {
			list_remove(&s->node);
			free(s);
			return;
		}
	}
}
