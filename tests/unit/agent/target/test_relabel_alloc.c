/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of relabelling fails once: the answer is -ENOMEM and nothing leaks. */
#include "tests/support/unit.h"
#include "tests/unit/agent/target/make_labels.h"

#include "agent/target/relabel.h"
#include "agent/util/macro.h"
#include "tests/support/alloc_fail.h"

static struct relabel_config config_of(enum relabel_action action, const char *regex,
				       const char *target)
{
	static const char *const sources[] = { "a", "b" };
	struct relabel_config config = RELABEL_CONFIG_INIT;

	config.action = action;
	config.source_labels = sources;
	config.n_source_labels = ARRAY_SIZE(sources);
	config.regex = regex;
	config.target_label = target;
	config.modulus = 7;
	return config;
}

/* A guard, a name, and text that has to be repaired are among what memory is taken for. */
static int relabel(struct labels *labels)
{
	const struct relabel_config configs[] = {
		config_of(RELABEL_REPLACE, "(?P<x>a*)+(.*)", "$x"),
		config_of(RELABEL_HASHMOD, "(.*)", "h"),
		config_of(RELABEL_LABELMAP, "(.)", ""),
		config_of(RELABEL_UPPERCASE, "(.*)", "u"),
	};
	_cleanup_(relabel_rules_freep) struct relabel_rules *rules = NULL;
	_cleanup_(labels_unrefp) struct labels *out = NULL;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	struct relabel_pass pass = RELABEL_PASS_INIT;
	int r = relabel_rules_new(configs, ARRAY_SIZE(configs), &why, &rules);

	if (r == 0)
		r = relabel_rules_apply(rules, labels, &pass, &out);
	/* Without memory for the repaired text there is no match, which is counted. */
	return r == RELABEL_KEPT && pass.n_given_up ? -ENOMEM : r;
}

/* At least four rules of three allocations each. */
static void test_relabel(void **state)
{
	_cleanup_(labels_unrefp) struct labels *labels = make_labels("a=aaa|b=\xff");
	size_t nth = 0;

	(void)state;
	for (;;) {
		alloc_fail_arm(++nth);
		int r = relabel(labels);
		bool failed = alloc_fail_disarm();

		assert_int_equal(r, failed ? -ENOMEM : RELABEL_KEPT);
		if (!failed)
			break;
	}
	assert_true(nth > 12);
}

static const struct unit_test tests[] = {
	TEST(test_relabel),
};

TEST_MAIN(tests)
