/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the module fails once: the answer is -ENOMEM and nothing leaks. */
#include "tests/support/unit.h"
#include "tests/unit/agent/target/make_labels.h"

#include "agent/discovery/discovery_process.h"
#include "agent/target/label_sanitizer.h"
#include "agent/target/target.h"
#include "tests/support/alloc_fail.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

struct process_table {
	struct process process;
};

struct process *process_table_get(struct process_table *t, uint32_t pid, const char *comm)
{
	(void)pid;
	(void)comm;
	return &t->process;
}

const struct process_identity *process_identity(struct process_table *t, struct process *p)
{
	(void)t;
	return &p->identity;
}

const struct process_identity *process_identity_whole(struct process_table *t, struct process *p)
{
	return process_identity(t, p);
}

int process_list_pids(const struct process_table *t, uint32_t **ret_pids, size_t *ret_n)
{
	uint32_t *pids = malloc(sizeof(pids[0]));

	if (!pids)
		return -ENOMEM;
	pids[0] = t->process.pid;
	*ret_pids = pids;
	*ret_n = 1;
	return 0;
}

struct fixture {
	struct process_table processes;
	struct telemetry *telemetry;
	struct labels *target; /* names no service, and one of its labels is to be repaired */
};

static void set_up(struct fixture *f)
{
	struct process *p;

	p = &f->processes.process;
	p->pid = 42;
	p->identity = (struct process_identity){ .exe = (char *)"/app",
						 .comm = (char *)"",
						 .cmdline = (char *)"",
						 .cwd = (char *)"",
						 .cgroup_path = (char *)"",
						 .cgroup.container_id = A };
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	f->target = make_labels("__container_id__=" A "|a.b=\xff|c=d");
}

static void tear_down(struct fixture *f)
{
	labels_unref(f->target);
	telemetry_free(f->telemetry);
}

FIXTURE(struct fixture, set_up, tear_down)

static int match(struct fixture *f)
{
	_cleanup_(target_set_freep) struct target_set *s = NULL;
	_cleanup_(labels_unrefp) struct labels *l = NULL;
	int r = target_set_new(&(struct target_set_options){ .targets = &f->target,
							     .n_targets = 1,
							     .have_targets = true,
							     .default_target = f->target,
							     .host = "h1",
							     .telemetry = f->telemetry },
			       &s);

	if (r == 0)
		r = target_set_match(s, &f->processes, &f->processes.process, &l);
	assert_int_equal(!!l, r == 0);
	return r;
}

static int discover(struct fixture *f)
{
	static const struct discover_config config = { .exe = true, .container_id = true };
	_cleanup_(discovery_process_freep) struct discovery_process *d = NULL;
	struct labels **targets = NULL;
	size_t n = 0;
	int r = discovery_process_new(&config, &f->processes, &d);

	if (r == 0)
		r = discovery_process_set_join(d, &f->target, 1);
	if (r == 0)
		r = discovery_process_scan(d);
	if (r >= 0)
		r = discovery_process_targets(d, &targets, &n);
	assert_int_equal(n, r == 0 ? 2 : 0);
	labels_array_free(targets, n);
	return r;
}

static void fail_each(struct fixture *f, int (*run)(struct fixture *f), size_t n_min)
{
	size_t nth = 0;

	for (;;) {
		alloc_fail_arm(++nth);
		int r = run(f);
		bool failed = alloc_fail_disarm();

		assert_int_equal(r, failed ? -ENOMEM : 0);
		if (!failed)
			break;
	}
	assert_true(nth > n_min);
}

/* At least: set, host, default, targets, index, items, arena, labels, pool entry, its buckets. */
static void test_target(void **state)
{
	fail_each(*state, match, 10);
}

/* At least: discovery, two joins, buckets, pids, found, labels, targets, merged labels. */
static void test_discovery(void **state)
{
	fail_each(*state, discover, 9);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_target),
	FIXTURE_TEST(test_discovery),
};

TEST_MAIN(tests)
