/* SPDX-License-Identifier: Apache-2.0 */
/* Which control group a process is in: by its file, by its number where that hides it, and again when it was moved. */
#include <sys/stat.h>

#include "agent/process/cgroup_tree.h"
#include "agent/process/process.h"
#include "agent/util/clock.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/process/proc_tree.h"

#define ID_A "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define MAPS "400000-402000 r-xp 00001000 08:01 11 /usr/bin/app\n"
#define PID 100

struct place_fixture {
	struct proc_tree proc, groups; /* `groups` stands for the mount of the hierarchy */
	struct telemetry *telemetry;
	struct cgroup_tree *tree;
	struct process_table *table;
	uint64_t root, docker, service; /* their numbers */
};

static uint64_t make_group(const struct place_fixture *f, const char *path)
{
	char full[256];
	struct stat st;

	(void)snprintf(full, sizeof(full), "%s%s", f->groups.root, path);
	assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
	assert_int_equal(stat(full, &st), 0);
	return st.st_ino;
}

static int setup(void **state)
{
	struct place_fixture *f = calloc(1, sizeof(*f));

	*state = f;
	proc_tree_init(&f->proc);
	proc_tree_init(&f->groups);
	f->root = make_group(f, "");
	(void)make_group(f, "/system.slice");
	f->docker = make_group(f, "/system.slice/docker-" ID_A ".scope");
	f->service = make_group(f, "/system.slice/nginx.service");
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	assert_int_equal(cgroup_tree_new(f->groups.root, &f->tree), 0);
	struct process_table_options o = { .proc_root = f->proc.root,
					   .telemetry = f->telemetry,
					   .cgroups = f->tree };
	return process_table_new(&o, &f->table);
}

static int teardown(void **state)
{
	struct place_fixture *f = *state;

	process_table_free(f->table);
	cgroup_tree_free(f->tree);
	telemetry_free(f->telemetry);
	proc_tree_fini(&f->proc);
	proc_tree_fini(&f->groups);
	free(f);
	return 0;
}

static void show(const struct place_fixture *f, const char *cgroup)
{
	proc_tree_add(&f->proc, &(struct fake_proc){ .pid = PID,
						     .comm = "app",
						     .start_ticks = 1000,
						     .maps = MAPS,
						     .exe = "/usr/bin/app",
						     .cmdline = "app",
						     .cgroup = cgroup });
}

static void move(const struct place_fixture *f, const char *cgroup)
{
	proc_tree_write(&f->proc, PID, "cgroup", cgroup, strlen(cgroup));
}

static struct process *sampled(struct place_fixture *f, uint64_t cgroup_id)
{
	struct process *p = process_table_get(f->table, PID, "app");

	assert_non_null(p);
	process_set_cgroup(f->table, p, cgroup_id, 0);
	return p;
}

/* Of another process than PID, whose leader was sampled then. */
static const char *path_of(struct place_fixture *f, uint32_t pid, const char *cgroup,
			   uint64_t cgroup_id, uint64_t leader_ns)
{
	proc_tree_add(&f->proc, &(struct fake_proc){ .pid = pid,
						     .comm = "app",
						     .start_ticks = 1000,
						     .maps = MAPS,
						     .exe = "/usr/bin/app",
						     .cmdline = "app",
						     .cgroup = cgroup });
	struct process *p = process_table_get(f->table, pid, "app");
	assert_non_null(p);
	process_set_cgroup(f->table, p, cgroup_id, leader_ns);
	return process_identity(f->table, p)->cgroup_path;
}

static const struct process_identity *identity(struct place_fixture *f, uint64_t cgroup_id)
{
	return process_identity(f->table, sampled(f, cgroup_id));
}

static void test_what_the_file_says_counts(void **state)
{
	struct place_fixture *f = *state;

	show(f, "0::/system.slice/cron.service\n");
	const struct process_identity *id = identity(f, f->docker);
	assert_string_equal(id->cgroup_path, "/system.slice/cron.service");
	assert_string_equal(id->cgroup.unit, "cron.service");
	assert_string_equal(id->cgroup.container_id, "");
}

#define NGINX "/system.slice/nginx.service"
#define CRON "/system.slice/cron.service"

/* Once a process has said the same as its number, a number that has just come is enough. A thread's is not, nor an old one. */
static void test_agreed(void **state)
{
	struct place_fixture *f = *state;
	uint64_t now_ns = clock_mono_ns();

	assert_string_equal(path_of(f, 10, "0::" NGINX "\n", f->service, now_ns), NGINX);
	assert_string_equal(path_of(f, 11, NULL, f->service, now_ns), NGINX);
	assert_string_equal(path_of(f, 12, "0::" CRON "\n", f->service, now_ns), NGINX);
	assert_string_equal(path_of(f, 13, "0::" CRON "\n", f->service, 0), CRON);
	assert_string_equal(path_of(f, 14, "0::" CRON "\n", f->service, now_ns - 2 * NS_PER_S),
			    CRON);
	assert_string_equal(path_of(f, 15, "0::" CRON "\n", f->docker, now_ns), CRON);
}

/* What one says that was moved since, or sampled in another thread, is no agreement; nor what hierarchies of version 1 add to. */
static void test_not_agreed(void **state)
{
	struct place_fixture *f = *state;
	uint64_t now_ns = clock_mono_ns();
	const struct {
		const char *cgroup;
		uint64_t leader_ns;
	} rows[] = {
		{ "0::" CRON "\n", now_ns },
		{ "0::" NGINX "\n", 0 },
		{ "0::" NGINX "\n", now_ns - 2 * NS_PER_S },
		{ "1:name=systemd:/\n0::" NGINX "\n", now_ns },
		{ "0::/\n", now_ns },
		{ "0::/../nginx.service\n", now_ns },
	};

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)path_of(f, 10 + 2 * i, rows[i].cgroup, f->service, rows[i].leader_ns);
		assert_false(cgroup_tree_is_agreed(f->tree, f->service));
	}
}

static void test_hidden_is_found_by_its_number(void **state)
{
	struct place_fixture *f = *state;

	show(f, "0::/\n");
	const struct process_identity *id = identity(f, f->docker);
	assert_string_equal(id->cgroup_path, "/system.slice/docker-" ID_A ".scope");
	assert_string_equal(id->cgroup.container_id, ID_A);
	assert_string_equal(id->cgroup.runtime, "docker");
	assert_false(id->cgroup.private_namespace);
	assert_string_equal(id->exe, "/usr/bin/app");
}

static void test_hybrid_that_is_hidden(void **state)
{
	struct place_fixture *f = *state;

	show(f, "2:cpu:/\n1:name=systemd:/\n0::/\n");
	assert_string_equal(identity(f, f->docker)->cgroup.container_id, ID_A);
}

static void test_above_our_namespace(void **state)
{
	struct place_fixture *f = *state;

	show(f, "0::/../nginx.service\n");
	const struct process_identity *id = identity(f, f->service);
	assert_string_equal(id->cgroup_path, "/system.slice/nginx.service");
	assert_string_equal(id->cgroup.slice, "system.slice");
}

static void test_hidden_and_of_no_known_number(void **state)
{
	struct place_fixture *f = *state;

	show(f, "0::/\n");
	const struct process_identity *id = identity(f, UINT64_MAX);
	assert_string_equal(id->cgroup_path, "/");
	assert_true(id->cgroup.private_namespace);
}

static void test_above_our_namespace_and_of_no_known_number(void **state)
{
	struct place_fixture *f = *state;

	show(f, "0::/../docker-" ID_A ".scope\n");
	assert_string_equal(identity(f, UINT64_MAX)->cgroup.container_id, ID_A);
}

/* "/" is where it is, and nothing is hidden. */
static void test_in_the_root(void **state)
{
	struct place_fixture *f = *state;

	show(f, "0::/\n");
	const struct process_identity *id = identity(f, f->root);
	assert_string_equal(id->cgroup_path, "/");
	assert_false(id->cgroup.private_namespace);
}

/* Its lines of version 1 may hide more. */
static void test_in_the_root_of_a_hybrid(void **state)
{
	struct place_fixture *f = *state;

	show(f, "2:cpu:/\n1:name=systemd:/\n0::/\n");
	const struct process_identity *id = identity(f, f->root);
	assert_string_equal(id->cgroup_path, "/|/|/");
	assert_true(id->cgroup.private_namespace);
}

static void test_a_number_that_comes_late(void **state)
{
	struct place_fixture *f = *state;

	show(f, "0::/\n");
	struct process *p = sampled(f, 0);
	assert_true(process_identity(f->table, p)->cgroup.private_namespace);
	uint32_t before = p->exec_count;
	(void)sampled(f, f->docker);
	assert_string_equal(process_identity(f->table, p)->cgroup.container_id, ID_A);
	assert_int_equal(p->exec_count, before + 1);
	(void)sampled(f, f->docker);
	assert_int_equal(p->exec_count, before + 1);
}

/* The first number of a process that is known anyway tells nothing new. */
static void test_a_first_number_is_kept(void **state)
{
	struct place_fixture *f = *state;

	show(f, "0::/system.slice/nginx.service\n");
	struct process *p = sampled(f, 0);
	(void)process_identity(f->table, p);
	uint32_t before = p->exec_count;
	(void)sampled(f, f->service);
	assert_int_equal(p->cgroup_id, f->service);
	assert_int_equal(p->exec_count, before);
}

static void test_a_move(void **state)
{
	struct place_fixture *f = *state;

	show(f, "0::/system.slice/nginx.service\n");
	assert_string_equal(identity(f, f->service)->cgroup.unit, "nginx.service");
	move(f, "0::/system.slice/docker-" ID_A ".scope\n");
	struct process *p = sampled(f, f->docker);
	assert_int_equal(p->exec_count, 1);
	assert_string_equal(p->identity.cgroup.container_id, ID_A);
	assert_string_equal(p->identity.cgroup.unit, "");
	assert_string_equal(p->identity.exe, "/usr/bin/app");
}

/* What it was is still known when what it became cannot be read. */
static void test_a_move_of_who_is_gone(void **state)
{
	struct place_fixture *f = *state;

	show(f, "0::/system.slice/nginx.service\n");
	(void)identity(f, f->service);
	proc_tree_remove(&f->proc, PID);
	struct process *p = sampled(f, f->docker);
	assert_string_equal(p->identity.cgroup.container_id, ID_A);
	assert_string_equal(p->identity.exe, "/usr/bin/app");
	(void)sampled(f, UINT64_MAX);
	assert_string_equal(p->identity.cgroup.container_id, ID_A);
}

/* Never seen by /proc: its parent is elsewhere, its number tells. */
static void test_who_was_gone_before(void **state)
{
	struct place_fixture *f = *state;

	process_table_apply(f->table, &(struct process_event){ .kind = PROCESS_EVENT_EXEC,
							       .pid = PID,
							       .time_ns = clock_mono_ns(),
							       .comm = "app" });
	const struct process_identity *id = identity(f, f->docker);
	assert_string_equal(id->cgroup.container_id, ID_A);
	assert_string_equal(id->comm, "app");
}

/* Threads of one process in two control groups: its leader's counts, and it is not asked at each sample. */
static void test_threads_apart(void **state)
{
	struct place_fixture *f = *state;

	show(f, "0::/system.slice/nginx.service\n");
	(void)identity(f, f->service);
	uint64_t begin_ns = clock_mono_ns();
	struct process *p = NULL;
	unsigned int n_moves = 0;
	uint64_t last = f->service;
	for (int i = 0; i < 200; i++) {
		p = sampled(f, i % 2 ? f->service : f->docker);
		n_moves += p->cgroup_id != last;
		last = p->cgroup_id;
	}
	assert_int_equal(p->exec_count, 0);
	assert_true(n_moves <= 4 * ((clock_mono_ns() - begin_ns) / NS_PER_S + 1));
}

/* From the initial cgroup namespace "/" is the root. */
static void test_nothing_is_hidden_from_the_host(void **state)
{
	struct place_fixture *f = *state;
	struct process_table_options o = { .telemetry = f->telemetry };
	struct stat st;

	if (stat("/proc/self/ns/cgroup", &st) < 0 || st.st_ino != 0xeffffffbU) {
		print_message("in a cgroup namespace: skipped\n");
		skip();
	}
	process_table_free(f->table);
	assert_int_equal(process_table_new(&o, &f->table), 0);
	struct process *p = process_table_get(f->table, 2, NULL); /* kthreadd, in the root */
	assert_false(process_identity(f->table, p)->cgroup.private_namespace);
}

static void test_no_tree(void **state)
{
	struct place_fixture *f = *state;
	struct process_table_options o = { .proc_root = f->proc.root, .telemetry = f->telemetry };

	process_table_free(f->table);
	assert_int_equal(process_table_new(&o, &f->table), 0);
	show(f, "0::/\n");
	assert_true(identity(f, f->docker)->cgroup.private_namespace);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_what_the_file_says_counts),
	FIXTURE_TEST(test_agreed),
	FIXTURE_TEST(test_not_agreed),
	FIXTURE_TEST(test_hidden_is_found_by_its_number),
	FIXTURE_TEST(test_hybrid_that_is_hidden),
	FIXTURE_TEST(test_above_our_namespace),
	FIXTURE_TEST(test_hidden_and_of_no_known_number),
	FIXTURE_TEST(test_above_our_namespace_and_of_no_known_number),
	FIXTURE_TEST(test_in_the_root),
	FIXTURE_TEST(test_in_the_root_of_a_hybrid),
	FIXTURE_TEST(test_a_number_that_comes_late),
	FIXTURE_TEST(test_a_first_number_is_kept),
	FIXTURE_TEST(test_a_move),
	FIXTURE_TEST(test_a_move_of_who_is_gone),
	FIXTURE_TEST(test_who_was_gone_before),
	FIXTURE_TEST(test_threads_apart),
	FIXTURE_TEST(test_nothing_is_hidden_from_the_host),
	FIXTURE_TEST(test_no_tree),
};

TEST_MAIN(tests)
