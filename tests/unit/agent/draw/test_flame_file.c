/* SPDX-License-Identifier: Apache-2.0 */
/* A tree as a file: the page with its data, read back from it. The other forms have tests of their own. */
#include <jansson.h>
#include <stdio.h>

#include "agent/draw/flame_file.h"
#include "agent/util/str.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/draw/graph.h"

#define MAX_BYTES ((size_t)64 << 20)
/* As flame_file.c says. */
#define PAGE_MAX_NODES 100000
#define VALUES_A_BAR 4

/* What stands in the page's last element of that kind: its head explains it in a comment. */
static json_t *data_of(const struct buf *page)
{
	static const char begin[] = "id=\"xagent-profile\">{\"title\":\"";
	const char *at = strstr(buf_str(page), begin);
	json_t *json;

	assert_non_null(at);
	at += strlen("id=\"xagent-profile\">");
	json = json_loads(at, JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(json);
	return json;
}

/* Takes what is in the tree. */
static json_t *page_about(struct call_tree *calls, const struct flame_facts *facts)
{
	_cleanup_(flame_tree_fini) struct flame_tree tree = { .calls = calls };
	_cleanup_buf_ struct buf out = BUF_INIT(MAX_BYTES);

	assert_int_equal(flame_file_html(&tree, facts, &out), 0);
	assert_true(str_starts_with(str_from(buf_str(&out)), STR_LIT("<!DOCTYPE html>")));
	return data_of(&out);
}

static json_t *page_of(struct call_tree *calls)
{
	return page_about(calls, &graph_facts);
}

static json_t *graph_of(const json_t *data)
{
	return json_object_get(data, "flamebearer");
}

static size_t n_bars(const json_t *data)
{
	json_t *level;
	size_t i, n = 0;

	json_array_foreach(json_object_get(graph_of(data), "levels"), i, level) n +=
		json_array_size(level) / VALUES_A_BAR;
	return n;
}

static void test_page(void **state)
{
	struct call_tree *calls = graph_new();
	json_t *data;

	(void)state;
	graph_add(calls, 5, STACK("make", "main", "spin"));
	graph_add(calls, 2, STACK("make", "main"));
	data = page_of(calls);
	assert_string_equal(json_string_value(json_object_get(data, "title")),
			    "CPU time of make: 7 samples in 6.3 s at 100 Hz, on web-1, "
			    "2023-11-14 22:13:20 UTC");
	assert_string_equal(json_string_value(json_object_get(data, "unit")), "samples");
	assert_int_equal(json_integer_value(json_object_get(graph_of(data), "numTicks")), 7);
	assert_int_equal(n_bars(data), 4);
	json_decref(data);
}

static size_t n_times(const json_t *names, const char *text)
{
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(names); i++)
		n += strcmp(json_string_value(json_array_get(names, i)), text) == 0;
	return n;
}

static void test_name(void **state)
{
	const struct hostile *h = *state;
	struct call_tree *calls;
	json_t *data;

	/* Names are UTF-8: agent/symbol/frame.h, agent/process. */
	if (!str_is_utf8(str_from(h->text)))
		return;
	calls = graph_new();
	graph_add(calls, 1, STACK(h->text, "main", h->text));
	data = page_of(calls);
	assert_int_equal(n_bars(data), 4);
	assert_int_equal(n_times(json_object_get(graph_of(data), "names"), h->text), 1);
	json_decref(data);
}

/* A command, a control group: any bytes. */
static void test_subject(void **state)
{
	const struct hostile *h = *state;
	const struct flame_facts facts = { .subject = h->text, .host = "", .hz = 1 };
	json_t *data = page_about(graph_new(), &facts);
	const char *title = json_string_value(json_object_get(data, "title"));

	if (str_is_utf8(str_from(h->text)))
		assert_memory_equal(title + strlen("CPU time of "), h->text, strlen(h->text));
	json_decref(data);
}

/* Most of them have one sample: which go and which stay cannot be told by their numbers. */
static void test_page_is_bounded(void **state)
{
	struct call_tree *calls = graph_new();
	int64_t all = 0;
	char group[16], function[16];
	json_t *data;

	(void)state;
	for (int i = 0; i < 150; i++)
		for (int k = 0; k < 800; k++, all++) {
			(void)snprintf(group, sizeof(group), "g%d", i);
			(void)snprintf(function, sizeof(function), "f%d", k);
			graph_add(calls, 1, STACK("make", group, function));
		}
	data = page_of(calls);
	assert_true(n_bars(data) <= PAGE_MAX_NODES);
	assert_true(n_bars(data) > 150);
	/* No sample is lost. */
	assert_int_equal(json_integer_value(json_object_get(graph_of(data), "numTicks")), all);
	json_decref(data);
}

static const struct unit_test tests[] = {
	TEST(test_page),
	TEST(test_page_is_bounded),
	TEST_ROWS(test_name, hostiles, name),
	TEST_ROWS(test_subject, hostiles, name),
};

TEST_MAIN(tests)
