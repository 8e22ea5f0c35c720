/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A share of a thread's time: a bucket that is filled by so many percent of all time, and that what is done takes from. Pure: the caller
 * gives the time (CLOCK_MONOTONIC).
 */
#ifndef XAGENT_AGENT_UTIL_TIME_SHARE_H
#define XAGENT_AGENT_UTIL_TIME_SHARE_H

#include <stdint.h>

struct time_share {
	uint64_t burst_ns; /* size of the bucket, which is full at first */
	uint32_t refill_percent;
	uint64_t spent_ns; /* what is missing in the bucket, and owed beyond */
	uint64_t at_ns;	   /* when that was */
};

/* What may be spent now. */
uint64_t time_share_left(struct time_share *s, uint64_t now_ns);
/* More than there is: what is owed is filled up first. */
void time_share_spend(struct time_share *s, uint64_t now_ns, uint64_t spent_ns);

#endif
