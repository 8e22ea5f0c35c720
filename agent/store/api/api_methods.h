/* SPDX-License-Identifier: Apache-2.0 */
/* The methods of the read API. Inside of it. */
#ifndef XAGENT_AGENT_STORE_API_API_METHODS_H
#define XAGENT_AGENT_STORE_API_API_METHODS_H

#include "agent/store/api/api_rpc.h"

#define RPC_QUERIER "/querier.v1.QuerierService"
#define RPC_PUSHER "/push.v1.PusherService"
#define RPC_VERSION "/version.v1.Version"
#define RPC_SETTINGS "/settings.v1.SettingsService"

extern const struct rpc_method rpc_methods[];
extern const size_t rpc_n_methods;

/* One a method, see struct rpc_method. */
enum rpc_code profile_types_check(struct rpc_call *call);
enum rpc_code profile_types_run(struct rpc_call *call);
enum rpc_code label_names_check(struct rpc_call *call);
enum rpc_code label_names_run(struct rpc_call *call);
enum rpc_code label_values_check(struct rpc_call *call);
enum rpc_code label_values_run(struct rpc_call *call);
enum rpc_code series_check(struct rpc_call *call);
enum rpc_code series_run(struct rpc_call *call);
enum rpc_code nothing_check(struct rpc_call *call); /* there is nothing to check, and no time */
enum rpc_code stats_at_once(struct rpc_call *call, struct store *store);
enum rpc_code version_at_once(struct rpc_call *call, struct store *store);
enum rpc_code get_settings_at_once(struct rpc_call *call, struct store *store);
enum rpc_code set_setting_at_once(struct rpc_call *call, struct store *store);
enum rpc_code delete_setting_at_once(struct rpc_call *call, struct store *store);
enum rpc_code analyze_check(struct rpc_call *call);
enum rpc_code analyze_run(struct rpc_call *call);
enum rpc_code select_series_check(struct rpc_call *call);
enum rpc_code select_series_run(struct rpc_call *call);
enum rpc_code select_heatmap_check(struct rpc_call *call);
enum rpc_code select_heatmap_run(struct rpc_call *call);
enum rpc_code stacktraces_check(struct rpc_call *call);
enum rpc_code stacktraces_run(struct rpc_call *call);
enum rpc_code span_profile_check(struct rpc_call *call);
enum rpc_code span_profile_run(struct rpc_call *call);
enum rpc_code merge_profile_check(struct rpc_call *call);
enum rpc_code merge_profile_run(struct rpc_call *call);
enum rpc_code diff_check(struct rpc_call *call);
enum rpc_code diff_run(struct rpc_call *call);

#endif
