/* SPDX-License-Identifier: Apache-2.0 */
/* Messages from JSON. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "agent/store/connect/base64.h"
#include "agent/store/connect/proto_json.h"
#include "agent/store/connect/proto_json_number.h"

/* What reading takes with it. */
struct reading {
	const struct proto_json_options *options;
	struct proto_budget *budget;
	struct buf *why;
};

static int read_message(struct reading *r, const ProtobufCMessageDescriptor *d, json_t *object,
			ProtobufCMessage **ret_message);

static void *take_bytes(struct reading *r, size_t n)
{
	return r->budget->allocator.alloc(r->budget, n);
}

static int wrong(struct reading *r, const ProtobufCFieldDescriptor *field)
{
	char name[PROTO_JSON_MAX_NAME];

	(void)buf_printf(r->why, "invalid value for field %s",
			 proto_json_name(field, name) ? name : field->name);
	return PROTO_JSON_WRONG;
}

static bool read_enum(const ProtobufCFieldDescriptor *field, const json_t *v, int *item)
{
	int64_t n;

	if (json_is_string(v)) {
		const ProtobufCEnumValue *known = protobuf_c_enum_descriptor_get_value_by_name(
			field->descriptor, json_string_value(v));

		*item = known ? known->value : 0;
		return true;
	}
	if (!proto_json_signed(v, 32, &n))
		return false;
	*item = (int)n;
	return true;
}

static int read_text(struct reading *r, const ProtobufCFieldDescriptor *field, const json_t *v,
		     char **item)
{
	if (!json_is_string(v))
		return wrong(r, field);
	size_t n = json_string_length(v);
	char *text = take_bytes(r, n + 1);
	if (!text)
		return -ENOMEM;
	memcpy(text, json_string_value(v), n);
	text[n] = '\0';
	*item = text;
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* `out` has half as many bytes. */
static bool hex_parse(struct str text, uint8_t *out, size_t *ret_n)
{
	for (size_t i = 0; i + 1 < text.n; i += 2) {
		int high = hex_digit(text.p[i]), low = hex_digit(text.p[i + 1]);

		if (high < 0 || low < 0)
			return false;
		out[i / 2] = (uint8_t)(high << 4 | low);
	}
	*ret_n = text.n / 2;
	return text.n % 2 == 0;
}

static int read_bytes(struct reading *r, const ProtobufCFieldDescriptor *field, const json_t *v,
		      ProtobufCBinaryData *item)
{
	if (!json_is_string(v))
		return wrong(r, field);
	struct str text = { json_string_value(v), json_string_length(v) };
	uint8_t *bytes = take_bytes(r, base64_room(text.n));
	if (!bytes)
		return -ENOMEM;
	item->data = bytes;
	bool read = r->options->hex_bytes ? hex_parse(text, bytes, &item->len)
					  : base64_parse(text, bytes, &item->len);
	return read ? 0 : wrong(r, field);
}

static int read_item(struct reading *r, const ProtobufCFieldDescriptor *field, json_t *v,
		     void *item)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_BOOL:
		if (!json_is_boolean(v))
			return wrong(r, field);
		*(protobuf_c_boolean *)item = json_is_true(v);
		return 0;
	case PROTOBUF_C_TYPE_ENUM:
		return read_enum(field, v, item) ? 0 : wrong(r, field);
	case PROTOBUF_C_TYPE_STRING:
		return read_text(r, field, v, item);
	case PROTOBUF_C_TYPE_BYTES:
		return read_bytes(r, field, v, item);
	case PROTOBUF_C_TYPE_MESSAGE:
		return read_message(r, field->descriptor, v, item);
	default:
		return proto_json_number(field->type, v, item) ? 0 : wrong(r, field);
	}
}

/* The count grows with the items, so that what is read so far can be freed whenever something is wrong. */
static int read_array(struct reading *r, const ProtobufCFieldDescriptor *field, json_t *array,
		      char *base)
{
	size_t step = proto_json_item_bytes(field->type), n = json_array_size(array);
	size_t *count = (size_t *)(base + field->quantifier_offset);
	int result = 0;

	if (!json_is_array(array))
		return wrong(r, field);
	if (n == 0)
		return 0;
	char *items = take_bytes(r, n * step);
	if (!items)
		return -ENOMEM;
	memset(items, 0, n * step);
	*(void **)(base + field->offset) = items;
	for (size_t i = 0; i < n && result == 0; i++) {
		*count = i + 1;
		result = read_item(r, field, json_array_get(array, i), items + i * step);
	}
	return result;
}

static const ProtobufCFieldDescriptor *find_field(const ProtobufCMessageDescriptor *d,
						  const char *key, unsigned int *ret_i)
{
	char name[PROTO_JSON_MAX_NAME];

	for (unsigned int i = 0; i < d->n_fields && i < PROTO_JSON_MAX_FIELDS; i++) {
		const ProtobufCFieldDescriptor *field = &d->fields[i];

		if (strcmp(field->name, key) != 0 &&
		    !(proto_json_name(field, name) && strcmp(name, key) == 0))
			continue;
		*ret_i = i;
		return field;
	}
	return NULL;
}

/* As after unpacking, who cares can see that the message said more. The field is a varint 0, so that the message can be packed. */
static int note_unknown(struct reading *r, ProtobufCMessage *m)
{
	if (m->n_unknown_fields > 0)
		return 0;
	m->unknown_fields = take_bytes(r, sizeof(*m->unknown_fields));
	if (!m->unknown_fields)
		return -ENOMEM;
	*m->unknown_fields =
		(ProtobufCMessageUnknownField){ .tag = PROTO_JSON_UNKNOWN,
						.wire_type = PROTOBUF_C_WIRE_TYPE_VARINT,
						.data = take_bytes(r, 1) };
	m->n_unknown_fields = 1;
	if (!m->unknown_fields->data)
		return -ENOMEM;
	m->unknown_fields->data[0] = 0;
	m->unknown_fields->len = 1;
	return 0;
}

/* One of several fields that share their place: which one is told before its value is there, so that it is freed with the message. */
static int read_oneof(struct reading *r, const ProtobufCFieldDescriptor *field, json_t *value,
		      char *base)
{
	uint32_t *which = (uint32_t *)(base + field->quantifier_offset);

	if (*which != 0)
		return wrong(r, field);
	*which = field->id;
	return read_item(r, field, value, base + field->offset);
}

static int read_member(struct reading *r, ProtobufCMessage *m, const char *key, json_t *value,
		       uint64_t *seen)
{
	unsigned int i = 0;
	const ProtobufCFieldDescriptor *field = find_field(m->descriptor, key, &i);
	char *base = (char *)m;

	if (!field)
		return note_unknown(r, m);
	if (*seen >> i & 1) {
		(void)buf_printf(r->why, "duplicate field \"%s\"", key);
		return PROTO_JSON_WRONG;
	}
	*seen |= UINT64_C(1) << i;
	if (json_is_null(value))
		return 0;
	if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
		return read_oneof(r, field, value, base);
	return field->label == PROTOBUF_C_LABEL_REPEATED
		       ? read_array(r, field, value, base)
		       : read_item(r, field, value, base + field->offset);
}

/* The message hangs in its parent, or with the caller, before its members are read: whoever fails leaves the freeing to the top. */
static int read_message(struct reading *r, const ProtobufCMessageDescriptor *d, json_t *object,
			ProtobufCMessage **ret_message)
{
	const char *key;
	json_t *value;
	uint64_t seen = 0;

	if (!json_is_object(object)) {
		(void)buf_printf(r->why, "%s is not an object", d->short_name);
		return PROTO_JSON_WRONG;
	}
	ProtobufCMessage *m = take_bytes(r, d->sizeof_message);
	if (!m)
		return -ENOMEM;
	protobuf_c_message_init(d, m);
	*ret_message = m;
	json_object_foreach(object, key, value)
	{
		int result = read_member(r, m, key, value, &seen);

		if (result != 0)
			return result;
	}
	return 0;
}

/* As many as commas, brackets and braces outside of texts; more than there are values, never fewer. */
static size_t count_values(struct str text, size_t max)
{
	size_t n = 0;
	bool in_text = false;

	for (size_t i = 0; i < text.n && n <= max; i++) {
		char c = text.p[i];

		if (in_text && c == '\\')
			i++;
		else if (c == '"')
			in_text = !in_text;
		else if (!in_text && (c == ',' || c == '[' || c == '{'))
			n++;
	}
	return n;
}

static int parse(struct reading *r, struct str text, size_t *ret_n_values, json_t **ret_root)
{
	struct buf *why = r->why;
	json_error_t error;

	if (text.n == 0) {
		(void)buf_append_str(why, "zero-length payload is not a valid JSON object");
		return PROTO_JSON_WRONG;
	}
	*ret_n_values = count_values(text, r->options->max_values);
	r->budget->too_many = *ret_n_values > r->options->max_values;
	if (r->budget->too_many) {
		(void)buf_printf(why, "more than %zu values", r->options->max_values);
		return PROTO_JSON_WRONG;
	}
	*ret_root = json_loadb(text.p, text.n, JSON_REJECT_DUPLICATES, &error);
	if (*ret_root)
		return PROTO_JSON_READ;
	(void)buf_printf(why, "line %d, column %d: %s", error.line, error.column, error.text);
	return PROTO_JSON_WRONG;
}

int proto_json_read_with(const ProtobufCMessageDescriptor *descriptor,
			 const struct proto_json_options *options, struct proto_budget *budget,
			 struct str text, struct buf *why, size_t *ret_n_values,
			 ProtobufCMessage **ret_message)
{
	struct reading r = { options, budget, why };
	ProtobufCMessage *message = NULL;
	json_t *root = NULL;

	*ret_n_values = 0;
	int result = parse(&r, text, ret_n_values, &root);

	if (result == 0)
		result = read_message(&r, descriptor, root, &message);
	json_decref(root);
	if (result == 0)
		*ret_message = message;
	else
		protobuf_c_message_free_unpacked(message, &budget->allocator);
	return result;
}

int proto_json_read(const ProtobufCMessageDescriptor *descriptor, struct proto_budget *budget,
		    struct str text, struct buf *why, ProtobufCMessage **ret_message)
{
	const struct proto_json_options options = PROTO_JSON_OPTIONS_INIT;
	size_t n_values;

	return proto_json_read_with(descriptor, &options, budget, text, why, &n_values,
				    ret_message);
}
