/* SPDX-License-Identifier: Apache-2.0 */
/* What became of labels: heard with each kind of change, noted once each, bounded. */
#include "tests/support/unit.h"
#include "tests/unit/agent/target/make_labels.h"

#include <stdio.h>

#include "agent/target/label_sanitizer_notes.h"

struct row {
	const char *name, *labels;
	enum label_sanitizer_what what;
	const char *label, *became; /* NULL: nothing to tell */
};

static const struct row rows[] = {
	{ "clean", "a=b|service_name=c", 0, NULL, NULL },
	{ "internal", "__meta_x=1|__process_pid__=2|__container_id__=3", 0, NULL, NULL },
	{ "empty", "a.b=", 0, NULL, NULL },
	{ "dots", "a.b=1", LABEL_SANITIZER_RENAMED, "a.b", "a_b" },
	{ "digit", "1a=1", LABEL_SANITIZER_RENAMED, "1a", "_1a" },
	{ "name and value", "a.b=\xff", LABEL_SANITIZER_RENAMED, "a.b", "a_b" },
	{ "value", "a=\xff", LABEL_SANITIZER_VALUE_CHANGED, "a", "a" },
	{ "value of __name__", "__name__=a b", LABEL_SANITIZER_VALUE_CHANGED, "__name__",
	  "__name__" },
	{ "nothing left", ".-=1", LABEL_SANITIZER_NO_NAME, ".-", "" },
	{ "no name", "=1", LABEL_SANITIZER_NO_NAME, "", "" },
};

static size_t clean(struct label_sanitizer_notes *notes, const char *text)
{
	struct label items[MAKE_LABELS_MAX];
	_cleanup_free_ char *copy = strdup(text);
	_cleanup_(labels_unrefp) struct labels *l = NULL;
	struct label_sanitizer_report report;

	assert_non_null(copy);
	assert_int_equal(label_sanitizer_clean_telling(items, split_labels(copy, items),
						       &(struct label_sanitizer_listener){
							       label_sanitizer_notes_take, notes },
						       &report, &l),
			 0);
	return label_sanitizer_changes(&report);
}

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_label_sanitizer_notes_ struct label_sanitizer_notes notes = { 0 };
	struct label_sanitizer_change change;

	assert_int_equal(clean(&notes, row->labels) > 0, row->label != NULL);
	assert_int_equal(label_sanitizer_notes_next(&notes, &change), row->label != NULL);
	if (!row->label)
		return;
	assert_int_equal(change.what, row->what);
	assert_string_equal(change.name, row->label);
	assert_string_equal(change.became, row->became);
	assert_string_not_equal(label_sanitizer_what_text(change.what), "");
	assert_false(label_sanitizer_notes_next(&notes, &change));
	(void)clean(&notes, row->labels);
	assert_false(label_sanitizer_notes_next(&notes, &change));
}

static void test_twice(void **state)
{
	_cleanup_label_sanitizer_notes_ struct label_sanitizer_notes notes = { 0 };
	struct label_sanitizer_change change;

	(void)state;
	(void)clean(&notes, "a.b=1|a_b=2");
	assert_true(label_sanitizer_notes_next(&notes, &change));
	assert_int_equal(change.what, LABEL_SANITIZER_RENAMED);
	assert_true(label_sanitizer_notes_next(&notes, &change));
	assert_int_equal(change.what, LABEL_SANITIZER_TWICE);
	assert_string_equal(change.name, "a.b");
	assert_string_equal(change.became, "");
	assert_false(label_sanitizer_notes_next(&notes, &change));
}

static void test_too_many(void **state)
{
	_cleanup_label_sanitizer_notes_ struct label_sanitizer_notes notes = { 0 };
	char text[(LABELS_MAX + 3) * 8] = "", *at = text;
	struct label_sanitizer_change change;

	(void)state;
	for (int i = 0; i < LABELS_MAX + 1; i++)
		at += snprintf(at, 8, "l%02d=v|", i);
	/* __name__ is one of those that servers take. */
	assert_int_equal(clean(&notes, text), 2);
	assert_true(label_sanitizer_notes_next(&notes, &change));
	assert_int_equal(change.what, LABEL_SANITIZER_TOO_MANY);
	assert_string_equal(change.name, "l29");
	assert_true(label_sanitizer_notes_next(&notes, &change));
	assert_string_equal(change.name, "l30");
	assert_false(label_sanitizer_notes_next(&notes, &change));
}

/* In the order in which they came, also when they are taken meanwhile. */
static void test_bounded(void **state)
{
	_cleanup_label_sanitizer_notes_ struct label_sanitizer_notes notes = { 0 };
	struct label_sanitizer_change change;
	char text[32];
	int n = 0;

	(void)state;
	for (int i = 0; i < LABEL_SANITIZER_NOTES_MAX + 50; i++) {
		(void)snprintf(text, sizeof(text), "a.%d=1", i);
		(void)clean(&notes, text);
		if (i == 100)
			for (; label_sanitizer_notes_next(&notes, &change); n++)
				;
	}
	assert_int_equal(n, 101);
	for (; label_sanitizer_notes_next(&notes, &change); n++) {
		(void)snprintf(text, sizeof(text), "a.%d", n);
		assert_string_equal(change.name, text);
	}
	assert_int_equal(n, LABEL_SANITIZER_NOTES_MAX);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_twice),
	TEST(test_too_many),
	TEST(test_bounded),
};

TEST_MAIN(tests)
