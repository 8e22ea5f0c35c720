/* SPDX-License-Identifier: Apache-2.0 */
/* What both directions of proto_json need, and the memory of messages. */
#include "agent/store/connect/proto_json.h"

#include <stdlib.h>

static void *budget_alloc(void *data, size_t n)
{
	struct proto_budget *b = data;

	if (n > b->left_bytes) {
		b->exhausted = true;
		return NULL;
	}
	b->left_bytes -= n;
	/* The library asks for 0 bytes, too, and takes NULL for a failure. */
	return malloc(n ? n : 1);
}

static void budget_free(void *data, void *p)
{
	(void)data;
	free(p);
}

void proto_budget_init(struct proto_budget *b, size_t max_bytes)
{
	*b = (struct proto_budget){
		.allocator = { .alloc = budget_alloc, .free = budget_free, .allocator_data = b },
		.max_bytes = max_bytes,
		.left_bytes = max_bytes,
	};
}

/* profile_typeID → profileTypeID. False: too long. `name` has PROTO_JSON_MAX_NAME bytes. */
bool proto_json_name(const ProtobufCFieldDescriptor *field, char *name)
{
	size_t n = 0;
	bool upper = false;

	for (const char *p = field->name; *p; p++) {
		char c = *p;

		if (c == '_') {
			upper = true;
			continue;
		}
		if (n + 1 >= PROTO_JSON_MAX_NAME)
			return false;
		name[n++] = upper && c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
		upper = false;
	}
	name[n] = '\0';
	return true;
}

size_t proto_json_item_bytes(ProtobufCType type)
{
	switch (type) {
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_SFIXED32:
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32:
	case PROTOBUF_C_TYPE_FLOAT:
		return 4;
	case PROTOBUF_C_TYPE_ENUM:
		return sizeof(int);
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
	case PROTOBUF_C_TYPE_DOUBLE:
		return 8;
	case PROTOBUF_C_TYPE_BOOL:
		return sizeof(protobuf_c_boolean);
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_MESSAGE:
		return sizeof(void *);
	case PROTOBUF_C_TYPE_BYTES:
		return sizeof(ProtobufCBinaryData);
	}
	return 0;
}

static bool item_is_utf8(const ProtobufCFieldDescriptor *field, const void *item)
{
	const void *p = *(void *const *)item;

	if (!p)
		return true;
	return field->type == PROTOBUF_C_TYPE_STRING ? str_is_utf8(str_from(p)) : proto_is_utf8(p);
}

/* Of several fields that share their place one is there, at most. */
static bool is_another_of_oneof(const ProtobufCFieldDescriptor *field, const char *base)
{
	return (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) &&
	       *(const uint32_t *)(base + field->quantifier_offset) != field->id;
}

bool proto_is_utf8(const ProtobufCMessage *message)
{
	const ProtobufCMessageDescriptor *d = message->descriptor;
	const char *base = (const char *)message;

	for (unsigned int i = 0; i < d->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &d->fields[i];
		const char *items = base + field->offset;
		size_t n = 1;

		if ((field->type != PROTOBUF_C_TYPE_STRING &&
		     field->type != PROTOBUF_C_TYPE_MESSAGE) ||
		    is_another_of_oneof(field, base))
			continue;
		if (field->label == PROTOBUF_C_LABEL_REPEATED) {
			n = *(const size_t *)(base + field->quantifier_offset);
			items = *(const char *const *)items;
		}
		for (size_t at = 0; at < n; at++)
			if (!item_is_utf8(field, items + at * sizeof(void *)))
				return false;
	}
	return true;
}
