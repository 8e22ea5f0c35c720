/* SPDX-License-Identifier: Apache-2.0 */
/* A table of those who want to know who processes are, and nothing of what they have mapped. */
#include "agent/process/process.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/process/proc_tree.h"

#define MAPS "400000-402000 r-xp 00001000 08:01 11                     /usr/bin/app\n"

struct fixture {
	struct proc_tree tree;
	struct telemetry *telemetry;
	struct process_table *table;
};

static void set_up(struct fixture *f)
{
	proc_tree_init(&f->tree);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	assert_int_equal(
		process_table_new(&(struct process_table_options){ .proc_root = f->tree.root,
								   .telemetry = f->telemetry,
								   .no_mappings = true },
				  &f->table),
		0);
}

static void tear_down(struct fixture *f)
{
	process_table_free(f->table);
	telemetry_free(f->telemetry);
	proc_tree_fini(&f->tree);
}

FIXTURE(struct fixture, set_up, tear_down)

static void add(struct fixture *f, const char *exe, uint64_t start_ticks)
{
	const struct fake_proc p = { .pid = 10,
				     .parent_pid = 1,
				     .comm = "app",
				     .start_ticks = start_ticks,
				     .maps = MAPS,
				     .exe = exe,
				     .cmdline = "app",
				     .cgroup = "0::/a\n" };

	proc_tree_add(&f->tree, &p);
}

static struct process *look(struct fixture *f)
{
	process_table_distrust(f->table);
	return process_table_get(f->table, 10, NULL);
}

static void test_no_mappings(void **state)
{
	struct fixture *f = *state;

	add(f, "/usr/bin/app", 100);
	struct process *p = look(f);
	assert_non_null(p);
	assert_null(p->mappings);
	assert_string_equal(process_identity(f->table, p)->exe, "/usr/bin/app");
	/* Nothing has changed. */
	assert_ptr_equal(look(f), p);
	assert_true(p->identity_loaded);
	assert_null(p->mappings);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_process_read_errors), 0);
}

static void test_exec_and_another_process(void **state)
{
	struct fixture *f = *state;

	add(f, "/usr/bin/app", 100);
	struct process *p = process_ref(look(f));
	uint32_t exec_count = p->exec_count;
	(void)process_identity(f->table, p);
	add(f, "/usr/bin/other", 100);
	assert_ptr_equal(look(f), p);
	assert_int_equal(p->exec_count, exec_count + 1);
	assert_string_equal(process_identity(f->table, p)->exe, "/usr/bin/other");
	add(f, "/usr/bin/other", 500);
	struct process *another = look(f);
	assert_ptr_not_equal(another, p);
	assert_true(p->exited);
	assert_string_equal(process_identity(f->table, another)->exe, "/usr/bin/other");
	process_unref(p);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_no_mappings),
	FIXTURE_TEST(test_exec_and_another_process),
};

TEST_MAIN(tests)
