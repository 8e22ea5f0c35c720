/* SPDX-License-Identifier: Apache-2.0 */
/* What pyroscope.ebpf tells about itself beyond its arguments: its targets, and what the session holds. */
#ifndef XAGENT_AGENT_COMPONENT_EBPF_DEBUG_H
#define XAGENT_AGENT_COMPONENT_EBPF_DEBUG_H

#include "agent/component/ebpf_args.h"
#include "agent/profile/session.h"

/*
 *	targets = [{ … }]	as they are given
 *	session = { arch, kernel, memory = { … }, processes, sample_rate, samples_waiting, unwind = { … } }
 *
 * `session` NULL: none runs, its facts are left out. 0 or -ENOMEM.
 */
int ebpf_debug_info(struct river_arena *arena, const struct ebpf_args *args,
		    struct session *session, const struct river_value **ret_info);

#endif
