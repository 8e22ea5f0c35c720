/* SPDX-License-Identifier: Apache-2.0 */
/* Memory runs out at each place in turn: nothing crashes, nothing leaks, what is known stays right.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "agent/process/event_queue.h"
#include "agent/process/thread_groups.h"
#include "agent/process/process.h"
#include "agent/process/sideband.h"
#include "agent/util/clock.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/unit.h"

static void ignore(const struct process_event *ev, void *data)
{
	(void)ev;
	(void)data;
}

static void check_process(const struct process *p)
{
	if (!p)
		return;
	assert_true(p->identity.exe && p->identity.comm && p->identity.cmdline && p->identity.cwd &&
		    p->identity.cgroup_path);
	for (uint32_t i = 0; p->mappings && i < p->mappings->n; i++) {
		const struct mapping *m = &p->mappings->items[i];

		assert_true(m->begin < m->end && (m->kind == MAPPING_ANON) == !m->file);
		assert_true(i == 0 || p->mappings->items[i - 1].end <= m->begin);
	}
}

static void play(struct process_table *t)
{
	uint64_t now = clock_mono_ns();
	struct process_event ev = { .kind = PROCESS_EVENT_FORK,
				    .pid = 4000001,
				    .parent_pid = (uint32_t)getpid(),
				    .time_ns = now };

	check_process(process_table_get(t, (uint32_t)getpid(), "me"));
	process_table_apply(t, &ev);
	ev.kind = PROCESS_EVENT_EXEC;
	process_table_apply(t, &ev);
	ev.kind = PROCESS_EVENT_MMAP;
	ev.path = "/bin/x";
	ev.inode = 5;
	for (ev.begin = 0x400000; ev.begin < 0x600000; ev.begin += 0x40000, ev.inode++) {
		ev.len = 0x60000;
		process_table_apply(t, &ev);
	}
	/* In place of a file's text. */
	ev.path = "//anon";
	ev.inode = 0;
	ev.begin = 0x410000;
	process_table_apply(t, &ev);
	ev.pid = 4000002;
	ev.parent_pid = 4000001;
	ev.kind = PROCESS_EVENT_FORK;
	process_table_apply(t, &ev);
	ev.kind = PROCESS_EVENT_EXIT;
	process_table_apply(t, &ev);
	ev.pid = 4000001;
	struct process *p = process_table_get(t, 4000001, "x");
	if (p)
		(void)process_identity(t, p);
	check_process(p);
	process_table_distrust(t);
	check_process(process_table_get(t, (uint32_t)getpid(), "me"));
	ev.kind = PROCESS_EVENT_EXIT;
	process_table_apply(t, &ev);
	assert_null(process_table_find(t, 4000001));
}

static void test_table(void **state)
{
	size_t nth = 0;
	bool failed = true;

	(void)state;
	while (failed) {
		struct telemetry *telemetry = NULL;
		struct process_table *t = NULL;

		assert_int_equal(telemetry_new(&telemetry), 0);
		alloc_fail_arm(++nth);
		int r = process_table_new(&(struct process_table_options){ .telemetry = telemetry },
					  &t);
		if (r == 0)
			play(t);
		else
			assert_int_equal(r, -ENOMEM);
		process_table_free(t);
		failed = alloc_fail_disarm();
		telemetry_free(telemetry);
	}
	assert_true(nth > 30);
}

static void test_sideband(void **state)
{
	struct telemetry *telemetry = NULL;
	bool failed = true;

	(void)state;
	assert_int_equal(telemetry_new(&telemetry), 0);
	for (size_t nth = 1; failed; nth++) {
		unsigned int ids[1] = { 0 };
		struct cpus cpus = { ids, 1 };
		struct sideband *sb = NULL;

		alloc_fail_arm(nth);
		int r = sideband_new(
			&(struct sideband_options){ .cpus = &cpus, .telemetry = telemetry }, &sb);
		failed = alloc_fail_disarm();
		if (failed)
			assert_int_equal(r, -ENOMEM);
		if (r == 0)
			sideband_read(sb, ignore, NULL);
		sideband_free(sb);
	}
	telemetry_free(telemetry);
}

static void test_queue_and_lives(void **state)
{
	struct process_event ev = { .kind = PROCESS_EVENT_MMAP, .path = "/x" };
	struct thread_groups *l = NULL;
	struct event_queue q;

	(void)state;
	event_queue_init(&q, 10);
	for (size_t nth = 1; nth <= 2; nth++) {
		alloc_fail_arm(nth);
		assert_int_equal(event_queue_put(&q, &ev, SIDEBAND_EVENT, 1), -ENOMEM);
		assert_true(alloc_fail_disarm());
		assert_int_equal(event_queue_n(&q), 0);
	}
	event_queue_fini(&q);
	assert_int_equal(thread_groups_new("/nonexistent", 10, &l), 0);
	alloc_fail_arm(1);
	thread_groups_fork(l, 1);
	assert_true(alloc_fail_disarm());
	/* Not counted: asked for in /proc. */
	assert_false(thread_groups_thread_exit(l, 1, 1, 0));
	thread_groups_free(l);
}

static const struct unit_test tests[] = {
	TEST(test_table),
	TEST(test_sideband),
	TEST(test_queue_and_lives),
};

TEST_MAIN(tests)
