/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of a place, and 200 windows of waits that are decided by it: the mean of their sums lies in its own interval of 99 %, however wrong the predictions are; where they
 * are of use it is not wider than a coin's which takes as many samples.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "bpf/predict.h"
#include "bpf/weigh.h"
#include "tests/support/unit.h"
#include "tests/unit/bpf/windows.h"

#define MEAN_NS 1000000
#define PLACE 3

static void test_longest_lately(void **state)
{
	struct prediction p = { 0 };

	(void)state;
	assert_int_equal(predict_ns(&p, PLACE, MEAN_NS), PREDICT_UNKNOWN_NS);
	predict_learn(&p, PLACE, 5000000);
	assert_int_equal(predict_ns(&p, PLACE, MEAN_NS), 5000000);
	predict_learn(&p, PLACE, 90000000);
	assert_int_equal(predict_ns(&p, PLACE, MEAN_NS), 90000000);
	for (int i = 0; i < 8; i++)
		predict_learn(&p, PLACE, 0);
	assert_in_range(predict_ns(&p, PLACE, MEAN_NS), 30000000, 33000000);
	for (int i = 0; i < 200; i++)
		predict_learn(&p, PLACE, 0);
	/* The least, and of no other place. */
	assert_int_equal(predict_ns(&p, PLACE, MEAN_NS), MEAN_NS / PREDICT_LEAST);
	assert_int_equal(predict_ns(&p, PLACE + 1, MEAN_NS), PREDICT_UNKNOWN_NS);
	predict_learn(&p, PLACE, UINT64_MAX);
	assert_int_equal(predict_ns(&p, PLACE, MEAN_NS),
			 (PREDICT_MOST_UNITS - 1) * PREDICT_UNIT_NS);
	/* Another place in the same entry. */
	assert_int_equal(predict_ns(&p, PLACE + PREDICT_PLACES, MEAN_NS), PREDICT_UNKNOWN_NS);
	predict_learn(&p, PLACE + PREDICT_PLACES, 5000000);
	assert_int_equal(predict_ns(&p, PLACE + PREDICT_PLACES, MEAN_NS), 5000000);
	assert_int_equal(predict_ns(&p, PLACE, MEAN_NS), PREDICT_UNKNOWN_NS);
}

static void test_places(void **state)
{
	uint32_t seen = 0;

	(void)state;
	for (uint64_t pc = 0x7f0000001000; pc < 0x7f0000009000; pc += 0x40) {
		uint32_t place = predict_place(pc, 0x7ffe00001230 + (pc & 0xfc0));

		assert_in_range(place % PREDICT_PLACES, PREDICT_PREEMPTED + 1, PREDICT_PLACES - 1);
		assert_in_range(place / PREDICT_PLACES, 0, UINT32_MAX >> PREDICT_UNIT_BITS);
		assert_int_equal(place, predict_place(pc, 0x7ffe00001230 + (pc & 0xfc0)));
		seen |= 1u << place % PREDICT_PLACES;
	}
	assert_int_equal(seen, (1u << PREDICT_PLACES) - 2);
}

/* One after the other, over and over: so many waits of a duration at a place. */
struct waits {
	uint64_t n, ns;
	uint32_t place;
};

static const struct row {
	const char *name;
	bool tells_nothing; /* what was says nothing of what comes */
	struct waits waits[3];
} rows[] = {
	{ "short_ones", false, { { 2000, 5000, 1 } } },
	{ "as_long_as_the_mean", false, { { 400, 1000000, 1 } } },
	{ "two_places", false, { { 40, 5000, 1 }, { 4, 2000000, 2 } } },
	{ "three_places", false, { { 500, 2000, 1 }, { 50, 300000, 2 }, { 2, 50000000, 3 } } },
	{ "a_long_one_lately", false, { { 4, 50000, 1 }, { 1, 20000000, 1 } } },
	{ "a_long_one_now_and_then", true, { { 300, 5000, 1 }, { 1, 20000000, 1 } } },
};

#define ROUNDS 8

typedef double (*window_fn)(const struct waits *w, void *data, uint64_t *n_samples);

static double window_of(const struct row *row, window_fn fn, void *data, uint64_t *n_samples)
{
	double total = 0;

	for (int round = 0; round < ROUNDS; round++)
		for (size_t k = 0; k < 3; k++)
			for (uint64_t i = 0; i < row->waits[k].n; i++)
				total += fn(&row->waits[k], data, n_samples);
	return total;
}

static double by_prediction(const struct waits *w, void *data, uint64_t *n_samples)
{
	struct prediction *p = data;
	uint32_t threshold = weigh_threshold(predict_ns(p, w->place, MEAN_NS), MEAN_NS);

	predict_learn(p, w->place, w->ns);
	if (!weigh_is_taken(threshold, random_bits()))
		return 0;
	++*n_samples;
	return (double)weigh_value(w->ns, threshold, random_bits());
}

static double by_coin(const struct waits *w, void *data, uint64_t *n_samples)
{
	const double *probability = data;

	if (random_bits() >= *probability * 4294967296.0)
		return 0;
	++*n_samples;
	return (double)w->ns / *probability;
}

static void test_mean_is_in_its_interval(void **state)
{
	const struct row *row = *state;
	struct sums ours = { 0 }, coin = { 0 };
	struct prediction p = { 0 };
	double truth = 0, n_waits = 0, probability;

	random_state = 20261128;
	for (size_t k = 0; k < 3; k++) {
		truth += (double)(ROUNDS * row->waits[k].n * row->waits[k].ns);
		n_waits += (double)(ROUNDS * row->waits[k].n);
	}
	for (int i = 0; i < WINDOWS; i++)
		add(&ours, window_of(row, by_prediction, &p, &ours.n_samples));
	probability = (double)ours.n_samples / WINDOWS / n_waits;
	for (int i = 0; i < WINDOWS; i++)
		add(&coin, window_of(row, by_coin, &probability, &coin.n_samples));
	assert_true(fabs(mean_of(&ours) - truth) <= half_interval(&ours));
	/* Of waits that are all alike both take any with one probability: as wide, but for what 200 windows tell of a width. */
	assert_true(row->tells_nothing || half_interval(&ours) <= half_interval(&coin) * 1.15);
}

static const struct unit_test tests[] = {
	TEST(test_longest_lately),
	TEST(test_places),
	TEST_ROWS(test_mean_is_in_its_interval, rows, name),
};

TEST_MAIN(tests)
