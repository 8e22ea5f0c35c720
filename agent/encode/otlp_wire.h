/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of protobuf messages into a buffer, one behind the other: what is repeated is packed one by one and never exists whole. Inside of agent/encode. */
#ifndef XAGENT_AGENT_ENCODE_OTLP_WIRE_H
#define XAGENT_AGENT_ENCODE_OTLP_WIRE_H

#include <protobuf-c/protobuf-c.h>
#include <stdint.h>

#include "agent/util/buf.h"

struct otlp_sink {
	ProtobufCBuffer base;
	struct buf *out;
};

static inline void otlp_sink_append(ProtobufCBuffer *base, size_t n, const uint8_t *bytes)
{
	(void)buf_append(((struct otlp_sink *)base)->out, bytes, n);
}

/* The fields of a message. */
static inline void otlp_put(struct buf *out, const ProtobufCMessage *message)
{
	struct otlp_sink sink = { .base.append = otlp_sink_append, .out = out };

	(void)protobuf_c_message_pack_to_buffer(message, &sink.base);
}

static inline void otlp_put_varint(struct buf *out, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		(void)buf_append_char(out, (char)(n | 0x80));
	(void)buf_append_char(out, (char)n);
}

/* A field that is a message whose own fields are packed already. */
static inline void otlp_put_packed(struct buf *out, unsigned int field, const struct buf *packed)
{
	otlp_put_varint(out, field << 3 | 2);
	otlp_put_varint(out, packed->len);
	if (packed->len > 0)
		(void)buf_append(out, packed->data, packed->len);
	if (packed->failed)
		out->failed = true;
}

#endif
