/* SPDX-License-Identifier: Apache-2.0 */
/* Where profiles go: what `forward_to` lists and pyroscope.write exports as `receiver`. */
#ifndef XAGENT_AGENT_COMPONENT_RECEIVER_H
#define XAGENT_AGENT_COMPONENT_RECEIVER_H

#include <stddef.h>
#include <stdint.h>

#include "agent/target/label.h"

/* The capsule's type name in the configuration language. */
#define RECEIVER_CAPSULE "ProfilesReceiver"

/* Borrowed for the call. */
struct receiver_profile {
	const struct labels *labels;
	const uint8_t *bytes; /* gzip'd pprof */
	size_t n_bytes;
	uint64_t n_samples;
	uint64_t time_ns;
};

struct receiver_stats {
	uint64_t sent_profiles; /* since start, accepted by the server */
	uint64_t sent_bytes;
	uint64_t dropped_profiles;
	uint64_t waiting_profiles;
	uint64_t waiting_bytes;
};

struct receiver {
	void (*receive)(struct receiver *r, const struct receiver_profile *profile);
	void (*stats)(const struct receiver *r, struct receiver_stats *ret_stats);
};

#endif
