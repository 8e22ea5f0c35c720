/* SPDX-License-Identifier: Apache-2.0 */
/* The finished label sets, one object for equal ones. */
#include "agent/target/series.h"

#include <assert.h>
#include <string.h>

#include "agent/target/label_sanitizer.h"
#include "agent/util/macro.h"

struct series {
	struct hash_node node;
	struct labels *labels;
};

int series_pool_init(struct series_pool *pool, size_t max, const char *host,
		     struct telemetry *telemetry)
{
	char *copy = NULL;

	if (host && host[0]) {
		copy = strdup(host);
		if (!copy)
			return -ENOMEM;
	}
	*pool = (struct series_pool){ .max = max, .host = copy, .telemetry = telemetry };
	return 0;
}

static void series_remove(struct series_pool *pool, struct series *s)
{
	hash_remove(&pool->table, &s->node);
	labels_unref(s->labels);
	free(s);
}

void series_pool_fini(struct series_pool *pool)
{
	HASH_FOREACH (&pool->table, node)
		series_remove(pool, CONTAINER_OF(node, struct series, node));
	assert(pool->table.n == 0);
	hash_fini(&pool->table);
	free(pool->host);
	pool->host = NULL;
}

int series_pool_new(size_t max, const char *host, struct telemetry *telemetry,
		    struct series_pool **ret_pool)
{
	_cleanup_free_ struct series_pool *pool = malloc(sizeof(*pool));
	int r = pool ? series_pool_init(pool, max, host, telemetry) : -ENOMEM;

	if (r < 0)
		return r;
	pool->n_refs = 1;
	*ret_pool = TAKE_PTR(pool);
	return 0;
}

struct series_pool *series_pool_ref(struct series_pool *pool)
{
	assert(pool->n_refs > 0);
	pool->n_refs++;
	return pool;
}

void series_pool_unref(struct series_pool *pool)
{
	if (!pool)
		return;
	assert(pool->n_refs > 0);
	if (--pool->n_refs > 0)
		return;
	series_pool_fini(pool);
	free(pool);
}

static struct labels *series_find(const struct series_pool *pool, const struct labels *l)
{
	HASH_FOREACH_MATCH (&pool->table, l->hash, node) {
		struct series *s = CONTAINER_OF(node, struct series, node);

		if (labels_equal(s->labels, l))
			return s->labels;
	}
	return NULL;
}

void series_pool_sweep(struct series_pool *pool)
{
	HASH_FOREACH (&pool->table, node) {
		struct series *s = CONTAINER_OF(node, struct series, node);

		if (s->labels->n_refs == 1)
			series_remove(pool, s);
	}
}

/* Each call that finds the pool full walks all of it: seldom, since a host has fewer series than
 * that by orders of magnitude. */
static int series_keep(struct series_pool *pool, struct labels *l)
{
	assert(pool->max > 0);
	if (pool->table.n >= pool->max)
		series_pool_sweep(pool);
	if (pool->table.n >= pool->max)
		return 0;
	_cleanup_free_ struct series *s = malloc(sizeof(*s));
	if (!s)
		return -ENOMEM;
	int r = hash_insert(&pool->table, &s->node, l->hash);
	if (r < 0)
		return r;
	s->labels = labels_ref(l);
	(void)TAKE_PTR(s);
	return 0;
}

/* What somebody else has: names that come twice would be counted as a loss, and __delta__ is for those who make profiles by themselves. */
static bool is_overruled(const struct label *label, const char *service_name)
{
	return strcmp(label->name, "__delta__") == 0 ||
	       (service_name && strcmp(label->name, "service_name") == 0);
}

static int series_make(const struct series_pool *pool, const struct labels *base,
		       const char *service_name, struct label_sanitizer_report *ret_report,
		       struct labels **ret_labels)
{
	struct label items[LABEL_SANITIZER_ITEMS_MAX];
	size_t n = 0;

	assert(base->n + 2 <= LABEL_SANITIZER_ITEMS_MAX);
	for (size_t i = 0; i < base->n; i++)
		if (!is_overruled(&base->items[i], service_name))
			items[n++] = base->items[i];
	if (service_name)
		items[n++] = (struct label){ "service_name", service_name };
	if (pool->host && !labels_get(base, "host"))
		items[n++] = (struct label){ "host", pool->host };
	return label_sanitizer_clean_telling(
		items, n,
		pool->notes ? &(struct label_sanitizer_listener){ label_sanitizer_notes_take,
								  pool->notes }
			    : NULL,
		ret_report, ret_labels);
}

int series_pool_get(struct series_pool *pool, const struct labels *base, const char *service_name,
		    struct labels **ret_labels)
{
	_cleanup_(labels_unrefp) struct labels *made = NULL;
	struct label_sanitizer_report report;
	int r = series_make(pool, base, service_name, &report, &made);

	if (r < 0)
		return r;
	struct labels *known = series_find(pool, made);
	if (known) {
		*ret_labels = labels_ref(known);
		return 0;
	}
	r = series_keep(pool, made);
	if (r < 0)
		return r;
	telemetry_count(pool->telemetry, TELEMETRY_labels_dropped,
			label_sanitizer_changes(&report));
	*ret_labels = TAKE_PTR(made);
	return 0;
}
