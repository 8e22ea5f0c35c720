/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of pyroscope.write, and how they become options of agent/push. */
#ifndef XAGENT_AGENT_COMPONENT_RECEIVERS_WRITE_ARGS_H
#define XAGENT_AGENT_COMPONENT_RECEIVERS_WRITE_ARGS_H

#include "agent/component/http/http_client_args.h"
#include "agent/component/receivers/spool_args.h"
#include "agent/push/push.h"
#include "river-config/river.h"

struct endpoint_args {
	const char *url, *name;
	int64_t remote_timeout_ns, min_backoff_ns, max_backoff_ns;
	int64_t max_backoff_retries;
	bool retry_on_http_429;
	struct river_string_map headers;
	struct spool_args spool;
	struct http_client_args client;
};

struct write_args {
	struct river_string_map external_labels;
	struct river_blocks endpoints; /* struct endpoint_args */
};

extern const struct river_schema write_schema;

/* Fills *ret_options with pointers into the arguments and into `arena` (0 or -ENOMEM). */
int write_args_endpoint(const struct endpoint_args *args, struct river_arena *arena,
			struct push_endpoint_options *ret_options);

#endif
