/* SPDX-License-Identifier: Apache-2.0 */
/* Samples by function: self, total, and their order. */
#include "tests/support/unit.h"
#include "tests/unit/agent/profile/context.h"

#include "agent/profile/top_table.h"

static const struct top_row *find(const struct top_table *t, const char *function)
{
	HASH_FOREACH (&t->table, node) {
		const struct top_row *h = CONTAINER_OF(node, struct top_row, node);

		if (strcmp(h->function, function) == 0)
			return h;
	}
	fail_msg("%s is not in the table", function);
	return NULL;
}

static void check(const struct top_table *t, const char *function, uint64_t self, uint64_t total)
{
	const struct top_row *h = find(t, function);

	assert_int_equal(h->self, self);
	assert_int_equal(h->total, total);
}

static void add_all(struct top_table *t, struct context *w)
{
	for (const struct series *s = w->interval->series; s; s = s->next)
		assert_int_equal(top_table_add_series(t, s, w->namer), 0);
}

static void test_self_and_total(void **state)
{
	const uint64_t a[] = { FN(0), FN(1), FN(2) };
	const uint64_t b[] = { FN(1), FN(2) };
	struct context *w = *state;
	struct top_table t;

	context_add(w, w->web, a, 3, NO_FRAMES, 0, 5);
	context_add(w, w->web, b, 2, NO_FRAMES, 0, 2);
	context_add(w, w->db, b, 2, NO_FRAMES, 0, 1);
	top_table_init(&t, (size_t)1 << 20);
	add_all(&t, w);
	assert_int_equal(t.total, 8);
	check(&t, "fn000", 5, 5);
	check(&t, "fn001", 3, 8);
	check(&t, "fn002", 0, 8);
	assert_string_equal(top_table_by_self(&t)->function, "fn000");
	top_table_fini(&t);
}

/* Recursion: many times in the stack, once in the total. */
static void test_recursion_counts_once(void **state)
{
	const uint64_t a[] = { FN(3), FN(4), FN(3), FN(4), FN(3) };
	struct context *w = *state;
	struct top_table t;

	context_add(w, w->web, a, 5, NO_FRAMES, 0, 2);
	top_table_init(&t, (size_t)1 << 20);
	add_all(&t, w);
	check(&t, "fn003", 2, 2);
	check(&t, "fn004", 0, 2);
	assert_int_equal(t.table.n, 2);
	top_table_fini(&t);
}

/* Two addresses of one function are one function; the same name in another object is another. */
static void test_what_is_one_function(void **state)
{
	const uint64_t a[] = { FN(5) }, b[] = { FN(5) + 0x20 };
	struct context *w = *state;
	const struct frame_ref unknown[] = { UNKNOWN }, jit[] = { jit_frame(w->interval) };
	struct top_table t;

	context_add(w, w->web, a, 1, NO_FRAMES, 0, 1);
	context_add(w, w->web, b, 1, NO_FRAMES, 0, 1);
	context_add(w, w->web, NO_FRAMES, 0, unknown, 1, 1);
	context_add(w, w->web, NO_FRAMES, 0, jit, 1, 1);
	top_table_init(&t, (size_t)1 << 20);
	add_all(&t, w);
	check(&t, "fn005", 2, 2);
	check(&t, "[unknown]", 1, 1);
	check(&t, "[jit]", 1, 1);
	assert_int_equal(t.table.n, 3);
	top_table_fini(&t);
}

/* A function of a runtime, in that source file. */
static struct frame_ref function_in(struct context *w, struct code_names *names, const char *file)
{
	const struct code_text text = {
		.name = "handle", .n_name = 6, .file = file, .n_file = strlen(file)
	};
	struct code_name *name = code_names_intern(names, &text);
	struct frame_ref frame = FRAME_REF_NONE;

	assert_non_null(name);
	assert_int_equal(
		interval_code_frame(w->interval, &(struct code_place){ .name = name }, &frame), 0);
	code_name_unref(name);
	return frame;
}

/* Those of equal names in two scripts are two; one whose script is not known is in none. */
static void test_functions_of_runtimes(void **state)
{
	static const char *const files[] = { "/srv/a.js", "/srv/b.js", "" };
	_cleanup_(code_names_freep) struct code_names *names = NULL;
	_cleanup_free_ const struct top_row **items = NULL;
	struct context *w = *state;
	struct top_table t;
	size_t n = 0;

	assert_int_equal(code_names_new((size_t)1 << 20, NULL, &names), 0);
	for (unsigned int i = 0; i < 3; i++) {
		const struct frame_ref frames[] = { function_in(w, names, files[i]) };

		context_add(w, w->web, NO_FRAMES, 0, frames, 1, 3 - i);
	}
	top_table_init(&t, (size_t)1 << 20);
	add_all(&t, w);
	assert_int_equal(top_table_sorted(&t, &items, &n), 0);
	assert_int_equal(n, 3);
	assert_string_equal(items[0]->path, "/srv/a.js");
	assert_string_equal(items[1]->path, "/srv/b.js");
	assert_string_equal(items[2]->path, "[anon]");
	top_table_fini(&t);
}

static void test_order(void **state)
{
	const uint64_t six[] = { FN(6), FN(9) }, seven[] = { FN(7), FN(8) }, eight[] = { FN(8) };
	struct context *w = *state;
	_cleanup_free_ const struct top_row **items = NULL;
	struct top_table t;
	size_t n = 0;

	context_add(w, w->web, six, 2, NO_FRAMES, 0, 2);
	context_add(w, w->web, seven, 2, NO_FRAMES, 0, 2);
	context_add(w, w->web, eight, 1, NO_FRAMES, 0, 2);
	top_table_init(&t, (size_t)1 << 20);
	add_all(&t, w);
	assert_int_equal(top_table_sorted(&t, &items, &n), 0);
	assert_int_equal(n, 4);
	/* Equal by self: the larger total; equal by both: the name. */
	assert_string_equal(items[0]->function, "fn008");
	assert_string_equal(items[1]->function, "fn006");
	assert_string_equal(items[2]->function, "fn007");
	assert_string_equal(items[3]->function, "fn009");
	assert_ptr_equal(top_table_by_self(&t), items[0]);
	top_table_fini(&t);
}

static void test_empty(void **state)
{
	_cleanup_free_ const struct top_row **items = NULL;
	struct top_table t;
	size_t n = 1;

	(void)state;
	top_table_init(&t, (size_t)1 << 20);
	assert_null(top_table_by_self(&t));
	assert_int_equal(top_table_sorted(&t, &items, &n), 0);
	assert_int_equal(n, 0);
	top_table_fini(&t);
}

static const struct unit_test tests[] = {
	TEST_WITH(test_self_and_total, context_setup, context_teardown),
	TEST_WITH(test_recursion_counts_once, context_setup, context_teardown),
	TEST_WITH(test_what_is_one_function, context_setup, context_teardown),
	TEST_WITH(test_functions_of_runtimes, context_setup, context_teardown),
	TEST_WITH(test_order, context_setup, context_teardown),
	TEST(test_empty),
};

TEST_MAIN(tests)
