/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a process is in the profiles, and if not, why and what to change: in words. Pure. */
#ifndef XAGENT_AGENT_CLI_WEB_WHY_MISSING_H
#define XAGENT_AGENT_CLI_WEB_WHY_MISSING_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/component/ebpf/pyroscope_ebpf.h"
#include "agent/process/host_view.h"
#include "agent/util/buf.h"

/* What is known of one process. */
struct why_missing {
	uint32_t pid;
	bool kernel_thread;
	bool ended; /* a zombie */
	/* Of the pyroscope.ebpf that profiles it, or that comes nearest. NULL: none runs … */
	const char *component_id;
	const char *problem; /* … for this reason; NULL: there is none in the configuration */
	enum ebpf_verdict verdict;
	bool kernel_left_out;
	uint64_t n_samples;
	uint64_t idle_ns; /* since the last one */
};

/* True: it is in the profiles. Sentences without an end; `fix` may stay empty. */
bool why_missing(const struct why_missing *facts, struct buf *why, struct buf *fix);

/* There is no such process; `view` (may be NULL) knows what hides others. */
void why_unknown(uint32_t pid, const struct host_view *view, struct buf *why);

#endif
