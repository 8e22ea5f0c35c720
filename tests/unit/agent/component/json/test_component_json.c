/* SPDX-License-Identifier: Apache-2.0 */
/* Components of a graph as web pages read them. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/real_graph.h"

#include "agent/component/json/component_json.h"

#define CONFIG                                                                               \
	WRITE DISCOVERY EBPF_DISCOVERED LOGGING                                              \
		"declare \"shift\" {\n"                                                      \
		"\targument \"url\" { }\n"                                                   \
		"\tpyroscope.write \"inner\" {\n\t\tendpoint {\n\t\t\turl = "                \
		"argument.url.value\n\t\t}\n\t}\n"                                           \
		"\texport \"receiver\" {\n\t\tvalue = pyroscope.write.inner.receiver\n\t}\n" \
		"}\n"                                                                        \
		"shift \"s\" {\n\turl = \"http://127.0.0.1:2\"\n}\n"

static json_t *of(const struct fixture *f, const char *id, bool detail)
{
	size_t i;

	assert_true(graph_find(f->graph, id, &i));
	_cleanup_(component_snapshot_freep) struct component_snapshot *s = NULL;
	assert_int_equal(component_snapshot_new(f->graph, &s), 0);
	if (detail)
		assert_int_equal(component_snapshot_add_detail(s, f->graph, i), 0);
	json_t *json = component_json(s, i);
	assert_non_null(json);
	return json;
}

/* What was held is told as it was, whatever became of the graph. */
static void test_held_over_a_load(void **state)
{
	struct fixture *f = *state;
	size_t i;

	assert_loads(f, CONFIG);
	_cleanup_(component_snapshot_freep) struct component_snapshot *s = NULL;
	assert_int_equal(component_snapshot_new(f->graph, &s), 0);
	assert_true(graph_find(f->graph, "shift.s", &i));
	assert_int_equal(component_snapshot_add_detail(s, f->graph, i), 0);
	size_t shift = i;
	assert_true(graph_find(f->graph, "pyroscope.ebpf.instance", &i));
	assert_int_equal(component_snapshot_add_detail(s, f->graph, i), 0);
	json_t *before = component_json(s, i), *shift_before = component_json(s, shift);
	assert_loads(f, LOGGING);
	json_t *after = component_json(s, i), *shift_after = component_json(s, shift);
	assert_true(json_equal(before, after));
	assert_true(json_equal(shift_before, shift_after));
	assert_non_null(json_object_get(after, "arguments"));
	json_decref(before);
	json_decref(after);
	json_decref(shift_before);
	json_decref(shift_after);
}

static void assert_keys(const json_t *object, const char *expected)
{
	_cleanup_buf_ struct buf keys = BUF_INIT(4096);
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)(void) buf_printf(&keys, "%s ", key);
	assert_string_equal(buf_str(&keys), expected);
}

static void assert_member(const json_t *object, const char *key, const char *expected)
{
	_cleanup_free_ char *text =
		json_dumps(json_object_get(object, key), JSON_COMPACT | JSON_ENCODE_ANY);

	assert_non_null(text);
	assert_string_equal(text, expected);
}

#define HEAD                                                                                 \
	"name type localID moduleID label referencesTo referencedBy dataFlowEdgesTo health " \
	"original "

static void test_detail(void **state)
{
	struct fixture *f = *state;

	assert_loads(f, CONFIG);
	json_t *c = of(f, "pyroscope.ebpf.instance", true);
	assert_keys(c, HEAD "arguments debugInfo liveDebuggingEnabled ");
	assert_member(c, "name", "\"pyroscope.ebpf\"");
	assert_member(c, "type", "\"block\"");
	assert_member(c, "localID", "\"pyroscope.ebpf.instance\"");
	assert_member(c, "moduleID", "\"\"");
	assert_member(c, "label", "\"instance\"");
	assert_member(c, "referencesTo",
		      "[\"pyroscope.write.endpoint\",\"discovery.process.all\"]");
	assert_member(c, "referencedBy", "[]");
	assert_member(c, "dataFlowEdgesTo", "[\"pyroscope.write.endpoint\"]");
	assert_member(c, "original", "\"\"");
	assert_member(c, "liveDebuggingEnabled", "false");
	assert_keys(json_object_get(c, "health"), "state message updatedTime ");
	assert_member(json_object_get(c, "health"), "state", "\"unknown\"");
	json_decref(c);
	c = of(f, "pyroscope.write.endpoint", true);
	assert_keys(c, HEAD "arguments exports liveDebuggingEnabled ");
	assert_member(c, "referencedBy", "[\"pyroscope.ebpf.instance\"]");
	assert_member(c, "exports",
		      "[{\"name\":\"receiver\",\"type\":\"attr\",\"value\":{\"type\":\"capsule\","
		      "\"value\":"
		      "\"capsule(\\\"ProfilesReceiver\\\")\"}}]");
	json_decref(c);
}

/* Without a session: the host's facts alone, and the targets as they are given. */
static void test_debug_info(void **state)
{
	static const char targets[] =
		"{\"name\":\"targets\",\"type\":\"attr\",\"value\":{\"type\":\"array\",\"value\":[{"
		"\"type\":\"object\",\"value\":[{\"key\":\"__container_id__\",\"value\":{\"type\":"
		"\"string\","
		"\"value\":\"" ID "\"}},{\"key\":\"__name__\",";
	struct fixture *f = *state;
	json_t *key;

	assert_loads(f, WRITE EBPF);
	json_t *c = of(f, "pyroscope.ebpf.instance", true);
	const json_t *info = json_object_get(c, "debugInfo");
	_cleanup_free_ char *text = json_dumps(json_array_get(info, 1), JSON_COMPACT);
	assert_int_equal(strncmp(text, targets, strlen(targets)), 0);
	assert_member(json_array_get(info, 0), "name", "\"session\"");
	key = json_object_get(json_object_get(json_array_get(info, 0), "value"), "value");
	assert_int_equal(json_array_size(key), 2);
	assert_member(json_array_get(key, 0), "key", "\"arch\"");
	assert_member(json_array_get(key, 1), "key", "\"kernel\"");
	json_decref(c);
}

static void test_source_of_data(void **state)
{
	struct fixture *f = *state;

	assert_loads(f, CONFIG);
	json_t *c = of(f, "discovery.process.all", false);
	assert_keys(c, HEAD "liveDebuggingEnabled ");
	assert_member(c, "dataFlowEdgesTo", "[\"pyroscope.ebpf.instance\"]");
	json_decref(c);
}

/* What is no receiver goes to who names it. */
static void test_handler_goes_to_who_uses_it(void **state)
{
	struct fixture *f = *state;

	assert_loads(f, "otelcol.auth.bearer \"a\" { token = \"t\" }\n"
			"otelcol.exporter.otlphttp \"o\" {\n client {\n endpoint = \"http://h\"\n"
			"auth = otelcol.auth.bearer.a.handler\n}\n}\n");
	json_t *c = of(f, "otelcol.auth.bearer.a", false);
	assert_member(c, "dataFlowEdgesTo", "[\"otelcol.exporter.otlphttp.o\"]");
	json_decref(c);
	c = of(f, "otelcol.exporter.otlphttp.o", false);
	assert_member(c, "dataFlowEdgesTo", "[]");
	json_decref(c);
}

static void test_modules(void **state)
{
	struct fixture *f = *state;

	assert_loads(f, CONFIG);
	json_t *owner = of(f, "shift.s", true);
	assert_keys(owner, HEAD "arguments exports createdModuleIDs liveDebuggingEnabled ");
	assert_member(owner, "name", "\"shift\"");
	assert_member(owner, "createdModuleIDs", "[\"shift.s\"]");
	assert_member(owner, "arguments",
		      "[{\"name\":\"url\",\"type\":\"attr\",\"value\":{\"type\":\"string\","
		      "\"value\":\"http://127.0.0.1:2\"}}]");
	json_decref(owner);
	json_t *inner = of(f, "shift.s/pyroscope.write.inner", true);
	assert_member(inner, "localID", "\"pyroscope.write.inner\"");
	assert_member(inner, "moduleID", "\"shift.s\"");
	json_decref(inner);
}

static void assert_lists(const struct fixture *f, const char *module_id, const char *expected)
{
	_cleanup_buf_ struct buf ids = BUF_INIT(4096);
	_cleanup_(component_snapshot_freep) struct component_snapshot *s = NULL;
	assert_int_equal(component_snapshot_new(f->graph, &s), 0);
	json_t *list = components_json(s, module_id);
	json_t *c;
	size_t i;

	json_array_foreach(list, i, c)(void)
		buf_printf(&ids, "%s ", json_string_value(json_object_get(c, "localID")));
	json_decref(list);
	assert_string_equal(buf_str(&ids), expected);
}

/* Configuration blocks and services are none. */
static void test_lists(void **state)
{
	struct fixture *f = *state;

	assert_loads(f, CONFIG);
	assert_lists(f, "shift.s", "pyroscope.write.inner ");
	assert_lists(f, "nobody", "");
	assert_lists(
		f, "",
		"pyroscope.write.endpoint discovery.process.all pyroscope.ebpf.instance shift.s ");
	assert_lists(f, NULL,
		     "pyroscope.write.endpoint discovery.process.all pyroscope.ebpf.instance "
		     "shift.s pyroscope.write.inner ");
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_detail),
	FIXTURE_TEST(test_held_over_a_load),
	FIXTURE_TEST(test_debug_info),
	FIXTURE_TEST(test_source_of_data),
	FIXTURE_TEST(test_handler_goes_to_who_uses_it),
	FIXTURE_TEST(test_modules),
	FIXTURE_TEST(test_lists),
};

TEST_MAIN(tests)
