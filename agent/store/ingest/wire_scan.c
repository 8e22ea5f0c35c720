/* SPDX-License-Identifier: Apache-2.0 */
/* Counting the parts of a message of protobuf. */
#include "agent/store/ingest/wire_scan.h"

#include "agent/store/connect/proto_json.h"

/* https://protobuf.dev/programming-guides/encoding: a tag is (field << 3 | wire type). */
#define WIRE_TYPE_BITS 3
#define WIRE_VARINT 0
#define WIRE_64BIT 1
#define WIRE_LENGTH 2
#define WIRE_32BIT 5

struct cursor {
	const uint8_t *p, *end;
};

static size_t left(const struct cursor *c)
{
	return (size_t)(c->end - c->p);
}

/* varint = { 1xxxxxxx } 0xxxxxxx, ten bytes at most */
static bool get_varint(struct cursor *c, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 70 && c->p < c->end; shift += 7) {
		uint8_t byte = *c->p++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret = value;
			return true;
		}
	}
	return false;
}

static bool skip(struct cursor *c, size_t n)
{
	if (n > left(c))
		return false;
	c->p += n;
	return true;
}

/* What a length stands before. */
static bool get_part(struct cursor *c, struct cursor *ret)
{
	uint64_t n;

	if (!get_varint(c, &n) || n > left(c))
		return false;
	*ret = (struct cursor){ c->p, c->p + n };
	c->p += n;
	return true;
}

/* Numbers one behind the other. A varint ends with the byte whose first bit is not set. */
static void count_packed(const struct cursor *part, ProtobufCType type, struct wire_scan *scan)
{
	size_t n = 0, fixed = 0;

	if (type == PROTOBUF_C_TYPE_FIXED32 || type == PROTOBUF_C_TYPE_SFIXED32 ||
	    type == PROTOBUF_C_TYPE_FLOAT)
		fixed = 4;
	if (type == PROTOBUF_C_TYPE_FIXED64 || type == PROTOBUF_C_TYPE_SFIXED64 ||
	    type == PROTOBUF_C_TYPE_DOUBLE)
		fixed = 8;
	for (const uint8_t *p = part->p; !fixed && p < part->end; p++)
		n += *p < 0x80;
	if (fixed)
		n = left(part) / fixed;
	scan->n_elements += n;
	scan->n_bytes += n * proto_json_item_bytes(type);
}

static bool scan_message(const ProtobufCMessageDescriptor *d, struct cursor c, unsigned int depth,
			 struct wire_scan *scan);

static bool scan_part(const ProtobufCFieldDescriptor *field, const struct cursor *part,
		      unsigned int depth, struct wire_scan *scan)
{
	bool repeated = field->label == PROTOBUF_C_LABEL_REPEATED;

	switch (field->type) {
	case PROTOBUF_C_TYPE_MESSAGE:
		scan->n_bytes += repeated ? sizeof(void *) : 0;
		return scan_message(field->descriptor, *part, depth, scan);
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_BYTES:
		scan->n_elements++;
		scan->n_bytes += left(part) + (repeated ? proto_json_item_bytes(field->type) : 0);
		return true;
	default:
		if (repeated)
			count_packed(part, field->type, scan);
		return true;
	}
}

/* protobuf-c keeps what it does not know, each with a row of its own. */
static void count_unknown(size_t n, struct wire_scan *scan)
{
	scan->n_elements++;
	scan->n_bytes += sizeof(ProtobufCMessageUnknownField) + n;
}

static bool scan_field(const ProtobufCFieldDescriptor *field, unsigned int wire, struct cursor *c,
		       unsigned int depth, struct wire_scan *scan)
{
	struct cursor part;
	uint64_t ignored;

	switch (wire) {
	case WIRE_VARINT:
		if (!get_varint(c, &ignored))
			return false;
		break;
	case WIRE_64BIT:
		if (!skip(c, 8))
			return false;
		break;
	case WIRE_32BIT:
		if (!skip(c, 4))
			return false;
		break;
	case WIRE_LENGTH:
		if (!get_part(c, &part))
			return false;
		if (field)
			return scan_part(field, &part, depth, scan);
		count_unknown(left(&part), scan);
		return true;
	default: /* groups are of proto2 */
		return false;
	}
	if (!field)
		count_unknown(1, scan);
	else if (field->label == PROTOBUF_C_LABEL_REPEATED) {
		scan->n_elements++;
		scan->n_bytes += proto_json_item_bytes(field->type);
	}
	return true;
}

static bool scan_message(const ProtobufCMessageDescriptor *d, struct cursor c, unsigned int depth,
			 struct wire_scan *scan)
{
	if (depth >= WIRE_SCAN_MAX_DEPTH)
		return false;
	scan->n_elements++;
	scan->n_bytes += d->sizeof_message;
	while (c.p < c.end) {
		uint64_t tag;

		if (!get_varint(&c, &tag) || tag >> WIRE_TYPE_BITS == 0 || tag > UINT32_MAX)
			return false;
		const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(
			d, (unsigned int)(tag >> WIRE_TYPE_BITS));

		if (!scan_field(field, tag & ((1 << WIRE_TYPE_BITS) - 1), &c, depth + 1, scan))
			return false;
	}
	return true;
}

bool wire_scan(const ProtobufCMessageDescriptor *descriptor, const uint8_t *bytes, size_t n,
	       struct wire_scan *ret_scan)
{
	struct wire_scan scan = { 0 };

	if (!scan_message(descriptor, (struct cursor){ bytes, bytes + n }, 0, &scan))
		return false;
	*ret_scan = scan;
	return true;
}
