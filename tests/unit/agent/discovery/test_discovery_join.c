/* SPDX-License-Identifier: Apache-2.0 */
/* discovery.process and its join: the same objects for what did not change, so that who comes behind can tell by a look. */
#include "tests/support/unit.h"
#include "tests/unit/agent/target/make_labels.h"

#include <stdio.h>

#include "agent/discovery/discovery_process.h"
#include "agent/util/macro.h"

#define N_PROCESSES 3

struct process_table {
	struct process items[N_PROCESSES];
};

struct process *process_table_get(struct process_table *t, uint32_t pid, const char *comm)
{
	(void)comm;
	return &t->items[pid - 1];
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
	(void)t;
	*ret_pids = calloc(N_PROCESSES, sizeof(**ret_pids));
	assert_non_null(*ret_pids);
	for (uint32_t i = 0; i < N_PROCESSES; i++)
		(*ret_pids)[i] = i + 1;
	*ret_n = N_PROCESSES;
	return 0;
}

#define C1 "1111111111111111111111111111111111111111111111111111111111111111"
#define C2 "2222222222222222222222222222222222222222222222222222222222222222"
#define C3 "3333333333333333333333333333333333333333333333333333333333333333"

/* Processes 1 and 2 are in containers, 3 in none. */
struct fixture {
	struct process_table processes;
	struct discovery_process *d;
};

static void set_up(struct fixture *f)
{
	static const char *const containers[N_PROCESSES] = { C1, C2, "" };
	static const struct discover_config config = { .exe = true, .container_id = true };

	for (uint32_t i = 0; i < N_PROCESSES; i++) {
		struct process *p = &f->processes.items[i];

		*p = (struct process){ .pid = i + 1,
				       .start_ns = 1000,
				       .identity = { .exe = (char *)"/app",
						     .comm = (char *)"",
						     .cmdline = (char *)"",
						     .cwd = (char *)"",
						     .cgroup_path = (char *)"" } };
		(void)snprintf(p->identity.cgroup.container_id,
			       sizeof(p->identity.cgroup.container_id), "%s", containers[i]);
	}
	assert_int_equal(discovery_process_new(&config, &f->processes, &f->d), 0);
	assert_true(discovery_process_scan(f->d) >= 0);
}

static void tear_down(struct fixture *f)
{
	discovery_process_free(f->d);
}

FIXTURE(struct fixture, set_up, tear_down)

/* "…;…": label sets as make_labels() has them. */
static void join(struct fixture *f, const char *text)
{
	_cleanup_free_ char *copy = strdup(text);
	struct labels *sets[8];
	char *rest = copy, *word;
	size_t n = 0;

	assert_non_null(copy);
	while (*text && (word = strsep(&rest, ";")))
		sets[n++] = make_labels(word);
	assert_int_equal(discovery_process_set_join(f->d, sets, n), 0);
	while (n > 0)
		labels_unref(sets[--n]);
}

struct targets {
	struct labels **items;
	size_t n;
};

static void targets_fini(struct targets *t)
{
	labels_array_free(t->items, t->n);
}

static struct targets targets_of(struct fixture *f)
{
	struct targets t = { 0 };

	assert_int_equal(discovery_process_targets(f->d, &t.items, &t.n), 0);
	return t;
}

#define PORT(id, port) "__container_id__=" id "|port=" port

static void test_nothing_changed(void **state)
{
	struct fixture *f = *state;

	join(f, PORT(C1, "1") ";x=1");
	_cleanup_(targets_fini) struct targets before = targets_of(f);
	_cleanup_(targets_fini) struct targets after = targets_of(f);
	assert_int_equal(before.n, 5);
	assert_int_equal(after.n, 5);
	for (size_t i = 0; i < before.n; i++)
		assert_ptr_equal(before.items[i], after.items[i]);
}

/* One container is another one now, one has come, one has gone: each is a matter of its own processes alone. */
static void test_one_container_changed(void **state)
{
	struct fixture *f = *state;

	join(f, PORT(C1, "1") ";" PORT(C2, "2"));
	_cleanup_(targets_fini) struct targets before = targets_of(f);
	join(f, PORT(C1, "1") ";" PORT(C2, "9") ";" PORT(C3, "3"));
	_cleanup_(targets_fini) struct targets after = targets_of(f);
	assert_ptr_equal(after.items[0], before.items[0]);
	assert_string_equal(labels_get(after.items[1], "port"), "9");
	assert_ptr_equal(after.items[2], before.items[2]);
	join(f, PORT(C2, "9"));
	_cleanup_(targets_fini) struct targets last = targets_of(f);
	assert_null(labels_get(last.items[0], "port"));
	assert_ptr_equal(last.items[1], after.items[1]);
	assert_ptr_equal(last.items[2], before.items[2]);
	join(f, "");
	_cleanup_(targets_fini) struct targets none = targets_of(f);
	assert_int_equal(none.n, 3);
	assert_null(labels_get(none.items[1], "port"));
	assert_ptr_equal(none.items[0], last.items[0]);
}

/* Of two targets of a container the last one counts, also when it comes later. */
static void test_another_last_one(void **state)
{
	struct fixture *f = *state;

	join(f, PORT(C1, "1"));
	_cleanup_(targets_fini) struct targets before = targets_of(f);
	join(f, PORT(C1, "1") ";" PORT(C1, "2"));
	_cleanup_(targets_fini) struct targets after = targets_of(f);
	assert_string_equal(labels_get(before.items[0], "port"), "1");
	assert_string_equal(labels_get(after.items[0], "port"), "2");
	assert_string_equal(labels_get(after.items[3], "port"), "1");
	assert_string_equal(labels_get(after.items[4], "port"), "2");
}

/* The id of a container may be told by any of the labels that select; its labels win, also over those of the process. */
static void test_ids_and_overrides(void **state)
{
	static const char *const ids[] = {
		"__container_id__=" C1,
		"__meta_kubernetes_pod_container_id=containerd://" C1,
		"__meta_kubernetes_pod_container_id=podman://" C1,
		"__meta_docker_container_id=" C1,
		"__meta_dockerswarm_task_container_id=" C1,
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		char text[300];

		(void)snprintf(text, sizeof(text), "%s|__meta_process_exe=/other|port=%zu", ids[i],
			       i);
		join(f, text);
		_cleanup_(targets_fini) struct targets t = targets_of(f);
		assert_int_equal(t.n, 4);
		assert_string_equal(labels_get(t.items[0], "__meta_process_exe"), "/other");
		assert_string_equal(labels_get(t.items[0], "__process_pid__"), "1");
		assert_string_equal(labels_get(t.items[0], "__container_id__"), C1);
		assert_string_equal(labels_get(t.items[1], "__meta_process_exe"), "/app");
	}
}

/* As many as the largest nodes have, a port and network each. */
static void test_10000_containers(void **state)
{
	struct fixture *f = *state;
	const size_t n = 10000;
	struct labels **sets = calloc(n, sizeof(*sets));

	assert_non_null(sets);
	for (size_t i = 0; i < n; i++) {
		char id[65], port[8];
		const struct label items[] = { { "__container_id__", id }, { "port", port } };

		(void)snprintf(id, sizeof(id), "%064zx", i / 2);
		(void)snprintf(port, sizeof(port), "%zu", i % 2);
		assert_int_equal(labels_new(items, 2, &sets[i]), 0);
	}
	(void)snprintf(f->processes.items[0].identity.cgroup.container_id, 65, "%064x", 4711);
	f->processes.items[0].exec_count++;
	assert_true(discovery_process_on_sample(f->d, &f->processes, &f->processes.items[0]) >= 0);
	assert_int_equal(discovery_process_set_join(f->d, sets, n), 0);
	_cleanup_(targets_fini) struct targets t = targets_of(f);
	assert_int_equal(t.n, N_PROCESSES + n);
	assert_string_equal(labels_get(t.items[0], "port"), "1");
	for (size_t i = 0; i < n; i++)
		assert_ptr_equal(t.items[N_PROCESSES + i], sets[i]);
	labels_array_free(sets, n);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_nothing_changed),
	FIXTURE_TEST(test_one_container_changed),
	FIXTURE_TEST(test_another_last_one),
	FIXTURE_TEST(test_ids_and_overrides),
	FIXTURE_TEST(test_10000_containers),
};

TEST_MAIN(tests)
