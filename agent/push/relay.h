/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What came to /ingest in a format that nobody here reads, on its way to a Pyroscope server that does: sent there as it came, with its own type
 * of content. It waits, is spooled and tried again as every profile; what it needs is in a label that is never sent.
 *
 *	__relay__ = type of the content, LF, query without the name
 *
 * The name is made of the labels as they are sent: __name__ is the app. Pure.
 */
#ifndef XAGENT_AGENT_PUSH_RELAY_H
#define XAGENT_AGENT_PUSH_RELAY_H

#include <stdbool.h>

#include "agent/push/profile.h"
#include "agent/util/buf.h"

#define PUSH_RELAY_LABEL "__relay__"
#define PUSH_RELAY_MAX_BYTES PUSH_MAX_LABEL_VALUE_BYTES

/* The label; NULL: it is a profile like all others. */
const char *push_relay_of(const struct push_profile *profile);
/* Of such a label. 0 or -ENOMEM. */
int push_relay_type(const char *relay, struct buf *out);
/* Behind the URL of the endpoint. 0, -EINVAL or -ENOMEM. */
int push_relay_url(const struct push_profile *profile, const char *endpoint, struct buf *out);

#endif
