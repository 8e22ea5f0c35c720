/* SPDX-License-Identifier: Apache-2.0 */
/* discovery.process over a process table made by hand: scans, single changes, the join.
 * test_proc_scan.c has the real table. */
#include "tests/support/unit.h"
#include "tests/unit/agent/target/make_labels.h"

#include <stdio.h>

#include "agent/discovery/discovery_process.h"
#include "agent/target/target.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

#define MAX_PROCESSES (DISCOVERY_PROCESS_MAX + 2)

struct process_table {
	struct process *items; /* ascending by pid, so none behind its pid's place */
	size_t n;
	unsigned int n_asked; /* for an identity */
	int list_error;
};

/* A pid that is not there yields what the real table does for a process that is gone: one without
 * facts. */
struct process *process_table_get(struct process_table *t, uint32_t pid, const char *comm)
{
	static struct process gone;

	assert_null(comm);
	for (size_t i = MIN_OF(t->n, (size_t)pid); i-- > 0;)
		if (t->items[i].pid == pid)
			return &t->items[i];
	gone = (struct process){ .pid = pid };
	gone.identity.exe = gone.identity.comm = gone.identity.cmdline = gone.identity.cwd =
		gone.identity.cgroup_path = (char *)"";
	return &gone;
}

const struct process_identity *process_identity(struct process_table *t, struct process *p)
{
	t->n_asked++;
	return &p->identity;
}

const struct process_identity *process_identity_whole(struct process_table *t, struct process *p)
{
	return process_identity(t, p);
}

int process_list_pids(const struct process_table *t, uint32_t **ret_pids, size_t *ret_n)
{
	uint32_t *pids;

	if (t->list_error)
		return t->list_error;
	pids = malloc((t->n + 1) * sizeof(pids[0]));
	assert_non_null(pids);
	for (size_t i = 0; i < t->n; i++)
		pids[i] = t->items[i].pid;
	*ret_pids = pids;
	*ret_n = t->n;
	return 0;
}

static struct process make_process(uint32_t pid, const char *exe, const char *container)
{
	struct process p = {
		.pid = pid,
		.start_ns = pid,
		.identity = { .exe = (char *)exe,
			      .comm = (char *)"",
			      .cmdline = (char *)"",
			      .cwd = (char *)"",
			      .cgroup_path = (char *)"",
			      .kernel_thread = !exe[0] },
	};

	(void)snprintf(p.identity.cgroup.container_id, sizeof(p.identity.cgroup.container_id), "%s",
		       container);
	return p;
}

struct fixture {
	struct process_table processes;
	struct discovery_process *d;
};

static const struct discover_config config = { .exe = true, .container_id = true };

static void set_up(struct fixture *f)
{
	f->processes.items = calloc(MAX_PROCESSES, sizeof(f->processes.items[0]));
	assert_non_null(f->processes.items);
	f->processes.items[0] = make_process(1, "/sbin/init", "");
	f->processes.items[1] = make_process(2, "", "");
	f->processes.items[2] = make_process(30, "/app", A);
	f->processes.items[3] = make_process(40, "/db", B);
	f->processes.n = 4;
	assert_int_equal(discovery_process_new(&config, &f->processes, &f->d), 0);
}

static void tear_down(struct fixture *f)
{
	discovery_process_free(f->d);
	free(f->processes.items);
}

FIXTURE(struct fixture, set_up, tear_down)

/* A sample of it came. */
static int sampled(struct fixture *f, uint32_t pid)
{
	return discovery_process_on_sample(f->d, &f->processes,
					   process_table_get(&f->processes, pid, NULL));
}

/* One line for each target; "@" for the label names that these tests do not vary. */
static void assert_targets(struct fixture *f, const char *expected)
{
	struct labels **targets = NULL;
	char all[4096] = "";
	size_t n = 0, at = 0;

	assert_int_equal(discovery_process_targets(f->d, &targets, &n), 0);
	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *text = labels_text(targets[i]);

		at += (size_t)snprintf(all + at, sizeof(all) - at, "%s\n", text);
		assert_true(at < sizeof(all));
	}
	assert_string_equal(all, expected);
	labels_array_free(targets, n);
}

#define TARGET(pid, rest) rest "__process_pid__=" #pid "|__process_start_time_ns__=" #pid
#define EXE(path) "__meta_process_exe=" path "|"
#define INIT TARGET(1, EXE("/sbin/init")) "\n"
#define APP TARGET(30, "__container_id__=" A "|" EXE("/app")) "\n"
#define DB TARGET(40, "__container_id__=" B "|" EXE("/db")) "\n"

static void set_join(struct fixture *f, const char *const *texts, size_t n)
{
	struct labels *join[8] = { NULL };

	for (size_t i = 0; i < n; i++)
		join[i] = make_labels(texts[i]);
	assert_int_equal(discovery_process_set_join(f->d, join, n), 0);
	for (size_t i = 0; i < n; i++)
		labels_unref(join[i]);
}

static size_t n_targets(struct fixture *f)
{
	struct labels **targets = NULL;
	size_t n = 0;

	assert_int_equal(discovery_process_targets(f->d, &targets, &n), 0);
	labels_array_free(targets, n);
	return n;
}

static void test_scan(void **state)
{
	struct fixture *f = *state;

	assert_targets(f, "");
	assert_int_equal(discovery_process_scan(f->d), DISCOVERY_CHANGED);
	assert_targets(f, INIT APP DB);
	assert_int_equal(f->processes.n_asked, 4);
	assert_int_equal(discovery_process_scan(f->d), DISCOVERY_SAME);
	assert_int_equal(f->processes.n_asked, 4);
	assert_targets(f, INIT APP DB);
}

static void test_scan_finds_changes(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(discovery_process_scan(f->d), DISCOVERY_CHANGED);
	f->processes.items[2] = f->processes.items[3];
	f->processes.n = 3;
	assert_int_equal(discovery_process_scan(f->d), DISCOVERY_CHANGED);
	assert_targets(f, INIT DB);

	f->processes.items[2].exec_count++;
	f->processes.items[2].identity.exe = (char *)"/app";
	assert_int_equal(discovery_process_scan(f->d), DISCOVERY_CHANGED);
	assert_targets(f, INIT TARGET(40, "__container_id__=" B "|" EXE("/app")) "\n");

	f->processes.items[2].start_ns = 2 * NS_PER_S;
	assert_int_equal(discovery_process_scan(f->d), DISCOVERY_CHANGED);
	assert_targets(f, INIT
		       "__container_id__=" B
		       "|" EXE("/app") "__process_pid__=40|__process_start_time_ns__=2000000000\n");

	f->processes.items[2].exec_count++;
	assert_int_equal(discovery_process_scan(f->d), DISCOVERY_SAME);
	f->processes.items[2].exec_count++;
	f->processes.items[2].identity.exe = (char *)"";
	assert_int_equal(discovery_process_scan(f->d), DISCOVERY_CHANGED);
	assert_targets(f, INIT);
}

static void test_scan_fails(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(discovery_process_scan(f->d), DISCOVERY_CHANGED);
	f->processes.list_error = -EACCES;
	assert_int_equal(discovery_process_scan(f->d), -EACCES);
	assert_targets(f, INIT APP DB);
}

static void test_exec_and_exit(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(sampled(f, 40), DISCOVERY_CHANGED);
	assert_int_equal(sampled(f, 1), DISCOVERY_CHANGED);
	assert_int_equal(sampled(f, 30), DISCOVERY_CHANGED);
	/* Until somebody was told. */
	assert_int_equal(sampled(f, 30), DISCOVERY_CHANGED);
	discovery_process_told(f->d);
	assert_int_equal(sampled(f, 30), DISCOVERY_SAME);
	assert_int_equal(sampled(f, 2), DISCOVERY_SAME);
	assert_int_equal(sampled(f, 99), DISCOVERY_SAME);
	assert_targets(f, INIT APP DB);
	discovery_process_on_exit(f->d, 30);
	discovery_process_on_exit(f->d, 30);
	discovery_process_on_exit(f->d, 2);
	discovery_process_on_exit(f->d, 12345);
	assert_targets(f, INIT DB);
	assert_int_equal(discovery_process_scan(f->d), DISCOVERY_CHANGED);
	assert_targets(f, INIT APP DB);
}

/* Samples of a short life wait for its target, even when another process has its pid by then. */
static void test_ended_before_it_was_told(void **state)
{
	struct fixture *f = *state;
	struct process *p = &f->processes.items[2];

	assert_int_equal(sampled(f, 30), DISCOVERY_CHANGED);
	discovery_process_on_exit(f->d, 30);
	p->start_ns += NS_PER_S;
	p->identity.exe = (char *)"/next";
	assert_int_equal(sampled(f, 30), DISCOVERY_CHANGED);
	assert_targets(
		f, APP "__container_id__=" A "|" EXE(
			   "/next") "__process_pid__=30|__process_start_time_ns__=1000000030\n");
	discovery_process_told(f->d);
	assert_int_equal(n_targets(f), 2);
	discovery_process_told(f->d);
	assert_int_equal(n_targets(f), 1);
	discovery_process_on_exit(f->d, 30);
	assert_int_equal(n_targets(f), 0);
}

/* What the sampler has told of a process is more than a scan sees: it stays. */
static void test_scan_leaves_what_was_sampled(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(sampled(f, 30), DISCOVERY_CHANGED);
	discovery_process_told(f->d);
	f->processes.items[2].start_ns += 10 * NS_PER_MS;
	f->processes.items[2].exec_count++;
	assert_int_equal(discovery_process_scan(f->d), DISCOVERY_CHANGED);
	assert_targets(f, INIT APP DB);
	assert_int_equal(sampled(f, 30), DISCOVERY_CHANGED);
	discovery_process_told(f->d);
	assert_int_equal(discovery_process_scan(f->d), DISCOVERY_SAME);
}

static void test_join(void **state)
{
	struct fixture *f = *state;
	static const char *const join[] = {
		"__meta_docker_container_id=" A "|__meta_docker_container_name=/old",
		"only=labels",
		"__meta_docker_container_id=" A "|__meta_docker_container_name=/app|"
		"__meta_process_exe=theirs",
		"__meta_kubernetes_pod_container_id=containerd://ffffffffffff" A "|pod=p",
		"__meta_kubernetes_pod_container_id=rkt://" B "|pod=q",
	};

	assert_int_equal(discovery_process_scan(f->d), DISCOVERY_CHANGED);
	set_join(f, join, ARRAY_SIZE(join));
	assert_targets(f,
		       "only=labels\n"
		       "__meta_kubernetes_pod_container_id=rkt://" B "|pod=q\n" INIT
		       "__container_id__=" A "|__meta_docker_container_id=" A
		       "|__meta_docker_container_name=/app|__meta_process_exe=theirs|"
		       "__process_pid__=30|__process_start_time_ns__=30\n" DB
		       "__meta_docker_container_id=" A "|__meta_docker_container_name=/old\n"
		       "__meta_docker_container_id=" A "|__meta_docker_container_name=/app|"
		       "__meta_process_exe=theirs\n"
		       "__meta_kubernetes_pod_container_id=containerd://ffffffffffff" A "|pod=p\n");
	set_join(f, NULL, 0);
	assert_targets(f, INIT APP DB);
}

static struct labels *numbered(unsigned int n, const char *container_id)
{
	static char names[LABELS_RAW_MAX][16];
	struct label items[LABELS_RAW_MAX];
	struct labels *l = NULL;

	for (unsigned int i = 0; i + 1 < n; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "l%u", i);
		items[i] = (struct label){ names[i], "v" };
	}
	items[n - 1] = (struct label){ "__container_id__", container_id };
	assert_int_equal(labels_new(items, n, &l), 0);
	return l;
}

/* A process target has four labels here, one of them the container's: three more than the container
 * target. */
static void test_join_ceilings(void **state)
{
	struct fixture *f = *state;
	struct labels *fits = numbered(LABELS_RAW_MAX - 3, A);
	struct labels *too_many = numbered(LABELS_RAW_MAX - 2, A);
	_cleanup_free_ struct labels **join = calloc(DISCOVERY_JOIN_MAX + 1, sizeof(join[0]));

	assert_int_equal(discovery_process_scan(f->d), DISCOVERY_CHANGED);
	assert_int_equal(discovery_process_set_join(f->d, &fits, 1), 0);
	assert_int_equal(n_targets(f), 4);
	assert_int_equal(discovery_process_set_join(f->d, &too_many, 1), 0);
	assert_int_equal(n_targets(f), 3);
	assert_non_null(join);
	for (size_t i = 0; i <= DISCOVERY_JOIN_MAX; i++)
		join[i] = fits;
	assert_int_equal(discovery_process_set_join(f->d, join, DISCOVERY_JOIN_MAX + 1), -E2BIG);
	assert_int_equal(n_targets(f), 3);
	labels_unref(fits);
	labels_unref(too_many);
}

static void test_too_many_processes(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < MAX_PROCESSES; i++)
		f->processes.items[i] =
			make_process(i + 1, i < DISCOVERY_PROCESS_MAX ? "" : "/app", "");
	f->processes.n = MAX_PROCESSES;
	assert_int_equal(discovery_process_scan(f->d), DISCOVERY_SAME);
	assert_int_equal(discovery_process_n_skipped(f->d), MAX_PROCESSES - DISCOVERY_PROCESS_MAX);
	assert_int_equal(sampled(f, MAX_PROCESSES), DISCOVERY_SAME);
	assert_int_equal(discovery_process_n_skipped(f->d),
			 MAX_PROCESSES - DISCOVERY_PROCESS_MAX + 1);
	assert_targets(f, "");

	/* Those that are gone make room in the same scan. */
	f->processes.items[0] = f->processes.items[MAX_PROCESSES - 1];
	f->processes.n = 1;
	assert_int_equal(discovery_process_scan(f->d), DISCOVERY_CHANGED);
	assert_int_equal(discovery_process_n_skipped(f->d), 0);
	assert_int_equal(n_targets(f), 1);
}

/* What discovery says of a process selects it, and not the next one with its pid. */
static void test_targets_select(void **state)
{
	struct fixture *f = *state;
	_cleanup_(telemetry_freep) struct telemetry *telemetry = NULL;
	_cleanup_(target_set_freep) struct target_set *s = NULL;
	_cleanup_(labels_unrefp) struct labels *l = NULL;
	struct labels **targets = NULL;
	size_t n = 0;

	assert_int_equal(discovery_process_scan(f->d), DISCOVERY_CHANGED);
	assert_int_equal(discovery_process_targets(f->d, &targets, &n), 0);
	assert_int_equal(telemetry_new(&telemetry), 0);
	assert_int_equal(target_set_new(&(struct target_set_options){ .targets = targets,
								      .n_targets = n,
								      .have_targets = true,
								      .targets_only = true,
								      .telemetry = telemetry },
					&s),
			 0);
	labels_array_free(targets, n);
	assert_int_equal(target_set_n(s), 3);
	assert_int_equal(target_set_match(s, &f->processes, &f->processes.items[0], &l),
			 TARGET_FOUND);
	assert_labels(l, "service_name=init");
	struct process reused = f->processes.items[0];
	reused.start_ns = 5000000000;
	assert_int_equal(target_set_match(s, &f->processes, &reused, &l), TARGET_NONE);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_scan),
	FIXTURE_TEST(test_scan_finds_changes),
	FIXTURE_TEST(test_scan_fails),
	FIXTURE_TEST(test_exec_and_exit),
	FIXTURE_TEST(test_ended_before_it_was_told),
	FIXTURE_TEST(test_scan_leaves_what_was_sampled),
	FIXTURE_TEST(test_join),
	FIXTURE_TEST(test_join_ceilings),
	FIXTURE_TEST(test_too_many_processes),
	FIXTURE_TEST(test_targets_select),
};

TEST_MAIN(tests)
