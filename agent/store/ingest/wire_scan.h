/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a message of protobuf would become, without unpacking it: one pass over its bytes by its descriptor. Pure. Inside of agent/store.
 *
 * protobuf-c takes 40 to 90 bytes for a message of two, and unpacks all of it before anybody can count. So hostile bytes are counted first.
 */
#ifndef XAGENT_AGENT_STORE_INGEST_WIRE_SCAN_H
#define XAGENT_AGENT_STORE_INGEST_WIRE_SCAN_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Levels of messages within messages: google.v1.Profile has three, Push three, a query four. */
#define WIRE_SCAN_MAX_DEPTH 16

struct wire_scan {
	/* Messages, texts, numbers of repeated fields, and fields that nobody knows: all that a reader looks at one by one. */
	size_t n_elements;
	/* Bytes of the unpacked message: at least so many are allocated by protobuf_c_message_unpack(). */
	size_t n_bytes;
};

/* False: not the protobuf of such a message, or deeper than WIRE_SCAN_MAX_DEPTH. Takes time by the bytes alone. */
bool wire_scan(const ProtobufCMessageDescriptor *descriptor, const uint8_t *bytes, size_t n,
	       struct wire_scan *ret_scan);

#endif
