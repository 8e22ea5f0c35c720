/* SPDX-License-Identifier: Apache-2.0 */
/* The body of an OTLP request. */
#include "agent/push/otlp_body.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "agent/push/otlp_request.pb-c.h"
#include "agent/util/macro.h"

#define FIELD_RESOURCE_PROFILES (1 << 3 | 2)
#define FIELD_SCOPE_PROFILES (2 << 3 | 2)
#define HEAD_BYTES 4 /* of the gzip'd form: how long the first of its two fields is */
#define GZIP_HEAD_BYTES 10
#define GZIP_TAIL_BYTES 8
#define STORED_MAX_BYTES 65535
/* OpenTelemetry's collector takes messages of 4 MiB, unpacked, by default. */
#define MESSAGE_MAX_BYTES ((size_t)4 << 20)

/* The bytes of a form, and what they say of themselves. */
struct form {
	const struct shared_bytes *bytes;
	size_t from, n; /* what is borrowed */
	size_t n_scope; /* of the first field, unpacked */
	size_t n_plain; /* of both */
	uint32_t crc;
};

static uint32_t little_endian(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put_little_endian(struct push_body *body, uint32_t n)
{
	const uint8_t bytes[] = { (uint8_t)n, (uint8_t)(n >> 8), (uint8_t)(n >> 16),
				  (uint8_t)(n >> 24) };

	push_body_add(body, bytes, sizeof(bytes));
}

static int open_gzip(const struct shared_bytes *bytes, struct form *ret_form)
{
	static const uint8_t head[] = { 0x1f, 0x8b, Z_DEFLATED, 0 };
	const size_t n_around = HEAD_BYTES + GZIP_HEAD_BYTES + GZIP_TAIL_BYTES;

	if (bytes->n <= n_around || memcmp(bytes->data + HEAD_BYTES, head, sizeof(head)) != 0)
		return -EINVAL;
	*ret_form = (struct form){
		.bytes = bytes,
		.from = HEAD_BYTES + GZIP_HEAD_BYTES,
		.n = bytes->n - n_around,
		.n_scope = little_endian(bytes->data),
		.crc = little_endian(bytes->data + bytes->n - GZIP_TAIL_BYTES),
		.n_plain = little_endian(bytes->data + bytes->n - GZIP_TAIL_BYTES / 2),
	};
	return ret_form->n_scope <= ret_form->n_plain ? 0 : -EINVAL;
}

/* Its first field says its length itself. */
static int open_plain(const struct shared_bytes *bytes, struct form *ret_form)
{
	uint64_t n = 0;
	size_t at = 1;
	unsigned int shift = 0;

	if (bytes->n < 2 || bytes->data[0] != FIELD_SCOPE_PROFILES)
		return -EINVAL;
	do {
		n |= (uint64_t)(bytes->data[at] & 0x7f) << shift;
		shift += 7;
	} while (bytes->data[at++] & 0x80 && at < bytes->n && shift < 35);
	if (n > bytes->n - at)
		return -EINVAL;
	*ret_form = (struct form){
		.bytes = bytes, .n = bytes->n, .n_scope = at + n, .n_plain = bytes->n
	};
	return 0;
}

/* What an attribute of the conventions is called; every other label keeps its name. */
static const char *attribute_of(const char *label)
{
	static const struct {
		const char *label, *attribute;
	} names[] = {
		{ "service_name", "service.name" },
		{ "service_namespace", "service.namespace" },
		{ "service_version", "service.version" },
		{ "service_instance_id", "service.instance.id" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i].label, label) == 0)
			return names[i].attribute;
	return label;
}

struct sink {
	ProtobufCBuffer base;
	struct buf *out;
};

static void append(ProtobufCBuffer *base, size_t n, const uint8_t *bytes)
{
	(void)buf_append(((struct sink *)base)->out, bytes, n);
}

/* The resource is the series, and nothing else: no attribute of a process or a thread, of which a server would make series. The names of profiles
 * are those of their types. */
static void put_resource(const struct push_profile *profile, struct buf *out)
{
	Otlp__Push__KeyValue pairs[PUSH_MAX_LABELS], *pair_list[PUSH_MAX_LABELS];
	Otlp__Push__AnyValue values[PUSH_MAX_LABELS];
	Otlp__Push__Resource resource = OTLP__PUSH__RESOURCE__INIT;
	Otlp__Push__ResourceProfiles around = OTLP__PUSH__RESOURCE_PROFILES__INIT;
	struct sink sink = { .base.append = append, .out = out };

	for (size_t i = 0; i < profile->n_labels; i++) {
		size_t n = resource.n_attributes;

		if (strncmp(profile->labels[i].name, "__", 2) == 0)
			continue;
		otlp__push__any_value__init(&values[n]);
		values[n].string_value = (char *)profile->labels[i].value;
		otlp__push__key_value__init(&pairs[n]);
		pairs[n].key = (char *)attribute_of(profile->labels[i].name);
		pairs[n].value = &values[n];
		pair_list[n] = &pairs[n];
		resource.n_attributes++;
	}
	resource.attributes = pair_list;
	around.resource = &resource;
	(void)otlp__push__resource_profiles__pack_to_buffer(&around, &sink.base);
}

static void put_varint(struct buf *out, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		(void)buf_append_char(out, (char)(n | 0x80));
	(void)buf_append_char(out, (char)n);
}

/* What stands before the form: the begin of a ResourceProfiles that the form's first field ends. */
static int put_before(const struct push_profile *profile, const struct form *form, struct buf *out)
{
	_cleanup_buf_ struct buf resource = BUF_INIT(PUSH_BODY_MAX_OWN_BYTES);

	put_resource(profile, &resource);
	(void)buf_append_char(out, FIELD_RESOURCE_PROFILES);
	put_varint(out, resource.len + form->n_scope);
	(void)buf_append(out, resource.data, resource.len);
	if (out->failed || resource.failed)
		return -ENOMEM;
	return out->len + form->n_plain <= MESSAGE_MAX_BYTES ? 0 : -EMSGSIZE;
}

static size_t n_stored_blocks(size_t n)
{
	return (n + STORED_MAX_BYTES - 1) / STORED_MAX_BYTES;
}

/* Blocks of deflate that are not compressed, and not the last (RFC 1951, 3.2.4). */
static void add_stored(struct push_body *body, const struct buf *before)
{
	for (size_t at = 0; at < before->len; at += STORED_MAX_BYTES) {
		size_t n = MIN_OF(before->len - at, (size_t)STORED_MAX_BYTES);
		const uint8_t head[] = { 0, (uint8_t)n, (uint8_t)(n >> 8), (uint8_t)~n,
					 (uint8_t)(~n >> 8) };

		push_body_add(body, head, sizeof(head));
		push_body_add(body, before->data + at, n);
	}
}

/* One member: before the form's blocks stand ours, behind them the sum of both. */
static void add_gzip(struct push_body *body, const struct buf *before, const struct form *form)
{
	uLong crc = crc32(0, (const Bytef *)before->data, (uInt)before->len);

	push_body_add(body, form->bytes->data + HEAD_BYTES, GZIP_HEAD_BYTES);
	add_stored(body, before);
	push_body_add_part(body, form->bytes, form->from, form->n);
	put_little_endian(body, (uint32_t)crc32_combine(crc, form->crc, (z_off_t)form->n_plain));
	put_little_endian(body, (uint32_t)(before->len + form->n_plain));
}

static void add_frame(struct push_body *body, bool gzip, size_t n)
{
	const uint8_t head[] = { gzip, (uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8),
				 (uint8_t)n };

	push_body_add(body, head, sizeof(head));
}

static size_t message_bytes(bool gzip, const struct buf *before, const struct form *form)
{
	size_t n = before->len + form->n;

	return gzip ? n + GZIP_HEAD_BYTES + 5 * n_stored_blocks(before->len) + GZIP_TAIL_BYTES : n;
}

int otlp_body(const struct push_profile *profile, bool gzip, bool framed, struct push_body *body)
{
	_cleanup_buf_ struct buf before = BUF_INIT(PUSH_BODY_MAX_OWN_BYTES);
	struct form form;
	int r = gzip ? open_gzip(profile->bytes, &form) : open_plain(profile->bytes, &form);

	if (r == 0)
		r = put_before(profile, &form, &before);
	if (r < 0)
		return r;
	if (framed)
		add_frame(body, gzip, message_bytes(gzip, &before, &form));
	if (gzip) {
		add_gzip(body, &before, &form);
	} else {
		push_body_add(body, before.data, before.len);
		push_body_add_part(body, form.bytes, form.from, form.n);
	}
	return 0;
}
