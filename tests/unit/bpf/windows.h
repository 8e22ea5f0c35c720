/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over windows of the same waits, each sampled anew, and random numbers that are the same in each run. */
#ifndef XAGENT_TESTS_UNIT_BPF_WINDOWS_H
#define XAGENT_TESTS_UNIT_BPF_WINDOWS_H

#include <math.h>
#include <stdint.h>

#define WINDOWS 200
/* Student's t for 199 degrees of freedom. */
#define T_99 2.60

static uint64_t random_state;

/* splitmix64, of S. Vigna. */
static inline uint32_t random_bits(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (uint32_t)((z ^ z >> 31) >> 32);
}

struct sums {
	double sum, squares;
	uint64_t n_samples;
};

static inline void add(struct sums *to, double total)
{
	to->sum += total;
	to->squares += total * total;
}

static inline double mean_of(const struct sums *s)
{
	return s->sum / WINDOWS;
}

static inline double half_interval(const struct sums *s)
{
	double variance = (s->squares - s->sum * s->sum / WINDOWS) / (WINDOWS - 1);

	return T_99 * sqrt(fmax(variance, 0) / WINDOWS);
}

#endif
