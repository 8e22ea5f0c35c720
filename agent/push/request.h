/* SPDX-License-Identifier: Apache-2.0 */
/* One attempt as an HTTP request: target, headers, secrets. */
#ifndef XAGENT_AGENT_PUSH_REQUEST_H
#define XAGENT_AGENT_PUSH_REQUEST_H

#include "agent/http/client.h"
#include "agent/push/body.h"
#include "agent/push/options.h"
#include "agent/push/protocol.h"

/* Where to, and how; all borrowed for the call. */
struct push_target {
	const struct push_protocol *protocol;
	const struct push_endpoint_options *options;
	const char *url;
	const char *user_agent;
	const char *content_type; /* in place of the protocol's headers; NULL: these */
};

/* Starts the attempt; the body stays where it is until `done`. 0, or -errno with a reason
 * for a person. */
int push_request_start(struct http_client *client, const struct push_target *target,
		       const struct push_body *body, http_done_fn done, void *data,
		       struct http_request **ret_request, struct push_reason *ret_reason);

#endif
