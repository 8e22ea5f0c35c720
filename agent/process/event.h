/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to processes, in time order: decoded records of the perf side-band. */
#ifndef XAGENT_AGENT_PROCESS_EVENT_H
#define XAGENT_AGENT_PROCESS_EVENT_H

#include <stdbool.h>
#include <stdint.h>

enum process_event_kind {
	PROCESS_EVENT_FORK, /* a new process (threads are not reported) */
	PROCESS_EVENT_EXEC,
	PROCESS_EVENT_MMAP, /* an executable mapping came, or changed its protection */
	PROCESS_EVENT_EXIT, /* its last thread is gone */
	PROCESS_EVENT_LOST, /* records were lost, or may have been: what is known of mappings may be old */
	/* Mapping events of this process were left out, because it makes too many: what is known of its mappings may be old. */
	PROCESS_EVENT_FLOOD,
};

struct process_event {
	enum process_event_kind kind;
	uint32_t pid;
	uint32_t parent_pid; /* FORK */
	uint64_t time_ns;    /* CLOCK_MONOTONIC */
	char comm[16];	     /* EXEC */
	uint64_t lost;	     /* LOST: how many, as far as the kernel has told */
	/* MMAP; path is borrowed for the call, NUL terminated */
	uint64_t begin, len, file_off, inode, inode_generation;
	uint32_t dev_major, dev_minor;
	const char *path;
};

#endif
