/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of each series of pyroscope.ebpf since the series came to be known, for the page and debug information. It is shown as its profiles are delivered, with their
 * name; a label set has one of each event. Those that have had none for the longest time are forgotten first. Loop thread only.
 */
#ifndef XAGENT_AGENT_COMPONENT_EBPF_SERIES_H
#define XAGENT_AGENT_COMPONENT_EBPF_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/sample/event.h"
#include "agent/target/label.h"
#include "agent/util/hash.h"
#include "agent/util/list.h"

/* Twice max_series of a host that keeps to the default, and then some; 200 bytes each, and the label set. */
#define EBPF_SERIES_MAX 2048

struct ebpf_series_entry {
	struct hash_node node; /* by series->hash */
	struct list age;
	struct labels *series; /* a reference: as the interval has it */
	struct labels *labels; /* a reference: as delivered */
	bool is_cpu; /* or of another event, whose series have no names of targets (profile_name.h) */
	uint64_t n_samples;
	uint64_t n_processes; /* as counted last: whoever counts sets it to 0 first */
};

struct ebpf_series {
	struct hash_table table;
	struct list ages; /* struct ebpf_series_entry, longest without samples first */
	size_t n;
};

void ebpf_series_init(struct ebpf_series *s);
void ebpf_series_fini(struct ebpf_series *s);

/* Without memory it is not counted. */
void ebpf_series_add(struct ebpf_series *s, struct labels *series, enum event event,
		     struct labels *labels, uint64_t n_samples);
/* One process more in all that are of these labels, which are its target's. */
void ebpf_series_count_process(struct ebpf_series *s, struct labels *labels);

#endif
