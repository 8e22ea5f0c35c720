/* SPDX-License-Identifier: Apache-2.0 */
/* The body of an OTLP request: whatever is around the form, one message, and one member of gzip. */
#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "agent/push/otlp_body.h"
#include "agent/push/otlp_request.pb-c.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define SCOPE "\x12\x05hello"
#define DICTIONARY "\x12\x06string"
#define FORM SCOPE DICTIONARY
#define N_FORM (sizeof(FORM) - 1)
#define N_SCOPE (sizeof(SCOPE) - 1)

static struct shared_bytes *shared(const void *bytes, size_t n)
{
	struct shared_bytes *s = NULL;
	uint8_t *copy = malloc(n + 1);

	assert_non_null(copy);
	memcpy(copy, bytes, n);
	assert_int_equal(shared_bytes_new(copy, n, &s), 0);
	return s;
}

static size_t deflate_all(const void *in, size_t n, uint8_t *out, size_t n_out)
{
	z_stream z = { 0 };

	assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (Bytef *)in;
	z.avail_in = (uInt)n;
	z.next_out = out;
	z.avail_out = (uInt)n_out;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	n_out -= z.avail_out;
	deflateEnd(&z);
	return n_out;
}

/* Exactly one member. */
static size_t inflate_all(const uint8_t *in, size_t n, uint8_t *out, size_t n_out)
{
	z_stream z = { .next_in = (Bytef *)in, .avail_in = (uInt)n, .next_out = out };

	z.avail_out = (uInt)n_out;
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	n_out -= z.avail_out;
	inflateEnd(&z);
	return n_out;
}

static struct shared_bytes *gzip_form(const void *form, size_t n, size_t n_scope)
{
	uint8_t bytes[1024] = { (uint8_t)n_scope, (uint8_t)(n_scope >> 8) };

	return shared(bytes, 4 + deflate_all(form, n, bytes + 4, sizeof(bytes) - 4));
}

static struct push_profile *profile_of(struct shared_bytes *bytes, const struct push_label *labels,
				       size_t n)
{
	struct push_labels selected = { .n = n };
	struct push_profile *p = NULL;

	for (size_t i = 0; i < n; i++)
		selected.items[i] = labels[i];
	assert_int_equal(push_profile_new(&selected, bytes, &p), 0);
	shared_bytes_unref(bytes);
	return p;
}

static size_t flatten(struct push_body *body, uint8_t *out, size_t n_out)
{
	size_t n = 0;

	assert_int_equal(push_body_close(body), 0);
	for (size_t i = 0; i < body->n_pieces; i++) {
		assert_in_range(body->pieces[i].n, 1, n_out - n);
		memcpy(out + n, body->pieces[i].data, body->pieces[i].n);
		n += body->pieces[i].n;
	}
	assert_int_equal(n, body->n);
	return n;
}

static const struct push_label labels[] = {
	{ "__name__", "process_cpu" },
	{ "region", "n\xc3\xb6rd" },
	{ "service_name", "web" },
	{ "service_version", "1.2" },
};
static const char *const attributes[][2] = {
	{ "region", "n\xc3\xb6rd" },
	{ "service.name", "web" },
	{ "service.version", "1.2" },
};

static size_t varint(const uint8_t *p, size_t *at)
{
	size_t n = 0;

	for (unsigned int shift = 0;; shift += 7) {
		n |= (size_t)(p[*at] & 0x7f) << shift;
		if (!(p[(*at)++] & 0x80))
			return n;
	}
}

/* A resource of these, then the form. */
static void check_message(const uint8_t *message, size_t n)
{
	size_t at = 1;

	assert_int_equal(message[0], 1 << 3 | 2);
	size_t n_inner = varint(message, &at);
	assert_in_range(n_inner, N_SCOPE, n - at);
	assert_memory_equal(message + n - N_FORM, FORM, N_FORM);
	assert_int_equal(at + n_inner, n - N_FORM + N_SCOPE);
	Otlp__Push__ResourceProfiles *r =
		otlp__push__resource_profiles__unpack(NULL, n_inner, message + at);
	assert_non_null(r);
	assert_int_equal(r->resource->n_attributes, ARRAY_SIZE(attributes));
	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++) {
		assert_string_equal(r->resource->attributes[i]->key, attributes[i][0]);
		assert_string_equal(r->resource->attributes[i]->value->string_value,
				    attributes[i][1]);
	}
	otlp__push__resource_profiles__free_unpacked(r, NULL);
}

static const struct row {
	const char *name;
	bool gzip, framed;
} rows[] = {
	{ "plain", false, false },
	{ "gzip", true, false },
	{ "plain frame", false, true },
	{ "gzip frame", true, true },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	struct push_profile *p =
		profile_of(row->gzip ? gzip_form(FORM, N_FORM, N_SCOPE) : shared(FORM, N_FORM),
			   labels, ARRAY_SIZE(labels));
	uint8_t body[2048], message[2048];
	_cleanup_push_body_ struct push_body b;

	push_body_init(&b);
	assert_int_equal(otlp_body(p, row->gzip, row->framed, &b), 0);
	size_t n = flatten(&b, body, sizeof(body)), from = row->framed ? 5 : 0;
	if (row->framed) {
		assert_int_equal(body[0], row->gzip);
		assert_int_equal((size_t)body[1] << 24 | (size_t)body[2] << 16 |
					 (size_t)body[3] << 8 | body[4],
				 n - 5);
	}
	if (row->gzip)
		check_message(message,
			      inflate_all(body + from, n - from, message, sizeof(message)));
	else
		check_message(body + from, n - from);
	push_profile_unref(p);
}

/* More than a block that is not compressed may have. */
static void test_many_labels(void **state)
{
	struct push_label many[PUSH_MAX_LABELS];
	static char names[PUSH_MAX_LABELS][PUSH_MAX_LABEL_NAME_BYTES + 1];
	static char values[PUSH_MAX_LABELS][PUSH_MAX_LABEL_VALUE_BYTES + 1];
	static uint8_t body[200000], message[200000];
	_cleanup_push_body_ struct push_body b;

	(void)state;
	for (size_t i = 0; i < PUSH_MAX_LABELS; i++) {
		memset(names[i], 'a' + (int)i % 26, PUSH_MAX_LABEL_NAME_BYTES);
		memset(values[i], 'v', PUSH_MAX_LABEL_VALUE_BYTES);
		many[i] = (struct push_label){ names[i], values[i] };
	}
	struct push_profile *p =
		profile_of(gzip_form(FORM, N_FORM, N_SCOPE), many, PUSH_MAX_LABELS);
	push_body_init(&b);
	assert_int_equal(otlp_body(p, true, true, &b), 0);
	size_t n = flatten(&b, body, sizeof(body));
	assert_int_equal((size_t)body[1] << 24 | (size_t)body[2] << 16 | (size_t)body[3] << 8 |
				 body[4],
			 n - 5);
	size_t n_message = inflate_all(body + 5, n - 5, message, sizeof(message));
	assert_in_range(n_message, 65536, sizeof(message));
	assert_memory_equal(message + n_message - N_FORM, FORM, N_FORM);
	push_profile_unref(p);
}

/* What came from elsewhere, or half of it. */
static void test_no_form(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		bool gzip;
	} bad[] = {
		{ "", 0, false },
		{ "\x12", 1, false },
		{ "\x0a\x01x", 3, false },
		{ "\x12\x05hell", 6, false },
		{ "\x12\xff\xff\xff\xff\xff\xff", 7, false },
		{ "", 0, true },
		{ FORM, N_FORM, true },
		{ "\x02\0\0\0\x1f\x8b\x08\0\0\0\0\0\0\0aaaa\0\0\0\0\0\0\0\0", 26, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct push_profile *p =
			profile_of(shared(bad[i].bytes, bad[i].n), labels, ARRAY_SIZE(labels));
		_cleanup_push_body_ struct push_body b;

		push_body_init(&b);
		assert_int_equal(otlp_body(p, bad[i].gzip, false, &b), -EINVAL);
		push_profile_unref(p);
	}
}

/* A collector would refuse it each time. */
static void test_too_large(void **state)
{
	size_t n = (size_t)4 << 20;
	uint8_t *form = calloc(1, n);
	_cleanup_push_body_ struct push_body b;

	(void)state;
	assert_non_null(form);
	memcpy(form, FORM, N_FORM);
	struct push_profile *p = profile_of(shared(form, n), labels, ARRAY_SIZE(labels));
	push_body_init(&b);
	assert_int_equal(otlp_body(p, false, false, &b), -EMSGSIZE);
	push_profile_unref(p);
	free(form);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_many_labels),
	TEST(test_no_form),
	TEST(test_too_large),
};

TEST_MAIN(tests)
