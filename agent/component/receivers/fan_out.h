/* SPDX-License-Identifier: Apache-2.0 */
/* Several receivers, those of an argument `forward_to`: each has its own queue, and none waits for another. Entries may be NULL. */
#ifndef XAGENT_AGENT_COMPONENT_RECEIVERS_FAN_OUT_H
#define XAGENT_AGENT_COMPONENT_RECEIVERS_FAN_OUT_H

#include "agent/component/receiver.h"
#include "river-config/river.h"

void fan_out(const struct river_capsules *to, struct profile *profile, uint64_t deadline_ns);
/* What any of them wants. */
unsigned int fan_out_wants(const struct river_capsules *to);
/* Whether any of them has room for so much more, or there is none: one that is full never holds another back, it drops and counts. */
bool fan_out_has_room(const struct river_capsules *to, size_t n_bytes);
/* Sums of all. */
struct receiver_stats fan_out_stats(const struct river_capsules *to);

#endif
