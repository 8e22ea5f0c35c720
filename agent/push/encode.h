/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a Push request: one series with one sample, since the server gives no status for each
 * of several. Pure. */
#ifndef XAGENT_AGENT_PUSH_ENCODE_H
#define XAGENT_AGENT_PUSH_ENCODE_H

#include "agent/push/body.h"
#include "agent/push/profile.h"

/* For push_protocol.encode; n is 1. 0. */
int push_encode(const struct push_profile *const *profiles, size_t n, struct push_body *body);

#endif
