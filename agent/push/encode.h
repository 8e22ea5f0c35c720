/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a Push request: one series with one sample, since the server gives no status for each
 * of several. Pure. */
#ifndef XAGENT_AGENT_PUSH_ENCODE_H
#define XAGENT_AGENT_PUSH_ENCODE_H

#include "agent/push/body.h"
#include "agent/push/profile.h"

/* For push_protocol.encode. 0 or -ENOMEM. */
int push_encode(const struct push_profile *profile, struct push_body *body);

#endif
