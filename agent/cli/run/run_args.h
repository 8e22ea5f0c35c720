/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `xagent run` is asked for. The flags of Grafana's agents are understood, so that service files and manifests need no change;
 * those without a meaning here are checked and then said to have none.
 */
#ifndef XAGENT_AGENT_CLI_RUN_RUN_ARGS_H
#define XAGENT_AGENT_CLI_RUN_RUN_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/cli/options.h"
#include "agent/cli/run/quick_start.h"
#include "agent/component/component.h"

/* X(member, flag): switches and flags with a value that are accepted without effect. */
#define RUN_IGNORED_SWITCHES(X)                                         \
	X(bypass_conversion_errors, "config.bypass-conversion-errors")  \
	X(cluster_enabled, "cluster.enabled")                           \
	X(cluster_enable_tls, "cluster.enable-tls")                     \
	X(cluster_use_discovery_v1, "cluster.use-discovery-v1")         \
	X(community_components, "feature.community-components.enabled") \
	X(enable_pprof, "server.http.enable-pprof")

#define RUN_IGNORED_TEXTS(X)                                                          \
	X(extra_args, "config.extra-args", "arguments")                               \
	X(cluster_node_name, "cluster.node-name", "a name")                           \
	X(cluster_advertise_address, "cluster.advertise-address", "HOST:PORT")        \
	X(cluster_join_addresses, "cluster.join-addresses", "addresses")              \
	X(cluster_discover_peers, "cluster.discover-peers", "peers")                  \
	X(cluster_advertise_interfaces, "cluster.advertise-interfaces", "interfaces") \
	X(cluster_name, "cluster.name", "a name")                                     \
	X(cluster_tls_ca_path, "cluster.tls-ca-path", "a file")                       \
	X(cluster_tls_cert_path, "cluster.tls-cert-path", "a file")                   \
	X(cluster_tls_key_path, "cluster.tls-key-path", "a file")                     \
	X(cluster_tls_server_name, "cluster.tls-server-name", "a name")               \
	X(memory_addr, "server.http.memory-addr", "HOST:PORT")                        \
	X(metric_validation_scheme, "feature.prometheus.metric-validation-scheme", "a scheme")

struct run_args {
	bool help;
	bool watch;
	bool disable_support_bundle;
	bool disable_reporting;
	const char *listen;
	const char *probe_listen;  /* NULL: none */
	const char *allowed_hosts; /* NULL: none */
	const char *ui_prefix;
	const char *storage_path;
	const char *format;
	struct quick_start_servers servers;
	enum stability stability;
	/* Checked, without effect. */
	const char *cluster_rejoin_interval, *cluster_max_join_peers, *cluster_wait_for_size,
		*cluster_wait_timeout, *shutdown_deadline;
#define RUN_BOOL_MEMBER(member, flag) bool member;
#define RUN_TEXT_MEMBER(member, flag, wants) const char *member;
	RUN_IGNORED_SWITCHES(RUN_BOOL_MEMBER)
	RUN_IGNORED_TEXTS(RUN_TEXT_MEMBER)
#undef RUN_BOOL_MEMBER
#undef RUN_TEXT_MEMBER
};

/* 0, or -errno with one line in `why`. Texts are those of argv. */
int run_args_parse(int argc, char **argv, struct run_args *ret_args, struct cli_words *ret_words,
		   struct buf *why);

/* The flags that were given and have no effect here, one call each; `expected`: a person would look for one. */
void run_args_each_ignored(const struct run_args *args,
			   void (*fn)(const char *flag, bool expected, void *data), void *data);

/* --stability.level: 0 or -EINVAL. */
int cli_parse_stability(const char *value, void *member);

/* Why a configuration of that format cannot be read, to follow its name; NULL: it can. */
const char *config_format_refused(const char *text);

#endif
