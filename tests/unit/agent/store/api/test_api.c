/* SPDX-License-Identifier: Apache-2.0 */
/* What the read API answers, and what it refuses, with a real store behind it. */
#include <jansson.h>

#include "agent/store/api/api_methods.h"
#include "agent/store/api/querier.pb-c.h"
#include "pprof/profile.pb-c.h"
#include "tests/support/unit.h"

#include "tests/unit/agent/store/api/api_context.h"

/* ---- what is refused ---- */

struct row {
	const char *name, *method, *rest; /* rest: behind start and end; or from '{' on all */
	unsigned int status;
	const char *words;
};

#define EIGHT_LABELS "\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\""
#define MOST_LABELS                                                                      \
	EIGHT_LABELS "," EIGHT_LABELS "," EIGHT_LABELS "," EIGHT_LABELS "," EIGHT_LABELS \
		     "," EIGHT_LABELS "," EIGHT_LABELS "," EIGHT_LABELS

static const struct row rows[] = {
	{ "no time", "SelectSeries", "{}", 400, "missing time range in the query" },
	{ "no time for a profile", "SelectMergeProfile", "{}", 400, "missing time range" },
	{ "no time for stacks", "SelectMergeStacktraces", "{\"start\":5}", 400, "missing time" },
	{ "half a diff", "Diff", "{\"left\":{\"start\":1,\"end\":2}}", 400, "missing time range" },
	{ "time backwards", "SelectMergeStacktraces", "{\"start\":5,\"end\":2}", 400,
	  "query start time is after end time" },
	{ "names backwards", "LabelNames", "{\"start\":5,\"end\":2}", 400, "is after end time" },
	{ "no profile type", "SelectMergeStacktraces", "", 400, "got(1): \\\"\\\"" },
	{ "three parts", "SelectSeries", ",\"profileTypeID\":\"a:b:c\"", 400,
	  "got(3): \\\"a:b:c\\\"" },
	{ "seven parts", "SelectMergeProfile", ",\"profileTypeID\":\"a:b:c:d:e:f:g\"", 400,
	  "got(7)" },
	{ "no selector", "SelectMergeStacktraces", ",\"profileTypeID\":\"" CPU "\"", 400,
	  "unexpected end of input" },
	{ "a comment", "SelectMergeStacktraces",
	  ",\"profileTypeID\":\"" CPU "\",\"labelSelector\":\" # all?\\n \"", 400,
	  "unexpected end of input" },
	{ "half a selector", "SelectMergeStacktraces",
	  ",\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{a=\"", 400, "parse error" },
	{ "no step", "SelectSeries", ",\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{}\"", 400,
	  "step must be non-zero" },
	{ "step backwards", "SelectSeries",
	  ",\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{}\",\"step\":-1", 400,
	  "step must be" },
	{ "step of less than a millisecond", "SelectSeries",
	  ",\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{}\",\"step\":0.0001", 400,
	  "at least a millisecond" },
	{ "step of ages", "SelectSeries",
	  ",\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{}\",\"step\":1e10", 400,
	  "step must be" },
	{ "no step at all", "SelectSeries",
	  ",\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{}\",\"step\":\"NaN\"", 400, "step" },
	{ "too many nodes", "SelectMergeStacktraces",
	  ",\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{}\",\"maxNodes\":1048577", 400,
	  "max flamegraph nodes limit 1048577 is greater than allowed 1048576" },
	{ "nodes below none", "SelectMergeStacktraces",
	  ",\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{}\",\"maxNodes\":-1", 400,
	  "limit must be set" },
	{ "no name", "LabelValues", "", 400, "name is required" },
	{ "too many label names", "Series", ",\"labelNames\":[" MOST_LABELS ",\"b\"]", 400,
	  "more than 64 label names" },
	{ "most label names", "Series", ",\"labelNames\":[" MOST_LABELS "]", 200, "labelsSet" },
	{ "too many labels to group by", "SelectSeries",
	  ",\"profileTypeID\":\"" CPU
	  "\",\"labelSelector\":\"{}\",\"step\":15,\"groupBy\":[" MOST_LABELS ",\"b\"]",
	  400, "more than 64 labels to group by" },
	{ "most labels to group by", "SelectSeries",
	  ",\"profileTypeID\":\"" CPU
	  "\",\"labelSelector\":\"{}\",\"step\":15,\"groupBy\":[" MOST_LABELS "]",
	  200, "\"points\"" },
	{ "bad matcher", "Series", ",\"matchers\":[\"{a=\"]", 400, "parse error" },
	{ "bad json", "LabelNames", "{", 400, "unmarshal message" },
	{ "other method", "SelectNothing", "{}", 501, "SelectNothing is not implemented" },
	{ "most nodes", "SelectMergeStacktraces",
	  ",\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{}\",\"maxNodes\":1048576", 200,
	  "\"total\":\"300\"" },
	{ "unknown type", "SelectMergeStacktraces",
	  ",\"profileTypeID\":\"a:b:c:d:e\",\"labelSelector\":\"{}\"", 200,
	  "{\"flamegraph\":{\"names\":[\"total\"],\"levels\":[{\"values\":[\"0\",\"0\",\"0\",\"0\"]"
	  "}]}}" },
	{ "delta", "SelectMergeStacktraces",
	  ",\"profileTypeID\":\"a:b:c:d:e:delta\",\"labelSelector\":\"{}\"", 200, "flamegraph" },
	{ "unknown label", "LabelValues", ",\"name\":\"nope\"", 200, "{}" },
	{ "long ago", "ProfileTypes", "{\"start\":1000,\"end\":4000}", 200, "{}" },
	{ "the last hour", "ProfileTypes", "{}", 200, "\"ID\":\"" CPU "\"" },
	{ "ever", "LabelNames", "{}", 200, "\"service_name\"" },
	{ "a year", "SelectMergeStacktraces",
	  "{\"start\":1,\"end\":\"4102444800000\",\"profileTypeID\":\"" CPU
	  "\",\"labelSelector\":\"{}\"}",
	  200, "\"total\":\"300\"" },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	void *own = NULL;
	struct fixture *f;
	char path[128];

	(void)setup_filled(&own);
	f = own;
	(void)snprintf(path, sizeof(path), Q "%s", row->method);
	const char *body = post(f, path, *row->rest == '{' ? row->rest : ranged(f, row->rest));
	assert_non_null(strstr(body, row->words));
	assert_int_equal(f->status, row->status);
	assert_string_equal(f->type, JSON);
	if (row->status != 200)
		assert_int_equal(strncmp(body, "{\"code\":\"", 9), 0);
	(void)teardown(&own);
}

/* One series of more profiles than a request may have; none of them is looked at. */
static void test_push_of_many(void **state)
{
	struct fixture *f = *state;

	buf_reset(&f->text);
	(void)buf_append_str(&f->text, "{\"series\":[{\"labels\":[{\"name\":\"a\",\"value\":"
				       "\"b\"}],\"samples\":[{}");
	for (int i = 0; i < 1024; i++)
		(void)buf_append_str(&f->text, ",{}");
	(void)buf_append_str(&f->text, "]}]}");
	const char *body = post(f, "/push.v1.PusherService/Push", buf_str(&f->text));

	assert_int_equal(f->status, 400);
	assert_non_null(strstr(body, "more than 1024 profiles in one request"));
}

/* Refused before there are labels to ask the store about: it counts them all the same. */
static void test_push_without_a_service(void **state)
{
	struct fixture *f = *state;
	struct store_stats before, after;

	store_stats(f->store, &before);
	(void)post(f, "/push.v1.PusherService/Push",
		   "{\"series\":[{\"labels\":[{\"name\":\"__name__\",\"value\":\"process_cpu\"},"
		   "{\"name\":\"service_name\",\"value\":\"\"}],\"samples\":[{},{}]}]}");
	assert_int_equal(f->status, 400);
	store_stats(f->store, &after);
	assert_int_equal(after.n_refused_profiles, before.n_refused_profiles + 2);
	assert_int_equal(after.n_received_profiles, before.n_received_profiles + 2);
}

/* ---- what is answered ---- */

static void test_names(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(post(f, Q "LabelValues", ranged(f, ",\"name\":\"service_name\"")),
			    "{\"names\":[\"one\",\"two\"]}");
	assert_string_equal(
		post(f, Q "ProfileTypes", ranged(f, "")),
		"{\"profileTypes\":[{\"ID\":\"" CPU
		"\",\"name\":\"process_cpu\",\"sampleType\":\"cpu\",\"sampleUnit\":\"nanoseconds\","
		"\"periodType\":\"cpu\",\"periodUnit\":\"nanoseconds\"}]}");
	assert_string_equal(
		post(f, Q "Series",
		     ranged(f, ",\"matchers\":[\"{service_name!=\\\"two\\\"}\"],"
			       "\"labelNames\":[\"service_name\",\"__unit__\"]")),
		"{\"labelsSet\":[{\"labels\":[{\"name\":\"service_name\",\"value\":\"one\"},"
		"{\"name\":\"__unit__\",\"value\":\"nanoseconds\"}]}]}");
}

/* Grafana takes the first with "cpu" in it. */
static void test_types_begin_with_cpu_time(void **state)
{
	struct fixture *f = *state;
	struct pprof_bytes pprof = make_profile(f, 60);

	push_named_json(f, "cpu_migrations", "one", pprof.data, pprof.n);
	push_named_json(f, "wall", "one", pprof.data, pprof.n);
	pprof_bytes_fini(&pprof);
	json_t *root = json_loads(post(f, Q "ProfileTypes", ranged(f, "")), 0, NULL);
	const char *names[4] = { NULL };

	assert_int_equal(json_array_size(json_object_get(root, "profileTypes")), 3);
	for (size_t i = 0; i < 3; i++)
		names[i] = json_string_value(json_object_get(
			json_array_get(json_object_get(root, "profileTypes"), i), "name"));
	assert_string_equal(names[0], "process_cpu");
	assert_string_equal(names[1], "cpu_migrations");
	assert_string_equal(names[2], "wall");
	json_decref(root);
}

static void test_analyze(void **state)
{
	struct fixture *f = *state;
	const char *body =
		post(f, Q "AnalyzeQuery", ranged(f, ",\"query\":\"{service_name=\\\"one\\\"}\""));

	assert_non_null(
		strstr(body, "\"componentType\":\"Short term storage\",\"componentCount\":\"1\""));
	assert_non_null(strstr(body,
			       "\"blockCount\":\"1\",\"seriesCount\":\"1\",\"profileCount\":\"2\","
			       "\"sampleCount\":\"6\",\"profileBytes\":\""));
	assert_non_null(strstr(body, "\"totalQueriedSeries\":\"1\""));
	body = post(f, Q "AnalyzeQuery", ranged(f, ""));
	assert_non_null(strstr(body, "\"seriesCount\":\"2\",\"profileCount\":\"3\""));
	body = post(f, Q "AnalyzeQuery",
		    ranged(f, ",\"query\":\"" CPU "{service_name=\\\"x\\\"}\""));
	assert_string_equal(body, "{\"queryScopes\":[{\"componentType\":\"Short term storage\","
				  "\"componentCount\":\"1\"}],\"queryImpact\":{}}");
	assert_string_equal(post(f, Q "AnalyzeQuery", "{\"query\":\"{}\"}"), "{}");
	assert_non_null(
		strstr(post(f, Q "AnalyzeQuery", ranged(f, ",\"query\":\"{\"")), "parse error"));
	assert_int_equal(f->status, 400);
}

#define SETTINGS "/settings.v1.SettingsService/"
/* What the real server says to the same, in this order. */
static void test_settings(void **state)
{
	struct fixture *f = *state;
	static const char now[] = "{\"setting\":{\"name\":\"a\",\"value\":\"b\",\"modifiedAt\":\"";

	assert_string_equal(post(f, SETTINGS "Get", "{}"), "{}");
	assert_int_equal(
		strncmp(post(f, SETTINGS "Set", "{\"setting\":{\"name\":\"a\",\"value\":\"b\"}}"),
			now, strlen(now)),
		0);
	assert_string_equal(
		post(f, SETTINGS "Set",
		     "{\"setting\":{\"name\":\"a\",\"value\":\"c\",\"modifiedAt\":\"1\"}}"),
		"{\"code\":\"already_exists\",\"message\":\"failed to update a: newer "
		"update already written\"}");
	assert_int_equal(f->status, 409);
	assert_non_null(strstr(post(f, SETTINGS "Set", "{}"), "no setting values provided"));
	assert_int_equal(f->status, 400);
	assert_non_null(strstr(post(f, SETTINGS "Get", "{}"),
			       "{\"settings\":[{\"name\":\"a\",\"value\":\"b\","));
	assert_non_null(strstr(post(f, SETTINGS "Delete", "{}"), "no setting name provided"));
	assert_string_equal(post(f, SETTINGS "Delete", "{\"name\":\"a\"}"), "{}");
	assert_string_equal(post(f, SETTINGS "Get", "{}"), "{}");
	(void)post(f, SETTINGS "Nothing", "{}");
	assert_int_equal(f->status, 501);
	assert_string_equal(post(f, "/version.v1.Version/Version", "{}"), "{\"QuerierAPI\":\"1\"}");
}

static void test_stacktraces(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(
		post(f, Q "SelectMergeStacktraces",
		     ranged(f, ",\"profileTypeID\":\"" CPU
			       "\",\"labelSelector\":\"{service_name=\\\"one\\\"}\"")),
		"{\"flamegraph\":{\"names\":[\"total\",\"main\",\"work\",\"hot\",\"idle\"],"
		"\"levels\":[{\"values\":[\"0\",\"200\",\"0\",\"0\"]},"
		"{\"values\":[\"0\",\"200\",\"0\",\"1\"]},"
		"{\"values\":[\"0\",\"20\",\"20\",\"4\",\"0\",\"180\",\"60\",\"2\"]},"
		"{\"values\":[\"80\",\"120\",\"120\",\"3\"]}],"
		"\"total\":\"200\",\"maxSelf\":\"120\"}}");
	assert_non_null(strstr(post(f, Q "SelectMergeStacktraces",
				    ranged(f, ",\"profileTypeID\":\"" CPU
					      "\",\"labelSelector\":\"{}\",\"format\":2")),
			       "{\"tree\":\""));
}

static void test_diff(void **state)
{
	struct fixture *f = *state;
	_cleanup_buf_ struct buf body = BUF_INIT(4096);

	for (int side = 0; side < 2; side++)
		(void)buf_printf(&body,
				 "%s:%.*s,\"profileTypeID\":\"" CPU
				 "\",\"labelSelector\":\"{service_name=\\\"%s\\\"}\"}",
				 side ? ",\"right\"" : "{\"left\"", (int)strlen(ranged(f, "")) - 1,
				 buf_str(&f->text), side ? "two" : "one");
	(void)buf_append_char(&body, '}');
	const char *text = post(f, Q "Diff", buf_str(&body));
	assert_non_null(strstr(text, "\"total\":\"300\""));
	assert_non_null(strstr(text, "\"leftTicks\":\"200\",\"rightTicks\":\"100\""));
}

static void test_select_series(void **state)
{
	struct fixture *f = *state;
	json_t *root = json_loads(post(f, Q "SelectSeries",
				       ranged(f, ",\"profileTypeID\":\"" CPU
						 "\",\"labelSelector\":\"{}\",\"step\":15,"
						 "\"groupBy\":[\"service_name\"]")),
				  0, NULL);
	const char *name = NULL, *value = NULL;
	json_t *points = NULL;
	double sum = 0;

	assert_non_null(root);
	json_t *series = json_object_get(root, "series");
	assert_int_equal(json_array_size(series), 2);
	assert_int_equal(json_unpack(json_array_get(series, 0), "{s:[{s:s,s:s}],s:o}", "labels",
				     "name", &name, "value", &value, "points", &points),
			 0);
	assert_string_equal(name, "service_name");
	assert_string_equal(value, "one");
	for (size_t i = 0; i < json_array_size(points); i++)
		sum += json_number_value(json_object_get(json_array_get(points, i), "value"));
	assert_true(sum == 200);
	json_decref(root);
}

/* The first point is of what lies up to a step before the start, also where that is in a segment that ends before the start. */
static void test_first_point_reaches_back(void **state)
{
	struct fixture *f = *state;
	char body[512];

	(void)snprintf(body, sizeof(body),
		       "{\"start\":%lld,\"end\":%lld,\"profileTypeID\":\"" CPU
		       "\",\"labelSelector\":\"{}\",\"step\":600}",
		       (long long)f->now_ms + 60000, (long long)f->now_ms + 120000);
	assert_non_null(strstr(post(f, Q "SelectSeries", body), "\"value\":300"));
}

static void test_merge_profile(void **state)
{
	struct fixture *f = *state;
	const char *body = ranged(f, ",\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{}\"");
	json_t *root = json_loads(post(f, Q "SelectMergeProfile", body), 0, NULL);
	json_t *samples = json_object_get(root, "sample");
	uint64_t sum = 0;

	assert_int_equal(json_array_size(samples), 3);
	for (size_t i = 0; i < 3; i++) {
		const char *value = NULL;
		uint64_t n = 0;

		assert_int_equal(
			json_unpack(json_array_get(samples, i), "{s:[s]}", "value", &value), 0);
		assert_int_equal(str_parse_u64(str_from(value), 10, 1000, &n), 0);
		sum += n;
	}
	assert_int_equal(sum, 300);
	json_decref(root);
}

static void test_stats(void **state)
{
	struct fixture *f = *state;
	char expected[256];

	(void)snprintf(expected, sizeof(expected),
		       "{\"dataIngested\":true,\"oldestProfileTime\":\"%lld\","
		       "\"newestProfileTime\":\"%lld\"}",
		       (long long)f->now_ms - 120000, (long long)f->now_ms - 60000);
	assert_string_equal(post(f, Q "GetProfileStats", "{}"), expected);
}

static void test_empty_stats(void **state)
{
	assert_string_equal(post(*state, Q "GetProfileStats", "{}"), "{}");
}

struct pair_row {
	const char *method, *rest;
	const ProtobufCMessageDescriptor *response;
};

#define SELECT ",\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{}\""
static const struct pair_row pair_rows[] = {
	{ "ProfileTypes", "", &querier__v1__profile_types_response__descriptor },
	{ "LabelNames", ",\"matchers\":[\"{}\"]", &querier__v1__label_names_response__descriptor },
	{ "LabelValues", ",\"name\":\"service_name\"",
	  &querier__v1__label_values_response__descriptor },
	{ "Series", ",\"labelNames\":[\"service_name\"]",
	  &querier__v1__series_response__descriptor },
	{ "SelectSeries", SELECT ",\"step\":15,\"groupBy\":[\"service_name\"]",
	  &querier__v1__select_series_response__descriptor },
	{ "SelectMergeStacktraces", SELECT,
	  &querier__v1__select_merge_stacktraces_response__descriptor },
	{ "SelectMergeStacktraces", SELECT ",\"format\":2",
	  &querier__v1__select_merge_stacktraces_response__descriptor },
	{ "SelectMergeSpanProfile", SELECT ",\"spanSelector\":[\"00000000000000ab\"]",
	  &querier__v1__select_merge_span_profile_response__descriptor },
	{ "SelectMergeProfile", SELECT, &perftools__profiles__profile__descriptor },
	{ "GetProfileStats", "", &querier__v1__get_profile_stats_response__descriptor },
};

static const struct rpc_method *find_method(const char *path)
{
	for (size_t i = 0; i < rpc_n_methods; i++)
		if (strcmp(rpc_methods[i].path, path) == 0)
			return &rpc_methods[i];
	fail();
	return NULL;
}

/* One profile, of whose samples some are in spans. */
static void push_spans(struct fixture *f)
{
	static const char rest[] =
		",\"sampleType\":[{\"type\":1,\"unit\":2}],\"periodType\":{\"type\":1,\"unit\":2},"
		"\"stringTable\":[\"\",\"cpu\",\"nanoseconds\",\"f\",\"g\",\"span_id\","
		"\"00000000000000ab\","
		"\"ffffffffffffffff\"],\"function\":[{\"id\":1,\"name\":3},{\"id\":2,\"name\":4}],"
		"\"location\":[{\"id\":1,\"line\":[{\"functionId\":1}]},{\"id\":2,\"line\":[{"
		"\"functionId\":2}]}],"
		"\"sample\":[{\"locationId\":[1],\"value\":[1]},"
		"{\"locationId\":[1],\"value\":[20],\"label\":[{\"key\":5,\"str\":6}]},"
		"{\"locationId\":[2,1],\"value\":[300],\"label\":[{\"key\":5,\"str\":6}]},"
		"{\"locationId\":[2,1],\"value\":[4000],\"label\":[{\"key\":5,\"str\":7}]}]}";
	_cleanup_buf_ struct buf why = BUF_INIT(1000), json = BUF_INIT(4096);
	struct proto_budget budget;
	ProtobufCMessage *m = NULL;
	uint8_t bytes[1024];

	proto_budget_init(&budget, 1 << 20);
	(void)buf_printf(&json, "{\"timeNanos\":%lld%s", (long long)(f->now_ms - 60000) * 1000000,
			 rest);
	assert_int_equal(proto_json_read(&perftools__profiles__profile__descriptor, &budget,
					 str_from(buf_str(&json)), &why, &m),
			 PROTO_JSON_READ);
	size_t n = protobuf_c_message_pack(m, bytes);
	protobuf_c_message_free_unpacked(m, &budget.allocator);
	push_bytes_json(f, "spans", bytes, n);
}

struct ids_row {
	const char *name, *method, *rest, *words; /* words: of the answer, or of the refusal */
	unsigned int status;
};

#define UUID "7c9e6679-7425-40de-944b-e07fc1f90ae7"
#define TRACE_ID "7c9e66797425440de944be07fc1f90ae"
#define NOTHING                                                                                    \
	"{\"flamegraph\":{\"names\":[\"total\"],\"levels\":[{\"values\":[\"0\",\"0\",\"0\",\"0\"]" \
	"}]}}"
#define SPAN_METHOD "SelectMergeSpanProfile"
#define STACKS_METHOD "SelectMergeStacktraces"
static const struct ids_row ids_rows[] = {
	{ "no id", STACKS_METHOD, "", "\"total\":\"4321\"", 200 },
	{ "empty lists", STACKS_METHOD,
	  ",\"spanSelector\":[],\"traceIdSelector\":[],\"profileIdSelector\":[]",
	  "\"total\":\"4321\"", 200 },
	{ "a span", STACKS_METHOD, ",\"spanSelector\":[\"00000000000000ab\"]", "\"total\":\"320\"",
	  200 },
	{ "a span, in the older form", SPAN_METHOD, ",\"spanSelector\":[\"00000000000000ab\"]",
	  "{\"flamegraph\":{\"names\":[\"total\",\"f\",\"g\"],\"levels\":[{\"values\":[\"0\","
	  "\"320\","
	  "\"0\",\"0\"]},{\"values\":[\"0\",\"320\",\"20\",\"1\"]},{\"values\":[\"20\",\"300\","
	  "\"300\","
	  "\"2\"]}],\"total\":\"320\",\"maxSelf\":\"300\"}}",
	  200 },
	{ "in capitals, and twice", SPAN_METHOD,
	  ",\"spanSelector\":[\"00000000000000AB\",\"00000000000000ab\"]", "\"total\":\"320\"",
	  200 },
	{ "two spans, in no order", SPAN_METHOD,
	  ",\"spanSelector\":[\"FFFFFFFFffffffff\",\"00000000000000ab\"]", "\"total\":\"4320\"",
	  200 },
	{ "nobody's span", SPAN_METHOD, ",\"spanSelector\":[\"00000000000000ac\"]", NOTHING, 200 },
	{ "the id of no span", SPAN_METHOD, ",\"spanSelector\":[\"0000000000000000\"]", NOTHING,
	  200 },
	{ "no span", SPAN_METHOD, "", NOTHING, 200 },
	{ "a span as a tree", SPAN_METHOD, ",\"format\":2,\"spanSelector\":[\"00000000000000ab\"]",
	  "{\"tree\":\"", 200 },
	{ "a short span", SPAN_METHOD, ",\"spanSelector\":[\"ab\"]", "invalid span id: \\\"ab\\\"",
	  400 },
	{ "a long span", STACKS_METHOD, ",\"spanSelector\":[\"00000000000000ab0\"]",
	  "invalid span id", 400 },
	{ "a span of letters", SPAN_METHOD,
	  ",\"spanSelector\":[\"00000000000000ab\",\"zzzzzzzzzzzzzzzz\"]", "invalid span id", 400 },
	{ "an empty span", SPAN_METHOD, ",\"spanSelector\":[\"\"]", "invalid span id", 400 },
	{ "spans without a time", SPAN_METHOD, "{}", "missing time range", 400 },
	{ "spans of a trace that is named", STACKS_METHOD,
	  ",\"spanSelector\":[\"00000000000000ab\"],\"traceIdSelector\":[\"" TRACE_ID "\"]",
	  NOTHING, 200 },
	{ "a trace", STACKS_METHOD, ",\"traceIdSelector\":[\"" TRACE_ID "\"]", NOTHING, 200 },
	{ "half a trace", STACKS_METHOD, ",\"traceIdSelector\":[\"00000000000000ab\"]",
	  "invalid trace id", 400 },
	{ "a profile", STACKS_METHOD, ",\"profileIdSelector\":[\"" UUID "\"]", NOTHING, 200 },
	{ "a profile without dashes", STACKS_METHOD,
	  ",\"profileIdSelector\":[\"7C9E6679742540de944be07fc1f90ae7\"]", NOTHING, 200 },
	{ "no profile", STACKS_METHOD,
	  ",\"profileIdSelector\":[\"7c9e6679-7425-40de-944b_e07fc1f90ae7\"]", "invalid profile id",
	  400 },
	{ "half a profile", STACKS_METHOD, ",\"profileIdSelector\":[\"7c9e6679\"]",
	  "invalid profile id", 400 },
	{ "pprof of a profile", "SelectMergeProfile", ",\"profileIdSelector\":[\"" UUID "\"]",
	  "{\"sampleType\":[{}],\"stringTable\":[\"\"]", 200 },
	{ "pprof of a trace", "SelectMergeProfile", ",\"traceIdSelector\":[\"" TRACE_ID "\"]",
	  "{\"sampleType\":[{}],\"stringTable\":[\"\"]", 200 },
	{ "pprof of no trace", "SelectMergeProfile", ",\"traceIdSelector\":[\"x\"]",
	  "invalid trace id", 400 },
	{ "a filter of frames", STACKS_METHOD,
	  ",\"stackTraceSelector\":{\"frameFilter\":{\"includeFunctionNames\":[\"g\"]}}",
	  "\"total\":\"4300\"", 200 },
	{ "all but one function", STACKS_METHOD,
	  ",\"stackTraceSelector\":{\"frameFilter\":{\"excludeFunctionNames\":[\"g\"]}}",
	  "\"total\":\"21\"", 200 },
	{ "a part of a name", STACKS_METHOD,
	  ",\"stackTraceSelector\":{\"frameFilter\":{\"includeFunctionNames\":[\"f\"],"
	  "\"excludeFunctionNameRegexes\":[\"^g?$\"]}}",
	  "\"total\":\"21\"", 200 },
	{ "no frames of that name", STACKS_METHOD,
	  ",\"stackTraceSelector\":{\"frameFilter\":{\"includeFunctionNameRegexes\":[\"^$\"]}}",
	  NOTHING, 200 },
	{ "an empty filter of frames", STACKS_METHOD,
	  ",\"stackTraceSelector\":{\"frameFilter\":{}}", "\"total\":\"4321\"", 200 },
	{ "frames below a call site", STACKS_METHOD,
	  ",\"stackTraceSelector\":{\"callSite\":[{\"name\":\"f\"}],\"frame_filter\":"
	  "{\"include_function_names\":[\"g\"]}}",
	  "\"total\":\"4300\"", 200 },
	{ "frames within a span", STACKS_METHOD,
	  ",\"spanSelector\":[\"00000000000000ab\"],\"stackTraceSelector\":{\"frameFilter\":"
	  "{\"excludeFunctionNames\":[\"g\"]}}",
	  "\"total\":\"20\"", 200 },
	{ "pprof of a filter of frames", "SelectMergeProfile",
	  ",\"stackTraceSelector\":{\"frameFilter\":{\"includeFunctionNames\":[\"g\"]}}",
	  "\"4300\"", 200 },
	{ "rates of a filter of frames", "SelectSeries",
	  ",\"step\":15,\"stackTraceSelector\":{\"frameFilter\":{\"excludeFunctionNames\":["
	  "\"g\"]}}",
	  "\"value\":21", 200 },
	{ "no expression", STACKS_METHOD,
	  ",\"stackTraceSelector\":{\"frameFilter\":{\"includeFunctionNameRegexes\":[\"[\"]}}",
	  "invalid include function name regex", 400 },
	{ "what is none but for what stands around it", "SelectSeries",
	  ",\"step\":15,\"stackTraceSelector\":{\"frameFilter\":{\"excludeFunctionNameRegexes\":"
	  "[\"a)(b\"]}}",
	  "invalid exclude function name regex", 400 },
	{ "more of a filter", STACKS_METHOD,
	  ",\"stackTraceSelector\":{\"frameFilter\":{\"includeFileNames\":[\"g\"]}}",
	  "which is not implemented", 501 },
	{ "more of a selector", STACKS_METHOD,
	  ",\"stackTraceSelector\":{\"callSite\":[{\"name\":\"f\"}],\"lines\":[1]}",
	  "which is not implemented", 501 },
	{ "for a compiler", "SelectMergeProfile",
	  ",\"stackTraceSelector\":{\"goPgo\":{\"keepLocations\":5}}", "\"4300\"", 200 },
	{ "a call site", STACKS_METHOD,
	  ",\"spanSelector\":[\"00000000000000ab\"],\"stackTraceSelector\":{\"callSite\":[{"
	  "\"name\":\"f\"},"
	  "{\"name\":\"g\"}]}",
	  "\"total\":\"300\"", 200 },
};

static void test_ids(void **state)
{
	const struct ids_row *row = *state;
	_cleanup_buf_ struct buf rest = BUF_INIT(4096);
	void *own = NULL;
	char path[128];

	(void)setup(&own);
	push_spans(own);
	(void)snprintf(path, sizeof(path), Q "%s", row->method);
	(void)buf_printf(&rest, SELECT "%s", row->rest);
	const char *body =
		post(own, path, *row->rest == '{' ? row->rest : ranged(own, buf_str(&rest)));
	assert_non_null(strstr(body, row->words));
	assert_int_equal(((struct fixture *)own)->status, row->status);
	(void)teardown(&own);
}

/* In protobuf a field has a number alone: 7 is the selector, 3 of it the filter of frames, 1 of that a name. */
static const struct selector_bytes {
	const char *name;
	const uint8_t bytes[8];
	size_t n;
	unsigned int status;
	int64_t total;
} selectors[] = {
	{ "none", { 0 }, 0, 200, 4321 },
	{ "a function", { 7 << 3 | 2, 5, 3 << 3 | 2, 3, 1 << 3 | 2, 1, 'g' }, 7, 200, 4300 },
	{ "not this function", { 7 << 3 | 2, 5, 3 << 3 | 2, 3, 2 << 3 | 2, 1, 'g' }, 7, 200, 21 },
	{ "an expression", { 7 << 3 | 2, 5, 3 << 3 | 2, 3, 3 << 3 | 2, 1, 'g' }, 7, 200, 4300 },
	{ "not this expression", { 7 << 3 | 2, 5, 3 << 3 | 2, 3, 4 << 3 | 2, 1, 'g' }, 7, 200, 21 },
	{ "another field of the filter",
	  { 7 << 3 | 2, 5, 3 << 3 | 2, 3, 5 << 3 | 2, 1, 'g' },
	  7,
	  501,
	  0 },
	{ "another field", { 7 << 3 | 2, 2, 4 << 3, 1 }, 4, 501, 0 },
};

static int64_t total_of(const struct fixture *f)
{
	Querier__V1__SelectMergeStacktracesResponse *m =
		querier__v1__select_merge_stacktraces_response__unpack(
			NULL, f->body.len, (const uint8_t *)buf_str(&f->body));

	assert_non_null(m);
	int64_t total = m->flamegraph->total;
	querier__v1__select_merge_stacktraces_response__free_unpacked(m, NULL);
	return total;
}

static void test_selector_bytes(void **state)
{
	const struct selector_bytes *row = *state;
	_cleanup_buf_ struct buf why = BUF_INIT(1000);
	struct proto_budget budget;
	ProtobufCMessage *m = NULL;
	uint8_t bytes[1024];
	void *own = NULL;

	(void)setup(&own);
	push_spans(own);
	proto_budget_init(&budget, 1 << 20);
	assert_int_equal(proto_json_read(&querier__v1__select_merge_stacktraces_request__descriptor,
					 &budget, str_from(ranged(own, SELECT)), &why, &m),
			 PROTO_JSON_READ);
	size_t n = protobuf_c_message_pack(m, bytes);
	protobuf_c_message_free_unpacked(m, &budget.allocator);
	memcpy(bytes + n, row->bytes, row->n);
	const struct question q = {
		.path = Q STACKS_METHOD, .type = PROTO, .body = bytes, .n = n + row->n
	};

	(void)ask(own, &q);
	assert_int_equal(((struct fixture *)own)->status, row->status);
	if (row->status == 200)
		assert_int_equal(total_of(own), row->total);
	(void)teardown(&own);
}

/* Both codecs say the same. */
static void compare_codecs(struct fixture *f, const struct pair_row *row)
{
	_cleanup_buf_ struct buf json = BUF_INIT(1 << 20), proto = BUF_INIT(1 << 20);
	_cleanup_buf_ struct buf why = BUF_INIT(1000);
	struct proto_budget budget;
	ProtobufCMessage *m = NULL;
	uint8_t bytes[1024];
	char path[128];

	(void)snprintf(path, sizeof(path), Q "%s", row->method);
	proto_budget_init(&budget, 1 << 20);
	assert_int_equal(proto_json_read(find_method(path)->request, &budget,
					 str_from(ranged(f, row->rest)), &why, &m),
			 PROTO_JSON_READ);
	size_t n = protobuf_c_message_pack(m, bytes);
	protobuf_c_message_free_unpacked(m, &budget.allocator);
	(void)buf_append_str(&json, post(f, path, buf_str(&f->text)));
	assert_int_equal(f->status, 200);
	(void)ask(f, &(struct question){ .path = path, .type = PROTO, .body = bytes, .n = n });
	assert_int_equal(f->status, 200);
	assert_string_equal(f->type, PROTO);
	m = protobuf_c_message_unpack(row->response, NULL, f->body.len,
				      (const uint8_t *)buf_str(&f->body));
	assert_non_null(m);
	assert_int_equal(proto_json_write(m, &proto), 0);
	protobuf_c_message_free_unpacked(m, NULL);
	assert_string_equal(buf_str(&proto), buf_str(&json));
}

static void test_codecs(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(pair_rows); i++)
		compare_codecs(*state, &pair_rows[i]);
}

static void test_build_info(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(get(f, "/ready"), "ready");
	assert_string_equal(get(f, "/api/v1/status/buildinfo"),
			    "{\"status\":\"success\",\"data\":{\"version\":\"1.2.3\","
			    "\"revision\":\"\",\"branch\":\"\",\"buildUser\":\"\","
			    "\"buildDate\":\"\",\"goVersion\":\"\"}}");
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST_ROWS(test_ids, ids_rows, name),
	TEST_ROWS(test_selector_bytes, selectors, name),
	FILLED(test_names),
	FILLED(test_types_begin_with_cpu_time),
	FILLED(test_analyze),
	FIXTURE_TEST(test_settings),
	FILLED(test_stacktraces),
	FILLED(test_diff),
	FILLED(test_select_series),
	FILLED(test_first_point_reaches_back),
	FILLED(test_merge_profile),
	FILLED(test_stats),
	FIXTURE_TEST(test_empty_stats),
	FIXTURE_TEST(test_push_of_many),
	FIXTURE_TEST(test_push_without_a_service),
	FILLED(test_codecs),
	FIXTURE_TEST(test_build_info),
};

TEST_MAIN(tests)
