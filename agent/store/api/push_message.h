/* SPDX-License-Identifier: Apache-2.0 */
/* A Push as a message: how much of it there may be, and the labels of its series, in the words of the server. Whoever receives one reads it by
 * these and by api_rpc.h. Any thread, pure. */
#ifndef XAGENT_AGENT_STORE_API_PUSH_MESSAGE_H
#define XAGENT_AGENT_STORE_API_PUSH_MESSAGE_H

#include "agent/store/api/api_rpc.h"
#include "agent/target/label.h"

struct Push__V1__RawProfileSeries; /* the generated message */

/* More series would be more than one answer can tell of. */
#define PUSH_MAX_SERIES 1024
#define PUSH_MAX_PROFILES 1024

extern const struct rpc_method push_method;

/* RPC_ok, or api_job_fail(). */
enum rpc_code push_message_check(struct rpc_call *call);
/* 0; -EINVAL with a sentence in `why`; -ENOMEM. */
int push_message_labels(const struct Push__V1__RawProfileSeries *series, struct buf *why,
			struct labels **ret_labels);

#endif
