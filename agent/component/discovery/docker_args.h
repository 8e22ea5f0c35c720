/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of discovery.docker, and what its engine is told by them. */
#ifndef XAGENT_AGENT_COMPONENT_DISCOVERY_DOCKER_ARGS_H
#define XAGENT_AGENT_COMPONENT_DISCOVERY_DOCKER_ARGS_H

#include "agent/component/http/http_client_args.h"
#include "agent/discovery/docker_watch.h"

struct docker_args {
	const char *host, *host_networking_host;
	int64_t port, refresh_interval_ns;
	bool match_first_network;
	struct river_blocks filters; /* of struct docker_filter_args */
	struct http_client_args client;
};

extern const struct river_schema docker_schema;

/* Pointers into the arguments and into `arena`; without token source. *ret_oauth2: where tokens come from, or NULL. 0 or -ENOMEM. */
int docker_args_options(const struct docker_args *args, struct river_arena *arena,
			struct docker_watch_options *ret_options,
			const struct http_oauth2_options **ret_oauth2);

/* Whether both ask the same server the same. */
bool docker_args_same_server(const struct docker_args *a, const struct docker_args *b);

#endif
