/* SPDX-License-Identifier: Apache-2.0 */
/* What has gone into each series: equal sets are one, and there is a ceiling. */
#include <stdio.h>
#include <string.h>

#include "agent/component/ebpf_series.h"
#include "tests/support/unit.h"

static struct labels *make(const char *name, unsigned int number)
{
	struct labels *labels = NULL;
	char value[64];

	(void)snprintf(value, sizeof(value), "%s-%u", name, number);
	assert_int_equal(labels_new(&(struct label){ "service_name", value }, 1, &labels), 0);
	return labels;
}

static struct labels *named(struct labels *series, const char *name)
{
	_cleanup_(labels_unrefp) struct labels *more = NULL;
	struct labels *labels = NULL;

	assert_int_equal(labels_new(&(struct label){ "__name__", name }, 1, &more), 0);
	assert_int_equal(labels_merge(series, more, &labels), 0);
	return labels;
}

static void add_as(struct ebpf_series *s, unsigned int number, const char *name, uint64_t n)
{
	_cleanup_(labels_unrefp) struct labels *series = make("s", number);
	_cleanup_(labels_unrefp) struct labels *labels = named(series, name);

	ebpf_series_add(s, series, strcmp(name, "cpu") == 0 ? EVENT_CPU : EVENT_TRACEPOINT, labels,
			n);
}

static void add(struct ebpf_series *s, unsigned int number, uint64_t n)
{
	add_as(s, number, "cpu", n);
}

static const struct ebpf_series_entry *find_as(const struct ebpf_series *s, unsigned int number,
					       const char *name)
{
	_cleanup_(labels_unrefp) struct labels *series = make("s", number);
	_cleanup_(labels_unrefp) struct labels *labels = named(series, name);

	for (const struct list *at = s->ages.next; at != &s->ages; at = at->next) {
		const struct ebpf_series_entry *e = LIST_ENTRY(at, struct ebpf_series_entry, age);

		if (labels_equal(e->labels, labels))
			return e;
	}
	return NULL;
}

static const struct ebpf_series_entry *find(const struct ebpf_series *s, unsigned int number)
{
	return find_as(s, number, "cpu");
}

static void test_sums(void **state)
{
	struct ebpf_series s;

	(void)state;
	ebpf_series_init(&s);
	assert_null(find(&s, 1));
	add(&s, 1, 5);
	add(&s, 2, 1);
	add(&s, 1, 7);
	assert_int_equal(s.n, 2);
	assert_int_equal(find(&s, 1)->n_samples, 12);
	assert_int_equal(find(&s, 2)->n_samples, 1);
	assert_null(find(&s, 3));
	ebpf_series_fini(&s);
}

/* A label set has one of each name that its profiles have; its processes are those of all of them. */
static void test_names(void **state)
{
	struct ebpf_series s;

	(void)state;
	ebpf_series_init(&s);
	add_as(&s, 1, "cpu", 5);
	add_as(&s, 1, "fsyncs", 2);
	add_as(&s, 1, "cpu", 1);
	add_as(&s, 2, "cpu", 1);
	assert_int_equal(s.n, 3);
	assert_int_equal(find_as(&s, 1, "cpu")->n_samples, 6);
	assert_int_equal(find_as(&s, 1, "fsyncs")->n_samples, 2);
	_cleanup_(labels_unrefp) struct labels *series = make("s", 1);
	ebpf_series_count_process(&s, series);
	assert_int_equal(find_as(&s, 1, "cpu")->n_processes, 1);
	assert_int_equal(find_as(&s, 1, "fsyncs")->n_processes, 1);
	assert_int_equal(find_as(&s, 2, "cpu")->n_processes, 0);
	ebpf_series_fini(&s);
}

/* CPU profiles keep a target's name, other events have their own: the processes of the target are those of both, and of no other target. */
static void test_target_with_a_name(void **state)
{
	_cleanup_(labels_unrefp) struct labels *series = make("s", 1);
	_cleanup_(labels_unrefp) struct labels *own = named(series, "mine");
	struct ebpf_series s;

	(void)state;
	ebpf_series_init(&s);
	ebpf_series_add(&s, own, EVENT_CPU, own, 1);
	add_as(&s, 1, "cpu", 1);
	add_as(&s, 1, "fsyncs", 2);
	ebpf_series_count_process(&s, own);
	assert_int_equal(find_as(&s, 1, "mine")->n_processes, 1);
	assert_int_equal(find_as(&s, 1, "fsyncs")->n_processes, 1);
	assert_int_equal(find_as(&s, 1, "cpu")->n_processes, 0);
	ebpf_series_count_process(&s, series);
	assert_int_equal(find_as(&s, 1, "mine")->n_processes, 1);
	assert_int_equal(find_as(&s, 1, "fsyncs")->n_processes, 2);
	assert_int_equal(find_as(&s, 1, "cpu")->n_processes, 1);
	ebpf_series_fini(&s);
}

/* Who had no samples for the longest time goes first. */
static void test_ceiling(void **state)
{
	struct ebpf_series s;

	(void)state;
	ebpf_series_init(&s);
	for (unsigned int i = 0; i < EBPF_SERIES_MAX; i++)
		add(&s, i, 1);
	add(&s, 0, 1);
	add(&s, EBPF_SERIES_MAX, 1);
	assert_int_equal(s.n, EBPF_SERIES_MAX);
	assert_non_null(find(&s, 0));
	assert_null(find(&s, 1));
	assert_non_null(find(&s, 2));
	assert_non_null(find(&s, EBPF_SERIES_MAX));
	ebpf_series_fini(&s);
}

static const struct unit_test tests[] = {
	TEST(test_sums),
	TEST(test_names),
	TEST(test_target_with_a_name),
	TEST(test_ceiling),
};

TEST_MAIN(tests)
