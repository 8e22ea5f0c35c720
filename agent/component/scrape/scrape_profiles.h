/* SPDX-License-Identifier: Apache-2.0 */
/* profiling_config: which profiles are fetched of each target, and where they are. */
#ifndef XAGENT_AGENT_COMPONENT_SCRAPE_SCRAPE_PROFILES_H
#define XAGENT_AGENT_COMPONENT_SCRAPE_SCRAPE_PROFILES_H

#include "agent/scrape/scrape_target.h"
#include "river-config/river.h"

/* Blocks with a fixed name, in the order in which profiles are asked for. */
enum scrape_profile_kind {
	SCRAPE_OF_MEMORY,
	SCRAPE_OF_BLOCK,
	SCRAPE_OF_GOROUTINE,
	SCRAPE_OF_MUTEX,
	SCRAPE_OF_PROCESS_CPU,
	SCRAPE_OF_FGPROF,
	SCRAPE_OF_GODELTAPROF_MEMORY,
	SCRAPE_OF_GODELTAPROF_MUTEX,
	SCRAPE_OF_GODELTAPROF_BLOCK,
	SCRAPE_PROFILES
};

struct scrape_profile_args {
	const char *name; /* of a custom one: its label */
	bool enabled;
	const char *path;
	bool delta; /* made over a time */
};

struct scrape_profiling_args {
	struct scrape_profile_args of[SCRAPE_PROFILES];
	struct river_blocks custom; /* struct scrape_profile_args */
	const char *path_prefix;
};

extern const struct river_schema scrape_profiling_schema;

/* How many; a custom one takes the place of one that is called so. `out` has room for SCRAPE_PROFILES and all custom ones. */
size_t scrape_profiles_list(const struct scrape_profiling_args *args, struct scrape_profile *out);

/* Whether one of those that are fetched is made over a time. */
bool scrape_profiles_over_time(const struct scrape_profiling_args *args);

#endif
