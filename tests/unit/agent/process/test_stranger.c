/* SPDX-License-Identifier: Apache-2.0 */
/* Who has no number here: one process a control group, named by it, remembered and forgotten. The tree of control groups is the test's. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "agent/process/stranger.h"
#include "agent/util/macro.h"

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

struct world {
	struct cgroup_tree tree;
	struct telemetry *telemetry;
	struct strangers *strangers;
	unsigned int n_forgotten;
};

static void on_forget(struct process *p, void *data)
{
	struct world *w = data;

	assert_int_equal(p->pid, 0);
	free(p->user);
	p->user = NULL;
	w->n_forgotten++;
}

static void open_world(struct world *w, bool with_tree, size_t max)
{
	*w = (struct world){ 0 };
	assert_int_equal(telemetry_new(&w->telemetry), 0);
	assert_int_equal(strangers_new(
				 &(struct strangers_options){
					 .tree = with_tree ? &w->tree : NULL,
					 .max = max,
					 .telemetry = w->telemetry,
					 .on_forget = on_forget,
					 .data = w,
				 },
				 &w->strangers),
			 0);
}

static void close_world(struct world *w)
{
	strangers_free(w->strangers);
	telemetry_free(w->telemetry);
}

static void test_identity_by_control_group(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, true, 0);
	const struct process *p = strangers_get(w.strangers, 10, false);
	assert_true(p->identity_loaded);
	assert_string_equal(p->identity.cgroup.unit, "nginx.service");
	assert_string_equal(p->identity.cgroup_path, "/system.slice/nginx.service");
	assert_string_equal(p->identity.comm, STRANGER_NAME);
	assert_string_equal(p->identity.exe, "");
	assert_false(p->identity.kernel_thread);
	p = strangers_get(w.strangers, 11, false);
	assert_string_equal(p->identity.cgroup.container_id, ID);
	/* Neither container nor service, and one that is gone: the name says what is known. */
	p = strangers_get(w.strangers, 12, false);
	assert_string_equal(p->identity.cgroup.container_id, "");
	assert_string_equal(p->identity.comm, STRANGER_NAME);
	p = strangers_get(w.strangers, 99, false);
	assert_string_equal(p->identity.comm, STRANGER_NAME);
	assert_string_equal(p->identity.cgroup_path, "");
	close_world(&w);
}

/* It is what any process is to those who ask the table. */
static void test_table_takes_it_as_it_is(void **state)
{
	struct process_table *table = NULL;
	struct world w;

	(void)state;
	open_world(&w, true, 0);
	assert_int_equal(
		process_table_new(&(struct process_table_options){ .telemetry = w.telemetry },
				  &table),
		0);
	struct process *p = strangers_get(w.strangers, 10, false);
	assert_ptr_equal(process_identity(table, p), &p->identity);
	assert_string_equal(p->identity.cgroup.unit, "nginx.service");
	assert_int_equal(process_table_n(table), 0);
	process_table_free(table);
	close_world(&w);
}

static void test_one_for_each_control_group(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, true, 0);
	struct process *one = strangers_get(w.strangers, 10, false);
	one->user = malloc(1);
	assert_ptr_not_equal(strangers_get(w.strangers, 11, false), one);
	for (int i = 0; i < 100; i++)
		assert_ptr_equal(strangers_get(w.strangers, 10, false), one);
	/* The path was asked for once each. */
	assert_int_equal(w.tree.n_asked, 2);
	assert_int_equal(telemetry_get(w.telemetry, TELEMETRY_samples_outside_pid_namespace), 102);
	close_world(&w);
	assert_int_equal(w.n_forgotten, 2);
}

static void test_kernel_threads(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, true, 0);
	const struct process *p = strangers_get(w.strangers, 10, true);
	assert_true(p->identity.kernel_thread);
	assert_ptr_equal(strangers_get(w.strangers, 11, true), p);
	assert_ptr_not_equal(strangers_get(w.strangers, 10, false), p);
	/* They are nobody's processes, inside or outside. */
	assert_int_equal(telemetry_get(w.telemetry, TELEMETRY_samples_outside_pid_namespace), 1);
	close_world(&w);
}

static void test_without_a_tree(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, false, 0);
	assert_string_equal(strangers_get(w.strangers, 10, false)->identity.comm, STRANGER_NAME);
	close_world(&w);
}

static void test_least_recently_sampled_goes_first(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, true, 3);
	struct process *held = process_ref(strangers_get(w.strangers, 1, false));
	(void)strangers_get(w.strangers, 2, false);
	(void)strangers_get(w.strangers, 3, false);
	assert_ptr_equal(strangers_get(w.strangers, 1, false), held);
	(void)strangers_get(w.strangers, 4, false); /* 2 goes */
	assert_int_equal(w.n_forgotten, 1);
	assert_int_equal(w.tree.n_asked, 4);
	assert_ptr_equal(strangers_get(w.strangers, 1, false), held);
	assert_int_equal(w.tree.n_asked, 4);
	(void)strangers_get(w.strangers, 2, false); /* 3 goes */
	assert_int_equal(w.tree.n_asked, 5);
	(void)strangers_get(w.strangers, 5, false);
	(void)strangers_get(w.strangers, 6, false); /* 4 and 1 go */
	assert_int_equal(w.n_forgotten, 4);
	/* Who holds a reference keeps it. */
	assert_string_equal(held->identity.cgroup_path, "/");
	process_unref(held);
	close_world(&w);
	assert_int_equal(w.n_forgotten, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_identity_by_control_group),
		cmocka_unit_test(test_table_takes_it_as_it_is),
		cmocka_unit_test(test_one_for_each_control_group),
		cmocka_unit_test(test_kernel_threads),
		cmocka_unit_test(test_without_a_tree),
		cmocka_unit_test(test_least_recently_sampled_goes_first),
	};

	return cmocka_run_group_tests_name("agent/process/stranger", tests, NULL, NULL);
}
