/* SPDX-License-Identifier: Apache-2.0 */
/* What pyroscope.scrape tells about its targets. */
#ifndef XAGENT_AGENT_COMPONENT_SCRAPE_SCRAPE_REPORT_H
#define XAGENT_AGENT_COMPONENT_SCRAPE_SCRAPE_REPORT_H

#include "agent/component/component.h"
#include "agent/scrape/scraper.h"

/* Targets told of one by one; those that are down first. */
#define SCRAPE_REPORT_MAX_TARGETS 1000

struct scrape_report {
	const struct scraper *scraper;
	const char *job_name;
	size_t n_wrong;	   /* targets of which nothing can be scraped */
	const char *wrong; /* why the first of them */
	size_t n_left_out; /* addresses for which there is no room */
};

/* Unhealthy: nothing of what is asked for comes. */
enum health_state scrape_report_health(const struct scrape_report *r, struct buf *out);

/* { target = [{ job, url, health, labels, last_error, last_scrape, last_scrape_duration }, …], more = N }: NULL: no memory. */
const struct river_value *scrape_report_value(const struct scrape_report *r,
					      struct river_arena *arena);

#endif
