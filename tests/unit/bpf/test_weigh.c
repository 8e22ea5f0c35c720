/* SPDX-License-Identifier: Apache-2.0 */
/* The weights of durations: near the exact function, and their expected sums exact. */
#include <math.h>
#include <stdint.h>

#include "bpf/weigh.h"
#include "tests/support/unit.h"

static const uint64_t means[] = { 1, 1000, 1000000, 10000000, 1000000000, WEIGH_MAX_MEAN_NS };

static double exact(uint64_t duration_ns, uint64_t mean_ns)
{
	return -expm1(-(double)duration_ns / (double)mean_ns);
}

static void test_threshold_is_near_the_exact_function(void **state)
{
	(void)state;
	for (size_t m = 0; m < sizeof(means) / sizeof(means[0]); m++)
		for (double x = 1e-6; x < 40; x *= 1.01) {
			uint64_t d = (uint64_t)(x * (double)means[m]);
			uint32_t threshold = weigh_threshold(d, means[m]);

			assert_in_range(threshold, 1, WEIGH_ONE);
			assert_true(fabs(threshold / (double)WEIGH_ONE - exact(d, means[m])) <
				    2e-5);
		}
}

static void test_long_ones_are_certain(void **state)
{
	(void)state;
	for (size_t m = 0; m < sizeof(means) / sizeof(means[0]); m++) {
		assert_int_equal(weigh_threshold(WEIGH_CERTAIN * means[m], means[m]), WEIGH_ONE);
		assert_int_equal(weigh_threshold(UINT64_MAX, means[m]), WEIGH_ONE);
	}
	assert_true(weigh_is_taken(WEIGH_ONE, UINT32_MAX));
	assert_int_equal(weigh_value(UINT64_MAX, WEIGH_ONE, UINT32_MAX), UINT64_MAX);
}

/* Of all 2^24 coins as many say yes as the threshold says. */
static void test_coin_is_the_threshold(void **state)
{
	static const uint32_t thresholds[] = { 1, 2, 1677, 100000, WEIGH_ONE / 3, WEIGH_ONE - 1 };

	(void)state;
	for (size_t i = 0; i < sizeof(thresholds) / sizeof(thresholds[0]); i++) {
		uint32_t n = 0;

		for (uint32_t coin = 0; coin < WEIGH_ONE; coin++)
			n += weigh_is_taken(thresholds[i], coin) != 0;
		assert_int_equal(n, thresholds[i]);
	}
}

/* threshold · E[value] = duration · 2^24: the mean over evenly spread random bits is the true one to a part in a million. */
static void test_expected_value_is_exact(void **state)
{
	static const uint64_t durations[] = { 1, 7, 999, 12345, 1000003, 15999999 };
	const uint64_t mean_ns = 1000000;
	const uint32_t n = 1 << 16;

	(void)state;
	for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++) {
		uint32_t threshold = weigh_threshold(durations[i], mean_ns);
		double sum[2] = { 0 };

		for (uint32_t k = 0; k < n; k++) {
			sum[0] += (double)weigh_value(durations[i], threshold, k << 16 | 0x8000);
			sum[1] += (double)weigh_value(1, threshold, k << 16 | 0x8000);
		}
		double pi = threshold / (double)WEIGH_ONE;
		assert_true(fabs(sum[0] / n * pi / (double)durations[i] - 1) < 2e-5);
		assert_true(fabs(sum[1] / n * pi - 1) < 2e-5);
	}
}

/* Nothing overflows: a sample is worth its duration or more, and what is short the mean, about. */
static void test_values_are_what_they_stand_for(void **state)
{
	(void)state;
	for (size_t m = 1; m < sizeof(means) / sizeof(means[0]); m++)
		for (uint64_t d = 1; d < 64 * means[m]; d = d * 3 / 2 + 1) {
			uint32_t threshold = weigh_threshold(d, means[m]);
			uint64_t value = weigh_value(d, threshold, 0);

			assert_true(value >= d);
			assert_true(value <= d + 2 * means[m] || threshold == 1);
		}
}

static const struct unit_test tests[] = {
	TEST(test_threshold_is_near_the_exact_function),
	TEST(test_long_ones_are_certain),
	TEST(test_coin_is_the_threshold),
	TEST(test_expected_value_is_exact),
	TEST(test_values_are_what_they_stand_for),
};

TEST_MAIN(tests)
