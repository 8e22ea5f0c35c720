/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What is sampled. Compiled by both sides.
 *
 * X(NAME, name, profile, period type, period unit, values):
 *
 *	name	in arguments, in texts and in the label `event` of metrics
 *	profile	the first part of a profile's type, as Pyroscope knows it (the label __name__)
 *	period	between two samples, or what one counts; empty: there is none. Its type is the profile's name but where Pyroscope or Go have
 *		another: who gets OTLP names a profile by it (agent/encode/otlp.c), and two of one name would be one
 *	values	one to EVENT_MAX_VALUES of V(type, unit): the sums that each stack has
 *
 * The agent, the encoders, the store and the page have all they know of an event from here. Append only: the numbers are on the wire.
 */
#ifndef XAGENT_BPF_EVENTS_H
#define XAGENT_BPF_EVENTS_H

#define EVENT_MAX_VALUES 4
/* What is attached: the timer ticks are source 0, tracepoints those behind it, then one for each other event. */
#define EVENT_MAX_SOURCES 40
#define EVENT_SOURCE_TICKS 0
#define EVENT_MAX_TRACEPOINTS 31
#define EVENT_SOURCE_OFF_CPU 32
#define EVENT_SOURCE_LOCKS 33
#define EVENT_SOURCE_FAULTS 34
#define EVENT_SOURCE_RUN_QUEUE 35
#define EVENT_SOURCE_SYSCALLS 36
#define EVENT_SOURCE_TCP 37
#define EVENT_SOURCE_BLOCK_IO 38
#define EVENT_SOURCE_RSS 39

/* A build for tests has values of its own, and says so before this is included. */
#ifndef EVENTS
#define EVENTS(X, V)                                                                            \
	X(CPU, "cpu", "process_cpu", "cpu", "nanoseconds", V("cpu", "nanoseconds"))             \
	X(TRACEPOINT, "tracepoint", "tracepoint", "tracepoint", "count", V("events", "count"))      \
	X(OFF_CPU, "off_cpu", "offcpu", "", "", V("offcpu", "nanoseconds") V("waits", "count")) \
	X(LOCKS, "locks", "mutex", "contentions", "count",                                      \
	  V("delay", "nanoseconds") V("contentions", "count"))                                  \
	X(FAULTS, "faults", "page_faults", "page_faults", "count", V("faults", "count"))             \
	X(RUN_QUEUE, "run_queue", "run_queue", "run_queue", "count",                                \
	  V("delay", "nanoseconds") V("waits", "count"))                                        \
	X(SYSCALLS, "syscalls", "syscalls", "syscalls", "count",                                   \
	  V("duration", "nanoseconds") V("calls", "count"))                                     \
	X(TCP, "tcp", "tcp", "tcp", "count", V("events", "count"))                           \
	X(WALL, "wall", "wall", "wall", "nanoseconds", V("wall", "nanoseconds"))                \
	X(BLOCK_IO, "block_io", "block_io", "block_io", "count",                                     \
	  V("latency", "nanoseconds") V("bytes", "bytes") V("ios", "count"))               \
	X(RSS, "rss", "rss", "rss", "bytes", V("growth", "bytes"))
#endif

enum event {
#define EVENT_ENUM(NAME, ...) EVENT_##NAME,
	EVENTS(EVENT_ENUM, )
#undef EVENT_ENUM
		EVENT_MAX
};

#endif
