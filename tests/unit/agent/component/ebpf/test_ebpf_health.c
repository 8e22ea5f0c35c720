/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that find no target, interval by interval: when it is said, and what. */
#include "agent/component/ebpf/ebpf_private.h"
#include "tests/support/unit.h"

/* An interval in which timers have ticked. */
static bool interval(struct ebpf_flow *f, uint64_t n_matched, uint64_t n_unmatched_ever)
{
	const struct ebpf_flow_counts counts = { .n_matched = n_matched,
						 .n_unmatched_ever = n_unmatched_ever,
						 .n_ticks_ever = f->n_ticks_before + 1,
						 .now_ns = f->looked_ns + 15 * NS_PER_S };

	return ebpf_flow_interval(f, &counts);
}

static void test_said_after_three_intervals(void **state)
{
	struct ebpf_flow f = { 0 };

	(void)state;
	assert_false(interval(&f, 0, 100));
	assert_false(interval(&f, 0, 150));
	assert_false(ebpf_flow_nothing_matches(&f));
	assert_true(interval(&f, 0, 175));
	assert_true(ebpf_flow_nothing_matches(&f));
	assert_int_equal(f.n_unmatched, 175);
	/* The numbers go on. */
	assert_true(interval(&f, 0, 200));
	assert_int_equal(f.n_unmatched, 200);
	/* And it is over with the first sample that matches. */
	assert_true(interval(&f, 1, 300));
	assert_false(ebpf_flow_nothing_matches(&f));
	assert_false(interval(&f, 0, 301));
	assert_int_equal(f.n_unmatched, 1);
}

static void test_silence_is_not_a_mismatch(void **state)
{
	struct ebpf_flow f = { .n_seen_before = 500 };

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_false(interval(&f, 0, 500));
	/* Seen now and then: three intervals of it. */
	assert_false(interval(&f, 0, 501));
	assert_false(interval(&f, 0, 501));
	assert_false(interval(&f, 0, 502));
	assert_true(interval(&f, 0, 503));
}

static void test_matches_are_no_mismatch(void **state)
{
	struct ebpf_flow f = { 0 };

	(void)state;
	for (uint64_t i = 1; i < 10; i++)
		assert_false(interval(&f, 1, 1000 * i));
}

static void test_a_sum_that_begins_anew(void **state)
{
	struct ebpf_flow f = { .n_seen_before = 1000 };

	(void)state;
	assert_false(interval(&f, 0, 10));
	assert_int_equal(f.n_unmatched, 0);
	assert_false(interval(&f, 0, 30));
	assert_int_equal(f.n_unmatched, 20);
}

/* Discovery gives others all the time: that alone is no cure. */
static void test_other_targets_are_no_match(void **state)
{
	const struct process_identity nginx = { .comm = (char *)(uintptr_t) "nginx" };
	struct ebpf_flow f = { 0 };

	(void)state;
	for (uint64_t i = 1; i <= 3; i++) {
		ebpf_flow_retarget(&f);
		assert_true(ebpf_flow_wants_example(&f));
		ebpf_flow_example(&f, 7, &nginx);
		(void)interval(&f, 0, 10 * i);
	}
	assert_true(ebpf_flow_nothing_matches(&f));
	ebpf_flow_retarget(&f);
	assert_true(ebpf_flow_nothing_matches(&f));
	assert_true(interval(&f, 1, 40));
	assert_false(ebpf_flow_nothing_matches(&f));
	assert_true(ebpf_flow_wants_example(&f));
}

static bool look(struct ebpf_flow *f, uint64_t n_ticks_ever, uint64_t now_s)
{
	const struct ebpf_flow_counts counts = { .n_ticks_ever = n_ticks_ever,
						 .now_ns = now_s * NS_PER_S };

	return ebpf_flow_interval(f, &counts);
}

static void test_timers_that_stop(void **state)
{
	struct ebpf_flow f = { 0 };

	(void)state;
	assert_false(look(&f, 0, 1000));
	assert_false(look(&f, 0, 1009));
	assert_false(look(&f, 5, 1010));
	/* A look every 100 ms at a rate of 1 a second finds nothing new nine times of ten. */
	assert_false(look(&f, 5, 1011));
	assert_false(look(&f, 5, 1019));
	assert_false(ebpf_flow_stands_still(&f));
	assert_true(look(&f, 5, 1020));
	assert_true(ebpf_flow_stands_still(&f));
	/* And it is over; also where a new session counts from zero. */
	assert_true(look(&f, 1, 1021));
	assert_false(ebpf_flow_stands_still(&f));
	assert_false(look(&f, 2, 4621));
	assert_false(ebpf_flow_stands_still(&f));
}

static void test_words(void **state)
{
	const struct process_identity nginx = { .comm = (char *)(uintptr_t) "nginx",
						.cgroup = { .container_id = "0123abcd" } };
	const struct process_identity nobody = { .comm = (char *)(uintptr_t) "" };
	struct ebpf_flow f = { .n_unmatched = 1234, .n_intervals = 3 };
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	(void)state;
	ebpf_flow_explain(&f, 2, &text);
	assert_string_equal(buf_str(&text),
			    "nothing is profiled: none of 1234 samples in the last 3 intervals is "
			    "of a process that a target selects (2 targets); compare ids, or "
			    "write targets_only = false");
	buf_reset(&text);
	assert_true(ebpf_flow_wants_example(&f));
	ebpf_flow_example(&f, 4711, &nginx);
	assert_false(ebpf_flow_wants_example(&f));
	ebpf_flow_explain(&f, 2, &text);
	assert_string_equal(buf_str(&text),
			    "nothing is profiled: none of 1234 samples in the last 3 intervals is "
			    "of a process that a target selects (2 targets); for example nginx "
			    "(__process_pid__ 4711, __container_id__ 0123abcd) matches none; "
			    "compare ids, or write targets_only = false");
	ebpf_flow_example(&f, 7, &nobody);
	assert_string_equal(f.example, "a process (__process_pid__ 7)");
}

static const struct unit_test tests[] = {
	TEST(test_said_after_three_intervals),
	TEST(test_silence_is_not_a_mismatch),
	TEST(test_matches_are_no_mismatch),
	TEST(test_a_sum_that_begins_anew),
	TEST(test_other_targets_are_no_match),
	TEST(test_timers_that_stop),
	TEST(test_words),
};

TEST_MAIN(tests)
