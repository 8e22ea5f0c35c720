/* SPDX-License-Identifier: Apache-2.0 */
/* A share of a thread's time. */
#include "agent/util/time_share.h"

#include "agent/util/macro.h"

static void refill(struct time_share *s, uint64_t now_ns)
{
	uint64_t passed_ns = s->at_ns && now_ns > s->at_ns ? now_ns - s->at_ns : 0;
	uint64_t gained_ns = passed_ns / 100 * s->refill_percent;

	s->spent_ns -= MIN_OF(s->spent_ns, gained_ns);
	s->at_ns = now_ns;
}

uint64_t time_share_left(struct time_share *s, uint64_t now_ns)
{
	refill(s, now_ns);
	return s->burst_ns - MIN_OF(s->spent_ns, s->burst_ns);
}

void time_share_spend(struct time_share *s, uint64_t now_ns, uint64_t spent_ns)
{
	refill(s, now_ns);
	s->spent_ns += spent_ns;
}
