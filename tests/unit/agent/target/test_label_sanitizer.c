/* SPDX-License-Identifier: Apache-2.0 */
/* The label sanitizer: each rule a row; ceilings. */
#include "tests/support/unit.h"
#include "tests/unit/agent/target/make_labels.h"

#include <stdio.h>

#include "agent/target/label_sanitizer.h"
#include "agent/util/macro.h"

struct row {
	const char *name;
	const char *input;
	const char *expected;
	struct label_sanitizer_report report; /* internal, renamed, repaired, dropped */
};

static const struct row rows[] = {
	{ "nothing", "", "", { 0, 0, 0, 0 } },
	{ "clean", "a=1|b_2=x y", "a=1|b_2=x y", { 0, 0, 0, 0 } },
	{ "order", "zone=1|host=h|service_name=s|A=1", "A=1|host=h|service_name=s|zone=1", { 0 } },
	{ "dots", "service.name=x", "service_name=x", { 0, 1, 0, 0 } },
	{ "dash, slash, blank", "a-b=1|a/c=2|a d=3", "a_b=1|a_c=2|a_d=3", { 0, 3, 0, 0 } },
	{ "colon is for __name__ only", "a:b=1", "a_b=1", { 0, 1, 0, 0 } },
	{ "leading digit", "1a=x", "_1a=x", { 0, 1, 0, 0 } },
	{ "digits only", "42=x", "_42=x", { 0, 1, 0, 0 } },
	{ "leading underscore stays", "_a=x", "_a=x", { 0 } },
	{ "a code point is one underscore",
	  "gr\xc3\xb6\xc3\x9f"
	  "e=x",
	  "gr__e=x",
	  { 0, 1, 0, 0 } },
	{ "a stray byte is one underscore",
	  "a\xff\xfe"
	  "b=x",
	  "a__b=x",
	  { 0, 1, 0, 0 } },
	{ "empty name", "=x|a=1", "a=1", { 0, 0, 0, 1 } },
	{ "empty value", "a=|b=1", "b=1", { 0 } },
	{ "internal", "__container_id__=c|__meta_x=1|__=2|a=1", "a=1", { 3, 0, 0, 0 } },
	{ "internal by repair", "..a=1|b=2", "b=2", { 0, 0, 0, 1 } },
	{ "__name__ by repair", "._name__=x", "", { 0, 0, 0, 1 } },
	{ "delta", "__delta__=false", "__delta__=false", { 0 } },
	{ "given name", "__name__=grafana_cpu", "__name__=grafana_cpu", { 0 } },
	{ "name with colons", "__name__=a:b", "__name__=a:b", { 0 } },
	{ "name repaired", "__name__=my-cpu.x", "__name__=my_cpu_x", { 0, 0, 1, 0 } },
	{ "name with a digit first", "__name__=9cpu", "__name__=_9cpu", { 0, 0, 1, 0 } },
	{ "empty name is none", "__name__=", "", { 0 } },
	{ "the usual name is none", "__name__=process_cpu|a=1", "a=1", { 0 } },
	{ "nor is it by repair", "__name__=process-cpu", "", { 0, 0, 1, 0 } },
	{ "the last name wins", "__name__=x|__name__=process_cpu", "", { 0, 0, 0, 1 } },
	{ "value UTF-8",
	  "a=gr\xc3\xbc\xc3\x9f"
	  "e",
	  "a=gr\xc3\xbc\xc3\x9f"
	  "e",
	  { 0 } },
	{ "value bad byte", "a=x\xffy", "a=x\xef\xbf\xbdy", { 0, 0, 1, 0 } },
	{ "value cut sequence", "a=x\xe2\x82", "a=x\xef\xbf\xbd\xef\xbf\xbd", { 0, 0, 1, 0 } },
	{ "value overlong", "a=\xc0\xaf", "a=\xef\xbf\xbd\xef\xbf\xbd", { 0, 0, 1, 0 } },
	{ "value surrogate",
	  "a=\xed\xa0\x80",
	  "a=\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
	  { 0, 0, 1, 0 } },
	{ "value control character", "a=x\ty\n", "a=x?y?", { 0, 0, 1, 0 } },
	{ "unrepaired wins, behind", "a.b=1|a_b=2", "a_b=2", { 0, 1, 0, 1 } },
	{ "unrepaired wins, before", "a_b=2|a.b=1", "a_b=2", { 0, 1, 0, 1 } },
	{ "the last repaired wins", "a.b=1|a-b=2", "a_b=2", { 0, 2, 0, 1 } },
	{ "the last equal wins", "a=1|a=2", "a=2", { 0, 0, 0, 1 } },
	{ "empty does not win", "a_b=|a.b=1", "a_b=1", { 0, 1, 0, 0 } },
	{ "name and value", "a.b=\xff", "a_b=\xef\xbf\xbd", { 0, 1, 1, 0 } },
};

static void assert_report(const struct label_sanitizer_report *r,
			  const struct label_sanitizer_report *expected)
{
	assert_int_equal(r->n_internal, expected->n_internal);
	assert_int_equal(r->n_renamed, expected->n_renamed);
	assert_int_equal(r->n_repaired, expected->n_repaired);
	assert_int_equal(r->n_dropped, expected->n_dropped);
	assert_int_equal(label_sanitizer_changes(r),
			 expected->n_renamed + expected->n_repaired + expected->n_dropped);
}

static void test_row(void **state)
{
	const struct row *row = *state;
	struct label items[MAKE_LABELS_MAX];
	_cleanup_free_ char *copy = strdup(row->input);
	_cleanup_(labels_unrefp) struct labels *l = NULL;
	struct label_sanitizer_report report = { 9, 9, 9, 9 };

	assert_int_equal(label_sanitizer_clean(items, split_labels(copy, items), &report, &l), 0);
	assert_labels(l, row->expected);
	assert_report(&report, &row->report);
}

/* n labels l000 … with the three that must stay at the end of the order of names. */
static void clean_many(unsigned int n, struct label_sanitizer_report *report,
		       struct labels **ret_labels)
{
	static char names[LABEL_SANITIZER_ITEMS_MAX][16];
	struct label items[LABEL_SANITIZER_ITEMS_MAX];

	for (unsigned int i = 0; i < n; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "a%03u", i);
		items[i] = (struct label){ names[i], "v" };
	}
	items[n - 1] = (struct label){ "service_name", "s" };
	items[n - 2] = (struct label){ "host", "h" };
	assert_int_equal(label_sanitizer_clean(items, n, report, ret_labels), 0);
}

static void test_too_many(void **state)
{
	(void)state;
	static const struct {
		unsigned int n, n_left, n_dropped;
	} counts[] = { { 29, 29, 0 },
		       { 30, 29, 1 },
		       { LABEL_SANITIZER_ITEMS_MAX, 29, LABEL_SANITIZER_ITEMS_MAX - 29 } };

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		_cleanup_(labels_unrefp) struct labels *l = NULL;
		struct label_sanitizer_report report;

		clean_many(counts[i].n, &report, &l);
		assert_int_equal(l->n, counts[i].n_left);
		assert_int_equal(report.n_dropped, counts[i].n_dropped);
		assert_string_equal(labels_get(l, "service_name"), "s");
		assert_string_equal(labels_get(l, "host"), "h");
		assert_non_null(labels_get(l, "a000"));
		assert_non_null(labels_get(l, "a026"));
		assert_null(labels_get(l, "a027"));
	}
}

/* A profile has a name in any case: who brings one has no label more or less. */
static void test_name_has_its_place(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		unsigned int n_left;
	} names[] = { { "process_cpu", 29 }, { "mine", 30 } };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_(labels_unrefp) struct labels *many = NULL, *l = NULL;
		struct label items[LABEL_SANITIZER_ITEMS_MAX];
		struct label_sanitizer_report report;

		clean_many(29, &report, &many);
		memcpy(items, many->items, many->n * sizeof(items[0]));
		items[many->n] = (struct label){ "__name__", names[i].name };
		assert_int_equal(label_sanitizer_clean(items, many->n + 1, &report, &l), 0);
		assert_int_equal(l->n, names[i].n_left);
		assert_int_equal(report.n_dropped, 0);
	}
}

static void test_input_ceiling(void **state)
{
	(void)state;
	static struct label items[LABEL_SANITIZER_ITEMS_MAX + 1];
	struct label_sanitizer_report report = { 7, 7, 7, 7 };
	struct labels *l = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(items); i++)
		items[i] = (struct label){ "a", "b" };
	assert_int_equal(label_sanitizer_clean(items, ARRAY_SIZE(items), &report, &l), -E2BIG);
	assert_null(l);
	assert_int_equal(report.n_dropped, 7);
}

static void test_long_strings(void **state)
{
	(void)state;
	static char name[LABEL_NAME_MAX + 2], value[LABEL_VALUE_MAX + 3];
	struct label item = { name, value };
	_cleanup_(labels_unrefp) struct labels *l = NULL;
	struct label_sanitizer_report report;

	memset(name, 'n', LABEL_NAME_MAX + 1);
	memset(value, 'v', LABEL_VALUE_MAX);
	memcpy(value + LABEL_VALUE_MAX - 1, "\xc3\xbc", 2);
	assert_int_equal(label_sanitizer_clean(&item, 1, &report, &l), 0);
	assert_report(&report, &(struct label_sanitizer_report){ .n_renamed = 1, .n_repaired = 1 });
	assert_int_equal(strlen(l->items[0].name), LABEL_NAME_MAX);
	assert_int_equal(strlen(l->items[0].value), LABEL_VALUE_MAX - 1);
}

/* The most memory that repairs can take: every string of a full input. */
static void test_repair_everything(void **state)
{
	(void)state;
	static char names[LABEL_SANITIZER_ITEMS_MAX][LABEL_NAME_MAX + 1];
	static char values[LABEL_SANITIZER_ITEMS_MAX][LABEL_VALUE_MAX + 1];
	struct label items[LABEL_SANITIZER_ITEMS_MAX];
	_cleanup_(labels_unrefp) struct labels *l = NULL;
	struct label_sanitizer_report report;

	for (size_t i = 0; i < LABEL_SANITIZER_ITEMS_MAX; i++) {
		memset(names[i], '.', LABEL_NAME_MAX);
		memset(values[i], '\x01', LABEL_VALUE_MAX);
		(void)snprintf(names[i], 6, "a%04zu", i % 10000);
		names[i][5] = '.';
		items[i] = (struct label){ names[i], values[i] };
	}
	assert_int_equal(label_sanitizer_clean(items, LABEL_SANITIZER_ITEMS_MAX, &report, &l), 0);
	assert_int_equal(report.n_renamed, LABEL_SANITIZER_ITEMS_MAX);
	assert_int_equal(report.n_repaired, LABEL_SANITIZER_ITEMS_MAX);
	assert_int_equal(l->n, LABELS_MAX - 1);
	assert_int_equal(strlen(l->items[28].name), LABEL_NAME_MAX);
	assert_int_equal(strspn(l->items[28].value, "?"), LABEL_VALUE_MAX);
}

static void test_idempotent(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct label items[MAKE_LABELS_MAX];
		_cleanup_free_ char *copy = strdup(rows[i].input);
		_cleanup_(labels_unrefp) struct labels *once = NULL, *again = NULL;
		struct label_sanitizer_report report;

		assert_int_equal(
			label_sanitizer_clean(items, split_labels(copy, items), &report, &once), 0);
		assert_int_equal(label_sanitizer_clean(once->items, once->n, &report, &again), 0);
		assert_true(labels_equal(once, again));
		assert_int_equal(label_sanitizer_changes(&report), 0);
	}
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_too_many),
	TEST(test_name_has_its_place),
	TEST(test_input_ceiling),
	TEST(test_long_strings),
	TEST(test_repair_everything),
	TEST(test_idempotent),
};

TEST_MAIN(tests)
