/* SPDX-License-Identifier: Apache-2.0 */
/* How many samples an event may have, by what it costs: a made-up load, counted. */
#include "tests/support/unit.h"

#include "agent/sample/governor.h"
#include "agent/sample/sampler.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

#define CPUS 4

/* An event that is hit so often, and has as many samples as it may, on all CPUs alike. */
struct load {
	uint64_t hits_hz;
	uint64_t run_ns, sample_ns;
};

static uint64_t samples_of(const struct load *l, const struct governor *g)
{
	return MIN_OF(l->hits_hz, (uint64_t)g->hz * CPUS);
}

static double run(const struct load *l, struct governor *g, double limit, int n_looks)
{
	for (int i = 0; i < n_looks; i++) {
		uint64_t n = samples_of(l, g);

		(void)governor_look(g,
				    &(struct governor_look){ .elapsed_ns = NS_PER_S,
							     .n_runs = l->hits_hz,
							     .run_ns = l->hits_hz * l->run_ns +
								       n * l->sample_ns,
							     .n_samples = n },
				    limit);
	}
	return (double)(l->hits_hz * l->run_ns + samples_of(l, g) * l->sample_ns) /
	       (double)NS_PER_S;
}

static const struct {
	const char *name;
	struct load load;
	double limit;
	unsigned int least_hz, most_hz; /* between which it comes to rest */
	bool is_over;
} rows[] = {
	{ "cheap enough", { 500, 150, 10000 }, 0.01, 1000, 1000, false },
	{ "no limit", { 1000000, 150, 10000 }, 0, 1000, 1000, false },
	/* 10 ms a second less 3 ms for the runs: 700 samples, 175 a CPU. */
	{ "fewer samples", { 20000, 150, 10000 }, 0.01, 87, 175, false },
	{ "expensive samples", { 5000, 150, 40000 }, 0.01, 26, 57, false },
	{ "hits alone are too many", { 1000000, 150, 10000 }, 0.01, 10, 10, true },
	{ "just the fewest", { 60000, 150, 10000 }, 0.01, 10, 25, false },
};

static void test_comes_to_rest(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct governor g;
		double cost;

		governor_init(&g, 1000);
		cost = run(&rows[i].load, &g, rows[i].limit, 20);
		if (g.hz < rows[i].least_hz || g.hz > rows[i].most_hz ||
		    g.is_over != rows[i].is_over)
			fail_msg("%s: %u Hz, over %d", rows[i].name, g.hz, g.is_over);
		if (rows[i].limit > 0 && !rows[i].is_over && cost > rows[i].limit * 1.05)
			fail_msg("%s: costs %f", rows[i].name, cost);
		assert_true(g.runs_hz > 0.99 * (double)rows[i].load.hits_hz);
	}
}

/* One look is enough to come down; when the flood is over, a few to go up again. */
static void test_down_and_up(void **state)
{
	const struct load flood = { 30000, 150, 10000 }, calm = { 100, 150, 10000 };
	struct governor g;

	(void)state;
	governor_init(&g, 1000);
	assert_true(run(&flood, &g, 0.01, 1) <= 0.01);
	assert_true(g.hz < 150);
	run(&calm, &g, 0.01, 1);
	assert_in_range(g.hz, 2 * SAMPLER_PROBE_MIN_HZ, 300);
	run(&calm, &g, 0.01, 10);
	assert_int_equal(g.hz, 1000);
}

/* Where the kernel measures nothing, prices are assumed; nothing at all is no reason for anything. */
static void test_without_measures(void **state)
{
	struct governor g;

	(void)state;
	governor_init(&g, 1000);
	assert_false(governor_look(&g, &(struct governor_look){ 0 }, 0.01));
	assert_true(governor_run_ns(&g) <= 0);
	assert_false(governor_look(&g, &(struct governor_look){ .elapsed_ns = NS_PER_S }, 0.01));
	assert_true(governor_look(&g,
				  &(struct governor_look){ .elapsed_ns = NS_PER_S,
							   .n_runs = 4000,
							   .n_samples = 4000 },
				  0.01));
	assert_int_equal(g.hz, 235);
	assert_true(g.cpu_ratio > 0.0405 && g.cpu_ratio < 0.0407);
	assert_true(governor_run_ns(&g) > 10149 && governor_run_ns(&g) < 10151);
	/* Less than the least that is asked for there never is. */
	governor_init(&g, 1);
	assert_int_equal(g.hz, SAMPLER_PROBE_MIN_HZ);
}

static const struct unit_test tests[] = {
	TEST(test_comes_to_rest),
	TEST(test_down_and_up),
	TEST(test_without_measures),
};

TEST_MAIN(tests)
