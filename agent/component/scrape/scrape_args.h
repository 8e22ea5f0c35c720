/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of pyroscope.scrape, and what they become. */
#ifndef XAGENT_AGENT_COMPONENT_SCRAPE_SCRAPE_ARGS_H
#define XAGENT_AGENT_COMPONENT_SCRAPE_SCRAPE_ARGS_H

#include "agent/component/http/http_client_args.h"
#include "agent/component/scrape/scrape_profiles.h"
#include "agent/scrape/scrape_target.h"
#include "agent/scrape/scraper.h"
#include "river-config/river.h"

struct scrape_clustering_args {
	bool enabled;
};

struct scrape_args {
	struct river_foreigns targets;
	struct river_capsules forward_to;
	const char *job_name, *scheme;
	struct river_list_map params;
	int64_t interval_ns, timeout_ns, delta_duration_ns;
	struct http_client_args client;
	struct scrape_profiling_args profiling;
	struct scrape_clustering_args *clustering;
};

extern const struct river_schema scrape_schema;

/* Pointers into the arguments and into `arena`; `job_name` when these have none. 0 or -ENOMEM. */
int scrape_args_rules(const struct scrape_args *args, const char *job_name,
		      struct river_arena *arena, struct scrape_rules *ret_rules);
int scrape_args_options(const struct scrape_args *args, struct river_arena *arena,
			struct scraper_options *ret_options);

#endif
