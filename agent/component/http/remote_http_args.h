/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of remote.http, and the request they become. */
#ifndef XAGENT_AGENT_COMPONENT_HTTP_REMOTE_HTTP_ARGS_H
#define XAGENT_AGENT_COMPONENT_HTTP_REMOTE_HTTP_ARGS_H

#include "agent/component/http/http_client_args.h"

struct remote_http_args {
	const char *url, *method, *body;
	int64_t poll_frequency_ns, poll_timeout_ns;
	bool is_secret;
	struct river_string_map headers;
	struct http_client_args *client;
};

extern const struct river_schema remote_http_schema;

/* Pointers into the arguments and into `arena`; without user agent and token source. 0 or -ENOMEM. */
int remote_http_args_request(const struct remote_http_args *args, struct river_arena *arena,
			     struct http_request_options *ret_options,
			     struct http_credentials *ret_credentials);

#endif
