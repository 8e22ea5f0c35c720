/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of a target under construction: names as they come, ceilings, errors that are told once. */
#include "tests/support/unit.h"
#include "tests/unit/agent/target/make_labels.h"

#include <errno.h>
#include <stdio.h>

#include "agent/target/label_builder.h"

static struct labels *make(struct label_builder *b)
{
	struct labels *l = NULL;

	assert_int_equal(label_builder_make(b, &l), 0);
	return l;
}

static void test_nothing(void **state)
{
	_cleanup_label_builder_ struct label_builder b;

	(void)state;
	label_builder_init(&b);
	_cleanup_(labels_unrefp) struct labels *l = make(&b);
	assert_labels(l, "");
}

static void test_values(void **state)
{
	_cleanup_label_builder_ struct label_builder b;

	(void)state;
	label_builder_init(&b);
	label_builder_add(&b, "c", "3");
	label_builder_add(&b, "a", "1");
	label_builder_add(&b, "b", NULL);
	label_builder_add(&b, "d", "");
	label_builder_add(&b, "a", "2");
	label_builder_add(&b, "b.c-d", "kept");
	_cleanup_(labels_unrefp) struct labels *l = make(&b);
	assert_labels(l, "a=2|b.c-d=kept|c=3");
}

/* An empty value is no label, so it does not take one away. */
static void test_an_empty_one_behind(void **state)
{
	_cleanup_label_builder_ struct label_builder b;

	(void)state;
	label_builder_init(&b);
	label_builder_add(&b, "a", "1");
	label_builder_add(&b, "a", "");
	label_builder_add_key(&b, "p_", "k", "1");
	label_builder_add_key(&b, "p_", "k", NULL);
	_cleanup_(labels_unrefp) struct labels *l = make(&b);
	assert_labels(l, "a=1|p_k=1");
}

/* What was given may be gone when the set is made. */
static void test_texts_are_copied(void **state)
{
	_cleanup_label_builder_ struct label_builder b;
	char name[] = "name", value[] = "value", key[] = "k.y";

	(void)state;
	label_builder_init(&b);
	label_builder_add(&b, name, value);
	label_builder_add_key(&b, name, key, value);
	name[0] = value[0] = key[0] = 'X';
	_cleanup_(labels_unrefp) struct labels *l = make(&b);
	assert_labels(l, "name=value|namek_y=value");
}

static const struct key_row {
	const char *name, *key, *expected;
} keys[] = {
	{ "letters and digits", "aZ09_", "p_aZ09_" },
	{ "a dot, a slash, a dash", "com.docker/compose-x", "p_com_docker_compose_x" },
	{ "a colon", "a:b", "p_a_b" },
	{ "a code point of two bytes is one", "\xc3\xa4", "p__" },
	{ "of three and four bytes", "\xe2\x82\xac\xf0\x9f\x98\x80", "p___" },
	{ "bytes that are no code point: one each", "a\xff\xfe", "p_a__" },
	{ "half a code point", "\xe2\x82", "p___" },
	{ "empty", "", "p_" },
	{ "blanks", "a b\t", "p_a_b_" },
};

static void test_key(void **state)
{
	const struct key_row *row = *state;
	_cleanup_label_builder_ struct label_builder b;

	label_builder_init(&b);
	label_builder_add_key(&b, "p_", row->key, "v");
	_cleanup_(labels_unrefp) struct labels *l = make(&b);
	assert_int_equal(l->n, 1);
	assert_string_equal(l->items[0].name, row->expected);
	assert_string_equal(l->items[0].value, "v");
}

/* The prefix is our own word. */
static void test_prefix_is_kept(void **state)
{
	_cleanup_label_builder_ struct label_builder b;

	(void)state;
	label_builder_init(&b);
	label_builder_add_key(&b, "a.b-", "c.d", "v");
	_cleanup_(labels_unrefp) struct labels *l = make(&b);
	assert_labels(l, "a.b-c_d=v");
}

static void test_cut(void **state)
{
	_cleanup_label_builder_ struct label_builder b;

	(void)state;
	label_builder_init(&b);
	label_builder_add(&b, "common", "1");
	size_t n = b.n;
	label_builder_add(&b, "port", "80");
	_cleanup_(labels_unrefp) struct labels *first = make(&b);
	label_builder_cut(&b, n);
	label_builder_add(&b, "port", "443");
	_cleanup_(labels_unrefp) struct labels *second = make(&b);
	label_builder_cut(&b, n + 100);
	_cleanup_(labels_unrefp) struct labels *same = make(&b);
	assert_labels(first, "common=1|port=80");
	assert_labels(second, "common=1|port=443");
	assert_labels(same, "common=1|port=443");
}

static void test_too_many(void **state)
{
	_cleanup_label_builder_ struct label_builder b;
	struct labels *l = NULL;
	char name[16];

	(void)state;
	label_builder_init(&b);
	for (unsigned int i = 0; i <= LABELS_RAW_MAX; i++) {
		(void)snprintf(name, sizeof(name), "n%u", i);
		label_builder_add(&b, name, "v");
		assert_int_equal(b.error, i < LABELS_RAW_MAX ? 0 : -E2BIG);
	}
	assert_int_equal(label_builder_make(&b, &l), -E2BIG);
	/* It stays wrong, whatever is taken away. */
	label_builder_cut(&b, 0);
	assert_int_equal(label_builder_make(&b, &l), -E2BIG);
	assert_null(l);
}

/* One target cannot take all memory: four MiB of texts are the end. */
static void test_too_long(void **state)
{
	_cleanup_label_builder_ struct label_builder b;
	size_t size = (size_t)1 << 20;
	_cleanup_free_ char *value = malloc(size);
	struct labels *l = NULL;

	(void)state;
	assert_non_null(value);
	memset(value, 'x', size - 1);
	value[size - 1] = '\0';
	label_builder_init(&b);
	for (unsigned int i = 0; i < 8; i++)
		label_builder_add_key(&b, "p_", i % 2 ? "a" : "b", value);
	assert_int_equal(label_builder_make(&b, &l), -ENOMEM);
	assert_null(l);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_key, keys, name),
	TEST(test_nothing),
	TEST(test_values),
	TEST(test_an_empty_one_behind),
	TEST(test_texts_are_copied),
	TEST(test_prefix_is_kept),
	TEST(test_cut),
	TEST(test_too_many),
	TEST(test_too_long),
};

TEST_MAIN(tests)
