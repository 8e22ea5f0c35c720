/* SPDX-License-Identifier: Apache-2.0 */
/* Finished label sets: one object for equal ones, a bounded pool, counted losses. */
#include "tests/support/unit.h"
#include "tests/unit/agent/target/make_labels.h"

#include <stdio.h>

#include "agent/target/series.h"

struct fixture {
	struct telemetry *telemetry;
	struct series_pool pool;
};

#define POOL_MAX 4

static void set_up(struct fixture *f)
{
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	assert_int_equal(series_pool_init(&f->pool, POOL_MAX, "h1", f->telemetry), 0);
}

static void tear_down(struct fixture *f)
{
	series_pool_fini(&f->pool);
	telemetry_free(f->telemetry);
}

FIXTURE(struct fixture, set_up, tear_down)

static struct labels *get(struct fixture *f, const char *base, const char *service_name)
{
	_cleanup_(labels_unrefp) struct labels *l = make_labels(base);
	struct labels *series = NULL;

	assert_int_equal(series_pool_get(&f->pool, l, service_name, &series), 0);
	return series;
}

static void test_one_object(void **state)
{
	struct fixture *f = *state;
	_cleanup_(labels_unrefp) struct labels *a =
		get(f, "zone=1|__meta_x=1|__delta__=false", "web");
	_cleanup_(labels_unrefp) struct labels *b = get(f, "__meta_x=2|zone=1", "web");
	_cleanup_(labels_unrefp) struct labels *c = get(f, "zone=1|service_name=web|host=h1", NULL);
	_cleanup_(labels_unrefp) struct labels *d = get(f, "zone=1", "db");

	assert_labels(a, "host=h1|service_name=web|zone=1");
	assert_ptr_equal(a, b);
	assert_ptr_equal(a, c);
	assert_ptr_not_equal(a, d);
	assert_int_equal(f->pool.table.n, 2);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_labels_dropped), 0);
}

static void test_host(void **state)
{
	struct fixture *f = *state;
	struct series_pool without;
	_cleanup_(labels_unrefp) struct labels *own = get(f, "host=mine", "web");
	_cleanup_(labels_unrefp) struct labels *base = make_labels("");
	_cleanup_(labels_unrefp) struct labels *l = NULL;

	assert_labels(own, "host=mine|service_name=web");
	assert_int_equal(series_pool_init(&without, 1, "", f->telemetry), 0);
	assert_int_equal(series_pool_get(&without, base, "web", &l), 0);
	assert_labels(l, "service_name=web");
	series_pool_fini(&without);
}

static void test_name_is_replaced(void **state)
{
	struct fixture *f = *state;
	_cleanup_(labels_unrefp) struct labels *l = get(f, "service_name=old", "new");

	assert_string_equal(labels_get(l, "service_name"), "new");
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_labels_dropped), 0);
}

/* A loss is counted when a set is made, not each time that it is asked for. */
static void test_counts(void **state)
{
	struct fixture *f = *state;
	_cleanup_(labels_unrefp) struct labels *a = get(f, "a.b=1|a_b=2|c=\xff|__meta_x=y", "web");
	_cleanup_(labels_unrefp) struct labels *b = get(f, "a.b=1|a_b=2|c=\xff|__meta_x=y", "web");

	assert_ptr_equal(a, b);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_labels_dropped), 3);
}

static void test_full(void **state)
{
	struct fixture *f = *state;
	struct labels *held[POOL_MAX];
	char name[] = "a";

	for (int i = 0; i < POOL_MAX; i++, name[0]++)
		held[i] = get(f, "", name);
	_cleanup_(labels_unrefp) struct labels *over = get(f, "", "over");
	_cleanup_(labels_unrefp) struct labels *again = get(f, "", "over");
	assert_int_equal(f->pool.table.n, POOL_MAX);
	assert_ptr_not_equal(over, again);
	assert_true(labels_equal(over, again));

	labels_unref(held[0]);
	labels_unref(held[1]);
	_cleanup_(labels_unrefp) struct labels *kept = get(f, "", "over");
	_cleanup_(labels_unrefp) struct labels *same = get(f, "", "over");
	assert_ptr_equal(kept, same);
	assert_int_equal(f->pool.table.n, POOL_MAX - 1);
	_cleanup_(labels_unrefp) struct labels *third = get(f, "", "c");
	assert_ptr_equal(third, held[2]);
	labels_unref(held[2]);
	labels_unref(held[3]);
}

static void test_largest_base(void **state)
{
	struct fixture *f = *state;
	static char names[LABELS_RAW_MAX][16];
	struct label items[LABELS_RAW_MAX];
	_cleanup_(labels_unrefp) struct labels *base = NULL, *l = NULL;

	for (size_t i = 0; i < LABELS_RAW_MAX; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "l%zu", i);
		items[i] = (struct label){ names[i], "v" };
	}
	assert_int_equal(labels_new(items, LABELS_RAW_MAX, &base), 0);
	assert_int_equal(series_pool_get(&f->pool, base, "web", &l), 0);
	/* A place is that of the profile's name. */
	assert_int_equal(l->n, LABELS_MAX - 1);
	assert_string_equal(labels_get(l, "host"), "h1");
	assert_string_equal(labels_get(l, "service_name"), "web");
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_labels_dropped),
			 LABELS_RAW_MAX + 3 - LABELS_MAX);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_one_object),
	FIXTURE_TEST(test_host),
	FIXTURE_TEST(test_name_is_replaced),
	FIXTURE_TEST(test_counts),
	FIXTURE_TEST(test_full),
	FIXTURE_TEST(test_largest_base),
};

TEST_MAIN(tests)
