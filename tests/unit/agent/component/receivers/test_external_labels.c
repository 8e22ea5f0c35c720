/* SPDX-License-Identifier: Apache-2.0 */
/* External labels: those that servers take stay as they are, others are repaired or left out. */
#include "agent/component/receivers/external_labels.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

struct row {
	const char *name, *value, *expected_name, *expected_value; /* NULL: left out */
};

static const struct row rows[] = {
	{ "env", "prod", "env", "prod" },
	{ "k8s.cluster", "a", "k8s_cluster", "a" },
	{ "a", "b\xff", "a", "b\xef\xbf\xbd" },
	{ "9", "a", "_9", "a" },
	{ "--", "a", NULL, NULL },
	{ "__name__", "cpu", "__name__", "cpu" },
	{ "host", "h2", "host", "h2" },
};

static void test_each(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct river_string_map map = { .keys = (const char *[]){ rows[i].name },
						.values = (const char *[]){ rows[i].value },
						.n_items = 1 };
		struct river_arena arena;
		struct push_label label;
		size_t n = 7;

		river_arena_init(&arena, 1 << 16);
		assert_int_equal(
			external_labels_clean(&map, "pyroscope.write.x", &arena, &label, &n), 0);
		assert_int_equal(n, rows[i].expected_name != NULL);
		if (n > 0) {
			assert_string_equal(label.name, rows[i].expected_name);
			assert_string_equal(label.value, rows[i].expected_value);
		}
		river_arena_fini(&arena);
	}
}

static void test_all(void **state)
{
	const char *keys[ARRAY_SIZE(rows)], *values[ARRAY_SIZE(rows)];
	struct river_string_map map = { .keys = keys,
					.values = values,
					.n_items = ARRAY_SIZE(rows) };
	struct push_label labels[ARRAY_SIZE(rows)];
	struct river_arena arena;
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		keys[i] = rows[i].name;
		values[i] = rows[i].value;
	}
	river_arena_init(&arena, 1 << 16);
	assert_int_equal(external_labels_clean(&map, "pyroscope.write.x", &arena, labels, &n), 0);
	assert_int_equal(n, ARRAY_SIZE(rows) - 1);
	assert_string_equal(labels[n - 1].name, "host");
	river_arena_fini(&arena);
}

static const struct unit_test tests[] = {
	TEST(test_each),
	TEST(test_all),
};

TEST_MAIN(tests)
