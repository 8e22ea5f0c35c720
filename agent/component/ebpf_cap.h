/* SPDX-License-Identifier: Apache-2.0 */
/* The cap on series (agent/profile/series_cap.h) as pyroscope.ebpf has it: counted, shown, and said where somebody reads it. */
#ifndef XAGENT_AGENT_COMPONENT_EBPF_CAP_H
#define XAGENT_AGENT_COMPONENT_EBPF_CAP_H

#include "agent/component/component.h"
#include "agent/profile/series_cap.h"

/* Zeroed: empty. It outlives sessions and target sets: what was sent before a reload counts. */
struct ebpf_cap {
	struct series_cap *cap;
	bool said;
	uint64_t said_ns;
};

void ebpf_cap_fini(struct ebpf_cap *c);

/* Once an interval, before it is built. `other`, borrowed, is what the rest goes into. */
void ebpf_cap_apply(struct ebpf_cap *c, const struct component *component, size_t max,
		    struct labels *other, struct interval *i, uint64_t now_mono_ns);

#endif
