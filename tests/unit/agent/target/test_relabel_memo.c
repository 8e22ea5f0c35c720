/* SPDX-License-Identifier: Apache-2.0 */
/* What rules have made of targets: made once, forgotten when it is not asked for, never when something went wrong. */
#include "tests/support/unit.h"
#include "tests/unit/agent/target/make_labels.h"

#include <errno.h>

#include "agent/target/relabel_memo.h"
#include "tests/support/alloc_fail.h"

static const char *const sources[] = { "a" };

/* b = a; targets whose a is "x" are dropped. */
static int setup(void **state)
{
	struct relabel_config configs[] = { RELABEL_CONFIG_INIT, RELABEL_CONFIG_INIT };
	struct relabel_rules *rules = NULL;
	_cleanup_buf_ struct buf why = BUF_INIT(1000);

	configs[0].source_labels = configs[1].source_labels = sources;
	configs[0].n_source_labels = configs[1].n_source_labels = 1;
	configs[0].target_label = "b";
	configs[1].action = RELABEL_DROP;
	configs[1].regex = "x";
	assert_int_equal(relabel_rules_new(configs, 2, &why, &rules), 0);
	*state = rules;
	return 0;
}

static int teardown(void **state)
{
	relabel_rules_free(*state);
	return 0;
}

/* Its result, a reference; NULL: dropped. */
static struct labels *apply(struct relabel_memo *m, struct relabel_rules *rules,
			    struct labels *target)
{
	struct relabel_pass pass = RELABEL_PASS_INIT;
	struct labels *l = NULL;
	int r = relabel_memo_apply(m, rules, target, &pass, &l);

	assert_int_equal(r, l ? RELABEL_KEPT : RELABEL_DROPPED);
	return l;
}

static void test_remembers(void **state)
{
	_cleanup_relabel_memo_ struct relabel_memo m = { 0 };
	_cleanup_(labels_unrefp) struct labels *target = make_labels("a=1|c=2");
	_cleanup_(labels_unrefp) struct labels *equal = make_labels("a=1|c=2");

	relabel_memo_begin(&m);
	_cleanup_(labels_unrefp) struct labels *first = apply(&m, *state, target);
	_cleanup_(labels_unrefp) struct labels *twice = apply(&m, *state, target);
	relabel_memo_end(&m);
	relabel_memo_begin(&m);
	_cleanup_(labels_unrefp) struct labels *again = apply(&m, *state, target);
	_cleanup_(labels_unrefp) struct labels *other = apply(&m, *state, equal);
	relabel_memo_end(&m);
	assert_labels(first, "a=1|b=1|c=2");
	assert_ptr_equal(first, twice);
	assert_ptr_equal(first, again);
	assert_ptr_equal(first, other);
	assert_int_equal(m.by_target.n, 1);
}

static void test_dropped_ones(void **state)
{
	_cleanup_relabel_memo_ struct relabel_memo m = { 0 };
	_cleanup_(labels_unrefp) struct labels *target = make_labels("a=x");

	relabel_memo_begin(&m);
	assert_null(apply(&m, *state, target));
	assert_null(apply(&m, *state, target));
	assert_int_equal(m.by_target.n, 1);
}

/* Who does not come is forgotten, and lets go of its sets. */
static void test_forgets(void **state)
{
	_cleanup_relabel_memo_ struct relabel_memo m = { 0 };
	_cleanup_(labels_unrefp) struct labels *stays = make_labels("a=1");
	_cleanup_(labels_unrefp) struct labels *goes = make_labels("a=2");

	relabel_memo_begin(&m);
	labels_unref(apply(&m, *state, stays));
	labels_unref(apply(&m, *state, goes));
	relabel_memo_end(&m);
	assert_int_equal(m.by_target.n, 2);
	assert_true(goes->n_refs > 1);
	relabel_memo_begin(&m);
	labels_unref(apply(&m, *state, stays));
	/* A round that failed takes nothing away. */
	relabel_memo_begin(&m);
	assert_int_equal(m.by_target.n, 2);
	labels_unref(apply(&m, *state, stays));
	relabel_memo_end(&m);
	assert_int_equal(m.by_target.n, 1);
	assert_int_equal(goes->n_refs, 1);
}

/* Each time it is to be told, so each time it is done. */
static void test_losses_are_not_remembered(void **state)
{
	struct relabel_config config = RELABEL_CONFIG_INIT;
	_cleanup_(relabel_rules_freep) struct relabel_rules *rules = NULL;
	_cleanup_relabel_memo_ struct relabel_memo m = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(1000);
	_cleanup_free_ char *value = malloc(RELABEL_VALUE_MAX);
	struct labels *target = NULL;

	(void)state;
	assert_non_null(value);
	memset(value, 'x', RELABEL_VALUE_MAX - 1);
	value[RELABEL_VALUE_MAX - 1] = '\0';
	assert_int_equal(labels_new(&(struct label){ "a", value }, 1, &target), 0);
	config.source_labels = sources;
	config.n_source_labels = 1;
	config.target_label = "b";
	config.replacement = "$1$1";
	assert_int_equal(relabel_rules_new(&config, 1, &why, &rules), 0);
	relabel_memo_begin(&m);
	for (unsigned int i = 0; i < 3; i++) {
		struct relabel_pass pass = RELABEL_PASS_INIT;
		_cleanup_(labels_unrefp) struct labels *l = NULL;

		assert_int_equal(relabel_memo_apply(&m, rules, target, &pass, &l), RELABEL_KEPT);
		assert_int_equal(pass.n_too_long, 1);
		assert_int_equal(m.by_target.n, 0);
	}
	labels_unref(target);
}

static void test_memory_runs_out(void **state)
{
	_cleanup_(labels_unrefp) struct labels *target = make_labels("a=1");
	bool failed = true;

	for (size_t nth = 1; failed; nth++) {
		_cleanup_relabel_memo_ struct relabel_memo m = { 0 };
		_cleanup_(labels_unrefp) struct labels *l = NULL;
		struct relabel_pass pass = RELABEL_PASS_INIT;

		relabel_memo_begin(&m);
		alloc_fail_arm(nth);
		int r = relabel_memo_apply(&m, *state, target, &pass, &l);
		failed = alloc_fail_disarm();
		assert_int_equal(r, failed ? -ENOMEM : RELABEL_KEPT);
		assert_int_equal(!l, failed);
		assert_int_equal(m.by_target.n, !failed);
	}
}

static const struct unit_test tests[] = {
	TEST(test_remembers),
	TEST(test_dropped_ones),
	TEST(test_forgets),
	TEST(test_losses_are_not_remembered),
	TEST(test_memory_runs_out),
};

TEST_MAIN_WITH(tests, setup, teardown)
