/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON for speedscope, read back. */
#include <jansson.h>

#include "agent/draw/speedscope.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/draw/graph.h"

#define PERIOD_NS 10000000 /* 100 Hz */
#define MAX_BYTES ((size_t)64 << 20)

/* Takes a new tree. */
static json_t *made_of(struct call_tree *tree)
{
	_cleanup_buf_ struct buf out = BUF_INIT(MAX_BYTES);
	json_t *json;

	assert_int_equal(call_tree_finish(tree), 0);
	const struct speedscope_part part = { tree, &graph_facts };
	assert_int_equal(speedscope_json(&part, 1, &out), 0);
	json = json_loadb(buf_str(&out), out.len, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(json);
	call_tree_free(tree);
	return json;
}

static const char *text_of(const json_t *json, const char *key)
{
	return json_string_value(json_object_get(json, key));
}

static json_t *profile_of(const json_t *json)
{
	return json_array_get(json_object_get(json, "profiles"), 0);
}

static const char *frame_of(const json_t *json, size_t sample, size_t depth)
{
	json_t *frames = json_object_get(json_object_get(json, "shared"), "frames");
	json_t *stack = json_array_get(json_object_get(profile_of(json), "samples"), sample);
	json_t *index = json_array_get(stack, depth);

	return text_of(json_array_get(frames, (size_t)json_integer_value(index)), "name");
}

static size_t depth_of(const json_t *json, size_t sample)
{
	return json_array_size(
		json_array_get(json_object_get(profile_of(json), "samples"), sample));
}

static int64_t weight_of(const json_t *json, size_t sample)
{
	return json_integer_value(
		json_array_get(json_object_get(profile_of(json), "weights"), sample));
}

static void test_shape(void **state)
{
	struct call_tree *tree = graph_new();
	json_t *json, *profile;

	(void)state;
	graph_add(tree, 5, STACK("make", "main", "spin"));
	graph_add(tree, 2, STACK("make", "main"));
	graph_add(tree, 3, STACK("sh", "main"));
	json = made_of(tree);
	profile = profile_of(json);
	assert_string_equal(text_of(json, "$schema"),
			    "https://www.speedscope.app/file-format-schema.json");
	assert_string_equal(text_of(json, "name"), "CPU time of make");
	assert_string_equal(text_of(json, "exporter"), "xagent 1.2.3");
	assert_string_equal(text_of(profile, "type"), "sampled");
	assert_string_equal(text_of(profile, "unit"), "nanoseconds");
	assert_string_equal(
		text_of(profile, "name"),
		"CPU time of make: 612 samples in 6.3 s at 100 Hz, on web-1, 2023-11-14 "
		"22:13:20 UTC");
	assert_int_equal(json_integer_value(json_object_get(profile, "startValue")), 0);
	assert_int_equal(json_integer_value(json_object_get(profile, "endValue")), 10 * PERIOD_NS);
	assert_int_equal(json_array_size(json_object_get(profile, "samples")), 3);
	assert_int_equal(json_array_size(json_object_get(profile, "weights")), 3);
	json_decref(json);
}

static void test_samples(void **state)
{
	struct call_tree *tree = graph_new();
	json_t *json;

	(void)state;
	graph_add(tree, 5, STACK("make", "main", "spin"));
	graph_add(tree, 2, STACK("make", "main"));
	graph_add(tree, 3, STACK("sh", "main"));
	json = made_of(tree);
	assert_int_equal(depth_of(json, 0), 2);
	assert_string_equal(frame_of(json, 0, 0), "make");
	assert_string_equal(frame_of(json, 0, 1), "main");
	assert_int_equal(weight_of(json, 0), 2 * PERIOD_NS);
	assert_int_equal(depth_of(json, 1), 3);
	assert_string_equal(frame_of(json, 1, 2), "spin");
	assert_int_equal(weight_of(json, 1), 5 * PERIOD_NS);
	assert_int_equal(depth_of(json, 2), 2);
	assert_string_equal(frame_of(json, 2, 0), "sh");
	assert_int_equal(weight_of(json, 2), 3 * PERIOD_NS);
	json_decref(json);
}

static void test_empty(void **state)
{
	json_t *json = made_of(graph_new());

	(void)state;
	assert_int_equal(json_array_size(json_object_get(profile_of(json), "samples")), 0);
	assert_int_equal(json_array_size(json_object_get(profile_of(json), "weights")), 0);
	json_decref(json);
}

/* Each event is a profile; frames of the second are behind those of the first. */
static void test_several(void **state)
{
	struct flame_facts waits = graph_facts;
	struct call_tree *trees[] = { graph_new(), graph_new() };
	const struct speedscope_part parts[] = { { trees[0], &graph_facts }, { trees[1], &waits } };
	_cleanup_buf_ struct buf out = BUF_INIT(MAX_BYTES);
	json_t *json, *profiles, *second, *frames, *stack;

	(void)state;
	waits.event.event = EVENT_OFF_CPU;
	graph_add(trees[0], 5, STACK("make", "main", "spin"));
	graph_add(trees[1], 7, STACK("make", "sleep"));
	for (size_t i = 0; i < ARRAY_SIZE(trees); i++)
		assert_int_equal(call_tree_finish(trees[i]), 0);
	assert_int_equal(speedscope_json(parts, ARRAY_SIZE(parts), &out), 0);
	json = json_loadb(buf_str(&out), out.len, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(json);
	assert_string_equal(text_of(json, "name"), "Profiles of make");
	profiles = json_object_get(json, "profiles");
	assert_int_equal(json_array_size(profiles), 2);
	assert_string_equal(frame_of(json, 0, 2), "spin");
	second = json_array_get(profiles, 1);
	assert_string_equal(text_of(second, "unit"), "nanoseconds");
	assert_int_equal(json_integer_value(json_object_get(second, "endValue")), 7);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(second, "weights"), 0)),
			 7);
	frames = json_object_get(json_object_get(json, "shared"), "frames");
	stack = json_array_get(json_object_get(second, "samples"), 0);
	assert_int_equal(json_array_size(stack), 2);
	assert_string_equal(text_of(json_array_get(frames, (size_t)json_integer_value(
								   json_array_get(stack, 1))),
				    "name"),
			    "sleep");
	json_decref(json);
	for (size_t i = 0; i < ARRAY_SIZE(trees); i++)
		call_tree_free(trees[i]);
}

static void test_deep(void **state)
{
	struct call_tree *tree = graph_new();
	const char *names[1000] = { NULL };
	json_t *json;

	(void)state;
	for (size_t i = 0; i + 1 < ARRAY_SIZE(names); i++)
		names[i] = "descend";
	graph_add(tree, 1, names);
	json = made_of(tree);
	assert_int_equal(depth_of(json, 0), ARRAY_SIZE(names) - 1);
	json_decref(json);
}

static void test_name(void **state)
{
	const struct hostile *hostile = *state;
	const char *name = hostile->text;
	struct call_tree *tree = graph_new();
	json_t *json;

	graph_add(tree, 1, STACK(name, "main", name));
	json = made_of(tree);
	assert_string_equal(frame_of(json, 0, 0), frame_of(json, 0, 2));
	/* What is no UTF-8 has been repaired. */
	if (str_is_utf8(str_from(name)))
		assert_string_equal(frame_of(json, 0, 0), name);
	json_decref(json);
}

static void test_ceiling(void **state)
{
	_cleanup_(call_tree_freep) struct call_tree *tree = graph_new();
	_cleanup_buf_ struct buf out = BUF_INIT(400);

	(void)state;
	graph_add(tree, 1, STACK("a_long_name_for_a_small_buffer", "another_long_name", "x"));
	assert_int_equal(call_tree_finish(tree), 0);
	const struct speedscope_part part = { tree, &graph_facts };
	assert_true(speedscope_json(&part, 1, &out) < 0);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_name, hostiles, name),
	TEST(test_shape),
	TEST(test_samples),
	TEST(test_empty),
	TEST(test_several),
	TEST(test_deep),
	TEST(test_ceiling),
};

TEST_MAIN(tests)
