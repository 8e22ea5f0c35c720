/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of which the state of the agent is made, at one moment. */
#ifndef XAGENT_AGENT_CLI_WEB_STATUS_FACTS_H
#define XAGENT_AGENT_CLI_WEB_STATUS_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/component/ebpf/pyroscope_ebpf.h"
#include "agent/component/receivers/pyroscope_store.h"

struct agent;

/* Of a pyroscope.ebpf; those with the most samples: a browser shows them in one table. */
#define STATUS_TARGETS_MAX 500

/* Sums over all pyroscope.ebpf. */
struct status_sums {
	struct wire_counters counters;
	uint64_t n_missed;
	uint64_t ends[STOP_REASON_MAX];
	struct wire_runtime_results runtimes[RUNTIME_KINDS];
	uint64_t n_waiting;
	uint64_t interval_ns; /* of the first; 0: none */
	bool kernel_hidden;
	bool profiles; /* there is one that runs */
	struct host_view view;
};

struct status_row {
	char *id; /* owned */
	struct health health;
};

struct status_group {
	char *id; /* of the component; owned */
	struct ebpf_target *items;
	size_t n;
};

/* What is told, as of one moment. */
struct status_facts {
	struct status_sums sums;
	uint64_t counters[TELEMETRY_COUNTER_MAX];
	char *store_id; /* owned; NULL: there is none */
	struct store_status store;
	struct status_row *rows; /* owned */
	size_t n_rows;
	struct status_group *groups; /* owned: a pyroscope.ebpf each */
	size_t n_groups;
	bool is_open;
	int64_t now_ms;
};

/* Loop thread: counts no process of any series … */
void status_count_none(const struct agent *a);
/* … then some of these, from *at on. False: there are more. */
bool status_count_some(const struct agent *a, const uint32_t *pids, size_t n, size_t *at);

/* Loop thread: all at once, a few thousand short texts at most (GRAPH_MAX_COMPONENTS, STATUS_TARGETS_MAX). False: there is no memory. */
bool status_facts_take(struct status_facts *f, const struct agent *a);
/* Loop thread. */
void status_facts_fini(struct status_facts *f);

#endif
