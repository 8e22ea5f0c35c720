/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of facts above a flame graph: what was profiled, when, and how. Pure text. */
#ifndef XAGENT_AGENT_DRAW_FLAME_FACTS_H
#define XAGENT_AGENT_DRAW_FLAME_FACTS_H

#include <stdint.h>

#include "agent/sample/event_text.h"
#include "agent/util/buf.h"

struct flame_facts {
	const char *subject; /* "make", "pid 4711, 4712", "all processes" */
	const char *host;    /* its name; "" where it is not known */
	uint64_t end_real_ns;
	uint64_t elapsed_ns;
	uint64_t n_samples;
	struct event_text event;
	uint32_t hz;	      /* of CPU time */
	const char *exporter; /* who made it: "xagent 1.2.3" */
};

/* "CPU time of make", "Hits of syscalls:sys_enter_read of make" */
void flame_facts_title(const struct flame_facts *f, struct buf *out);
/* "612 samples in 6.3 s at 97 Hz, on web-1, 2026-11-22 10:24:42 UTC" */
void flame_facts_origin(const struct flame_facts *f, struct buf *out);
/* Both: "CPU time of make: 612 samples …" */
void flame_facts_line(const struct flame_facts *f, struct buf *out);

#endif
