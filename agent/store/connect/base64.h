/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes in JSON (RFC 4648). Pure. */
#ifndef XAGENT_AGENT_STORE_CONNECT_BASE64_H
#define XAGENT_AGENT_STORE_CONNECT_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/util/buf.h"
#include "agent/util/str.h"

/* The standard alphabet, padded. What buf_append returns. */
int base64_put(struct buf *out, const uint8_t *bytes, size_t n);

/* At most so many bytes come out of a text of n. */
static inline size_t base64_room(size_t n)
{
	return n / 4 * 3 + 3;
}

/* Either alphabet, padded or not, as protobuf's JSON has it. False: neither. `out` has base64_room(text.n) bytes. */
bool base64_parse(struct str text, uint8_t *out, size_t *ret_n);

#endif
