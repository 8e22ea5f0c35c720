/* SPDX-License-Identifier: Apache-2.0 */
/* Label sets: order, duplicates, ceilings, equality, references. */
#include "tests/support/unit.h"
#include "tests/unit/agent/target/make_labels.h"

#include <stdio.h>

#include "agent/util/macro.h"

struct row {
	const char *name;
	const char *input;
	const char *expected;
};

static const struct row new_rows[] = {
	{ "none", "", "" },
	{ "one", "a=1", "a=1" },
	{ "sorted by bytes", "b=1|a=2|B=3|_=4", "B=3|_=4|a=2|b=1" },
	{ "the last of equal names wins", "a=1|b=2|a=3", "a=3|b=2" },
	{ "three of a name", "a=1|a=2|a=3", "a=3" },
	{ "an empty value is no label", "a=|b=1", "b=1" },
	{ "a last empty value removes", "a=1|b=2|a=", "b=2" },
	{ "a last value after an empty one counts", "a=|a=1", "a=1" },
	{ "names that begin alike", "aa=1|a=2|aaa=3", "a=2|aa=1|aaa=3" },
	{ "any bytes are kept", "a.b\xff=\xfe", "a.b\xff=\xfe" },
};

static void test_new(void **state)
{
	const struct row *row = *state;
	_cleanup_(labels_unrefp) struct labels *l = make_labels(row->input);

	assert_labels(l, row->expected);
}

static void test_merge(void **state)
{
	(void)state;
	static const struct {
		const char *base, *over, *expected;
	} rows[] = {
		{ "", "", "" },
		{ "a=1", "", "a=1" },
		{ "", "a=1", "a=1" },
		{ "a=1|c=1", "b=2", "a=1|b=2|c=1" },
		{ "a=1|b=1|c=1", "b=2|c=3|d=4", "a=1|b=2|c=3|d=4" },
		{ "b=1", "a=2|c=2", "a=2|b=1|c=2" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(labels_unrefp) struct labels *base = make_labels(rows[i].base);
		_cleanup_(labels_unrefp) struct labels *over = make_labels(rows[i].over);
		_cleanup_(labels_unrefp) struct labels *l = NULL;

		assert_int_equal(labels_merge(base, over, &l), 0);
		assert_labels(l, rows[i].expected);
	}
}

/* Texts of another set are borrowed, for as long as it takes. */
static void test_derive(void **state)
{
	struct labels *base = make_labels("a=1|b=2|c=3");
	const struct label items[] = { base->items[2], { "b", "9" }, { "d", "4" }, base->items[0] };
	_cleanup_(labels_unrefp) struct labels *plain = make_labels("a=1|b=9|c=3|d=4");
	_cleanup_(labels_unrefp) struct labels *l = NULL;

	(void)state;
	assert_int_equal(labels_derive(base, items, ARRAY_SIZE(items), &l), 0);
	assert_ptr_equal(l->items[0].value, base->items[0].value);
	assert_ptr_equal(l->items[1].name, base->items[1].name);
	assert_ptr_not_equal(l->items[1].value, items[1].value);
	assert_int_equal(base->n_refs, 2);
	labels_unref(base);
	assert_labels(l, "a=1|b=9|c=3|d=4");
	assert_int_equal(l->hash, plain->hash);
	assert_true(labels_equal(l, plain));
}

/* A set of sets of sets; who made them lets go first. */
static void test_merged_texts_stay(void **state)
{
	struct labels *a = make_labels("a=1|b=1"), *b = make_labels("b=2"), *c = make_labels("c=3");
	struct labels *ab = NULL, *abc = NULL;
	_cleanup_(labels_unrefp) struct labels *plain = make_labels("a=1|b=2|c=3");

	(void)state;
	assert_int_equal(labels_merge(a, b, &ab), 0);
	assert_int_equal(labels_merge(ab, c, &abc), 0);
	labels_unref(a);
	labels_unref(b);
	labels_unref(c);
	labels_unref(ab);
	assert_labels(abc, "a=1|b=2|c=3");
	assert_int_equal(abc->hash, plain->hash);
	assert_true(labels_equal(abc, plain));
	labels_unref(abc);
}

/* Where one text ends and the next begins counts. */
static void test_hash_of_borders(void **state)
{
	_cleanup_(labels_unrefp) struct labels *a = make_labels("ab=c|d=e");
	_cleanup_(labels_unrefp) struct labels *b = make_labels("a=bc|d=e");

	(void)state;
	assert_true(a->hash != b->hash);
	assert_false(labels_equal(a, b));
}

static struct labels *numbered(unsigned int from, unsigned int n)
{
	static char names[LABELS_RAW_MAX + 1][16];
	struct label items[LABELS_RAW_MAX];
	struct labels *l = NULL;

	for (unsigned int i = 0; i < n; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "l%05u", from + i);
		items[i] = (struct label){ names[i], "v" };
	}
	assert_int_equal(labels_new(items, n, &l), 0);
	return l;
}

static void test_ceilings(void **state)
{
	(void)state;
	static struct label items[LABELS_RAW_MAX + 1];
	_cleanup_(labels_unrefp) struct labels *full = numbered(0, LABELS_RAW_MAX);
	_cleanup_(labels_unrefp) struct labels *same = numbered(0, LABELS_RAW_MAX);
	_cleanup_(labels_unrefp) struct labels *more = numbered(LABELS_RAW_MAX, 1);
	_cleanup_(labels_unrefp) struct labels *l = NULL;

	assert_int_equal(full->n, LABELS_RAW_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(items); i++)
		items[i] = (struct label){ "a", "b" };
	assert_int_equal(labels_new(items, ARRAY_SIZE(items), &l), -E2BIG);
	assert_null(l);
	assert_int_equal(labels_merge(full, more, &l), -E2BIG);
	assert_null(l);
	assert_int_equal(labels_merge(full, same, &l), 0);
	assert_int_equal(l->n, LABELS_RAW_MAX);
}

static void test_equal(void **state)
{
	(void)state;
	_cleanup_(labels_unrefp) struct labels *a = make_labels("x=1|y=2");
	_cleanup_(labels_unrefp) struct labels *b = make_labels("y=2|x=1");
	static const char *const others[] = { "",	 "x=1",		"x=1|y=3",
					      "x=1|z=2", "x=1|y=2|z=3", "x=1y|=2" };

	assert_int_equal(a->hash, b->hash);
	assert_true(labels_equal(a, b));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		_cleanup_(labels_unrefp) struct labels *c = make_labels(others[i]);

		assert_int_not_equal(a->hash, c->hash);
		assert_false(labels_equal(a, c));
		c->hash = a->hash;
		assert_false(labels_equal(a, c));
	}
}

static void test_get(void **state)
{
	(void)state;
	_cleanup_(labels_unrefp) struct labels *l = make_labels("b=2|a=1|c=3|e=5");

	assert_string_equal(labels_get(l, "a"), "1");
	assert_string_equal(labels_get(l, "c"), "3");
	assert_string_equal(labels_get(l, "e"), "5");
	assert_null(labels_get(l, ""));
	assert_null(labels_get(l, "d"));
	assert_null(labels_get(l, "f"));
}

static void test_references(void **state)
{
	(void)state;
	char name[] = "a", value[] = "1";
	struct label item = { name, value };
	struct labels *l = NULL;

	assert_int_equal(labels_new(&item, 1, &l), 0);
	name[0] = value[0] = 'x';
	assert_ptr_equal(labels_ref(l), l);
	labels_unref(l);
	assert_labels(l, "a=1");
	labels_unref(l);
	labels_unref(NULL);
	labels_array_free(NULL, 0);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_new, new_rows, name),
	TEST(test_merge),
	TEST(test_derive),
	TEST(test_merged_texts_stay),
	TEST(test_hash_of_borders),
	TEST(test_ceilings),
	TEST(test_equal),
	TEST(test_get),
	TEST(test_references),
};

TEST_MAIN(tests)
