/* SPDX-License-Identifier: Apache-2.0 */
/* What a scraper counts. */
#include "agent/scrape/scrape_metrics.h"

#include "agent/scrape/delta.h"
#include "agent/scrape/scraper_private.h"

#define LABELS "component_path", "component_id"

#define FAMILY(variable, name, text, type, ...) \
	static const struct metric_family variable = { name, text, type, { LABELS, ##__VA_ARGS__ } }
FAMILY(scrapes_family, "xagent_scrapes_total", "Scrapes that have ended, by how.", METRIC_COUNTER,
       "result");
FAMILY(targets_family, "xagent_scrape_targets",
       "Addresses of profiles, by how the last scrape ended.", METRIC_GAUGE, "health");
FAMILY(duration_family, "xagent_scrape_duration_seconds",
       "From a request to its profile; those that are made over a time take that long.",
       METRIC_HISTOGRAM);
FAMILY(bytes_family, "xagent_scraped_bytes_total", "Bytes of answers, as they came.",
       METRIC_COUNTER);
FAMILY(profiles_family, "pyroscope_forwarded_entries_total", "Profiles that were handed on.",
       METRIC_COUNTER);
FAMILY(restarts_family, "xagent_scrape_restarts_total",
       "Profiles that count from the start of another process than the one before.",
       METRIC_COUNTER);
FAMILY(skipped_family, "xagent_scrapes_skipped_total",
       "Scrapes that were not begun when their time came. busy: the one before is under way, and "
       "this one follows it. costly: what the "
       "target answers takes more than its share of the thread that reads it.",
       METRIC_COUNTER, "reason");
FAMILY(stacks_family, "xagent_scrape_delta_stacks",
       "Stacks whose last counts are remembered, 24 bytes each.", METRIC_GAUGE);
#undef FAMILY

static void on_scrape(struct telemetry *t, void *data)
{
	struct scrape_metrics *m = data;
	size_t n[SCRAPE_HEALTH_MAX], n_stacks = 0;

	(void)t;
	scraper_count(m->scraper, n);
	for (size_t i = 0; i < SCRAPE_HEALTH_MAX; i++)
		metric_set(m->targets[i], (double)n[i]);
	HASH_FOREACH (&m->scraper->loops, node)
		n_stacks += CONTAINER_OF(node, struct scrape_loop, node)->n_stacks;
	metric_set(m->stacks, (double)n_stacks);
}

int scrape_metrics_init(struct scrape_metrics *m, const struct scraper_context *context,
			const struct scraper *s)
{
	const char *labels[] = { context->component_path, context->component_id, NULL };
	struct telemetry *t = context->telemetry;

	*m = (struct scrape_metrics){
		.scraper = s,
		.duration = telemetry_series(t, &duration_family, labels),
		.bytes = telemetry_series(t, &bytes_family, labels),
		.profiles = telemetry_series(t, &profiles_family, labels),
		.restarts = telemetry_series(t, &restarts_family, labels),
		.stacks = telemetry_series(t, &stacks_family, labels),
	};
	labels[2] = "busy";
	m->busy = telemetry_series(t, &skipped_family, labels);
	labels[2] = "costly";
	m->costly = telemetry_series(t, &skipped_family, labels);
	for (size_t i = 0; i < SCRAPE_RESULT_MAX; i++) {
		labels[2] = scrape_result_text(i);
		m->scrapes[i] = telemetry_series(t, &scrapes_family, labels);
	}
	for (size_t i = 0; i < SCRAPE_HEALTH_MAX; i++) {
		labels[2] = scrape_health_text(i);
		m->targets[i] = telemetry_series(t, &targets_family, labels);
	}
	int r = telemetry_on_scrape(t, on_scrape, m);
	m->telemetry = r < 0 ? NULL : t;
	return r;
}

void scrape_metrics_fini(struct scrape_metrics *m)
{
	if (!m->telemetry)
		return;
	telemetry_off_scrape(m->telemetry, on_scrape, m);
	for (size_t i = 0; i < SCRAPE_HEALTH_MAX; i++)
		metric_set(m->targets[i], 0);
	metric_set(m->stacks, 0);
}
