/* SPDX-License-Identifier: Apache-2.0 */
/* Series that outlive their target set; a series that is nobody's target. */
#include "tests/support/unit.h"
#include "tests/unit/agent/target/make_labels.h"

#include <stdio.h>

#include "agent/target/target.h"
#include "tests/support/alloc_fail.h"

#define ID_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ID_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

struct process_table {
	struct process_identity identity;
};

const struct process_identity *process_identity(struct process_table *t, struct process *p)
{
	(void)p;
	return &t->identity;
}

#define N_TARGETS 4

struct fixture {
	struct telemetry *telemetry;
	struct labels *targets[N_TARGETS];
};

static void set_up(struct fixture *f)
{
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	f->targets[0] = make_labels("__process_pid__=1|service_name=one|bad.name=x");
	f->targets[1] = make_labels("__container_id__=" ID_A "|service_name=a");
	f->targets[2] = make_labels("__container_id__=" ID_B "|service_name=b");
	f->targets[3] = make_labels("service_name=nobody's");
}

static void tear_down(struct fixture *f)
{
	for (size_t i = 0; i < N_TARGETS; i++)
		labels_unref(f->targets[i]);
	telemetry_free(f->telemetry);
}

FIXTURE(struct fixture, set_up, tear_down)

static int try_set(struct fixture *f, size_t n, const char *host, struct target_set *previous,
		   struct target_set **ret_set)
{
	const struct target_set_options o = { .targets = f->targets,
					      .n_targets = n,
					      .have_targets = true,
					      .targets_only = true,
					      .host = host,
					      .telemetry = f->telemetry,
					      .previous = previous };

	return target_set_new(&o, ret_set);
}

static struct target_set *make_set(struct fixture *f, size_t n, const char *host,
				   struct target_set *previous)
{
	struct target_set *set = NULL;

	assert_int_equal(try_set(f, n, host, previous, &set), 0);
	return set;
}

/* The series of a process with this pid in this container, a reference; NULL: it has none. */
static struct labels *match(struct target_set *set, uint32_t pid, const char *container)
{
	struct process_table table = { .identity = { .exe = (char *)"/x",
						     .comm = (char *)"x",
						     .cmdline = (char *)"x",
						     .cwd = (char *)"/",
						     .cgroup_path = (char *)"" } };
	struct process p = { .pid = pid };
	struct labels *l = NULL;

	(void)snprintf(table.identity.cgroup.container_id,
		       sizeof(table.identity.cgroup.container_id), "%s", container);
	int r = target_set_match(set, &table, &p, &l);
	assert_int_equal(r, l ? TARGET_FOUND : TARGET_NONE);
	return l;
}

static void test_series_stay(void **state)
{
	struct fixture *f = *state;
	struct target_set *first = make_set(f, N_TARGETS, "h", NULL);
	_cleanup_(labels_unrefp) struct labels *one = match(first, 1, "");
	_cleanup_(labels_unrefp) struct labels *a = match(first, 2, ID_A);
	uint64_t dropped = telemetry_get(f->telemetry, TELEMETRY_labels_dropped);

	assert_int_equal(dropped, 1);
	_cleanup_(target_set_freep) struct target_set *second = make_set(f, N_TARGETS, "h", first);
	target_set_free(first);
	_cleanup_(labels_unrefp) struct labels *one_again = match(second, 1, "");
	_cleanup_(labels_unrefp) struct labels *a_again = match(second, 2, ID_A);
	_cleanup_(labels_unrefp) struct labels *b = match(second, 3, ID_B);
	assert_ptr_equal(one_again, one);
	assert_ptr_equal(a_again, a);
	assert_string_equal(labels_get(b, "service_name"), "b");
	assert_int_equal(target_set_n(second), 3);
	/* What was done to a label of it is counted once. */
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_labels_dropped), dropped);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_targets_rejected), 2);
}

static void test_targets_go(void **state)
{
	struct fixture *f = *state;
	struct target_set *first = make_set(f, 3, "h", NULL);
	_cleanup_(labels_unrefp) struct labels *b = match(first, 3, ID_B);
	_cleanup_(target_set_freep) struct target_set *second = make_set(f, 2, "h", first);

	target_set_free(first);
	assert_non_null(b);
	assert_null(match(second, 3, ID_B));
	assert_int_equal(target_set_n(second), 2);
}

/* Equal labels in another object: found out anew, and the same series all the same. */
static void test_equal_labels(void **state)
{
	struct fixture *f = *state;
	struct target_set *first = make_set(f, 3, "h", NULL);
	_cleanup_(labels_unrefp) struct labels *a = match(first, 2, ID_A);

	labels_unref(f->targets[1]);
	f->targets[1] = make_labels("__container_id__=" ID_A "|service_name=a");
	_cleanup_(target_set_freep) struct target_set *second = make_set(f, 3, "h", first);
	target_set_free(first);
	_cleanup_(labels_unrefp) struct labels *again = match(second, 2, ID_A);
	assert_ptr_equal(again, a);
}

/* The host's name is in every series. */
static void test_another_host(void **state)
{
	struct fixture *f = *state;
	struct target_set *first = make_set(f, 3, "h", NULL);
	_cleanup_(labels_unrefp) struct labels *a = match(first, 2, ID_A);
	_cleanup_(target_set_freep) struct target_set *second = make_set(f, 3, "g", first);

	target_set_free(first);
	_cleanup_(labels_unrefp) struct labels *again = match(second, 2, ID_A);
	assert_labels(a, "host=h|service_name=a");
	assert_labels(again, "host=g|service_name=a");
}

/* A set that cannot be made takes nothing from the one before. */
static void test_memory_runs_out(void **state)
{
	struct fixture *f = *state;
	_cleanup_(target_set_freep) struct target_set *first = make_set(f, N_TARGETS, "h", NULL);
	_cleanup_(labels_unrefp) struct labels *a = match(first, 2, ID_A);
	bool failed = true;

	for (size_t nth = 1; failed; nth++) {
		_cleanup_(target_set_freep) struct target_set *set = NULL;

		alloc_fail_arm(nth);
		int r = try_set(f, N_TARGETS, nth % 2 ? "h" : "g", first, &set);
		failed = alloc_fail_disarm();
		assert_int_equal(r, failed ? -ENOMEM : 0);
		_cleanup_(labels_unrefp) struct labels *again = match(first, 2, ID_A);
		assert_ptr_equal(again, a);
	}
}

static void check_other(struct fixture *f, const char *host, const char *expected)
{
	_cleanup_(target_set_freep) struct target_set *set = make_set(f, 0, host, NULL);
	_cleanup_(labels_unrefp) struct labels *other = NULL;
	_cleanup_(labels_unrefp) struct labels *again = NULL;

	assert_int_equal(target_set_series(set, "other", &other), 0);
	assert_int_equal(target_set_series(set, "other", &again), 0);
	assert_labels(other, expected);
	assert_ptr_equal(other, again);
}

static void test_other(void **state)
{
	check_other(*state, "h", "host=h|service_name=other");
	check_other(*state, NULL, "service_name=other");
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_series_stay),
	FIXTURE_TEST(test_targets_go),
	FIXTURE_TEST(test_equal_labels),
	FIXTURE_TEST(test_another_host),
	FIXTURE_TEST(test_memory_runs_out),
	FIXTURE_TEST(test_other),
};

TEST_MAIN(tests)
