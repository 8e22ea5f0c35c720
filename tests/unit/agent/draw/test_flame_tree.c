/* SPDX-License-Identifier: Apache-2.0 */
/* Intervals become one tree, with names as they are. */
#include "tests/support/unit.h"
#include "tests/unit/agent/profile/context.h"

#include <inttypes.h>

#include "agent/draw/flame_tree.h"
#include "agent/draw/flame_walk.h"

static const char letters[FLAME_KIND_MAX] = {
	[FLAME_PROGRAM] = 'p', [FLAME_LIBRARY] = 'l', [FLAME_KERNEL] = 'k',
	[FLAME_JIT] = 'j',     [FLAME_UNNAMED] = 'u', [FLAME_NOTE] = 'n',
};

/* A dot for each level, name, samples of its own, kind. */
static void assert_tree(struct flame_tree *tree, const char *expected)
{
	_cleanup_buf_ struct buf out = BUF_INIT(4096);
	struct flame_walk w = FLAME_WALK_INIT(tree->calls);

	assert_int_equal(call_tree_finish(tree->calls), 0);
	while (flame_walk_next(&w, true)) {
		for (uint32_t i = 1; i < w.depth; i++)
			(void)buf_append_char(&out, '.');
		(void)buf_printf(&out, "%s=%" PRId64 " %c\n", flame_walk_name(&w),
				 flame_walk_node(&w)->self[CALL_LEFT],
				 letters[flame_tree_kind(tree, flame_walk_node(&w)->name)]);
	}
	assert_string_equal(buf_str(&out), expected);
}

static void build_into(struct context *w, struct flame_tree *tree, struct build *build)
{
	build_init(build);
	build->data = tree;
	flame_tree_build(w->interval, w->namer, build);
	assert_null(build->first);
}

static void test_stacks(void **state)
{
	struct context *w = *state;
	const uint64_t kernel[] = { FN(0), FN(1) }, again[] = { FN(0) + 8, FN(1) };
	const struct frame_ref user[] = { jit_frame(w->interval), UNKNOWN };
	_cleanup_(flame_tree_fini) struct flame_tree tree = { 0 };
	struct build build;

	assert_int_equal(flame_tree_init(&tree, (size_t)1 << 20), 0);
	context_add(w, w->web, kernel, 2, user, 2, 3);
	context_add(w, w->web, again, 2, user, 2, 1);
	context_add(w, w->db, kernel, 2, NO_FRAMES, 0, 2);
	build_into(w, &tree, &build);
	assert_int_equal(build.summary.n_samples, 6);
	assert_int_equal(build.summary.n_failed, 0);
	assert_tree(&tree, "db=0 p\n"
			   ".fn001=0 k\n"
			   "..fn000=2 k\n"
			   "web=0 p\n"
			   ".[unknown]=0 n\n"
			   "..[jit]=0 n\n"
			   "...fn001=0 k\n"
			   "....fn000=4 k\n");
}

/* What an interval early brought stays. */
static void test_intervals_add_up(void **state)
{
	struct context *w = *state;
	const uint64_t a[] = { FN(3) };
	_cleanup_(flame_tree_fini) struct flame_tree tree = { 0 };
	struct build build;

	assert_int_equal(flame_tree_init(&tree, (size_t)1 << 20), 0);
	context_add(w, w->web, a, 1, NO_FRAMES, 0, 2);
	build_into(w, &tree, &build);
	build_into(w, &tree, &build);
	assert_int_equal(build.summary.n_samples, 2);
	assert_tree(&tree, "web=0 p\n.fn003=4 k\n");
}

static void test_names_are_kept(void **state)
{
	struct context *w = *state;
	const uint64_t a[] = { FN(3) };
	_cleanup_(labels_unrefp) struct labels *odd = make_service("a;b\nc </d>");
	_cleanup_(flame_tree_fini) struct flame_tree tree = { 0 };
	struct build build;

	assert_int_equal(flame_tree_init(&tree, (size_t)1 << 20), 0);
	context_add(w, odd, a, 1, NO_FRAMES, 0, 1);
	build_into(w, &tree, &build);
	assert_tree(&tree, "a;b\nc </d>=0 p\n.fn003=1 k\n");
}

/* A library and a program, both without symbols: neither file is there. */
static void test_places_in_files(void **state)
{
	struct context *w = *state;
	uint32_t so = context_add_file(w, "/usr/lib/libz.so.1", 77);
	const struct frame_ref user[] = { frame_ref_of_file(so, 0x1234) };
	_cleanup_(flame_tree_fini) struct flame_tree tree = { 0 };
	struct build build;

	assert_int_equal(flame_tree_init(&tree, (size_t)1 << 20), 0);
	context_add(w, w->web, NO_FRAMES, 0, user, 1, 1);
	build_into(w, &tree, &build);
	assert_tree(&tree, "web=0 p\n.libz.so.1+0x1234=1 u\n");
}

/* Stacks, more than fit. */
#define MANY (50 * N_FUNCTIONS)

static void test_full_tree_counts_what_is_missing(void **state)
{
	struct context *w = *state;
	_cleanup_(flame_tree_fini) struct flame_tree tree = { 0 };
	struct build build;
	uint64_t all = 0;

	assert_int_equal(flame_tree_init(&tree, (size_t)128 << 10), 0);
	for (unsigned int i = 0; i < MANY; i++, all++) {
		const uint64_t kernel[] = { FN(i / N_FUNCTIONS), FN(i % N_FUNCTIONS) };

		context_add(w, w->web, kernel, 2, NO_FRAMES, 0, 1);
	}
	build_into(w, &tree, &build);
	assert_true(build.summary.n_failed > 0);
	assert_true(build.summary.n_samples > 0);
	assert_int_equal(build.summary.n_failed + build.summary.n_samples, all);
	assert_int_equal(call_tree_finish(tree.calls), 0);
	assert_int_equal(call_tree_node(tree.calls, CALL_ROOT)->total[CALL_LEFT],
			 build.summary.n_samples);
}

static const struct unit_test tests[] = {
	TEST_WITH(test_stacks, context_setup, context_teardown),
	TEST_WITH(test_intervals_add_up, context_setup, context_teardown),
	TEST_WITH(test_names_are_kept, context_setup, context_teardown),
	TEST_WITH(test_places_in_files, context_setup, context_teardown),
	TEST_WITH(test_full_tree_counts_what_is_missing, context_setup, context_teardown),
};

TEST_MAIN(tests)
