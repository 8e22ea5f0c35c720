/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How long a thread is likely to wait, by how long it has waited before. Compiled by both sides. Pure.
 *
 * Where no program runs when a task is back on its CPU, its stack can be taken only when it leaves: what is a sample is decided before it is known how
 * long the wait is. The decision is drawn with a probability that follows from earlier waits alone, and what the wait lasts is divided by that
 * probability when it is over (bpf/weigh.h). So the sum is right on average whatever the prediction is worth; the better it is, the less the sum scatters.
 *
 * A thread waits at few places, and at each for about as long as before: in the loop that polls, for the lock of a queue. A place is known by the pc and the
 * stack pointer with which the thread has entered the kernel. What is kept of it is the longest wait lately: one that is taken for too long costs a
 * sample, one that is taken for too short makes the sum scatter.
 */
#ifndef XAGENT_BPF_PREDICT_H
#define XAGENT_BPF_PREDICT_H

#include <linux/types.h>

/* That are known of a thread. Of two in one entry the later one takes it, and is unknown. */
#define PREDICT_PLACES 16
/* Where it was preempted, wherever that was: the first entry is for that alone. */
#define PREDICT_PREEMPTED 0
/* A wait that was predicted to be shorter is as likely to be taken as one of this part of the mean (bpf/weigh.h). */
#define PREDICT_LEAST 8
/* Of a place that nothing is known of. */
#define PREDICT_UNKNOWN_NS 10000000ULL
/* What is left of the difference when a wait was shorter: 1 − 1/8. */
#define PREDICT_DECAY 8
#define PREDICT_UNIT_NS 1000ULL
/* An entry: so many bits of which place it is, above the longest wait lately in units, and 1; 0: nothing is known. Beyond a second all are alike. */
#define PREDICT_UNIT_BITS 20
#define PREDICT_MOST_UNITS ((1u << PREDICT_UNIT_BITS) - 1)

struct prediction {
	__u32 entries[PREDICT_PLACES];
};

/* Which entry, and above it what tells the place from others of it. Fibonacci hashing. */
static inline __u32 predict_place(__u64 pc, __u64 sp)
{
	__u32 hash = (pc ^ sp << 20) * 0x9e3779b97f4a7c15ULL >> 32;

	return (hash >> PREDICT_UNIT_BITS) * PREDICT_PLACES + 1 + hash % (PREDICT_PLACES - 1);
}

/* The longest wait lately, in units, and 1; 0: nothing is known. */
static inline __u32 predict_longest(const struct prediction *p, __u32 place)
{
	__u32 entry = p->entries[place & (PREDICT_PLACES - 1)];

	return entry >> PREDICT_UNIT_BITS == place / PREDICT_PLACES ? entry & PREDICT_MOST_UNITS
								      : 0;
}

/* `mean_ns` is the least one: where there are too many samples it is raised, and what is predicted is not. */
static inline __u64 predict_ns(const struct prediction *p, __u32 place, __u64 mean_ns)
{
	__u64 longest = predict_longest(p, place);
	__u64 ns = longest ? (longest - 1) * PREDICT_UNIT_NS : PREDICT_UNKNOWN_NS;

	return ns > mean_ns / PREDICT_LEAST ? ns : mean_ns / PREDICT_LEAST;
}

/* Once the wait is over. */
static inline void predict_learn(struct prediction *p, __u32 place, __u64 duration_ns)
{
	__u32 longest = predict_longest(p, place);
	__u64 units = duration_ns / PREDICT_UNIT_NS + 1;
	__u32 now = units < PREDICT_MOST_UNITS ? (__u32)units : PREDICT_MOST_UNITS;

	if (now < longest)
		now = longest - (longest - now + PREDICT_DECAY - 1) / PREDICT_DECAY;
	p->entries[place & (PREDICT_PLACES - 1)] =
		(place / PREDICT_PLACES) << PREDICT_UNIT_BITS | now;
}

#endif
