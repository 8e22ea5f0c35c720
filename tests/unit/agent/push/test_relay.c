/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of /ingest that go on as they came: the label that makes one, its URL, its place among thirty labels. */
#include "tests/support/unit.h"

#include <stdio.h>
#include <string.h>

#include "agent/push/relay.h"
#include "agent/util/macro.h"

static struct push_profile *make(const struct push_label *items, size_t n)
{
	struct push_labels labels = { 0 };
	struct shared_bytes *bytes = NULL;
	struct push_profile *p = NULL;

	for (size_t i = 0; i < n; i++)
		push_labels_add(&labels, &items[i]);
	assert_int_equal(shared_bytes_new(calloc(1, 3), 3, &bytes), 0);
	assert_int_equal(push_profile_new(&labels, bytes, &p), 0);
	shared_bytes_unref(bytes);
	return p;
}

static const struct row {
	const char *name;
	struct push_label labels[5];
	size_t n;
	const char *endpoint, *expected;
} rows[] = {
	{ "labels",
	  { { "x", "1" }, { "__name__", "app" }, { PUSH_RELAY_LABEL, "t\nformat=jfr" } },
	  3,
	  "http://h:1/",
	  "http://h:1/ingest?format=jfr&name=app%7Bx%3D1%7D" },
	{ "a prefix and a query of its own",
	  { { "__name__", "app" }, { PUSH_RELAY_LABEL, "t\nformat=jfr" } },
	  2,
	  "http://h:1/p?a=b",
	  "http://h:1/p/ingest?a=b&format=jfr&name=app%7B%7D" },
	{ "what would end a value, and what has to be escaped",
	  { { "x", "a,b}c&d" },
	    { "__delta__", "false" },
	    { "__name__", "app" },
	    { PUSH_RELAY_LABEL, "t\nf" } },
	  4,
	  "http://h:1",
	  "http://h:1/ingest?f&name=app%7Bx%3Da_b_c%26d%7D" },
	{ "a service",
	  { { "service_name", "app" }, { "__name__", "app" }, { PUSH_RELAY_LABEL, "t\nf" } },
	  3,
	  "http://h:1",
	  "http://h:1/ingest?f&name=app%7B%7D" },
	{ "another service",
	  { { "service_name", "s" }, { "__name__", "app" }, { PUSH_RELAY_LABEL, "t\nf" } },
	  3,
	  "http://h:1",
	  "http://h:1/ingest?f&name=app%7Bservice_name%3Ds%7D" },
	{ "no app, no query",
	  { { PUSH_RELAY_LABEL, "t" } },
	  1,
	  "http://h:1",
	  "http://h:1/ingest?&name=unknown%7B%7D" },
};

static void test_url(void **state)
{
	const struct row *row = *state;
	struct push_profile *p = make(row->labels, row->n);
	_cleanup_buf_ struct buf url = BUF_INIT(10000), type = BUF_INIT(100);

	assert_int_equal(push_relay_url(p, row->endpoint, &url), 0);
	assert_string_equal(buf_str(&url), row->expected);
	assert_int_equal(push_relay_type(push_relay_of(p), &type), 0);
	assert_string_equal(buf_str(&type), "t");
	push_profile_unref(p);
}

static void test_a_profile_is_none(void **state)
{
	struct push_profile *p = make((const struct push_label[]){ { "__name__", "n" } }, 1);

	(void)state;
	assert_null(push_relay_of(p));
	push_profile_unref(p);
}

/* The last goes for it. */
static void test_thirty_labels(void **state)
{
	struct push_labels labels = { 0 };
	char names[PUSH_MAX_LABELS][8];

	(void)state;
	for (size_t i = 0; i < PUSH_MAX_LABELS; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "l%02zu", i);
		push_labels_add(&labels, &(struct push_label){ names[i], "v" });
	}
	push_labels_add(&labels, &(struct push_label){ PUSH_RELAY_LABEL, "t\nq" });
	assert_int_equal(labels.n, PUSH_MAX_LABELS);
	assert_int_equal(labels.n_dropped, 1);
	assert_string_equal(labels.items[0].name, PUSH_RELAY_LABEL);
	assert_string_equal(labels.items[labels.n - 1].name, "l28");
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_url, rows, name),
	TEST(test_a_profile_is_none),
	TEST(test_thirty_labels),
};

TEST_MAIN(tests)
