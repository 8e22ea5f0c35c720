/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies into structs: every kind, defaults, and every complaint with its place. */
#include "tests/support/unit.h"
#include "tests/unit/river-config/river_test.h"

#include <stdio.h>

struct tls {
	const char *ca;
	bool insecure;
};

struct endpoint {
	const char *label;
	const char *url;
	int64_t timeout_ns;
};

struct everything {
	const char *text;
	bool flag;
	int64_t number;
	uint64_t count;
	double ratio;
	int64_t interval_ns;
	const char *password;
	struct river_strings list;
	struct river_string_map map;
	struct river_string_maps maps;
	void *receiver;
	struct river_capsules receivers;
	const struct river_value *any;
	struct river_secret content;
	struct river_list_map headers;
	struct river_strings pair;
	struct tls options;
	struct tls tls;
	struct tls *proxy;
	struct river_blocks two;
	struct river_blocks endpoints;
};

#define RECEIVER "pyroscope.Appendable"

static const struct river_field tls_fields[] = {
	RIVER_FIELD_STRING(struct tls, ca, "ca", .def = "system"),
	RIVER_FIELD_BOOL(struct tls, insecure, "insecure"),
};
static const struct river_schema tls_schema = RIVER_SCHEMA(struct tls, "tls", tls_fields);

static const char *validate_number(const void *field, struct river_arena *arena)
{
	char text[64];
	int n;

	if (*(const int64_t *)field >= 0)
		return NULL;
	n = snprintf(text, sizeof(text), "number must not be %lld",
		     (long long)*(const int64_t *)field);
	return river_arena_strndup(arena, text, (size_t)n);
}

static const char *validate_object(const void *self, struct river_arena *arena)
{
	(void)arena;
	return strcmp(((const struct tls *)self)->ca, "bad") == 0 ? "ca must not be bad" : NULL;
}

static const struct river_field object_fields[] = {
	RIVER_FIELD_STRING(struct tls, ca, "ca", .def = "system", .flags = RIVER_REQUIRED),
	RIVER_FIELD_BOOL(struct tls, insecure, "insecure"),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "old", 0, .validate = validate_number),
	RIVER_FIELD_IGNORED(RIVER_KIND_BLOCK, "nested", 0, .schema = &tls_schema),
};
static const struct river_schema object_schema =
	RIVER_SCHEMA(struct tls, "options", object_fields, .validate = validate_object);

static const char *validate_endpoint(const void *self, struct river_arena *arena)
{
	const struct endpoint *e = self;

	(void)arena;
	return e->timeout_ns < 0 ? "timeout must not be negative" : NULL;
}

static const struct river_field endpoint_fields[] = {
	RIVER_FIELD_LABEL(struct endpoint, label),
	RIVER_FIELD_STRING(struct endpoint, url, "url", .flags = RIVER_REQUIRED),
	RIVER_FIELD_DURATION(struct endpoint, timeout_ns, "timeout", .def = "10s"),
};
static const struct river_schema endpoint_schema =
	RIVER_SCHEMA(struct endpoint, "endpoint", endpoint_fields, .validate = validate_endpoint);

static void init_everything(void *self)
{
	struct everything *x = self;

	x->count = 42;
	x->tls.insecure = true;
}

static const char *validate_everything(const void *self, struct river_arena *arena)
{
	const struct everything *x = self;

	(void)arena;
	return x->ratio > 1 ? "ratio must be at most 1" : NULL;
}

static const struct river_field fields[] = {
	RIVER_FIELD_STRING(struct everything, text, "text"),
	RIVER_FIELD_BOOL(struct everything, flag, "flag", .def = "true"),
	RIVER_FIELD_INT(struct everything, number, "number", .def = "-3",
			.validate = validate_number),
	RIVER_FIELD_UINT(struct everything, count, "count"),
	RIVER_FIELD_FLOAT(struct everything, ratio, "ratio", .def = "0.25"),
	RIVER_FIELD_DURATION(struct everything, interval_ns, "collect_interval", .def = "15s"),
	RIVER_FIELD_SECRET(struct everything, password, "password"),
	RIVER_FIELD_STRING_LIST(struct everything, list, "list"),
	RIVER_FIELD_STRING_MAP(struct everything, map, "map"),
	RIVER_FIELD_STRING_MAP_LIST(struct everything, maps, "maps"),
	RIVER_FIELD_CAPSULE(struct everything, receiver, "receiver", RECEIVER),
	RIVER_FIELD_CAPSULE_LIST(struct everything, receivers, "forward_to", RECEIVER),
	RIVER_FIELD_VALUE(struct everything, any, "any"),
	RIVER_FIELD_OPTIONAL_SECRET(struct everything, content, "content"),
	RIVER_FIELD_SECRET_LIST_MAP(struct everything, headers, "headers"),
	RIVER_FIELD_STRING_LIST(struct everything, pair, "pair", .length = 2),
	RIVER_FIELD_OBJECT(struct everything, options, "options", &object_schema),
	RIVER_FIELD_BLOCK(struct everything, tls, "tls_config", &tls_schema),
	RIVER_FIELD_BLOCKS(struct everything, two, "two", &tls_schema, .length = 2),
	RIVER_FIELD_BLOCK_PTR(struct everything, proxy, "proxy", &tls_schema),
	RIVER_FIELD_BLOCKS(struct everything, endpoints, "endpoint", &endpoint_schema),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "cache_size", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BLOCKS, "old_block", RIVER_DEPRECATED,
			    .schema = &tls_schema),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "old_name", RIVER_DEPRECATED, .note = "use text"),
};
static const struct river_schema schema =
	RIVER_SCHEMA(struct everything, "everything", fields, .init = init_everything,
		     .validate = validate_everything);

static const struct river_field required_fields[] = {
	RIVER_FIELD_STRING(struct endpoint, url, "url", .flags = RIVER_REQUIRED),
	RIVER_FIELD_IGNORED(RIVER_KIND_BLOCK, "auth", RIVER_REQUIRED, .schema = &tls_schema),
};
static const struct river_schema required_schema =
	RIVER_SCHEMA(struct endpoint, "required", required_fields);

static int receiver_object;

static const struct river_value *test_lookup(void *ctx, struct river_arena *a, const char *name)
{
	(void)ctx;
	if (strcmp(name, "receiver") == 0)
		return river_value_capsule(a, RECEIVER, &receiver_object);
	if (strcmp(name, "other") == 0)
		return river_value_capsule(a, "loki.LogsReceiver", &receiver_object);
	if (strcmp(name, "secret") == 0)
		return river_value_secret(a, "pass", 4);
	if (strcmp(name, "deep") == 0) {
		const struct river_value *number = river_value_bool(a, true);
		const struct river_member member = { "name", number };
		const struct river_value *object = river_value_object(a, &member, 1);
		const struct river_value *items[] = { object };
		const struct river_member outer = { "targets", river_value_array(a, items, 1) };

		return river_value_object(a, &outer, 1);
	}
	return NULL;
}

static const struct river_scope scope = { .lookup = test_lookup };

struct load {
	struct river_arena arena;
	struct river_diags diags;
	int result;
};

static void load(struct load *l, const char *text, const struct river_schema *s, void *out)
{
	const struct river_file *file;

	river_arena_init(&l->arena, TEST_ARENA_BYTES);
	river_diags_init(&l->diags, &l->arena);
	assert_int_equal(river_parse("t", text, strlen(text), &l->arena, &l->diags, &file),
			 RIVER_OK);
	l->result = river_decode_block(file->body.stmts[0], s, &scope, &l->arena, &l->diags, out);
}

static void test_defaults(void **state)
{
	struct everything x;
	struct load l;

	(void)state;
	load(&l, "x {}", &schema, &x);
	assert_int_equal(l.result, RIVER_OK);
	assert_string_equal(x.text, "");
	assert_true(x.flag);
	assert_int_equal(x.number, -3);
	assert_int_equal(x.count, 42);
	assert_true(x.ratio == 0.25);
	assert_int_equal(x.interval_ns, 15000000000);
	assert_int_equal(x.list.n_items, 0);
	assert_true(river_value_is_null(x.any));
	assert_string_equal(x.tls.ca, "system");
	assert_true(x.tls.insecure); /* absent: what the parent says */
	assert_string_equal(x.content.text, "");
	assert_false(x.content.is_secret);
	assert_int_equal(x.headers.n_items, 0);
	assert_string_equal(x.options.ca, "system");
	assert_null(x.proxy);
	assert_int_equal(x.endpoints.n_items, 0);
	river_arena_fini(&l.arena);
}

static void test_all_kinds(void **state)
{
	static const char text[] =
		"x \"label\" {\n"
		"\ttext = 1.50\n\tflag = false\n\tnumber = \"12\"\n\tcount = 7.9\n\tratio = "
		"\"1e-1\"\n"
		"\tcollect_interval = \"1h2m3.5s\"\n\tpassword = secret\n\tlist = [\"a\", 2]\n"
		"\tmap = {b = \"2\", a = 1}\n\tmaps = [{}, {k = \"v\"}]\n\treceiver = receiver\n"
		"\tforward_to = [receiver, null]\n\tany = [1, {a = null}]\n"
		"\ttls_config {\n\t\tca = \"mine\"\n\t}\n\tproxy { }\n"
		"\tendpoint \"one\" {\n\t\turl = \"u1\"\n\t}\n"
		"\tendpoint \"two\" {\n\t\turl = \"u2\"\n\t\ttimeout = \"1500ns\"\n\t}\n}";
	const struct endpoint *endpoints;
	struct everything x;
	struct load l;

	(void)state;
	load(&l, text, &schema, &x);
	assert_int_equal(l.result, RIVER_OK);
	assert_string_equal(x.text, "1.5");
	assert_false(x.flag);
	assert_int_equal(x.number, 12);
	assert_int_equal(x.count, 7);
	assert_true(x.ratio == 0.1);
	assert_int_equal(x.interval_ns, 3723500000000);
	assert_string_equal(x.password, "pass");
	assert_int_equal(x.list.n_items, 2);
	assert_string_equal(x.list.items[1], "2");
	assert_int_equal(x.map.n_items, 2);
	assert_string_equal(x.map.keys[0], "a");
	assert_string_equal(x.map.values[0], "1");
	assert_int_equal(x.maps.n_items, 2);
	assert_int_equal(x.maps.items[0].n_items, 0);
	assert_string_equal(x.maps.items[1].values[0], "v");
	assert_ptr_equal(x.receiver, &receiver_object);
	assert_int_equal(x.receivers.n_items, 2);
	assert_ptr_equal(x.receivers.items[0], &receiver_object);
	assert_null(x.receivers.items[1]);
	assert_int_equal(river_value_len(x.any), 2);
	assert_string_equal(x.tls.ca, "mine");
	assert_false(x.tls.insecure); /* present: its own defaults */
	assert_non_null(x.proxy);
	assert_string_equal(x.proxy->ca, "system");
	assert_int_equal(x.endpoints.n_items, 2);
	endpoints = x.endpoints.items;
	assert_string_equal(endpoints[0].label, "one");
	assert_int_equal(endpoints[0].timeout_ns, 10000000000);
	assert_string_equal(endpoints[1].url, "u2");
	assert_int_equal(endpoints[1].timeout_ns, 1500);
	river_arena_fini(&l.arena);
}

static void test_composite_kinds(void **state)
{
	static const char text[] = "x {\n\tcontent = secret\n\tpair = [\"a\", \"b\"]\n"
				   "\theaders = {\"X-B\" = [secret, \"plain\"], A = [], C = null}\n"
				   "\toptions = {insecure = true, old = \"1\"}\n"
				   "\ttwo {\n\t\tca = \"1\"\n\t}\n\ttwo {\n\t\tca = \"2\"\n\t}\n}";
	struct everything x;
	struct load l;

	(void)state;
	load(&l, text, &schema, &x);
	assert_int_equal(l.result, RIVER_OK);
	assert_string_equal(x.content.text, "pass");
	assert_true(x.content.is_secret);
	assert_string_equal(x.pair.items[1], "b");
	assert_int_equal(x.headers.n_items, 3);
	assert_string_equal(x.headers.keys[0], "A");
	assert_int_equal(x.headers.lists[0].n_items, 0);
	assert_int_equal(x.headers.lists[1].n_items, 0);
	assert_string_equal(x.headers.keys[2], "X-B");
	assert_int_equal(x.headers.lists[2].n_items, 2);
	assert_string_equal(x.headers.lists[2].items[0], "pass");
	assert_string_equal(x.headers.lists[2].items[1], "plain");
	assert_string_equal(x.options.ca, "system"); /* an object has its own defaults */
	assert_true(x.options.insecure);
	assert_int_equal(x.two.n_items, 2);
	assert_string_equal(((const struct tls *)x.two.items)[1].ca, "2");
	river_arena_fini(&l.arena);
	load(&l, "x {\n\toptions = null\n\tcontent = \"open\"\n\theaders = null\n}", &schema, &x);
	assert_int_equal(l.result, RIVER_OK);
	assert_string_equal(x.options.ca, "");
	assert_string_equal(x.content.text, "open");
	assert_false(x.content.is_secret);
	river_arena_fini(&l.arena);
}

/* Null is the zero value, not the default. */
static void test_null(void **state)
{
	struct everything x;
	struct load l;

	(void)state;
	load(&l,
	     "x {\n\ttext = null\n\tflag = null\n\tnumber = null\n\tcollect_interval = "
	     "null\n\tmaps = null\n"
	     "\treceiver = null\n\tforward_to = null\n\tpassword = null\n\tmap = null\n\tany = "
	     "null\n}",
	     &schema, &x);
	assert_int_equal(l.result, RIVER_OK);
	assert_string_equal(x.text, "");
	assert_false(x.flag);
	assert_int_equal(x.number, 0);
	assert_int_equal(x.interval_ns, 0);
	assert_int_equal(x.maps.n_items, 0);
	assert_null(x.receiver);
	assert_true(river_value_is_null(x.any));
	river_arena_fini(&l.arena);
}

static void test_complaint(void **state)
{
	const struct row *row = *state;
	struct output out = { .len = 0 };
	struct everything x;
	struct load l;

	load(&l, row->input, &schema, &x);
	output_diags(&out, &l.diags);
	assert_string_equal(out.data, row->expected);
	assert_int_equal(l.result, l.diags.n_errors ? RIVER_INVALID : RIVER_OK);
	river_arena_fini(&l.arena);
}

static void test_required(void **state)
{
	const struct row *row = *state;
	struct output out = { .len = 0 };
	struct endpoint x;
	struct load l;

	load(&l, row->input, &required_schema, &x);
	output_diags(&out, &l.diags);
	assert_string_equal(out.data, row->expected);
	river_arena_fini(&l.arena);
}

static const struct row rows[] = {
	{ "unknown attribute", "x {\n\tunrelated = 1\n}",
	  "t:2:2: unrecognized attribute name \"unrelated\"\n" },
	{ "unknown attribute, nothing guessed", "x {\n\tcollect_intervall = 1\n}",
	  "t:2:2: unrecognized attribute name \"collect_intervall\"\n" },
	{ "unknown block", "x {\n\tendpint \"a\" { }\n\tfoobar { }\n}",
	  "t:2:2: unrecognized block name \"endpint\"\n"
	  "t:3:2: unrecognized block name \"foobar\"\n" },
	{ "attribute twice", "x {\n\ttext = \"a\"\n\ttext = \"b\"\n}",
	  "t:3:2: attribute \"text\" may only be provided once\n" },
	{ "block used as attribute", "x {\n\ttls_config = {}\n}",
	  "t:2:2: \"tls_config\" must be a block, but is used as an attribute\n" },
	{ "attribute used as block", "x {\n\ttext { }\n}",
	  "t:2:2: \"text\" must be an attribute, but is used as a block\n" },
	{ "block twice", "x {\n\ttls_config { }\n\ttls_config { }\n}",
	  "t:2:2: block \"tls_config\" may only be specified once\n" },
	{ "label missing", "x {\n\tendpoint {\n\t\turl = \"u\"\n\t}\n}",
	  "t:2:2: block \"endpoint\" requires non-empty label\n" },
	{ "label too many", "x {\n\tproxy \"a\" { }\n}",
	  "t:2:2: block \"proxy\" does not support specifying labels\n" },
	{ "missing in a nested block", "x {\n\tendpoint \"a\" {\n\t}\n}",
	  "t:2:2: missing required attribute \"url\"\n" },
	{ "wrong type", "x {\n\tnumber = \"fast\"\n}",
	  "t:2:11: \"fast\" should be number, got string\n" },
	{ "negative fraction in a string", "x {\n\tratio = \"-1.5\"\n}",
	  "t:2:10: \"-1.5\" should be number, got string\n" },
	{ "bool from string", "x {\n\tflag = \"true\"\n}",
	  "t:2:9: \"true\" should be bool, got string\n" },
	{ "text from secret", "x {\n\ttext = secret\n}",
	  "t:2:9: secret should be string, got capsule\n" },
	{ "secret from number", "x {\n\tpassword = 1\n}",
	  "t:2:13: 1 should be capsule, got number\n" },
	{ "item of a list", "x {\n\tlist = [\"a\", true]\n}",
	  "t:2:15: true should be string, got bool\n" },
	{ "value of a map", "x {\n\tmap = {a = []}\n}",
	  "t:2:13: [] should be string, got array\n" },
	{ "array for a map", "x {\n\tmap = [1]\n}", "t:2:8: [1] should be object, got array\n" },
	{ "object for a list", "x {\n\tlist = {a = 1}\n}",
	  "t:2:9: {a = 1} should be array, got object\n" },
	{ "path to what is not in the file", "x {\n\tmaps = deep.targets\n}",
	  "t:2:9: deep.targets[0].name should be string, got bool\n" },
	{ "path inside a literal", "x {\n\tmaps = [deep.targets[0]]\n}",
	  "t:2:10: deep.targets[0].name should be string, got bool\n" },
	{ "path inside a call", "x {\n\tmaps = concat(deep.targets)\n}",
	  "t:2:9: concat(deep.targets)[0].name should be string, got bool\n" },
	{ "capsule of another type", "x {\n\treceiver = other\n\tforward_to = [other, 1, {}]\n}",
	  "t:2:13: other expected capsule(\"pyroscope.Appendable\"), got "
	  "capsule(\"loki.LogsReceiver\")\n"
	  "t:3:16: other expected capsule(\"pyroscope.Appendable\"), got "
	  "capsule(\"loki.LogsReceiver\")\n" },
	{ "capsule from a string", "x {\n\tforward_to = [\"x\"]\n}",
	  "t:2:16: \"x\" should be capsule, got string\n" },
	{ "duration without unit", "x {\n\tcollect_interval = \"5\"\n}",
	  "t:2:21: \"5\" time: missing unit in duration \"5\"\n" },
	{ "duration of unknown unit", "x {\n\tcollect_interval = \"5d\"\n}",
	  "t:2:21: \"5d\" time: unknown unit \"d\" in duration \"5d\"\n" },
	{ "duration that is none", "x {\n\tcollect_interval = \"fast\"\n}",
	  "t:2:21: \"fast\" time: invalid duration \"fast\"\n" },
	{ "duration from a number", "x {\n\tcollect_interval = 1500\n}",
	  "t:2:21: 1500 time: missing unit in duration \"1500\"\n" },
	{ "duration from a float", "x {\n\tcollect_interval = 1.5\n}",
	  "t:2:21: 1.5 time: missing unit in duration \"1.5\"\n" },
	{ "duration zero", "x {\n\tcollect_interval = 0\n}", "" },
	{ "duration from a bool", "x {\n\tcollect_interval = true\n}",
	  "t:2:21: true should be string, got bool\n" },
	{ "duration from a secret", "x {\n\tcollect_interval = secret\n}",
	  "t:2:21: secret should be string, got capsule\n" },
	{ "duration, empty", "x {\n\tcollect_interval = \"\"\n}",
	  "t:2:21: \"\" time: invalid duration \"\"\n" },
	{ "duration of odd characters", "x {\n\tcollect_interval = \"5\xc3\xa4\\t\\\"\"\n}",
	  "t:2:21: \"5\xc3\xa4\\t\\\"\" time: unknown unit \"\\xc3\\xa4\\x09\\\"\" in duration "
	  "\"5\\xc3\\xa4\\x09\\\"\"\n" },
	{ "number from an empty string", "x {\n\tnumber = \"\"\n}",
	  "t:2:11: \"\" should be number, got string\n" },
	{ "number from a plus sign", "x {\n\tnumber = \"+1\"\n}",
	  "t:2:11: \"+1\" should be number, got string\n" },
	{ "fractions are cut off", "x {\n\tnumber = \"2.9\"\n}", "" },
	{ "number from a secret", "x {\n\tnumber = secret\n}",
	  "t:2:11: secret should be number, got capsule\n" },
	{ "text from a bool", "x {\n\ttext = true\n}", "t:2:9: true should be string, got bool\n" },
	{ "text from null in a list", "x {\n\tlist = [null]\n}", "" },
	{ "optional secret from a number", "x {\n\tcontent = 5\n}",
	  "t:2:12: 5 should be capsule, got number\n" },
	{ "map of lists: no list", "x {\n\theaders = {a = \"b\"}\n}",
	  "t:2:17: \"b\" should be array, got string\n" },
	{ "map of lists: wrong item", "x {\n\theaders = {a = [\"b\", 1]}\n}",
	  "t:2:23: 1 should be capsule, got number\n" },
	{ "map of lists: no map", "x {\n\theaders = [\"b\"]\n}",
	  "t:2:12: [\"b\"] should be object, got array\n" },
	{ "list of a fixed length", "x {\n\tpair = [\"a\"]\n}",
	  "t:2:9: [\"a\"] array must have exactly 2 elements, got 1\n" },
	{ "object: unknown key", "x {\n\toptions = {cb = 1}\n}",
	  "t:2:12: {cb = 1} does not have field named \"cb\"\n" },
	{ "object: a block is no key", "x {\n\toptions = {nested = {}}\n}",
	  "t:2:12: {nested = {}} does not have field named \"nested\"\n" },
	{ "object: wrong type", "x {\n\toptions = {insecure = \"yes\"}\n}",
	  "t:2:24: \"yes\" should be bool, got string\n" },
	{ "object: path below a reference", "x {\n\toptions = deep\n}",
	  "t:2:12: deep does not have field named \"targets\"\n" },
	{ "object: path to its value", "x {\n\toptions = {ca = deep}\n}",
	  "t:2:18: deep should be string, got object\n" },
	{ "object: ignored rows are checked", "x {\n\toptions = {old = true}\n}",
	  "t:2:19: true should be number, got bool\n" },
	{ "object: validation of a row", "x {\n\toptions = {old = -5}\n}",
	  "t:2:19: -5 number must not be -5\n" },
	{ "refused blocks are not looked into",
	  "x {\n\tproxy {\n\t\tnope = 1\n\t}\n\tproxy {\n\t\tnope = 1\n\t}\n\ttwo {\n\t\tnope = "
	  "1\n\t}\n}",
	  "t:2:2: block \"proxy\" may only be specified once\n"
	  "t:8:2: block \"two\" must be specified exactly 2 times, but was specified 1 times\n" },
	{ "object: validation", "x {\n\toptions = {ca = \"bad\"}\n}",
	  "t:2:12: {ca = \"bad\"} ca must not be bad\n" },
	{ "object: no object", "x {\n\toptions = \"a\"\n}",
	  "t:2:12: \"a\" should be object, got string\n" },
	{ "object used as block", "x {\n\toptions {\n\t}\n}",
	  "t:2:2: \"options\" must be an attribute, but is used as a block\n" },
	{ "blocks of a fixed number", "x {\n\ttwo { }\n\ttwo { }\n\ttwo { }\n}",
	  "t:2:2: block \"two\" must be specified exactly 2 times, but was specified 3 times\n" },
	{ "block three times", "x {\n\tproxy { }\n\tproxy { }\n\tproxy { }\n}",
	  "t:2:2: block \"proxy\" may only be specified once\n" },
	{ "dotted block", "x {\n\ta.b { }\n}", "t:2:2: unrecognized block name \"a.b\"\n" },
	{ "evaluation error", "x {\n\ttext = nope\n}",
	  "t:2:9: identifier \"nope\" does not exist\n" },
	{ "validation of a row", "x {\n\tnumber = -1\n}", "t:2:2: number must not be -1\n" },
	{ "validation of a block", "x {\n\tratio = 1.5\n}", "t:1:1: ratio must be at most 1\n" },
	{ "validation of a nested block",
	  "x {\n\tendpoint \"a\" {\n\t\turl = \"u\"\n\t\ttimeout = \"-1s\"\n\t}\n}",
	  "t:2:2: timeout must not be negative\n" },
	{ "no validation after an error", "x {\n\tratio = 1.5\n\tnope_x = 1\n}",
	  "t:3:2: unrecognized attribute name \"nope_x\"\n" },
	{ "all errors of a body",
	  "x {\n\tratio = true\n\tfoobar = 1\n\tendpoint \"a\" {\n\t\turl = []\n\t\ttimeout = 1 / "
	  "0\n\t}\n"
	  "\ttext = [\n\t\t1,\n\t]\n}",
	  "t:2:10: true should be number, got bool\n"
	  "t:3:2: unrecognized attribute name \"foobar\"\n"
	  "t:5:9: [] should be string, got array\n"
	  "t:6:17: 0 divide by zero error\n"
	  "t:8:9: [\n\t1,\n] should be string, got array\n" },
	{ "ignored and deprecated",
	  "x {\n\tcache_size = 5\n\told_name = \"a\"\n\told_block { }\n\told_block { }\n}",
	  "warning: t:3:2: \"old_name\" is deprecated: use text\n"
	  "warning: t:4:2: \"old_block\" is deprecated\n"
	  "warning: t:5:2: \"old_block\" is deprecated\n" },
	{ "ignored is checked", "x {\n\tcache_size = \"big\"\n}",
	  "t:2:15: \"big\" should be number, got string\n" },
};

static const struct row required_rows[] = {
	{ "required rows", "x {\n}",
	  "t:1:1: missing required attribute \"url\"\nt:1:1: missing required block \"auth\"\n" },
	{ "required, wrong", "x {\n\turl = []\n\tauth = 1\n}",
	  "t:2:8: [] should be string, got array\nt:3:2: \"auth\" must be a block, but is used as "
	  "an attribute\n" },
	{ "required, given", "x {\n\turl = \"\"\n\tauth { }\n}", "" },
};

/* What an object of free attributes reads as, or what is wrong with them. */
static void test_attributes(void **state)
{
	const struct row *row = *state;
	struct output out = { .len = 0 };
	const struct river_value *object = NULL;
	const struct river_file *file;
	struct river_arena arena;
	struct river_diags diags;

	river_arena_init(&arena, TEST_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	assert_int_equal(river_parse("t", row->input, strlen(row->input), &arena, &diags, &file),
			 RIVER_OK);
	if (river_eval_attributes(&file->body, &scope, &arena, &diags, &object) == RIVER_OK)
		assert_int_equal(
			river_value_write(object, RIVER_LAYOUT_LINE, &arena, output_write, &out),
			0);
	output_diags(&out, &diags);
	assert_string_equal(out.data, row->expected);
	river_arena_fini(&arena);
}

static const struct row attribute_rows[] = {
	{ "attributes: none", "", "{}" },
	{ "attributes: any", "b = 1 + 1\na = [secret]", "{a = [\"(secret)\"], b = 2}" },
	{ "attributes: mistakes", "b = nope\na = 1\nb = 2\nc { }\na = 3\nd = 1 / 0\na = 4",
	  "t:1:5: identifier \"nope\" does not exist\n"
	  "t:3:1: attribute \"b\" may only be provided once\n"
	  "t:4:1: nested blocks not supported here\n"
	  "t:5:1: attribute \"a\" may only be provided once\n"
	  "t:6:9: 0 divide by zero error\n"
	  "t:7:1: attribute \"a\" may only be provided once\n" },
};

/* A default that does not fit its row is the programmer's mistake. */
static void test_bad_default(void **state)
{
	static const struct river_field bad_fields[] = {
		RIVER_FIELD_INT(struct endpoint, timeout_ns, "timeout", .def = "soon"),
	};
	static const struct river_schema bad = RIVER_SCHEMA(struct endpoint, "bad", bad_fields);
	struct river_arena arena;
	struct endpoint x;

	(void)state;
	river_arena_init(&arena, TEST_ARENA_BYTES);
	assert_int_equal(river_decode_defaults(&bad, &arena, &x), -22);
	river_arena_fini(&arena);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_complaint, rows, name),
	TEST_ROWS(test_required, required_rows, name),
	TEST_ROWS(test_attributes, attribute_rows, name),
	TEST(test_defaults),
	TEST(test_all_kinds),
	TEST(test_composite_kinds),
	TEST(test_null),
	TEST(test_bad_default),
};

TEST_MAIN(tests)
