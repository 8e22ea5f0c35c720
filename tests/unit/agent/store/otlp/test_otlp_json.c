/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of OTLP profiles in JSON: the same message as in protobuf, or a refusal. */
#include <string.h>

#include "agent/store/otlp/otlp_message.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "tests/support/made_otlp.h"
#include "tests/support/unit.h"

#define MAX_BYTES ((size_t)16 << 20)

struct fixture {
	struct otlp_message message;
	struct read_budget budget;
	struct buf why;
};

static void set_up(struct fixture *f)
{
	const struct read_budget_options options = { .inflated_bytes = MAX_BYTES,
						     .elements = OTLP_READ_MAX_ELEMENTS,
						     .cpu_ns = OTLP_READ_MAX_CPU_NS };

	f->why = BUF_INIT(4096);
	read_budget_init(&f->budget, &options);
	read_budget_begin(&f->budget);
}

static void tear_down(struct fixture *f)
{
	read_budget_end(&f->budget);
	otlp_message_fini(&f->message);
	buf_fini(&f->why);
}

FIXTURE(struct fixture, set_up, tear_down)

static int open_json(struct fixture *f, const char *text, size_t n)
{
	const struct otlp_bytes bytes = {
		.data = text, .n = n, .is_json = true, .max_plain_bytes = MAX_BYTES
	};

	otlp_message_fini(&f->message);
	buf_reset(&f->why);
	return otlp_message_open(&f->message, &bytes, &f->budget, &f->why);
}

/* What a made_otlp is, with a service, a scope, a link and one attribute of each kind. */
static const char whole[] =
	"{\"resourceProfiles\": [{\"resource\": {\"attributes\": ["
	"{\"key\": \"service.name\", \"value\": {\"stringValue\": \"m\\u00e4de\"}}, "
	"{\"key\": \"process.pid\", \"value\": {\"intValue\": \"77\"}}, "
	"{\"key\": \"on\", \"value\": {\"boolValue\": true}}, "
	"{\"keyStrindex\": 2, \"value\": {\"stringValueStrindex\": 4}}], "
	"\"droppedAttributesCount\": 3, \"entityRefs\": [{\"type\": \"x\"}]}, "
	"\"schemaUrl\": \"https://opentelemetry.io/schemas/1.37.0\", "
	"\"scopeProfiles\": [{\"scope\": {\"name\": \"x\", \"version\": \"1\"}, \"profiles\": [{"
	"\"sampleType\": {\"typeStrindex\": 5, \"unitStrindex\": 6}, "
	"\"samples\": [{\"stackIndex\": 1, \"values\": [\"5\"], \"linkIndex\": 1}, "
	"{\"stackIndex\": 2, \"values\": [2], \"unknown\": {\"deep\": [1, [2, {}]]}}], "
	"\"timeUnixNano\": \"1700000000000000000\", \"durationNano\": 1000000000, "
	"\"periodType\": {\"typeStrindex\": 7, \"unitStrindex\": 8}, \"period\": \"10000000\", "
	"\"profileId\": \"000102030405060708090a0b0c0d0e0f\", "
	"\"originalPayload\": \"****\"}]}]}], "
	"\"dictionary\": {"
	"\"mappingTable\": [{}, {\"memoryStart\": \"4096\", \"memoryLimit\": 36864, "
	"\"filenameStrindex\": 1}], "
	"\"locationTable\": [{}, "
	"{\"mappingIndex\": 1, \"address\": \"4112\", \"lines\": [{\"functionIndex\": 1, \"line\": "
	"\"7\"}]}, "
	"{\"mappingIndex\": 1, \"address\": \"4128\", \"lines\": [{\"functionIndex\": 2, \"line\": "
	"8}]}, "
	"{\"mappingIndex\": 1, \"address\": \"4144\"}], "
	"\"functionTable\": [{}, {\"nameStrindex\": 2, \"filenameStrindex\": 3}, "
	"{\"nameStrindex\": 4, \"filenameStrindex\": 3}], "
	"\"linkTable\": [{\"traceId\": \"\", \"spanId\": \"\"}, "
	"{\"traceId\": \"000102030405060708090a0b0c0d0e0f\", \"spanId\": \"F0F1f2f3f4f5f6f7\"}], "
	"\"stringTable\": [\"\", \"/bin/made\", \"main\", \"a.c\", \"work\", \"samples\", "
	"\"count\", "
	"\"cpu\", \"nanoseconds\"], "
	"\"attributeTable\": [{}], "
	"\"stackTable\": [{}, {\"locationIndices\": [2, 1]}, {\"locationIndices\": [3, 2, 1]}]}}";

static void make_whole(struct made_otlp *m)
{
	static uint8_t trace[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	static uint8_t span[8] = { 0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7 };
	static Otlp__Profiles__Link link = OTLP__PROFILES__LINK__INIT;

	made_otlp_init(m);
	(void)made_otlp_resource(m, "service.name",
				 "m\xc3\xa4"
				 "de");
	Otlp__Profiles__AnyValue *pid = made_otlp_resource(m, "process.pid", "")->value;
	pid->value_case = OTLP__PROFILES__ANY_VALUE__VALUE_INT_VALUE;
	pid->int_value = 77;
	Otlp__Profiles__AnyValue *on = made_otlp_resource(m, "on", "")->value;
	on->value_case = OTLP__PROFILES__ANY_VALUE__VALUE_BOOL_VALUE;
	on->bool_value = true;
	Otlp__Profiles__KeyValue *reference = made_otlp_resource(m, "", "");
	reference->key_strindex = 2;
	reference->value->value_case = OTLP__PROFILES__ANY_VALUE__VALUE_STRING_VALUE_STRINDEX;
	reference->value->string_value_strindex = 4;
	m->scope->scope->name = (char *)"x";
	link.trace_id = (ProtobufCBinaryData){ sizeof(trace), trace };
	link.span_id = (ProtobufCBinaryData){ sizeof(span), span };
	m->dictionary.link_table[m->dictionary.n_link_table++] = &link;
	m->profile->samples[0]->link_index = 1;
}

/* Fields that nobody here knows are marked in the message, and are not part of what is compared. */
static void drop_unknown(ProtobufCMessage *m, const struct proto_budget *b)
{
	for (unsigned int i = 0; i < m->n_unknown_fields; i++)
		b->allocator.free(b->allocator.allocator_data, m->unknown_fields[i].data);
	b->allocator.free(b->allocator.allocator_data, m->unknown_fields);
	m->unknown_fields = NULL;
	m->n_unknown_fields = 0;
}

static void drop_all_unknown(struct fixture *f)
{
	Otlp__Profiles__ResourceProfiles *r = f->message.request->resource_profiles[0];
	Otlp__Profiles__Profile *p = r->scope_profiles[0]->profiles[0];

	drop_unknown(&r->base, &f->message.budget);
	drop_unknown(&r->resource->base, &f->message.budget);
	drop_unknown(&r->scope_profiles[0]->scope->base, &f->message.budget);
	drop_unknown(&p->base, &f->message.budget);
	drop_unknown(&p->samples[1]->base, &f->message.budget);
}

static void test_same_as_protobuf(void **state)
{
	static uint8_t packed[8192];
	struct fixture *f = *state;
	struct made_otlp m;
	size_t n;

	make_whole(&m);
	uint8_t *expected = made_otlp_pack(&m, &n);

	assert_int_equal(open_json(f, whole, sizeof(whole) - 1), OTLP_READ);
	assert_string_equal(buf_str(&f->why), "");
	drop_all_unknown(f);
	assert_int_equal(protobuf_c_message_get_packed_size(&f->message.request->base), n);
	assert_true(n <= sizeof(packed));
	(void)protobuf_c_message_pack(&f->message.request->base, packed);
	assert_memory_equal(packed, expected, n);
	free(expected);
	made_otlp_fini(&m);
}

/* Wherever it is cut, it is refused, and nothing is left behind. */
static void test_cut(void **state)
{
	struct fixture *f = *state;

	for (size_t n = 0; n < sizeof(whole) - 1; n++)
		assert_int_equal(open_json(f, whole, n), OTLP_READ_BROKEN);
}

struct row {
	const char *name, *text;
	int outcome;
	const char *words;
};

#define LINK(trace, span)                                                                          \
	"{\"dictionary\":{\"linkTable\":[{},{\"traceId\":\"" trace "\",\"spanId\":\"" span "\"}]}" \
											   "}"

static const struct row rows[] = {
	{ "nothing in it", "{}", OTLP_READ, "" },
	{ "nothing at all", "", OTLP_READ_BROKEN, "zero-length" },
	{ "an array", "[]", OTLP_READ_BROKEN, "is not an object" },
	{ "more behind it", "{}{}", OTLP_READ_BROKEN, "line 1" },
	{ "null is a default", "{\"dictionary\":null,\"resourceProfiles\":null}", OTLP_READ, "" },
	{ "null among items", "{\"resourceProfiles\":[null]}", OTLP_READ_BROKEN, "not an object" },
	{ "one name twice", "{\"dictionary\":{},\"dictionary\":{}}", OTLP_READ_BROKEN,
	  "duplicate" },
	{ "an id of base64", LINK("AAECAwQFBgcICQoLDA0ODw==", ""), OTLP_READ_BROKEN, "traceId" },
	{ "half a digit", LINK("000102030405060708090a0b0c0d0e0", ""), OTLP_READ_BROKEN,
	  "traceId" },
	{ "a short id", LINK("0001", "f0f1f2f3f4f5f6f7"), OTLP_READ_BROKEN, "wrong length" },
	{ "two kinds of one value",
	  "{\"resourceProfiles\":[{\"resource\":{\"attributes\":[{\"key\":\"a\",\"value\":"
	  "{\"stringValue\":\"x\",\"intValue\":1}}]}}]}",
	  OTLP_READ_BROKEN, "invalid value" },
	{ "a value of no kind known",
	  "{\"resourceProfiles\":[{\"resource\":{\"attributes\":[{\"key\":\"a\",\"value\":"
	  "{\"doubleValue\":1.5}}]}}]}",
	  OTLP_READ, "" },
	{ "a number for a text",
	  "{\"resourceProfiles\":[{\"resource\":{\"attributes\":[{\"key\":1}]}}]}",
	  OTLP_READ_BROKEN, "field key" },
	{ "an index beyond 32 bits",
	  "{\"dictionary\":{\"stackTable\":[{\"locationIndices\":[4294967296]}]}}",
	  OTLP_READ_BROKEN, "locationIndices" },
	{ "a reference that leads nowhere",
	  "{\"dictionary\":{\"stackTable\":[{\"locationIndices\":[3]}]}}", OTLP_READ_BROKEN,
	  "location 3 is not in its table" },
	{ "not UTF-8", "{\"dictionary\":{\"stringTable\":[\"\xff\"]}}", OTLP_READ_BROKEN,
	  "line 1" },
	{ "a NUL in a text", "{\"dictionary\":{\"stringTable\":[\"\\u0000\"]}}", OTLP_READ_BROKEN,
	  "line 1" },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	struct fixture f = { 0 };

	set_up(&f);
	assert_int_equal(open_json(&f, row->text, strlen(row->text)), row->outcome);
	assert_non_null(strstr(buf_str(&f.why), row->words));
	assert_true((row->outcome == OTLP_READ) == (f.why.len == 0));
	tear_down(&f);
}

/* Arrays in arrays, and objects that cost more than their text. */
static void test_bombs(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(MAX_BYTES);
	struct fixture *f = *state;

	for (int i = 0; i < 100000; i++)
		(void)buf_append_char(&text, '[');
	assert_int_equal(open_json(f, text.data, text.len), OTLP_READ_BROKEN);
	buf_reset(&text);
	(void)buf_append_str(&text, "{\"dictionary\":{\"locationTable\":[{}");
	for (size_t i = 0; i < OTLP_JSON_MAX_VALUES; i++)
		(void)buf_append_str(&text, ",{}");
	(void)buf_append_str(&text, "]}}");
	assert_false(text.failed);
	assert_int_equal(open_json(f, text.data, text.len), OTLP_READ_TOO_LARGE);
	assert_non_null(strstr(buf_str(&f->why), "more than 524288 values"));
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_same_as_protobuf),
	FIXTURE_TEST(test_cut),
	TEST_ROWS(test_row, rows, name),
	FIXTURE_TEST(test_bombs),
};

TEST_MAIN(tests)
