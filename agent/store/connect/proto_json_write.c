/* SPDX-License-Identifier: Apache-2.0 */
/* Messages as JSON. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "agent/store/connect/base64.h"
#include "agent/store/connect/json_text.h"
#include "agent/store/connect/proto_json.h"

static int put_enum(const ProtobufCFieldDescriptor *field, int value, struct buf *out)
{
	const ProtobufCEnumValue *known =
		protobuf_c_enum_descriptor_get_value(field->descriptor, value);

	return known ? json_put_text(out, str_from(known->name)) : buf_printf(out, "%d", value);
}

static int put_text(const char *text, struct buf *out)
{
	return json_put_text(out, str_from(text ? text : ""));
}

static int put_bytes(const ProtobufCBinaryData *bytes, struct buf *out)
{
	(void)buf_append_char(out, '"');
	(void)base64_put(out, bytes->data, bytes->len);
	return buf_append_char(out, '"');
}

static int put_number(ProtobufCType type, const void *item, struct buf *out)
{
	switch (type) {
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_SFIXED32:
		return buf_printf(out, "%" PRId32, *(const int32_t *)item);
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32:
		return buf_printf(out, "%" PRIu32, *(const uint32_t *)item);
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
		return buf_printf(out, "\"%" PRId64 "\"", *(const int64_t *)item);
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
		return buf_printf(out, "\"%" PRIu64 "\"", *(const uint64_t *)item);
	case PROTOBUF_C_TYPE_FLOAT:
		return json_put_double(out, (double)*(const float *)item);
	default:
		return json_put_double(out, *(const double *)item);
	}
}

static int put_item(const ProtobufCFieldDescriptor *field, const void *item, struct buf *out)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_BOOL:
		return buf_append_str(out, *(const protobuf_c_boolean *)item ? "true" : "false");
	case PROTOBUF_C_TYPE_ENUM:
		return put_enum(field, *(const int *)item, out);
	case PROTOBUF_C_TYPE_STRING:
		return put_text(*(const char *const *)item, out);
	case PROTOBUF_C_TYPE_BYTES:
		return put_bytes(item, out);
	case PROTOBUF_C_TYPE_MESSAGE:
		return proto_json_write(*(const ProtobufCMessage *const *)item, out);
	default:
		return put_number(field->type, item, out);
	}
}

static int put_array(const ProtobufCFieldDescriptor *field, const char *items, size_t n,
		     struct buf *out)
{
	size_t step = proto_json_item_bytes(field->type);

	for (size_t i = 0; i < n && !out->failed; i++) {
		(void)buf_append_char(out, i == 0 ? '[' : ',');
		(void)put_item(field, items + i * step, out);
	}
	return buf_append_char(out, ']');
}

static bool is_set(const ProtobufCFieldDescriptor *field, const char *base)
{
	static const char zeros[sizeof(double)];
	const void *member = base + field->offset;
	const char *text;

	if (field->label == PROTOBUF_C_LABEL_REPEATED)
		return *(const size_t *)(base + field->quantifier_offset) > 0;
	switch (field->type) {
	case PROTOBUF_C_TYPE_STRING:
		text = *(const char *const *)member;
		return text && *text;
	case PROTOBUF_C_TYPE_BYTES:
		return ((const ProtobufCBinaryData *)member)->len > 0;
	case PROTOBUF_C_TYPE_MESSAGE:
		return *(const void *const *)member != NULL;
	default:
		return memcmp(member, zeros, proto_json_item_bytes(field->type)) != 0;
	}
}

static int put_field(const ProtobufCFieldDescriptor *field, const char *base, struct buf *out)
{
	const char *member = base + field->offset;
	char name[PROTO_JSON_MAX_NAME];

	if (!proto_json_name(field, name))
		return 0;
	(void)json_put_text(out, str_from(name));
	(void)buf_append_char(out, ':');
	if (field->label != PROTOBUF_C_LABEL_REPEATED)
		return put_item(field, member, out);
	return put_array(field, *(const char *const *)member,
			 *(const size_t *)(base + field->quantifier_offset), out);
}

/* The descriptors are ours and do not nest within themselves, so the depth is bounded. */
int proto_json_write(const ProtobufCMessage *message, struct buf *out)
{
	const ProtobufCMessageDescriptor *d = message->descriptor;
	char before = '{';

	for (unsigned int i = 0; i < d->n_fields && !out->failed; i++) {
		if (!is_set(&d->fields[i], (const char *)message))
			continue;
		(void)buf_append_char(out, before);
		(void)put_field(&d->fields[i], (const char *)message, out);
		before = ',';
	}
	int r = buf_append_str(out, before == '{' ? "{}" : "}");
	return r == 0 && out->failed ? -ENOBUFS : r;
}
