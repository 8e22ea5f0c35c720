/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any message of protobuf-c as JSON and back, by its descriptor: protobuf's own JSON mapping, as far as such messages need it (no
 * maps, no well-known types; oneofs when read).
 *
 *	names		lowerCamelCase when written; that or the one of the .proto when read
 *	64-bit numbers	texts when written; texts or numbers when read
 *	bytes		base64; either alphabet, padded or not, when read, or hexadecimal digits where they are asked for
 *	enumerations	by name when written; name or number when read, a name nobody knows is left out
 *	defaults	left out when written; null is one when read
 *	unknown fields	not read; the message has one of the number PROTO_JSON_UNKNOWN, however many there were
 *
 * Pure.
 */
#ifndef XAGENT_AGENT_STORE_CONNECT_PROTO_JSON_H
#define XAGENT_AGENT_STORE_CONNECT_PROTO_JSON_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>

#include "agent/util/buf.h"
#include "agent/util/str.h"

/* Values of one text; each costs some 100 bytes while it is read, whatever it says. Requests have a few dozen. */
#define PROTO_JSON_MAX_VALUES 65536
/* Fields of one message: google.v1.Profile has 14. */
#define PROTO_JSON_MAX_FIELDS 64
#define PROTO_JSON_MAX_NAME 64
/* The largest number of a field. */
#define PROTO_JSON_UNKNOWN 536870911

/* What messages are unpacked into: hostile ones ask for many times their own size. */
struct proto_budget {
	ProtobufCAllocator allocator;
	size_t max_bytes, left_bytes;
	bool exhausted; /* a failure was for the sake of the ceiling */
	bool too_many;	/* or of max_values */
};
/* Must not move while it is used. */
void proto_budget_init(struct proto_budget *b, size_t max_bytes);

/* 0; what buf_append returns. */
int proto_json_write(const ProtobufCMessage *message, struct buf *out);

enum proto_json_outcome { PROTO_JSON_READ, PROTO_JSON_WRONG };

struct proto_json_options {
	size_t max_values;
	bool hex_bytes; /* OpenTelemetry writes ids so */
};

#define PROTO_JSON_OPTIONS_INIT ((struct proto_json_options){ .max_values = PROTO_JSON_MAX_VALUES })

/* *ret_message is to be freed by protobuf_c_message_free_unpacked() with the budget's allocator. PROTO_JSON_READ; PROTO_JSON_WRONG
 * with the reason in `why`; -ENOMEM, also at the end of the budget. */
int proto_json_read(const ProtobufCMessageDescriptor *descriptor, struct proto_budget *budget,
		    struct str text, struct buf *why, ProtobufCMessage **ret_message);

/* The same. *ret_n_values: as many as were counted, more than there are. */
int proto_json_read_with(const ProtobufCMessageDescriptor *descriptor,
			 const struct proto_json_options *options, struct proto_budget *budget,
			 struct str text, struct buf *why, size_t *ret_n_values,
			 ProtobufCMessage **ret_message);

/* Whether all its texts are UTF-8, which protobuf-c does not look at and proto3 demands. */
bool proto_is_utf8(const ProtobufCMessage *message);

/* For the two halves. */
bool proto_json_name(const ProtobufCFieldDescriptor *field, char *name);
size_t proto_json_item_bytes(ProtobufCType type);

#endif
