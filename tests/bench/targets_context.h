/* SPDX-License-Identifier: Apache-2.0 */
/* A host for the bench of targets: containers as Docker's discovery tells of them, each with a process. */
#ifndef XAGENT_TESTS_BENCH_TARGETS_CONTEXT_H
#define XAGENT_TESTS_BENCH_TARGETS_CONTEXT_H

#include "agent/process/process.h"

#define N_CONTAINERS 5000

/* discovery.process "p" joined with all containers, discovery.relabel "r", pyroscope.ebpf; to be freed, or NULL. */
char *context_text(void);

/* A process that was forked at that time, as its files in /proc would have told; NULL without memory. */
struct process *context_process(struct process_table *processes, uint32_t pid, uint64_t time_ns);

#endif
