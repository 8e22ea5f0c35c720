/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The block `events` of pyroscope.ebpf: what is profiled beside CPU time. One kind of block a kind of event; its label is the name that the profiles have.
 *
 *	events {
 *		tracepoint "fsyncs" { event = "syscalls:sys_enter_fsync" }
 *		off_cpu {}
 *		locks {}
 *		run_queue {}
 *		syscalls {}
 *		tcp {}
 *		block_io {}
 *		rss {}
 *	}
 */
#ifndef XAGENT_AGENT_COMPONENT_EBPF_EVENTS_ARGS_H
#define XAGENT_AGENT_COMPONENT_EBPF_EVENTS_ARGS_H

#include "agent/sample/event.h"
#include "river-config/river.h"

#define EVENTS_ARGS_MAX EVENT_MAX_TRACEPOINTS

struct tracepoint_args {
	const char *name; /* of the profiles */
	const char *event;
	int64_t sample_rate_hz; /* samples a second and CPU, at most */
};

/* How long threads do not run; the profiles are called as the event says. */
struct off_cpu_args {
	int64_t sample_rate_hz; /* samples a second and CPU, at most */
};

/* An event that has no more to it. */
struct plain_args {
	int64_t sample_rate_hz; /* samples a second and CPU, at most; of wall-clock time those of waits, unless off_cpu says it */
};

struct events_args {
	const struct off_cpu_args *off_cpu; /* NULL: not wanted */
	const struct plain_args
		*plain[EVENT_MAX]; /* by event_is_plain(), or EVENT_WALL; NULL: not wanted */
	struct river_blocks
		tracepoints; /* struct tracepoint_args, in the order of their sources: 1 … */
};

extern const struct river_schema events_schema;

struct events_tracepoints {
	const char *names[EVENTS_ARGS_MAX]; /* "group:name", borrowed from the arguments */
	unsigned int hz[EVENTS_ARGS_MAX];   /* samples a second and CPU, at most */
	size_t n;
};

void events_args_tracepoints(const struct events_args *args,
			     struct events_tracepoints *ret_tracepoints);
/* Samples a second and CPU, at most; 0: it is not wanted. */
unsigned int events_args_hz(const struct events_args *args, enum event event);
/* What the profiles of a source are called; NULL: there is no such source. */
const char *events_args_profile(const struct events_args *args, uint16_t source);
bool events_args_equal(const struct events_args *a, const struct events_args *b);

#endif
