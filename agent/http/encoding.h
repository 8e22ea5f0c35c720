/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed answers: who takes them, what is worth it. Pure. */
#ifndef XAGENT_AGENT_HTTP_ENCODING_H
#define XAGENT_AGENT_HTTP_ENCODING_H

#include <stdbool.h>

#include "agent/util/buf.h"

/* Less fits into one or two packets anyway. */
#define ENCODING_MIN_BYTES 2048
/* Some 12 ms a MiB at level 1. What is larger than the first is for threads that nobody waits for; what is larger than the second goes out as
 * it is. */
#define ENCODING_MAX_LOOP_BYTES ((size_t)128 << 10)
#define ENCODING_MAX_BYTES ((size_t)32 << 20)

/* The value of Accept-Encoding (RFC 9110 12.5.3); NULL: none. */
bool encoding_takes_gzip(const char *accept_encoding);

/* Texts, JSON and protobuf; pictures and archives are compressed already. */
bool encoding_is_worth(const char *content_type);

/* Replaces the bytes by a gzip member of them. 0; -ENOMEM, or -E2BIG when it would not be shorter: then they are as before. */
int encoding_gzip(struct buf *body);

#endif
