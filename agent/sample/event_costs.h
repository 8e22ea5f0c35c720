/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the events cost, measured once in a while, and kept within a limit (governor.h).
 *
 * The kernel counts the runs and the time of BPF programs only while somebody asks for that, as it costs some 50 ns a run: for one second of ten. Where that
 * is not allowed (CAP_SYS_ADMIN, Linux 5.8), runs are taken to be the ticks of the kernel half's counters, and prices are assumed.
 *
 * Loop thread only.
 */
#ifndef XAGENT_AGENT_SAMPLE_EVENT_COSTS_H
#define XAGENT_AGENT_SAMPLE_EVENT_COSTS_H

#include "agent/sample/governor.h"
#include "agent/sample/sampler.h"

/* Looks from one measurement to the next; it lasts for one. */
#define EVENT_COSTS_LOOKS 10
#define EVENT_COSTS_MAX_PROGRAMS 64

struct event_costs_program {
	int fd; /* borrowed */
	enum event event;
};

struct event_costs {
	double limit; /* of one CPU, for each event but CPU time; 0: none */
	struct event_costs_program programs[EVENT_COSTS_MAX_PROGRAMS];
	size_t n_programs;
	uint32_t
		*budgets; /* by event: samples of a window and CPU, for the kernel half; borrowed */
	struct governor governors[EVENT_MAX]; /* most_hz 0: it is not sampled */
	bool is_measured[EVENT_MAX];
	bool was_limited[EVENT_MAX];
	unsigned int n_looks;
	int stats_fd; /* while it is measured; < 0: it is not */
	uint64_t since_ns;
	struct governor_look since[EVENT_MAX]; /* sums, then; elapsed_ns is nothing */
};

void event_costs_init(struct event_costs *c);
void event_costs_fini(struct event_costs *c);
void event_costs_add_program(struct event_costs *c, int fd, enum event event);
void event_costs_add_event(struct event_costs *c, enum event event, unsigned int most_hz);
/* About once a second. `counters`: EVENT_MAX items, as of now. */
void event_costs_look(struct event_costs *c, const struct wire_counters *counters, uint64_t now_ns);

#endif
