/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which durations are samples, and what those are worth. Compiled by both sides. Pure.
 *
 * A wait of duration d is a sample with the probability π = 1 − e^(−d/mean), and then is worth d/π: a long one is always taken and worth what it
 * lasted, a short one is worth `mean` when it is. So the number of samples follows the time that was waited, not how often.
 *
 * π is a whole number of 2^−24, the threshold, and what a sample is worth is divided by that very number. So the expected sum is the true one
 * however well the series below approximates e^(−x).
 */
#ifndef XAGENT_BPF_WEIGH_H
#define XAGENT_BPF_WEIGH_H

#include <linux/types.h>

#define WEIGH_BITS 24
#define WEIGH_ONE (1u << WEIGH_BITS)
/* From so many means on π is 1: e^(−16) is 2 · 2^−24. */
#define WEIGH_CERTAIN 16
/* A multiple of it, shifted, fits into 64 bits. */
#define WEIGH_MAX_MEAN_NS (1ULL << 34)

/* log2(e) and ln(2). */
#define WEIGH_LOG2_E 24204406ULL
#define WEIGH_LN_2 11629080ULL

#define WEIGH_MUL(a, b) (((a) * (b)) >> WEIGH_BITS)

/* 2^−f for f in [0, 1): e^−z, z = f·ln 2, as a Taylor series to z^6. Off by 1.5 · 10^−5 at most. */
static inline __u64 weigh_exp2_of_minus(__u64 f)
{
	__u64 z = WEIGH_MUL(f, WEIGH_LN_2), r = WEIGH_ONE - z / 6;

	r = WEIGH_ONE - WEIGH_MUL(z, r) / 5;
	r = WEIGH_ONE - WEIGH_MUL(z, r) / 4;
	r = WEIGH_ONE - WEIGH_MUL(z, r) / 3;
	r = WEIGH_ONE - WEIGH_MUL(z, r) / 2;
	return WEIGH_ONE - WEIGH_MUL(z, r);
}

/* π · 2^24, from 1 to 2^24. `mean_ns` is from 1 to WEIGH_MAX_MEAN_NS. */
static inline __u32 weigh_threshold(__u64 duration_ns, __u64 mean_ns)
{
	__u64 y, rest;

	if (duration_ns / WEIGH_CERTAIN >= mean_ns)
		return WEIGH_ONE;
	y = WEIGH_MUL((duration_ns << WEIGH_BITS) / mean_ns, WEIGH_LOG2_E);
	rest = weigh_exp2_of_minus(y & (WEIGH_ONE - 1)) >> (y >> WEIGH_BITS & 31);
	return rest < WEIGH_ONE ? WEIGH_ONE - rest : 1;
}

/* Whether it is a sample, by 32 random bits. */
static inline int weigh_is_taken(__u32 threshold, __u32 random)
{
	return (random & (WEIGH_ONE - 1)) < threshold;
}

/* d/π, rounded to a neighbour by 32 random bits, so that the expected value is exact; of a value of more than 2^39 to 2^24. */
static inline __u64 weigh_value(__u64 value, __u32 threshold, __u32 random)
{
	if (threshold >= WEIGH_ONE || !threshold)
		return value;
	if (value >> (63 - WEIGH_BITS))
		return value / threshold << WEIGH_BITS;
	return ((value << WEIGH_BITS) + ((__u64)random * threshold >> 32)) / threshold;
}

#endif
