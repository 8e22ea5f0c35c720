/* SPDX-License-Identifier: Apache-2.0 */
/* What a scraper counts. Inside of agent/scrape. */
#ifndef XAGENT_AGENT_SCRAPE_SCRAPE_METRICS_H
#define XAGENT_AGENT_SCRAPE_SCRAPE_METRICS_H

#include "agent/scrape/scraper.h"

struct scrape_metrics {
	struct telemetry *telemetry;
	const struct scraper *scraper;
	struct metric *scrapes[SCRAPE_RESULT_MAX];
	struct metric *targets[SCRAPE_HEALTH_MAX];
	struct metric *duration, *bytes, *profiles, *restarts, *busy, *costly, *stacks;
};

/* 0 or -ENOMEM. */
int scrape_metrics_init(struct scrape_metrics *m, const struct scraper_context *context,
			const struct scraper *s);
void scrape_metrics_fini(struct scrape_metrics *m);

#endif
