/* SPDX-License-Identifier: Apache-2.0 */
/* Debug information of pyroscope.ebpf: its targets, and what the session holds. */
#ifndef XAGENT_AGENT_COMPONENT_EBPF_DEBUG_H
#define XAGENT_AGENT_COMPONENT_EBPF_DEBUG_H

#include "agent/component/ebpf_args.h"
#include "agent/process/host_view.h"
#include "agent/profile/session.h"

/*
 *	targets = [{ … }]	as they are given
 *	session = { arch, kernel, memory = { … }, processes, sample_rate, samples_waiting, unwind = { … } }
 *	host = { place, findings = [{ finding, missing, fix }] }	what of it is not seen
 *
 * `session` NULL: none runs, its facts and the host's are left out. 0 or -ENOMEM.
 */
int ebpf_debug_info(struct river_arena *arena, const struct ebpf_args *args,
		    struct session *session, const struct host_view *view,
		    const struct river_value **ret_info);

#endif
