/* SPDX-License-Identifier: Apache-2.0 */
/* One attempt as an HTTP request: target, headers, secrets. */
#ifndef XAGENT_AGENT_PUSH_REQUEST_H
#define XAGENT_AGENT_PUSH_REQUEST_H

#include "agent/http/client.h"
#include "agent/push/options.h"
#include "agent/push/queue.h"
#include "agent/push/verdict.h"

/* Starts the attempt for the entry's body, which must live until `done`. 0, or -errno with a reason
 * for a person. */
int push_request_start(struct http_client *client, const struct push_endpoint_options *options,
		       const char *target_url, const char *user_agent, const struct push_body *body,
		       http_done_fn done, void *data, struct http_request **ret_request,
		       struct push_reason *ret_reason);

#endif
