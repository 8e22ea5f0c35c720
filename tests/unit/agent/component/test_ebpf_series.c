/* SPDX-License-Identifier: Apache-2.0 */
/* What has gone into each series: equal sets are one, and there is a ceiling. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "agent/component/ebpf_series.h"

static struct labels *make(const char *name, unsigned int number)
{
	struct labels *labels = NULL;
	char value[64];

	(void)snprintf(value, sizeof(value), "%s-%u", name, number);
	assert_int_equal(labels_new(&(struct label){ "service_name", value }, 1, &labels), 0);
	return labels;
}

static void add(struct ebpf_series *s, unsigned int number, uint64_t n)
{
	_cleanup_(labels_unrefp) struct labels *labels = make("s", number);

	ebpf_series_add(s, labels, n);
}

static const struct ebpf_series_entry *find(const struct ebpf_series *s, unsigned int number)
{
	_cleanup_(labels_unrefp) struct labels *labels = make("s", number);

	return ebpf_series_find(s, labels);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_ceiling),
	};

	return cmocka_run_group_tests_name("agent/component/ebpf_series", tests, NULL, NULL);
}
