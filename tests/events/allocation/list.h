/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a build for tests, included before everything else of it (bpf/events.h): a hit of a tracepoint is an allocation of so many bytes. Its number, its
 * source and how it is asked for are those of the program's own tracepoints.
 */
#define EVENTS(X, V)                                                                            \
	X(CPU, "cpu", "process_cpu", "cpu", "nanoseconds", V("cpu", "nanoseconds"))             \
	X(TRACEPOINT, "tracepoint", "memory", "space", "bytes",                                 \
	  V("alloc_space", "bytes") V("alloc_objects", "count"))                                \
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
#define TRACEPOINT_INCLUDE "tests/events/allocation/allocation.bpf.h"
