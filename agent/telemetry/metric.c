/* SPDX-License-Identifier: Apache-2.0 */
/* One series: numbers that any thread may raise. */
#include "agent/telemetry/metric.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Default buckets of the Prometheus client libraries, in seconds: they fit answers of network
 * services. +Inf follows. */
const double metric_buckets[METRIC_N_BUCKETS] = {
	.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10
};

double metric_double(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static uint64_t metric_bits(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static void metric_add_double(_Atomic uint64_t *bits, double value)
{
	uint64_t old = atomic_load_explicit(bits, memory_order_relaxed);

	while (!atomic_compare_exchange_weak_explicit(bits, &old,
						      metric_bits(metric_double(old) + value),
						      memory_order_relaxed, memory_order_relaxed))
		;
}

void metric_add(struct metric *m, uint64_t n)
{
	assert(m->family->type != METRIC_HISTOGRAM);
	if (m->family->type != METRIC_COUNTER)
		metric_add_double(&m->bits, (double)n);
	else
		(void)atomic_fetch_add_explicit(&m->bits, n, memory_order_relaxed);
}

/* Counters are whole numbers; what is not a number or below zero would be undefined to convert. */
static uint64_t metric_whole(double value)
{
	if (!(value > 0))
		return 0;
	return value >= 18446744073709551616.0 ? UINT64_MAX : (uint64_t)value;
}

void metric_set(struct metric *m, double value)
{
	assert(m->family->type != METRIC_HISTOGRAM);
	atomic_store_explicit(&m->bits,
			      m->family->type == METRIC_COUNTER ? metric_whole(value)
								: metric_bits(value),
			      memory_order_relaxed);
}

void metric_observe(struct metric *m, double value)
{
	size_t i = 0;

	assert(m->family->type == METRIC_HISTOGRAM);
	if (isnan(value))
		return;
	while (i < METRIC_N_BUCKETS && value > metric_buckets[i])
		i++;
	(void)atomic_fetch_add_explicit(&m->histogram->counts[i], 1, memory_order_relaxed);
	metric_add_double(&m->histogram->sum_bits, value);
}

static double metric_n_observed(const struct metric *m)
{
	uint64_t n = 0;

	for (size_t i = 0; i <= METRIC_N_BUCKETS; i++)
		n += atomic_load_explicit(&m->histogram->counts[i], memory_order_relaxed);
	return (double)n;
}

double metric_value(const struct metric *m)
{
	uint64_t bits = atomic_load_explicit(&m->bits, memory_order_relaxed);

	switch (m->family->type) {
	case METRIC_COUNTER:
		return (double)bits;
	case METRIC_SECONDS:
	case METRIC_GAUGE:
		return metric_double(bits);
	case METRIC_HISTOGRAM:
		return metric_n_observed(m);
	}
	return 0;
}
