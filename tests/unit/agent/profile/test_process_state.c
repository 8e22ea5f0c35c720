/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a process, and of one that has just ended. */
#include "tests/support/unit.h"
#include "tests/unit/agent/profile/context.h"

#include "agent/process/process.h"
#include "agent/profile/process_state.h"
#include "agent/util/clock.h"

struct fixture {
	struct telemetry *telemetry;
	struct process_table *processes;
	struct exited_processes exited_processes;
};

static void on_exit_bury(struct process *p, void *data)
{
	struct fixture *f = data;

	exited_processes_add(&f->exited_processes, p);
}

static void set_up(struct fixture *f)
{
	struct process_table_options o = { .proc_root = "/nonexistent/proc" };

	assert_int_equal(telemetry_new(&f->telemetry), 0);
	o.telemetry = f->telemetry;
	o.hooks.on_exit = on_exit_bury;
	o.hooks.data = f;
	exited_processes_init(&f->exited_processes);
	assert_int_equal(process_table_new(&o, &f->processes), 0);
}

static void tear_down(struct fixture *f)
{
	process_table_free(f->processes);
	exited_processes_fini(&f->exited_processes);
	telemetry_free(f->telemetry);
}

FIXTURE(struct fixture, set_up, tear_down)

/* A process that was sampled. */
static struct process *live(struct fixture *f, uint32_t pid)
{
	struct process *p = process_table_get(f->processes, pid, "test");

	assert_non_null(p);
	assert_non_null(process_state_get(p));
	return p;
}

static void end_at(struct fixture *f, uint32_t pid, uint64_t time_ns)
{
	struct process_event ev = { .kind = PROCESS_EVENT_EXIT, .pid = pid, .time_ns = time_ns };

	process_table_apply(f->processes, &ev);
}

/* Later than any start time that the table may have noted. */
static uint64_t after_now(uint64_t ns)
{
	return clock_mono_ns() + NS_PER_S + ns;
}

static void test_made_once(void **state)
{
	struct fixture *f = *state;
	struct process *p = process_table_get(f->processes, 10, "test");
	struct process_state *k = process_state_get(p);

	assert_non_null(k);
	assert_ptr_equal(process_state_get(p), k);
	assert_ptr_equal(p->user, k);
	assert_ptr_equal(k->process, p);
	assert_false(k->decided);
	assert_null(k->labels);
	process_state_free(NULL);
}

static void test_found_after_its_end(void **state)
{
	struct fixture *f = *state;
	struct process *p = live(f, 10);

	((struct process_state *)p->user)->labels = make_service("web");
	assert_null(exited_processes_find(&f->exited_processes, 10));
	end_at(f, 10, after_now(0));
	assert_null(process_table_find(f->processes, 10));
	assert_ptr_equal(exited_processes_find(&f->exited_processes, 10), p);
	assert_true(p->exited);
	assert_string_equal(labels_get(((struct process_state *)p->user)->labels, "service_name"),
			    "web");
	assert_int_equal(f->exited_processes.n, 1);
	assert_null(exited_processes_find(&f->exited_processes, 11));
}

/* Nobody asked about it while it lived, so nothing is kept. */
static void test_never_sampled(void **state)
{
	struct fixture *f = *state;

	assert_non_null(process_table_get(f->processes, 10, "test"));
	end_at(f, 10, after_now(0));
	assert_int_equal(f->exited_processes.n, 0);
	assert_null(exited_processes_find(&f->exited_processes, 10));
}

static void test_swept_when_its_time_is_over(void **state)
{
	struct fixture *f = *state;
	uint64_t end_ns = after_now(0);

	live(f, 10);
	end_at(f, 10, end_ns);
	live(f, 11);
	end_at(f, 11, end_ns + 1000);
	exited_processes_sweep(&f->exited_processes, end_ns + EXITED_PROCESSES_NS - 1);
	assert_int_equal(f->exited_processes.n, 2);
	exited_processes_sweep(&f->exited_processes, end_ns + EXITED_PROCESSES_NS);
	assert_null(exited_processes_find(&f->exited_processes, 10));
	assert_non_null(exited_processes_find(&f->exited_processes, 11));
	exited_processes_sweep(&f->exited_processes, end_ns + 1000 + EXITED_PROCESSES_NS);
	assert_int_equal(f->exited_processes.n, 0);
}

/* The pid was used again and that one ended too: the younger is meant. */
static void test_youngest_of_a_pid(void **state)
{
	struct fixture *f = *state;
	uint64_t end_ns = after_now(0);

	live(f, 10);
	end_at(f, 10, end_ns);
	struct process *young = live(f, 10);
	end_at(f, 10, end_ns + NS_PER_S / 2);
	assert_int_equal(f->exited_processes.n, 2);
	assert_ptr_equal(exited_processes_find(&f->exited_processes, 10), young);
}

static void test_ceiling(void **state)
{
	struct fixture *f = *state;
	uint64_t end_ns = after_now(0);

	for (uint32_t pid = 1; pid <= EXITED_PROCESSES_MAX + 5; pid++) {
		live(f, pid);
		end_at(f, pid, end_ns + pid);
	}
	assert_int_equal(f->exited_processes.n, EXITED_PROCESSES_MAX);
	assert_null(exited_processes_find(&f->exited_processes, 5));
	assert_non_null(exited_processes_find(&f->exited_processes, 6));
	assert_non_null(exited_processes_find(&f->exited_processes, EXITED_PROCESSES_MAX + 5));
}

/* One whose mappings had just changed is in a list when it ends. */
static void test_dirty_when_it_ends(void **state)
{
	struct fixture *f = *state;
	struct process *p = live(f, 10);
	struct process_state *k = p->user;
	struct list dirty;

	list_init(&dirty);
	k->dirty = true;
	list_push_back(&dirty, &k->node);
	end_at(f, 10, after_now(0));
	assert_true(list_empty(&dirty));
	assert_false(k->dirty);
	assert_ptr_equal(exited_processes_find(&f->exited_processes, 10), p);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_made_once),
	FIXTURE_TEST(test_found_after_its_end),
	FIXTURE_TEST(test_never_sampled),
	FIXTURE_TEST(test_swept_when_its_time_is_over),
	FIXTURE_TEST(test_youngest_of_a_pid),
	FIXTURE_TEST(test_ceiling),
	FIXTURE_TEST(test_dirty_when_it_ends),
};

TEST_MAIN(tests)
