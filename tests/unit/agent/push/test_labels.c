/* SPDX-License-Identifier: Apache-2.0 */
/* Which labels are sent: a row is profile labels, external labels, the text of what is left, and
 * how many were dropped. */
#include <string.h>

#include "agent/push/labels.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

struct row {
	const char *name;
	struct push_label labels[6];
	struct push_label external[4];
	const char *expected;
	size_t n_dropped;
};

static const struct row rows[] = {
	{ "none", { { 0 } }, { { 0 } }, "{}", 0 },
	{ "sorted",
	  { { "b", "2" }, { "a", "1" }, { "__name__", "n" } },
	  { { 0 } },
	  "{__name__=\"n\", a=\"1\", b=\"2\"}",
	  0 },
	{ "private names stay",
	  { { "__name__", "n" },
	    { "__container_id__", "x" },
	    { "__delta__", "false" },
	    { "__process_pid__", "1" },
	    { "__", "x" } },
	  { { 0 } },
	  "{__delta__=\"false\", __name__=\"n\"}",
	  0 },
	{ "external wins",
	  { { "a", "1" }, { "b", "2" } },
	  { { "b", "3" }, { "c", "4" } },
	  "{a=\"1\", b=\"3\", c=\"4\"}",
	  0 },
	{ "external name",
	  { { "__name__", "n" } },
	  { { "__name__", "m" } },
	  "{__name__=\"m\"}",
	  0 },
	{ "external private is kept", { { "__x", "1" } }, { { "__x", "2" } }, "{__x=\"2\"}", 0 },
	{ "empty value", { { "a", "" }, { "b", "2" } }, { { "b", "" } }, "{b=\"2\"}", 0 },
	{ "duplicate", { { "a", "1" }, { "a", "2" } }, { { 0 } }, "{a=\"1\"}", 0 },
	{ "dots", { { "otel.scope.name", "x" }, { "a", "1" } }, { { 0 } }, "{a=\"1\"}", 1 },
	{ "digit first", { { "1a", "x" }, { "a1", "1" } }, { { 0 } }, "{a1=\"1\"}", 1 },
	{ "empty name", { { "", "x" } }, { { 0 } }, "{}", 1 },
	{ "name not ascii", { { "\xc3\xa9", "x" } }, { { 0 } }, "{}", 1 },
	{ "value utf-8", { { "a", "\xc3\xa9" } }, { { 0 } }, "{a=\"\xc3\xa9\"}", 0 },
	{ "value not utf-8", { { "a", "\xff" } }, { { 0 } }, "{}", 1 },
	{ "bad external", { { "a", "1" } }, { { "a", "\xff" } }, "{a=\"1\"}", 1 },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(10000);
	struct push_labels labels;
	size_t n = 0, n_external = 0;

	while (row->labels[n].name)
		n++;
	while (row->external[n_external].name)
		n_external++;
	push_labels_select(row->labels, n, row->external, n_external, &labels);
	push_labels_print(labels.items, labels.n, &text);
	assert_string_equal(buf_str(&text), row->expected);
	assert_int_equal(labels.n_dropped, row->n_dropped);
}

static void test_too_many(void **state)
{
	struct push_label items[PUSH_MAX_LABELS + 10];
	static char names[PUSH_MAX_LABELS + 10][8];
	struct push_labels labels;
	const struct push_label external = { "zone", "z" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(items); i++) {
		(void)snprintf(names[i], sizeof(names[i]), "l%03zu", i);
		items[i] = (struct push_label){ names[i], "x" };
	}
	items[PUSH_MAX_LABELS + 8] = (struct push_label){ "service_name", "s" };
	items[PUSH_MAX_LABELS + 9] = (struct push_label){ "__name__", "n" };
	push_labels_select(items, ARRAY_SIZE(items), &external, 1, &labels);
	assert_int_equal(labels.n, PUSH_MAX_LABELS);
	assert_int_equal(labels.n_dropped, 11);
	assert_string_equal(labels.items[0].name, "__name__");
	assert_string_equal(labels.items[1].name, "l000");
	assert_string_equal(labels.items[PUSH_MAX_LABELS - 2].name, "service_name");
	assert_string_equal(labels.items[PUSH_MAX_LABELS - 1].name, "zone");
}

static void test_lengths(void **state)
{
	char name[PUSH_MAX_LABEL_NAME_BYTES + 2], value[PUSH_MAX_LABEL_VALUE_BYTES + 2];
	struct push_label label = { name, value };
	struct push_labels labels;

	(void)state;
	memset(name, 'n', sizeof(name));
	memset(value, 'v', sizeof(value));
	name[PUSH_MAX_LABEL_NAME_BYTES] = value[PUSH_MAX_LABEL_VALUE_BYTES] = '\0';
	push_labels_select(&label, 1, NULL, 0, &labels);
	assert_int_equal(labels.n, 1);
	name[PUSH_MAX_LABEL_NAME_BYTES] = 'n';
	name[PUSH_MAX_LABEL_NAME_BYTES + 1] = '\0';
	push_labels_select(&label, 1, NULL, 0, &labels);
	assert_int_equal(labels.n, 0);
	label.name = "a";
	value[PUSH_MAX_LABEL_VALUE_BYTES] = 'v';
	value[PUSH_MAX_LABEL_VALUE_BYTES + 1] = '\0';
	push_labels_select(&label, 1, NULL, 0, &labels);
	assert_int_equal(labels.n_dropped, 1);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_too_many),
	TEST(test_lengths),
};

TEST_MAIN(tests)
