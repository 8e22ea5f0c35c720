/* SPDX-License-Identifier: Apache-2.0 */
/* A receiver of profiles: the values that `forward_to` lists, and that pyroscope.write and pyroscope.store export as `receiver`. */
#ifndef XAGENT_AGENT_COMPONENT_RECEIVER_H
#define XAGENT_AGENT_COMPONENT_RECEIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/encode/profile.h"
#include "agent/util/clock.h"

/* The capsule's type name in the configuration language. */
#define RECEIVER_CAPSULE "ProfilesReceiver"

/* After the end of a profile's interval: a server refuses what is older than an hour (Pyroscope's validation.reject-older-than). */
#define RECEIVER_DEADLINE_NS (55ULL * 60 * NS_PER_S)

struct receiver_stats {
	uint64_t sent_profiles; /* since start, accepted by the server */
	uint64_t sent_bytes;
	uint64_t dropped_profiles;
	uint64_t waiting_profiles;
	uint64_t waiting_bytes;
};

struct receiver {
	/*
	 * Never waits. What has not been passed on by deadline_ns (real time, as a profile's) is of no use any more: it is dropped and counted, as is
	 * what finds no room.
	 *
	 * Takes a reference for as long as it needs the profile, or its form. What it wants has been made, unless it was not there when the interval was
	 * closed: then it counts the profile as dropped, as nothing is encoded here.
	 */
	void (*receive)(struct receiver *r, struct profile *profile, uint64_t deadline_ns);
	unsigned int wants; /* PROFILE_WANT bits; may change: receiver_wants() */
	/* Of a receiver that hands on to others. NULL: what stands above. */
	unsigned int (*ask_wants)(const struct receiver *r);
	void (*stats)(const struct receiver *r, struct receiver_stats *ret_stats);
	/* Whether it would take so many bytes more without dropping anything: for who can ask its own sender to come again. NULL: always. */
	bool (*has_room)(const struct receiver *r, size_t n_bytes);
};

static inline unsigned int receiver_wants(const struct receiver *r)
{
	return r->ask_wants ? r->ask_wants(r) : r->wants;
}

#endif
