/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that runs out at every single place: each sample is built or counted as failed, never both, never neither. */
#include "tests/support/unit.h"
#include "tests/unit/agent/profile/context.h"

#include <errno.h>

#include "tests/support/alloc_fail.h"

#define MAX_ALLOCATIONS 20000

static void fill(struct context *w)
{
	const uint64_t a[] = { FN(0), FN(1) }, b[] = { FN(2), FN(1) };
	const struct frame_ref user[] = { jit_frame(w->interval), UNKNOWN };

	context_add(w, w->web, a, 2, user, 2, 3);
	context_add(w, w->web, b, 2, user, 1, 4);
	context_add(w, w->db, b, 2, NO_FRAMES, 0, 5);
}

struct form {
	const char *name;
	build_fn build;
	unsigned int wants;
};

static const struct form forms[] = {
	{ "tables", build_profiles, PROFILE_WANT_TABLES },
	{ "pprof", build_profiles, PROFILE_WANT(FORM_PPROF) },
	{ "both", build_profiles, PROFILE_WANT_TABLES | PROFILE_WANT(FORM_PPROF) },
	{ "otlp", build_profiles, PROFILE_WANT(FORM_OTLP) },
	{ "otlp_gzip", build_profiles, PROFILE_WANT(FORM_OTLP_GZIP) },
	{ "one_otlp", build_otlp, 0 },
	{ "one_pprof", build_one_pprof, 0 },
	{ "folded", build_folded, 0 },
	{ "table", build_table, 0 },
};

static uint64_t delivered(const struct build *b)
{
	uint64_t n = 0;

	for (const struct built *x = b->first; x; x = x->next)
		n += x->n_samples;
	return n;
}

static void check_form(struct context *w, const struct form *form)
{
	bool failed = true;

	for (size_t nth = 1; failed; nth++) {
		_cleanup_(namer_freep) struct namer *namer = NULL;
		struct build b;

		assert_true(nth < MAX_ALLOCATIONS);
		build_init(&b);
		b.wants = form->wants;
		assert_int_equal(namer_new(w->interval, w->store, (size_t)1 << 20, &namer), 0);
		alloc_fail_arm(nth);
		form->build(w->interval, namer, &b);
		build_summarize(w->interval, namer, &b);
		failed = alloc_fail_disarm();
		if (b.summary.n_samples + b.summary.n_failed != w->interval->n_samples ||
		    delivered(&b) != b.summary.n_samples)
			fail_msg("%s, allocation %zu: %u built, %u delivered, %u failed of %u",
				 form->name, nth, (unsigned int)b.summary.n_samples,
				 (unsigned int)delivered(&b), (unsigned int)b.summary.n_failed,
				 (unsigned int)w->interval->n_samples);
		assert_true(failed || b.summary.n_failed == 0);
		build_fini(&b);
	}
}

static void test_every_sample_is_accounted_for(void **state)
{
	struct context *w = *state;

	fill(w);
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		check_form(w, &forms[i]);
}

static void test_interval_add(void **state)
{
	const struct frame_ref user[] = { frame_ref_of_file(1, 1), frame_ref_of_file(1, 2),
					  frame_ref_of_file(1, 3) };
	struct context *w = *state;
	bool failed = true;

	for (size_t nth = 1; failed; nth++) {
		_cleanup_(interval_freep) struct interval *i = NULL;
		bool is_new = false;

		assert_true(nth < MAX_ALLOCATIONS);
		assert_int_equal(interval_new(PERIOD_NS, 1 << 20, &i), 0);
		alloc_fail_arm(nth);
		int r = add_sample(i, w->web, NO_FRAMES, 0, user, 3, &is_new);
		failed = alloc_fail_disarm();
		assert_int_equal(r, failed ? -ENOMEM : 0);
		assert_int_equal(is_new, !failed);
		assert_int_equal(i->n_samples, !failed);
	}
}

static const struct unit_test tests[] = {
	TEST_WITH(test_every_sample_is_accounted_for, context_setup, context_teardown),
	TEST_WITH(test_interval_add, context_setup, context_teardown),
};

TEST_MAIN(tests)
