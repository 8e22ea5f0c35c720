/* SPDX-License-Identifier: Apache-2.0 */
/* Who has no number here: one process a control group, named by it, remembered and forgotten. The tree of control groups is the test's. */
#include <errno.h>
#include <string.h>

#include "agent/process/outside_process.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

struct cgroup_tree {
	unsigned int n_asked;
};

static const struct {
	uint64_t id;
	const char *path;
} groups[] = {
	{ 1, "/" },
	{ 10, "/system.slice/nginx.service" },
	{ 11, "/system.slice/docker-" ID ".scope" },
	{ 12, "/user.slice/user-0.slice/session-3.scope" },
};

/* In place of the one that asks the kernel. */
int __wrap_cgroup_tree_path(struct cgroup_tree *t, uint64_t cgroup_id, struct buf *out);
int __wrap_cgroup_tree_path(struct cgroup_tree *t, uint64_t cgroup_id, struct buf *out)
{
	t->n_asked++;
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		if (groups[i].id == cgroup_id)
			return buf_append_str(out, groups[i].path);
	return -ENOENT;
}

struct context {
	struct cgroup_tree tree;
	struct telemetry *telemetry;
	struct outside_processes *outside_processes;
	unsigned int n_forgotten;
};

static void on_forget(struct process *p, void *data)
{
	struct context *w = data;

	assert_int_equal(p->pid, 0);
	free(p->user);
	p->user = NULL;
	w->n_forgotten++;
}

static void open_context(struct context *w, bool with_tree, size_t max)
{
	*w = (struct context){ 0 };
	assert_int_equal(telemetry_new(&w->telemetry), 0);
	assert_int_equal(outside_processes_new(
				 &(struct outside_processes_options){
					 .tree = with_tree ? &w->tree : NULL,
					 .max = max,
					 .telemetry = w->telemetry,
					 .on_forget = on_forget,
					 .data = w,
				 },
				 &w->outside_processes),
			 0);
}

static void close_context(struct context *w)
{
	outside_processes_free(w->outside_processes);
	telemetry_free(w->telemetry);
}

static void test_identity_by_control_group(void **state)
{
	struct context w;

	(void)state;
	open_context(&w, true, 0);
	const struct process *p = outside_processes_get(w.outside_processes, 10, false);
	assert_true(p->identity_loaded);
	assert_string_equal(p->identity.cgroup.unit, "nginx.service");
	assert_string_equal(p->identity.cgroup_path, "/system.slice/nginx.service");
	assert_string_equal(p->identity.comm, OUTSIDE_PROCESS_NAME);
	assert_string_equal(p->identity.exe, "");
	assert_false(p->identity.kernel_thread);
	p = outside_processes_get(w.outside_processes, 11, false);
	assert_string_equal(p->identity.cgroup.container_id, ID);
	/* Neither container nor service, and one that is gone: the name says what is known. */
	p = outside_processes_get(w.outside_processes, 12, false);
	assert_string_equal(p->identity.cgroup.container_id, "");
	assert_string_equal(p->identity.comm, OUTSIDE_PROCESS_NAME);
	p = outside_processes_get(w.outside_processes, 99, false);
	assert_string_equal(p->identity.comm, OUTSIDE_PROCESS_NAME);
	assert_string_equal(p->identity.cgroup_path, "");
	close_context(&w);
}

/* It is what any process is to those who ask the table. */
static void test_table_takes_it_as_it_is(void **state)
{
	struct process_table *table = NULL;
	struct context w;

	(void)state;
	open_context(&w, true, 0);
	assert_int_equal(
		process_table_new(&(struct process_table_options){ .telemetry = w.telemetry },
				  &table),
		0);
	struct process *p = outside_processes_get(w.outside_processes, 10, false);
	assert_ptr_equal(process_identity(table, p), &p->identity);
	assert_string_equal(p->identity.cgroup.unit, "nginx.service");
	assert_int_equal(process_table_n(table), 0);
	process_table_free(table);
	close_context(&w);
}

static void test_one_for_each_control_group(void **state)
{
	struct context w;

	(void)state;
	open_context(&w, true, 0);
	struct process *one = outside_processes_get(w.outside_processes, 10, false);
	one->user = malloc(1);
	assert_ptr_not_equal(outside_processes_get(w.outside_processes, 11, false), one);
	for (int i = 0; i < 100; i++)
		assert_ptr_equal(outside_processes_get(w.outside_processes, 10, false), one);
	/* The path was asked for once each. */
	assert_int_equal(w.tree.n_asked, 2);
	assert_int_equal(telemetry_get(w.telemetry, TELEMETRY_samples_outside_pid_namespace), 102);
	close_context(&w);
	assert_int_equal(w.n_forgotten, 2);
}

static void test_kernel_threads(void **state)
{
	struct context w;

	(void)state;
	open_context(&w, true, 0);
	const struct process *p = outside_processes_get(w.outside_processes, 10, true);
	assert_true(p->identity.kernel_thread);
	assert_ptr_equal(outside_processes_get(w.outside_processes, 11, true), p);
	assert_ptr_not_equal(outside_processes_get(w.outside_processes, 10, false), p);
	/* They are nobody's processes, inside or outside. */
	assert_int_equal(telemetry_get(w.telemetry, TELEMETRY_samples_outside_pid_namespace), 1);
	close_context(&w);
}

static void test_without_a_tree(void **state)
{
	struct context w;

	(void)state;
	open_context(&w, false, 0);
	assert_string_equal(outside_processes_get(w.outside_processes, 10, false)->identity.comm,
			    OUTSIDE_PROCESS_NAME);
	close_context(&w);
}

static void test_least_recently_sampled_goes_first(void **state)
{
	struct context w;

	(void)state;
	open_context(&w, true, 3);
	struct process *held = process_ref(outside_processes_get(w.outside_processes, 1, false));
	(void)outside_processes_get(w.outside_processes, 2, false);
	(void)outside_processes_get(w.outside_processes, 3, false);
	assert_ptr_equal(outside_processes_get(w.outside_processes, 1, false), held);
	(void)outside_processes_get(w.outside_processes, 4, false); /* 2 goes */
	assert_int_equal(w.n_forgotten, 1);
	assert_int_equal(w.tree.n_asked, 4);
	assert_ptr_equal(outside_processes_get(w.outside_processes, 1, false), held);
	assert_int_equal(w.tree.n_asked, 4);
	(void)outside_processes_get(w.outside_processes, 2, false); /* 3 goes */
	assert_int_equal(w.tree.n_asked, 5);
	(void)outside_processes_get(w.outside_processes, 5, false);
	(void)outside_processes_get(w.outside_processes, 6, false); /* 4 and 1 go */
	assert_int_equal(w.n_forgotten, 4);
	/* Who holds a reference keeps it. */
	assert_string_equal(held->identity.cgroup_path, "/");
	process_unref(held);
	close_context(&w);
	assert_int_equal(w.n_forgotten, 7);
}

static const struct unit_test tests[] = {
	TEST(test_identity_by_control_group),
	TEST(test_table_takes_it_as_it_is),
	TEST(test_one_for_each_control_group),
	TEST(test_kernel_threads),
	TEST(test_without_a_tree),
	TEST(test_least_recently_sampled_goes_first),
};

TEST_MAIN(tests)
