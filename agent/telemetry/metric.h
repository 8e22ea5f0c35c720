/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a series; for the files of this folder. */
#ifndef XAGENT_AGENT_TELEMETRY_METRIC_H
#define XAGENT_AGENT_TELEMETRY_METRIC_H

#include <stdatomic.h>
#include <stddef.h>

#include "agent/telemetry/telemetry.h"
#include "agent/util/hash.h"
#include "agent/util/list.h"

#define METRIC_N_BUCKETS 11

/* Longer label values are cut: the text of one series stays small whatever a target is called. */
#define METRIC_MAX_VALUE_BYTES 1024

struct metric_histogram {
	_Atomic uint64_t counts[METRIC_N_BUCKETS + 1]; /* not cumulative; the last is +Inf */
	_Atomic uint64_t sum_bits;		       /* a double */
};

struct metric {
	struct hash_node node;
	const struct metric_family *family;
	_Atomic uint64_t bits; /* a counter's number; a gauge's double */
	struct metric_histogram *histogram;
	size_t n_values;
	char *values[METRIC_MAX_LABELS];
};

struct telemetry_scrape {
	struct list node;
	telemetry_scrape_fn fn;
	void *data;
};

struct telemetry {
	struct metric *counters[TELEMETRY_COUNTER_MAX]; /* borrowed from `series` */
	struct hash_table series;			/* owns struct metric */
	struct list scrapes;
	struct metric spare[METRIC_HISTOGRAM +
			    1]; /* by type: what could not be exported counts into the void */
	struct metric_histogram spare_histogram;
};

extern const double metric_buckets[METRIC_N_BUCKETS];

double metric_double(uint64_t bits);

#endif
