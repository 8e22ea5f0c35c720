/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as names: the picture is XML, speedscope's file is JSON, and both have every sample.
 *
 * A name ends with a NUL byte, a stack with an empty name.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cli/profile/viewer_hint.h"
#include "agent/draw/flame_svg.h"
#include "agent/draw/speedscope.h"
#include "tests/support/xml_check.h"

#define TREE_MAX_BYTES ((size_t)16 << 20)
#define OUT_MAX_BYTES ((size_t)256 << 20)
#define HZ 100

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
	if (!holds)
		abort();
}

/* Returns the number of stacks. */
static int64_t fill(struct call_tree *tree, const char *text, size_t n)
{
	uint32_t name, node = CALL_ROOT;
	int64_t n_stacks = 0;

	for (size_t at = 0, length; at < n; at += length + 1) {
		length = strnlen(text + at, n - at);
		if (length == 0) {
			call_tree_add(tree, node, CALL_LEFT, 1);
			node = CALL_ROOT;
			n_stacks++;
		} else if (call_tree_name(tree, text + at, length, &name) < 0 ||
			   call_tree_child(tree, node, name, &node) < 0) {
			break;
		}
	}
	require(call_tree_finish(tree) == 0);
	return n_stacks;
}

static void check_svg(struct call_tree *tree, const struct flame_facts *facts)
{
	_cleanup_buf_ struct buf out = BUF_INIT(OUT_MAX_BYTES);

	require(flame_svg(&(struct flame_tree){ .calls = tree }, facts, &out) == 0);
	require(xml_is_well_formed(buf_str(&out), out.len));
}

static void check_speedscope(const struct call_tree *tree, const struct flame_facts *facts,
			     int64_t n_stacks)
{
	_cleanup_buf_ struct buf out = BUF_INIT(OUT_MAX_BYTES);
	json_t *json, *profile, *weight;
	int64_t sum = 0;
	size_t i;

	const struct speedscope_part part = { tree, facts };

	require(speedscope_json(&part, 1, &out) == 0);
	json = json_loadb(buf_str(&out), out.len, JSON_REJECT_DUPLICATES, NULL);
	require(json != NULL);
	profile = json_array_get(json_object_get(json, "profiles"), 0);
	json_array_foreach(json_object_get(profile, "weights"), i, weight) sum +=
		json_integer_value(weight);
	require(sum == n_stacks * (1000000000 / HZ));
	json_decref(json);
}

/* One line, whatever the file is called; control characters are the caller's. */
static void check_look(const char *text)
{
	for (unsigned int i = PROFILE_FORMAT_UNSET; i < PROFILE_FORMAT_MAX; i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(OUT_MAX_BYTES);

		viewer_hint_text(&(struct viewer_hint){ i, text, text, 2 }, &out);
		require(!out.failed);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(call_tree_freep) struct call_tree *tree = NULL;
	_cleanup_free_ char *text = strndup((const char *)data, size);
	int64_t n_stacks;

	require(text != NULL && call_tree_new(NULL, TREE_MAX_BYTES, &tree) == 0);
	n_stacks = fill(tree, (const char *)data, size);
	const struct flame_facts facts = {
		.subject = text, .host = text, .hz = HZ, .exporter = "xagent 1.2.3"
	};
	check_svg(tree, &facts);
	check_speedscope(tree, &facts, n_stacks);
	check_look(text);
	return 0;
}
