/* SPDX-License-Identifier: Apache-2.0 */
/* protobuf's JSON mapping: tables of texts, and every message there and back. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "agent/push/push.pb-c.h"
#include "agent/store/api/querier.pb-c.h"
#include "agent/store/connect/base64.h"
#include "agent/store/connect/json_text.h"
#include "agent/store/connect/proto_json.h"
#include "agent/util/macro.h"
#include "pprof/profile.pb-c.h"
#include "tests/support/unit.h"

#define BUDGET ((size_t)1 << 20)
#define D(name) &querier__v1__##name##__descriptor
#define STACKTRACES D(select_merge_stacktraces_request)
#define SERIES D(select_series_request)
#define PUSH &push__v1__push_request__descriptor

struct row {
	const ProtobufCMessageDescriptor *descriptor;
	const char *text;
	const char *written; /* NULL: it is wrong */
	const char *why;
};

static const struct row rows[] = {
	{ STACKTRACES, "{}", "{}", NULL },
	{ STACKTRACES, " { } ", "{}", NULL },
	{ STACKTRACES, "{\"profileTypeID\":\"a\"}", "{\"profileTypeID\":\"a\"}", NULL },
	{ STACKTRACES, "{\"profile_typeID\":\"a\"}", "{\"profileTypeID\":\"a\"}", NULL },
	{ STACKTRACES, "{\"label_selector\":\"{}\"}", "{\"labelSelector\":\"{}\"}", NULL },
	{ STACKTRACES, "{\"unknown\":{\"a\":[1,null]},\"start\":7}", "{\"start\":\"7\"}", NULL },
	{ STACKTRACES, "{\"start\":\"7\",\"end\":-8}", "{\"start\":\"7\",\"end\":\"-8\"}", NULL },
	{ STACKTRACES, "{\"start\":1.0,\"end\":1e3}", "{\"start\":\"1\",\"end\":\"1000\"}", NULL },
	{ STACKTRACES, "{\"start\":9223372036854775807}", "{\"start\":\"9223372036854775807\"}",
	  NULL },
	{ STACKTRACES, "{\"start\":\"-9223372036854775808\"}",
	  "{\"start\":\"-9223372036854775808\"}", NULL },
	{ STACKTRACES, "{\"start\":null,\"format\":null,\"profileIdSelector\":null}", "{}", NULL },
	{ STACKTRACES, "{\"start\":0,\"labelSelector\":\"\",\"profileIdSelector\":[]}", "{}",
	  NULL },
	{ STACKTRACES, "{\"format\":\"PROFILE_FORMAT_TREE\"}",
	  "{\"format\":\"PROFILE_FORMAT_TREE\"}", NULL },
	{ STACKTRACES, "{\"format\":2}", "{\"format\":\"PROFILE_FORMAT_TREE\"}", NULL },
	{ STACKTRACES, "{\"format\":9}", "{\"format\":9}", NULL },
	{ STACKTRACES, "{\"format\":\"PROFILE_FORMAT_OF_TOMORROW\"}", "{}", NULL },
	{ STACKTRACES, "{\"stackTraceSelector\":{\"callSite\":[{\"name\":\"f\"},{}]}}",
	  "{\"stackTraceSelector\":{\"callSite\":[{\"name\":\"f\"},{}]}}", NULL },
	{ STACKTRACES, "{\"labelSelector\":\"\\\"\\\\\\n\\u00e9\\u0001\"}",
	  "{\"labelSelector\":\"\\\"\\\\\\n\xc3\xa9\\u0001\"}", NULL },
	{ SERIES, "{\"step\":15}", "{\"step\":15}", NULL },
	{ SERIES, "{\"step\":0.1}", "{\"step\":0.1}", NULL },
	{ SERIES, "{\"step\":\"1.5e3\"}", "{\"step\":1500}", NULL },
	{ SERIES, "{\"step\":\"NaN\"}", "{\"step\":\"NaN\"}", NULL },
	{ SERIES, "{\"step\":\"-Infinity\"}", "{\"step\":\"-Infinity\"}", NULL },
	{ SERIES, "{\"groupBy\":[\"a\",\"\",\"b\"]}", "{\"groupBy\":[\"a\",\"\",\"b\"]}", NULL },
	{ D(get_profile_stats_response), "{\"dataIngested\":true}", "{\"dataIngested\":true}",
	  NULL },
	{ D(get_profile_stats_response), "{\"dataIngested\":false}", "{}", NULL },
	{ PUSH, "{\"series\":[{\"samples\":[{\"rawProfile\":\"AAECAw==\",\"ID\":\"x\"}]}]}",
	  "{\"series\":[{\"samples\":[{\"rawProfile\":\"AAECAw==\"}]}]}", NULL },
	{ PUSH, "{\"series\":[{\"samples\":[{\"rawProfile\":\"_-8\"}]}]}",
	  "{\"series\":[{\"samples\":[{\"rawProfile\":\"/+8=\"}]}]}", NULL },

	{ STACKTRACES, "", NULL, "zero-length payload" },
	{ STACKTRACES, "{", NULL, "line 1" },
	{ STACKTRACES, "{}x", NULL, "line 1" },
	{ STACKTRACES, "[]", NULL, "is not an object" },
	{ STACKTRACES, "null", NULL, "line 1" },
	{ STACKTRACES, "{\"start\":\"\"}", NULL, "invalid value for field start" },
	{ STACKTRACES, "{\"start\":\"x\"}", NULL, "invalid value for field start" },
	{ STACKTRACES, "{\"start\":\" 1\"}", NULL, "invalid value for field start" },
	{ STACKTRACES, "{\"start\":1.5}", NULL, "invalid value for field start" },
	{ STACKTRACES, "{\"start\":1e19}", NULL, "invalid value for field start" },
	{ STACKTRACES, "{\"start\":\"9223372036854775808\"}", NULL, "field start" },
	{ STACKTRACES, "{\"start\":\"-9223372036854775809\"}", NULL, "field start" },
	{ STACKTRACES, "{\"start\":true}", NULL, "field start" },
	{ STACKTRACES, "{\"format\":2147483648}", NULL, "field format" },
	{ STACKTRACES, "{\"labelSelector\":1}", NULL, "field labelSelector" },
	{ STACKTRACES, "{\"labelSelector\":\"\\u0000\"}", NULL, "line 1" },
	{ STACKTRACES, "{\"labelSelector\":\"\xff\"}", NULL, "line 1" },
	{ STACKTRACES, "{\"profileIdSelector\":\"a\"}", NULL, "field profileIdSelector" },
	{ STACKTRACES, "{\"profileIdSelector\":[\"a\",null]}", NULL, "field profileIdSelector" },
	{ STACKTRACES, "{\"stackTraceSelector\":[]}", NULL, "is not an object" },
	{ STACKTRACES, "{\"start\":1,\"start\":2}", NULL, "duplicate" },
	{ STACKTRACES, "{\"maxNodes\":1,\"max_nodes\":2}", NULL, "duplicate field" },
	{ SERIES, "{\"step\":\"\"}", NULL, "field step" },
	{ SERIES, "{\"step\":\"1x\"}", NULL, "field step" },
	{ PUSH, "{\"series\":[{\"samples\":[{\"rawProfile\":\"***\"}]}]}", NULL,
	  "field rawProfile" },
	{ PUSH, "{\"series\":[{\"samples\":[{\"rawProfile\":\"A\"}]}]}", NULL, "field rawProfile" },
	{ PUSH, "{\"series\":[{\"samples\":[{\"rawProfile\":\"AA=\"}]}]}", NULL,
	  "field rawProfile" },
	{ PUSH, "{\"series\":[{\"samples\":[{\"rawProfile\":\"A=A=\"}]}]}", NULL,
	  "field rawProfile" },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf why = BUF_INIT(1000), out = BUF_INIT(1000);
	struct proto_budget budget;
	ProtobufCMessage *m = NULL;

	proto_budget_init(&budget, BUDGET);
	int r = proto_json_read(row->descriptor, &budget, str_from(row->text), &why, &m);
	if (!row->written) {
		assert_int_equal(r, PROTO_JSON_WRONG);
		assert_non_null(strstr(buf_str(&why), row->why));
		assert_null(m);
		return;
	}
	assert_string_equal(buf_str(&why), "");
	assert_int_equal(r, PROTO_JSON_READ);
	assert_int_equal(proto_json_write(m, &out), 0);
	assert_string_equal(buf_str(&out), row->written);
	protobuf_c_message_free_unpacked(m, &budget.allocator);
}

/* Wherever memory ends, nothing is left behind. */
static void test_budget(void **state)
{
	static const char text[] =
		"{\"profileTypeID\":\"a\",\"stackTraceSelector\":{\"callSite\":[{\"name\":\"f\"},"
		"{\"name\":\"g\"}]},\"profileIdSelector\":[\"x\",\"y\"]}";
	size_t n = 0;
	int r = -ENOMEM;

	(void)state;
	for (; n < BUDGET && r == -ENOMEM; n++) {
		_cleanup_buf_ struct buf why = BUF_INIT(1000);
		struct proto_budget budget;
		ProtobufCMessage *m = NULL;

		proto_budget_init(&budget, n);
		r = proto_json_read(STACKTRACES, &budget, STR_LIT(text), &why, &m);
		assert_true(r == PROTO_JSON_READ || budget.exhausted);
		protobuf_c_message_free_unpacked(m, &budget.allocator);
	}
	assert_int_equal(r, PROTO_JSON_READ);
	assert_true(n > 200);
}

static void test_too_many_values(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(BUDGET), why = BUF_INIT(1000);
	struct proto_budget budget;
	ProtobufCMessage *m = NULL;

	(void)state;
	proto_budget_init(&budget, BUDGET);
	(void)buf_append_str(&text, "{\"x\":[0");
	for (int i = 0; i < PROTO_JSON_MAX_VALUES; i++)
		(void)buf_append_str(&text, ",0");
	(void)buf_append_str(&text, "]}");
	assert_int_equal(proto_json_read(STACKTRACES, &budget, (struct str){ text.data, text.len },
					 &why, &m),
			 PROTO_JSON_WRONG);
	assert_non_null(strstr(buf_str(&why), "more than 65536 values"));
	/* Within a text they are no values. */
	buf_reset(&text);
	(void)buf_append_str(&text, "{\"x\":\"\\\"");
	for (int i = 0; i < PROTO_JSON_MAX_VALUES; i++)
		(void)buf_append_str(&text, ",[");
	(void)buf_append_str(&text, "\"}");
	assert_int_equal(proto_json_read(STACKTRACES, &budget, (struct str){ text.data, text.len },
					 &why, &m),
			 PROTO_JSON_READ);
	protobuf_c_message_free_unpacked(m, &budget.allocator);
}

static void test_ceiling(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(20);
	Querier__V1__LabelPair pair = QUERIER__V1__LABEL_PAIR__INIT;

	(void)state;
	pair.name = (char *)"0123456789";
	pair.value = (char *)"0123456789";
	assert_int_equal(proto_json_write(&pair.base, &out), -ENOBUFS);
}

static void test_utf8(void **state)
{
	static uint8_t wrong[] = { 0x0a, 0x04, 0x0a, 0x02, 0xc3, 0x28 };
	static uint8_t right[] = { 0x0a, 0x04, 0x0a, 0x02, 0xc3, 0xa9 };
	const ProtobufCMessageDescriptor *d = D(labels);
	ProtobufCMessage *m = protobuf_c_message_unpack(d, NULL, sizeof(wrong), wrong);

	(void)state;
	assert_non_null(m);
	assert_false(proto_is_utf8(m));
	protobuf_c_message_free_unpacked(m, NULL);
	m = protobuf_c_message_unpack(d, NULL, sizeof(right), right);
	assert_non_null(m);
	assert_true(proto_is_utf8(m));
	protobuf_c_message_free_unpacked(m, NULL);
}

/* ---- every message there and back ---- */

#define MESSAGE(name)          \
	{                      \
		#name, D(name) \
	}

static const struct message {
	const char *name;
	const ProtobufCMessageDescriptor *descriptor;
} messages[] = {
	MESSAGE(profile_types_request),
	MESSAGE(profile_types_response),
	MESSAGE(label_names_request),
	MESSAGE(label_names_response),
	MESSAGE(label_values_request),
	MESSAGE(label_values_response),
	MESSAGE(series_request),
	MESSAGE(series_response),
	MESSAGE(select_merge_stacktraces_request),
	MESSAGE(select_merge_stacktraces_response),
	MESSAGE(select_merge_profile_request),
	MESSAGE(select_series_request),
	MESSAGE(select_series_response),
	MESSAGE(diff_request),
	MESSAGE(diff_response),
	MESSAGE(get_profile_stats_request),
	MESSAGE(get_profile_stats_response),
	{ "push_request", PUSH },
	{ "profile", &perftools__profiles__profile__descriptor },
};

static uint64_t next_random(uint64_t *x)
{
	*x = *x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *x >> 11 ^ *x << 40;
}

static ProtobufCMessage *make_message(const ProtobufCMessageDescriptor *d, uint64_t *x);

static void fill_item(const ProtobufCFieldDescriptor *field, void *item, uint64_t *x)
{
	static const char *const texts[] = { "x", "a \"quoted\" one", "\xe2\x82\xac", "\n\t\\" };
	uint64_t v = next_random(x);
	ProtobufCBinaryData *bytes = item;
	double number = (double)(int64_t)v / 1024;

	switch (field->type) {
	case PROTOBUF_C_TYPE_STRING:
		*(char **)item = strdup(texts[v % ARRAY_SIZE(texts)]);
		assert_non_null(*(char **)item);
		return;
	case PROTOBUF_C_TYPE_BYTES:
		bytes->len = v % 7;
		bytes->data = malloc(bytes->len + 1);
		assert_non_null(bytes->data);
		memset(bytes->data, (int)v, bytes->len);
		return;
	case PROTOBUF_C_TYPE_MESSAGE:
		*(ProtobufCMessage **)item = make_message(field->descriptor, x);
		return;
	case PROTOBUF_C_TYPE_BOOL:
		*(protobuf_c_boolean *)item = v & 1;
		return;
	case PROTOBUF_C_TYPE_ENUM:
		*(int *)item = (int)(v % 4);
		return;
	case PROTOBUF_C_TYPE_DOUBLE:
		memcpy(item, &number, sizeof(number));
		return;
	default:
		memcpy(item, &v, proto_json_item_bytes(field->type));
	}
}

static ProtobufCMessage *make_message(const ProtobufCMessageDescriptor *d, uint64_t *x)
{
	ProtobufCMessage *m = calloc(1, d->sizeof_message);

	assert_non_null(m);
	protobuf_c_message_init(d, m);
	for (unsigned int i = 0; i < d->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &d->fields[i];
		size_t step = proto_json_item_bytes(field->type), n = next_random(x) % 4;
		char *member = (char *)m + field->offset;

		if (field->label != PROTOBUF_C_LABEL_REPEATED) {
			if (n > 0)
				fill_item(field, member, x);
			continue;
		}
		char *items = calloc(n + 1, step);
		assert_non_null(items);
		for (size_t at = 0; at < n; at++)
			fill_item(field, items + at * step, x);
		*(size_t *)((char *)m + field->quantifier_offset) = n;
		*(char **)member = items;
	}
	return m;
}

static void assert_same(const ProtobufCMessage *a, const ProtobufCMessage *b)
{
	size_t n = protobuf_c_message_get_packed_size(a);
	_cleanup_free_ uint8_t *one = malloc(n + 1);
	_cleanup_free_ uint8_t *two = malloc(n + 1);

	assert_int_equal(protobuf_c_message_get_packed_size(b), n);
	assert_non_null(one);
	assert_non_null(two);
	(void)protobuf_c_message_pack(a, one);
	(void)protobuf_c_message_pack(b, two);
	assert_memory_equal(one, two, n);
}

static void test_round_trip(void **state)
{
	const ProtobufCMessageDescriptor *d = ((const struct message *)*state)->descriptor;
	uint64_t x = 7;

	for (int i = 0; i < 50; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(BUDGET), why = BUF_INIT(1000);
		ProtobufCMessage *m = make_message(d, &x), *again = NULL;
		struct proto_budget budget;

		proto_budget_init(&budget, BUDGET);
		assert_int_equal(proto_json_write(m, &text), 0);
		int r = proto_json_read(d, &budget, (struct str){ text.data, text.len }, &why,
					&again);
		assert_string_equal(buf_str(&why), "");
		assert_int_equal(r, PROTO_JSON_READ);
		assert_true(proto_is_utf8(again));
		assert_same(m, again);
		protobuf_c_message_free_unpacked(m, NULL);
		protobuf_c_message_free_unpacked(again, &budget.allocator);
	}
}

/* ---- texts ---- */

static void test_double(void **state)
{
	static const struct {
		double value;
		const char *text;
	} doubles[] = {
		{ 0.1, "0.1" },	   { 1.0 / 3, "0.3333333333333333" },
		{ 1e21, "1e+21" }, { 178, "178" },
		{ -2.5, "-2.5" },  { 123456789012, "123456789012" },
		{ 5e-324, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(doubles); i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(100);

		assert_int_equal(json_put_double(&out, doubles[i].value), 0);
		if (doubles[i].text)
			assert_string_equal(buf_str(&out), doubles[i].text);
		assert_true(strtod(buf_str(&out), NULL) == doubles[i].value);
	}
}

static void test_text(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(100);

	(void)state;
	assert_int_equal(json_put_text(&out, STR_LIT("a\xff\x7f\x1f\r\t\"\\\xe2\x82")), 0);
	assert_string_equal(buf_str(&out), "\"a\xef\xbf\xbd\x7f\\u001f\\r\\t\\\"\\\\\xef\xbf\xbd"
					   "\xef\xbf\xbd\"");
}

static void test_base64(void **state)
{
	uint8_t bytes[64], back[88];

	(void)state;
	for (size_t n = 0; n <= sizeof(bytes); n++) {
		_cleanup_buf_ struct buf out = BUF_INIT(100);
		size_t n_back = 99;

		for (size_t i = 0; i < n; i++)
			bytes[i] = (uint8_t)(i * 37 + n);
		assert_int_equal(base64_put(&out, bytes, n), 0);
		assert_int_equal(out.len, (n + 2) / 3 * 4);
		assert_true(base64_parse((struct str){ buf_str(&out), out.len }, back, &n_back));
		assert_int_equal(n_back, n);
		assert_memory_equal(back, bytes, n);
	}
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, text),
	TEST_ROWS(test_round_trip, messages, name),
	TEST(test_budget),
	TEST(test_too_many_values),
	TEST(test_ceiling),
	TEST(test_utf8),
	TEST(test_double),
	TEST(test_text),
	TEST(test_base64),
};

TEST_MAIN(tests)
