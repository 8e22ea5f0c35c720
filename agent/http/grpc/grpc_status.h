/* SPDX-License-Identifier: Apache-2.0 */
/* What a call is answered, as header fields. Pure. */
#ifndef XAGENT_AGENT_HTTP_GRPC_GRPC_STATUS_H
#define XAGENT_AGENT_HTTP_GRPC_GRPC_STATUS_H

#include "agent/util/buf.h"
#include "agent/util/str.h"

/* The value of grpc-message: what is not printable ASCII, and %, as %XX. What buf_append returns. */
int grpc_status_put_message(struct buf *out, struct str text);

/* Of a header whose name ends with "-bin": base64. What buf_append returns. */
int grpc_status_put_binary(struct buf *out, const void *bytes, size_t n);

#endif
