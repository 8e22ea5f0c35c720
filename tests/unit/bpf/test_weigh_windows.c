/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 200 windows of the same waits, each sampled anew: the mean of their sums lies in its own interval of 99 %, and that is not wider than a coin's
 * which takes as many samples. The random numbers are the same in each run.
 */
#include <math.h>
#include <stdint.h>

#include "bpf/weigh.h"
#include "tests/support/unit.h"
#include "tests/unit/bpf/windows.h"

/* What a window has of waits: so many of a duration. */
struct waits {
	uint64_t n, ns;
};

static const struct row {
	const char *name;
	uint64_t mean_ns;
	struct waits waits[3];
} rows[] = {
	{ "short ones", 1000000, { { 20000, 5000 } } },
	{ "as long as the mean", 1000000, { { 2000, 1000000 } } },
	{ "short ones and a long one", 1000000, { { 20000, 5000 }, { 1, 2000000000 } } },
	{ "of all kinds", 4000000, { { 5000, 2000 }, { 500, 300000 }, { 20, 50000000 } } },
	{ "a raised mean", 1 << 30, { { 1000, 100000 }, { 100, 10000000 }, { 3, 900000000 } } },
};

static double window_by_duration(const struct row *row, uint64_t *n_samples)
{
	double total = 0;

	for (size_t k = 0; k < 3; k++)
		for (uint64_t i = 0; i < row->waits[k].n; i++) {
			uint32_t threshold = weigh_threshold(row->waits[k].ns, row->mean_ns);

			if (!weigh_is_taken(threshold, random_bits()))
				continue;
			total += (double)weigh_value(row->waits[k].ns, threshold, random_bits());
			++*n_samples;
		}
	return total;
}

static double window_by_coin(const struct row *row, double probability, uint64_t *n_samples)
{
	double total = 0;

	for (size_t k = 0; k < 3; k++)
		for (uint64_t i = 0; i < row->waits[k].n; i++) {
			if (random_bits() >= probability * 4294967296.0)
				continue;
			total += (double)row->waits[k].ns / probability;
			++*n_samples;
		}
	return total;
}

static void test_mean_is_in_its_interval(void **state)
{
	const struct row *row = *state;
	struct sums ours = { 0 }, coin = { 0 };
	double truth = 0, n_waits = 0;

	random_state = 20261127;
	for (size_t k = 0; k < 3; k++) {
		truth += (double)(row->waits[k].n * row->waits[k].ns);
		n_waits += (double)row->waits[k].n;
	}
	for (int i = 0; i < WINDOWS; i++)
		add(&ours, window_by_duration(row, &ours.n_samples));
	for (int i = 0; i < WINDOWS; i++)
		add(&coin, window_by_coin(row, (double)ours.n_samples / WINDOWS / n_waits,
					  &coin.n_samples));
	assert_true(fabs(mean_of(&ours) - truth) <= half_interval(&ours));
	assert_true(half_interval(&ours) < truth / 10);
	/* Of waits that are all alike both take any with one probability: as wide, but for what 200 windows tell of a width. */
	assert_true(half_interval(&ours) <= half_interval(&coin) * (row->waits[1].n ? 1 : 1.15));
	/* At the same cost. */
	assert_true(fabs((double)coin.n_samples / (double)ours.n_samples - 1) < 0.05);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_mean_is_in_its_interval, rows, name),
};

TEST_MAIN(tests)
