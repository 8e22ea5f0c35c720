/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of the readers, which are the process's (agent/util/reader.h). */
#include "agent/cli/run/agent.h"

#include "agent/util/reader.h"

static const struct metric_family given_up = {
	"xagent_reads_given_up_total",
	"Reads of processes and their files that did not return in time, by what was read.",
	METRIC_COUNTER,
	{ "reason" }
};
static const struct metric_family avoided = {
	"xagent_reads_avoided_total",
	"Reads that were not tried because an earlier one of that process, file system or user did not return.",
	METRIC_COUNTER,
	{ NULL }
};
static const struct metric_family lost = { "xagent_readers_lost",
					   "Threads that wait for reads that were given up.",
					   METRIC_GAUGE,
					   { NULL } };

/* The registry may be younger than the numbers; they only grow. */
static void set_count(struct metric *m, uint64_t n)
{
	metric_add(m, n - (uint64_t)metric_value(m));
}

static void on_scrape(struct telemetry *t, void *data)
{
	struct reader_stats stats = reader_get_stats();

	(void)data;
	for (int i = 0; i < READER_REASON_MAX; i++) {
		const char *reason = reader_reason_name((enum reader_reason)i);

		set_count(telemetry_series(t, &given_up, &reason), stats.n_given_up[i]);
	}
	set_count(telemetry_series(t, &avoided, NULL), stats.n_avoided);
	metric_set(telemetry_series(t, &lost, NULL), stats.n_lost);
}

int agent_reader_metrics_add(struct agent *a)
{
	return telemetry_on_scrape(a->telemetry, on_scrape, a);
}

void agent_reader_metrics_remove(struct agent *a)
{
	telemetry_off_scrape(a->telemetry, on_scrape, a);
}
