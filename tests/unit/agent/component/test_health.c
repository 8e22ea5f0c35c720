/* SPDX-License-Identifier: Apache-2.0 */
/* How a component is, of what it says and how its evaluation went; levels of stability. */
#include "agent/component/component.h"
#include "tests/support/unit.h"

static const struct row {
	const char *name;
	enum health_state reported, evaluation;
	enum health_state state;
	const char *message;
} rows[] = {
	{ "both well", HEALTH_HEALTHY, HEALTH_HEALTHY, HEALTH_HEALTHY, "own" },
	{ "not yet running", HEALTH_UNKNOWN, HEALTH_HEALTHY, HEALTH_UNKNOWN, "own" },
	{ "unhealthy", HEALTH_UNHEALTHY, HEALTH_HEALTHY, HEALTH_UNHEALTHY, "own" },
	{ "evaluation failed", HEALTH_HEALTHY, HEALTH_UNHEALTHY, HEALTH_UNHEALTHY, "evaluated" },
	{ "evaluation failed before it ran", HEALTH_UNKNOWN, HEALTH_UNHEALTHY, HEALTH_UNHEALTHY,
	  "evaluated" },
	{ "both failed", HEALTH_UNHEALTHY, HEALTH_UNHEALTHY, HEALTH_UNHEALTHY, "own" },
	{ "exited", HEALTH_EXITED, HEALTH_UNHEALTHY, HEALTH_EXITED, "own" },
};

static void test_least_healthy(void **state)
{
	const struct row *row = *state;

	for (int order = 0; order < 2; order++) {
		struct component c = { 0 };

		if (order)
			component_set_health(&c, row->reported, "own");
		component_set_evaluation(&c, row->evaluation, "evaluated");
		component_set_health(&c, row->reported, "own");
		if (order)
			component_set_evaluation(&c, row->evaluation, "evaluated");
		assert_string_equal(health_state_text(c.health.state),
				    health_state_text(row->state));
		assert_string_equal(c.health.message, row->message);
		assert_true(c.health.updated_real_ns > 0);
	}
}

static void test_stability(void **state)
{
	enum stability level = STABILITY_MAX;

	(void)state;
	for (int i = 0; i < STABILITY_MAX; i++) {
		assert_true(stability_parse(stability_text((enum stability)i), &level));
		assert_int_equal(level, i);
	}
	assert_true(stability_parse("public-preview", &level));
	assert_int_equal(level, STABILITY_PUBLIC_PREVIEW);
	assert_false(stability_parse("", &level));
	assert_false(stability_parse("Experimental", &level));
	assert_int_equal(level, STABILITY_PUBLIC_PREVIEW);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_least_healthy, rows, name),
	TEST(test_stability),
};

TEST_MAIN(tests)
