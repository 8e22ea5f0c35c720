/* SPDX-License-Identifier: Apache-2.0 */
/* The methods of the read API: one row each. */
#include "agent/store/api/api_methods.h"

#include "agent/store/api/querier.pb-c.h"
#include "agent/store/api/tenant.pb-c.h"
#include "agent/util/macro.h"

#define QUERY(name, type, functions)                                          \
	{                                                                     \
		.path = RPC_QUERIER "/" name,                                 \
		.request = &querier__v1__##type##_request__descriptor,        \
		.max_bytes = RPC_MAX_QUERY_BYTES, .check = functions##_check, \
		.run = functions##_run                                        \
	}

#define TENANT(method, type, functions)                                               \
	{                                                                             \
		.path = method, .request = &tenant__v1__##type##_request__descriptor, \
		.max_bytes = RPC_MAX_QUERY_BYTES, .check = nothing_check,             \
		.at_once = functions##_at_once,                                       \
	}

const struct rpc_method rpc_methods[] = {
	QUERY("ProfileTypes", profile_types, profile_types),
	QUERY("LabelNames", label_names, label_names),
	QUERY("LabelValues", label_values, label_values),
	QUERY("Series", series, series),
	QUERY("SelectSeries", select_series, select_series),
	QUERY("SelectHeatmap", select_heatmap, select_heatmap),
	QUERY("SelectMergeStacktraces", select_merge_stacktraces, stacktraces),
	QUERY("SelectMergeSpanProfile", select_merge_span_profile, span_profile),
	QUERY("SelectMergeProfile", select_merge_profile, merge_profile),
	QUERY("Diff", diff, diff),
	{ .path = RPC_QUERIER "/GetProfileStats",
	  .request = &querier__v1__get_profile_stats_request__descriptor,
	  .max_bytes = RPC_MAX_QUERY_BYTES,
	  .check = nothing_check,
	  .at_once = stats_at_once },
	QUERY("AnalyzeQuery", analyze_query, analyze),
	TENANT(RPC_VERSION "/Version", version, version),
	TENANT(RPC_SETTINGS "/Get", get_settings, get_settings),
	TENANT(RPC_SETTINGS "/Set", set_settings, set_setting),
	TENANT(RPC_SETTINGS "/Delete", delete_settings, delete_setting),
};
const size_t rpc_n_methods = ARRAY_SIZE(rpc_methods);
