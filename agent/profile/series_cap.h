/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cap on series: a host sends at most so many, and what is beyond goes into one called "other".
 *
 *	interval ──► known series keep their place ──► new ones by their share, while there is room ──► the rest is other
 *
 * A series that was sent within SERIES_ACTIVE_NS is active: it has a place, whether it is in the interval or not, so a small service
 * that was there first is not pushed out by a larger one that comes later. Only a series that is not in the interval makes room, for a new
 * one that has a hundredth of the interval's samples: so a series that was relabelled is sent at once. `other` takes a place too, from when something is folded
 * into it until an hour after the last time; if all places are taken by then, the active series with the fewest samples makes room.
 *
 * Each source of events (timer ticks, a tracepoint) has an `other` of its own, and nothing is thrown away: so what is sent is at most the larger
 * of `max` and the number of sources.
 *
 * Loop thread only.
 */
#ifndef XAGENT_AGENT_PROFILE_SERIES_CAP_H
#define XAGENT_AGENT_PROFILE_SERIES_CAP_H

#include <stddef.h>
#include <stdint.h>

#include "agent/profile/interval.h"
#include "agent/target/label.h"
#include "agent/util/clock.h"

/* A tenth of the active series that Pyroscope grants a tenant (5,000). */
#define SERIES_CAP_DEFAULT 500
/* Pyroscope's limiter forgets a series ten minutes after its last profile, and its open block an hour after its first: what was sent
 * within an hour still counts there. */
#define SERIES_ACTIVE_NS (3600 * NS_PER_S)
#define SERIES_CAP_OTHER "other"

struct series_cap;

/* `max` >= 1. `other` is what the rest is sent as, finished; a reference is taken. 0 or -ENOMEM. */
int series_cap_new(size_t max, struct labels *other, struct series_cap **ret_cap);
void series_cap_free(struct series_cap *cap);
DEFINE_CLEANUP(struct series_cap *, series_cap_free);

/* Another number or another set from the next interval on; the places of active series stay, as far as they reach. */
void series_cap_set(struct series_cap *cap, size_t max, struct labels *other);

struct series_cap_folded {
	size_t n_series;
	uint64_t n_samples;
	uint64_t n_biggest_samples;
	const struct labels *
		biggest; /* of the folded; NULL: none was. Borrowed until the next call for the cap */
};

/* To be called once for each interval, before it is built. 0 (*ret_folded is set, of zeros when all fit), or -ENOMEM: the interval is
 * whole, but may have more series than the cap. */
int series_cap_apply(struct series_cap *cap, struct interval *i, uint64_t now_mono_ns,
		     struct series_cap_folded *ret_folded);

size_t series_cap_max(const struct series_cap *cap);
/* Series sent within the hour before the last interval, other included. */
size_t series_cap_n_active(const struct series_cap *cap);

#endif
