/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of pyroscope.scrape. What is refused, and how it is said, is as in Grafana Alloy. */
#include "agent/component/scrape/scrape_args.h"

#include <errno.h>
#include <string.h>

#include "agent/component/receiver.h"
#include "agent/component/target_maps.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "agent/version.h"

#define USER_AGENT "xagent/" XAGENT_VERSION " (linux)"
/* With this one the time is that of the interval, but for a second. */
#define DEFAULT_DELTA_DURATION_NS (14 * (int64_t)NS_PER_S)

static const struct river_field clustering_fields[] = {
	RIVER_FIELD_BOOL(struct scrape_clustering_args, enabled, "enabled",
			 .flags = RIVER_REQUIRED),
};
static const struct river_schema clustering_schema =
	RIVER_SCHEMA(struct scrape_clustering_args, "clustering", clustering_fields);

static const char *check_over_time(const struct scrape_args *a)
{
	const int64_t second_ns = NS_PER_S;

	if (a->interval_ns < 2 * second_ns)
		return "scrape_interval must be at least 2 seconds when using delta profiling";
	if (a->delta_duration_ns <= second_ns)
		return "delta_profiling_duration must be larger than 1 second when using delta "
		       "profiling";
	if (a->delta_duration_ns > a->interval_ns - second_ns)
		return "delta_profiling_duration must be at least 1 second smaller than "
		       "scrape_interval when using delta profiling";
	return NULL;
}

static const char *validate(const void *self, struct river_arena *arena)
{
	const struct scrape_args *a = self;
	const char *problem = NULL;

	(void)arena;
	if (a->timeout_ns <= 0)
		return "scrape_timeout must be greater than 0";
	if (a->interval_ns <= 0)
		return "scrape_interval must be greater than 0";
	if (strcmp(a->scheme, "http") != 0 && strcmp(a->scheme, "https") != 0)
		return "scheme must be http or https";
	if (scrape_profiles_over_time(&a->profiling))
		problem = check_over_time(a);
	return problem ? problem : http_client_args_check(&a->client);
}

#define A struct scrape_args
static const struct river_field scrape_fields[] = {
	TARGETS_FIELD(A, targets, "targets", .flags = RIVER_REQUIRED),
	RIVER_FIELD_CAPSULE_LIST(A, forward_to, "forward_to", RECEIVER_CAPSULE,
				 .flags = RIVER_REQUIRED),
	RIVER_FIELD_STRING(A, job_name, "job_name"),
	RIVER_FIELD_SECRET_LIST_MAP(A, params, "params"),
	RIVER_FIELD_DURATION(A, interval_ns, "scrape_interval", .def = "15s"),
	RIVER_FIELD_DURATION(A, timeout_ns, "scrape_timeout", .def = "10s"),
	RIVER_FIELD_STRING(A, scheme, "scheme", .def = "http"),
	RIVER_FIELD_DURATION(A, delta_duration_ns, "delta_profiling_duration", .def = "14s"),
	HTTP_CLIENT_FIELDS(A, client),
	RIVER_FIELD_BLOCK(A, profiling, "profiling_config", &scrape_profiling_schema),
	RIVER_FIELD_BLOCK_PTR(A, clustering, "clustering", &clustering_schema),
};
const struct river_schema scrape_schema =
	RIVER_SCHEMA(A, "pyroscope.scrape", scrape_fields, .validate = validate);
#undef A

/* ---- what they become -------------------------------------------------------------------------------------------------------------------- */

static uint64_t seconds_of(const struct scrape_args *a)
{
	int64_t ns = a->delta_duration_ns != DEFAULT_DELTA_DURATION_NS
			     ? a->delta_duration_ns
			     : a->interval_ns - (int64_t)NS_PER_S;

	return ns > 0 ? (uint64_t)ns / NS_PER_S : 0;
}

static int params_of(const struct river_list_map *map, struct river_arena *arena,
		     struct scrape_rules *rules)
{
	struct scrape_param *params =
		river_arena_alloc(arena, (map->n_items + 1) * sizeof(*params));

	if (!params)
		return -ENOMEM;
	for (size_t i = 0; i < map->n_items; i++)
		params[i] = (struct scrape_param){ map->keys[i], map->lists[i].items,
						   map->lists[i].n_items };
	rules->params = params;
	rules->n_params = map->n_items;
	return 0;
}

int scrape_args_rules(const struct scrape_args *a, const char *job_name, struct river_arena *arena,
		      struct scrape_rules *ret_rules)
{
	struct scrape_profile *profiles = river_arena_alloc(
		arena, (SCRAPE_PROFILES + a->profiling.custom.n_items) * sizeof(*profiles));

	if (!profiles)
		return -ENOMEM;
	*ret_rules = (struct scrape_rules){
		.job_name = *a->job_name ? a->job_name : job_name,
		.scheme = a->scheme,
		.path_prefix = a->profiling.path_prefix,
		.profiles = profiles,
		.n_profiles = scrape_profiles_list(&a->profiling, profiles),
		.seconds = seconds_of(a),
	};
	return params_of(&a->params, arena, ret_rules);
}

int scrape_args_options(const struct scrape_args *a, struct river_arena *arena,
			struct scraper_options *ret_options)
{
	struct http_client_options client;
	int r = http_client_args_options(&a->client, arena, &client);

	if (r < 0)
		return r;
	*ret_options = (struct scraper_options){
		.interval_ns = (uint64_t)a->interval_ns,
		.timeout_ns = (uint64_t)a->timeout_ns,
		.request = {
			.headers = client.headers,
			.n_headers = client.n_headers,
			.user_agent = USER_AGENT,
			.follow_redirects = a->client.follow_redirects,
			.enable_http2 = a->client.enable_http2,
			.tls = client.tls,
			.proxy = client.proxy,
		},
		.credentials = client.credentials,
		.oauth2 = client.oauth2,
	};
	return 0;
}
