/* SPDX-License-Identifier: Apache-2.0 */
/* The process table, driven by made-up events over a made-up /proc. */
#include <sys/sysmacros.h>

#include "agent/process/proc.h"
#include "agent/process/process_private.h"
#include "agent/util/clock.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/process/proc_tree.h"

#define ID_A "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define MAPS_A                                                                          \
	"400000-402000 r-xp 00001000 08:01 11                     /usr/bin/app\n"       \
	"402000-403000 rw-p 00003000 08:01 11                     /usr/bin/app\n"       \
	"7f0000000000-7f0000010000 r-xp 00000000 08:01 12         /usr/lib/libc.so.6\n" \
	"7ffff7fc1000-7ffff7fc3000 r-xp 00000000 00:00 0          [vdso]\n"

struct fixture {
	struct proc_tree tree;
	struct telemetry *telemetry;
	struct process_table *table;
	uint64_t now; /* of the next event */
	int n_exec, n_mappings, n_exit;
	uint32_t last_exit_pid;
	bool last_exit_exited;
};

static void on_exec(struct process *p, void *data)
{
	assert_false(p->identity_loaded);
	((struct fixture *)data)->n_exec++;
}

static void on_mappings(struct process *p, void *data)
{
	assert_non_null(p->mappings);
	assert_int_not_equal(p->generation, 0);
	((struct fixture *)data)->n_mappings++;
}

static void on_exit_(struct process *p, void *data)
{
	struct fixture *f = data;

	f->n_exit++;
	f->last_exit_pid = p->pid;
	f->last_exit_exited = p->exited;
}

static void set_up(struct fixture *f)
{
	proc_tree_init(&f->tree);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	struct process_table_options o = {
		.proc_root = f->tree.root,
		.telemetry = f->telemetry,
		.max_processes = 64,
		.hooks = { on_exec, on_mappings, on_exit_, f },
	};
	assert_int_equal(process_table_new(&o, &f->table), 0);
	/* Ahead of what the table reads from /proc meanwhile, however slow the machine. */
	f->now = clock_mono_ns() + NS_PER_S;
}

static void tear_down(struct fixture *f)
{
	process_table_free(f->table);
	telemetry_free(f->telemetry);
	proc_tree_fini(&f->tree);
}

FIXTURE(struct fixture, set_up, tear_down)

static void apply(struct fixture *f, struct process_event ev)
{
	f->now += NS_PER_MS;
	if (!ev.time_ns)
		ev.time_ns = f->now;
	process_table_apply(f->table, &ev);
}

static void ev_fork(struct fixture *f, uint32_t pid, uint32_t parent_pid)
{
	apply(f, (struct process_event){
			 .kind = PROCESS_EVENT_FORK, .pid = pid, .parent_pid = parent_pid });
}

static void ev_exec(struct fixture *f, uint32_t pid, const char *comm)
{
	struct process_event ev = { .kind = PROCESS_EVENT_EXEC, .pid = pid };

	(void)strncpy(ev.comm, comm, sizeof(ev.comm) - 1);
	apply(f, ev);
}

static void ev_exit(struct fixture *f, uint32_t pid)
{
	apply(f, (struct process_event){ .kind = PROCESS_EVENT_EXIT, .pid = pid });
}

static struct process_event mmap_event(uint32_t pid, uint64_t begin, uint64_t inode,
				       const char *path)
{
	return (struct process_event){ .kind = PROCESS_EVENT_MMAP,
				       .pid = pid,
				       .begin = begin,
				       .len = 0x2000,
				       .file_off = 0x1000,
				       .inode = inode,
				       .inode_generation = 5,
				       .dev_major = 8,
				       .dev_minor = 1,
				       .path = path };
}

static void ev_mmap(struct fixture *f, uint32_t pid, uint64_t begin, uint64_t inode,
		    const char *path)
{
	apply(f, mmap_event(pid, begin, inode, path));
}

static void add_app(struct fixture *f, uint32_t pid, uint32_t parent_pid)
{
	proc_tree_add(&f->tree, &(struct fake_proc){ .pid = pid,
						     .parent_pid = parent_pid,
						     .comm = "app",
						     .start_ticks = ticks_now() - 500,
						     .uid = 1000,
						     .maps = MAPS_A,
						     .exe = "/usr/bin/app",
						     .cwd = "/srv",
						     .cmdline = "app --port 80",
						     .cgroup = "0::/docker/" ID_A "\n" });
}

static void test_get_reads_proc(void **state)
{
	struct fixture *f = *state;

	add_app(f, 10, 1);
	struct process *p = process_table_get(f->table, 10, "other");
	assert_non_null(p);
	assert_int_equal(p->pid, 10);
	assert_int_equal(p->parent_pid, 1);
	assert_true(p->start_ns < clock_mono_ns() && p->start_ns + 7 * NS_PER_S > clock_mono_ns());
	assert_int_equal(p->generation, 1);
	assert_int_equal(p->mappings->n, 3);
	const struct mapping *m = mappings_find(p->mappings, 0x401234);
	assert_int_equal(m->kind, MAPPING_FILE);
	assert_string_equal(m->file->path, "/usr/bin/app");
	assert_int_equal(m->file->key.dev, makedev(8, 1));
	assert_int_equal(m->file->key.inode, 11);
	assert_int_equal(m->file_off, 0x1000);
	assert_int_equal(mappings_find(p->mappings, 0x7ffff7fc2000)->kind, MAPPING_VDSO);
	assert_null(mappings_find(p->mappings, 0x402000));
	assert_ptr_equal(process_table_get(f->table, 10, NULL), p);
	assert_ptr_equal(process_table_find(f->table, 10), p);
	assert_int_equal(f->n_mappings, 1);
	assert_int_equal(process_table_n(f->table), 1);
}

static void test_identity_from_proc(void **state)
{
	struct fixture *f = *state;

	add_app(f, 10, 1);
	proc_tree_write(&f->tree, 10, "cmdline", "app\0--port\00080\0\0\0", 17);
	proc_tree_link(&f->tree, 10, "exe", "/usr/bin/app (deleted)");
	struct process *p = process_table_get(f->table, 10, NULL);
	const struct process_identity *id = process_identity_whole(f->table, p);
	assert_string_equal(id->exe, "/usr/bin/app");
	assert_string_equal(id->comm, "app");
	assert_string_equal(id->cmdline, "app --port 80");
	assert_string_equal(id->cwd, "/srv");
	assert_string_equal(id->cgroup_path, "/docker/" ID_A);
	assert_string_equal(id->cgroup.container_id, ID_A);
	assert_int_equal(id->uid, 1000);
	assert_false(id->kernel_thread);
	assert_true(id->complete);
}

/* Where and as whom it runs is read when somebody wants it, also then of whom it was not read of before. */
static void test_owner_is_read_when_wanted(void **state)
{
	struct fixture *f = *state;

	add_app(f, 9, 1);
	add_app(f, 10, 9);
	struct process *p = process_table_get(f->table, 10, NULL);
	const struct process_identity *id = process_identity(f->table, p);
	assert_true(id->complete);
	assert_string_equal(id->cwd, "");
	assert_int_equal(id->uid, 0);
	assert_int_equal(id->euid, geteuid());
	(void)process_identity_whole(f->table, p);
	assert_string_equal(id->cwd, "/srv");
	assert_int_equal(id->uid, 1000);
	ev_fork(f, 11, 9);
	p = process_table_find(f->table, 11);
	assert_int_equal(process_identity(f->table, p)->uid, 1000);
	assert_string_equal(p->identity.cwd, "/srv");
}

/* … of a child that is gone by then its parent's. */
static void test_owner_of_who_is_gone(void **state)
{
	struct fixture *f = *state;

	add_app(f, 9, 1);
	(void)process_identity(f->table, process_table_get(f->table, 9, NULL));
	ev_fork(f, 10, 9);
	struct process *p = process_table_find(f->table, 10);
	assert_int_equal(process_identity(f->table, p)->uid, 0);
	assert_int_equal(process_identity_whole(f->table, p)->uid, 1000);
	assert_string_equal(p->identity.cwd, "/srv");
	/* One of whom nobody knows the parent is not asked again. */
	ev_fork(f, 12, 13);
	p = process_table_find(f->table, 12);
	assert_string_equal(process_identity_whole(f->table, p)->cwd, "");
	assert_true(p->identity.whole);
}

#define ENVIRONMENT "PASSWORD=x\0OTEL_SERVICE_NAME=shop\0NOMAD_TASK_NAME=web\0"

static void add_script(struct fixture *f, uint32_t pid)
{
	static const char arguments[] = "python3\0-u\0/srv/app.py\0--port\00080";

	add_app(f, pid, 1);
	proc_tree_link(&f->tree, pid, "exe", "/usr/bin/python3.11");
	proc_tree_write(&f->tree, pid, "cmdline", arguments, sizeof(arguments));
	proc_tree_write(&f->tree, pid, "environ", ENVIRONMENT, sizeof(ENVIRONMENT) - 1);
}

static void test_script_and_environment(void **state)
{
	struct fixture *f = *state;

	add_script(f, 10);
	const struct process_identity *id =
		process_identity(f->table, process_table_get(f->table, 10, NULL));
	assert_string_equal(id->script, "app.py");
	assert_string_equal(id->env.otel_service, "shop");
	assert_string_equal(id->env.nomad_task, "web");
	assert_string_equal(id->env.otel_deployment, "");
	assert_true(id->complete);
}

/* What names it may stand behind other variables: up to the ceiling, and not behind it. */
static void test_long_environment(void **state)
{
	struct fixture *f = *state;
	static char text[PROC_ENVIRON_MAX + 64];
	const char name[] = "OTEL_SERVICE_NAME=shop";
	const struct {
		size_t before;
		const char *expected;
	} rows[] = {
		{ 1000, "shop" },
		{ (16u << 10) - sizeof(name), "shop" },
		{ (16u << 10) - 5, "shop" },
		{ PROC_ENVIRON_MAX - 100, "shop" },
		{ PROC_ENVIRON_MAX, "" },
	};

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memset(text, 'x', sizeof(text));
		text[rows[i].before - 1] = '\0';
		memcpy(text + rows[i].before, name, sizeof(name));
		add_app(f, 10 + i, 1);
		proc_tree_write(&f->tree, 10 + i, "environ", text, rows[i].before + sizeof(name));
		const struct process_identity *id =
			process_identity(f->table, process_table_get(f->table, 10 + i, NULL));
		assert_string_equal(id->env.otel_service, rows[i].expected);
		assert_string_equal(id->cmdline, "app --port 80");
		assert_true(id->complete);
	}
}

/* Of a child that is gone: its parent's, until an exec. */
static void test_script_and_environment_are_the_image_s(void **state)
{
	struct fixture *f = *state;

	add_script(f, 9);
	(void)process_table_get(f->table, 9, NULL);
	ev_fork(f, 10, 9);
	struct process *p = process_table_find(f->table, 10);
	assert_string_equal(process_identity(f->table, p)->script, "app.py");
	assert_string_equal(p->identity.env.otel_service, "shop");
	ev_exec(f, 10, "ls");
	ev_mmap(f, 10, 0x400000, 21, "/bin/ls");
	assert_string_equal(process_identity(f->table, p)->exe, "/bin/ls");
	assert_string_equal(p->identity.script, "");
	assert_string_equal(p->identity.env.otel_service, "");
}

/* A worker of Python's multiprocessing works for the program that has started it. */
static void test_script_of_a_helper(void **state)
{
	struct fixture *f = *state;
	static const char helper[] = "python3\0-c\0from multiprocessing.forkserver import main";

	add_script(f, 9);
	for (uint32_t pid = 10; pid <= 12; pid++) {
		add_app(f, pid, pid - 1);
		proc_tree_link(&f->tree, pid, "exe", "/usr/bin/python3.11");
		proc_tree_write(&f->tree, pid, "cmdline", helper, sizeof(helper));
	}
	struct process *p = process_table_get(f->table, 11, NULL);
	assert_string_equal(process_identity(f->table, p)->script, "app.py");
	/* What runs between them is another program. */
	proc_tree_link(&f->tree, 10, "exe", "/usr/bin/bash");
	p = process_table_get(f->table, 12, NULL);
	assert_string_equal(process_identity(f->table, p)->script, "");
}

/* A class path is long, and what stands behind it names the program. What is shown is cut. */
static void test_script_behind_long_arguments(void **state)
{
	struct fixture *f = *state;
	static char arguments[PROC_ARGUMENTS_MAX + 64];
	const char main_class[] = "org.example.Main";
	size_t n = PROC_ARGUMENTS_MAX - 100;

	add_app(f, 10, 1);
	proc_tree_link(&f->tree, 10, "exe", "/usr/bin/java");
	memset(arguments, 'x', sizeof(arguments));
	memcpy(arguments, "java\0-cp", 9);
	arguments[8] = arguments[n] = '\0';
	memcpy(arguments + n + 1, main_class, sizeof(main_class));
	proc_tree_write(&f->tree, 10, "cmdline", arguments, n + 1 + sizeof(main_class));
	const struct process_identity *id =
		process_identity(f->table, process_table_get(f->table, 10, NULL));
	assert_string_equal(id->script, "Main");
	assert_int_equal(strlen(id->cmdline), PROC_CMDLINE_MAX);
}

static void test_identity_is_utf8(void **state)
{
	struct fixture *f = *state;

	add_app(f, 10, 1);
	proc_tree_write(&f->tree, 10, "cmdline", "a\xff\n", 3);
	const struct process_identity *id =
		process_identity(f->table, process_table_get(f->table, 10, NULL));
	assert_string_equal(id->cmdline, "a\xef\xbf\xbd?");
}

static void test_kernel_thread(void **state)
{
	struct fixture *f = *state;

	proc_tree_add(&f->tree, &(struct fake_proc){ .pid = 2,
						     .comm = "kthreadd",
						     .flags = 0x200000,
						     .maps = "",
						     .cmdline = "",
						     .cgroup = "0::/\n" });
	struct process *p = process_table_get(f->table, 2, NULL);
	const struct process_identity *id = process_identity(f->table, p);
	assert_true(id->kernel_thread);
	assert_true(id->complete);
	assert_string_equal(id->comm, "kthreadd");
	assert_string_equal(id->exe, "");
	assert_true(id->cgroup.private_namespace);
	assert_int_equal(p->mappings->n, 0);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_process_read_errors), 0);
}

static void test_leader_left(void **state)
{
	struct fixture *f = *state;
	struct fake_proc thread = { .pid = 10,
				    .comm = "worker",
				    .maps = MAPS_A,
				    .exe = "/usr/bin/app",
				    .cmdline = "app",
				    .cgroup = "0::/docker/" ID_A "\n" };

	proc_tree_add(&f->tree,
		      &(struct fake_proc){
			      .pid = 10, .comm = "app", .state = 'Z', .n_threads = 2, .maps = "" });
	proc_tree_add_thread(&f->tree, 10, &(struct fake_proc){ .pid = 10, .state = 'Z' });
	proc_tree_add_thread(&f->tree, 12, &thread);
	struct process *p = process_table_get(f->table, 10, "worker");
	assert_int_equal(p->mappings->n, 3);
	const struct process_identity *id = process_identity(f->table, p);
	assert_string_equal(id->comm, "app"); /* the leader's */
	assert_string_equal(id->exe, "/usr/bin/app");
	assert_string_equal(id->cgroup.container_id, ID_A);
	assert_true(id->complete);
}

static void test_gone_at_first_sample(void **state)
{
	struct fixture *f = *state;

	struct process *p = process_table_get(f->table, 10, "short");
	assert_non_null(p);
	assert_null(p->mappings);
	assert_int_equal(p->generation, 0);
	const struct process_identity *id = process_identity(f->table, p);
	assert_string_equal(id->comm, "short");
	assert_string_equal(id->exe, "");
	assert_false(id->complete);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_process_read_errors), 1);
	/* Not tried again at each sample, and its end is still taken. */
	(void)process_table_get(f->table, 10, "short");
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_process_read_errors), 1);
	ev_exit(f, 10);
	assert_null(process_table_find(f->table, 10));
}

static void test_zombie_counts_as_gone(void **state)
{
	struct fixture *f = *state;

	proc_tree_add(&f->tree, &(struct fake_proc){ .pid = 10, .state = 'Z', .maps = "" });
	struct process *p = process_table_get(f->table, 10, "short");
	assert_null(p->mappings);
	apply(f,
	      (struct process_event){ .kind = PROCESS_EVENT_EXIT, .pid = 10, .time_ns = f->now });
	assert_null(process_table_find(f->table, 10));
}

static void test_unknown_processes_cost_nothing(void **state)
{
	struct fixture *f = *state;

	ev_mmap(f, 10, 0x400000, 11, "/usr/bin/app");
	ev_exit(f, 11);
	assert_int_equal(process_table_n(f->table), 0);
}

static void test_short_lived(void **state)
{
	struct fixture *f = *state;

	ev_fork(f, 10, 9);
	ev_exec(f, 10, "cc1plus");
	ev_mmap(f, 10, 0x400000, 11, "/usr/lib/gcc/cc1plus");
	ev_mmap(f, 10, 0x7f0000000000, 12, "/usr/lib/ld.so");
	ev_mmap(f, 10, 0x7ffff7fc1000, 0, "[vdso]");
	ev_mmap(f, 10, 0x7f0000100000, 0, "//anon");
	uint32_t pid = 10;
	struct process *p = process_table_get(f->table, pid, "cc1plus");
	assert_int_equal(p->mappings->n, 4);
	assert_int_equal(p->exec_count, 1);
	assert_int_equal(f->n_exec, 1);
	assert_int_equal(f->n_mappings, 5);
	assert_int_equal(p->generation, 5);
	assert_int_equal(mappings_find(p->mappings, 0x7f0000100000)->kind, MAPPING_ANON);
	/* It was gone before anything was read. */
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_process_read_errors), 0);
	const struct process_identity *id = process_identity(f->table, p);
	assert_string_equal(id->exe, "/usr/lib/gcc/cc1plus");
	assert_string_equal(id->comm, "cc1plus");
	assert_false(id->complete);
	p = process_ref(p);
	ev_exit(f, 10);
	assert_int_equal(f->n_exit, 1);
	assert_true(p->exited);
	assert_int_equal(p->exit_ns, f->now);
	assert_null(process_table_find(f->table, 10));
	assert_string_equal(mappings_find(p->mappings, 0x400000)->file->path,
			    "/usr/lib/gcc/cc1plus");
	process_unref(p);
}

static void test_same_program_again_keeps_its_files(void **state)
{
	struct fixture *f = *state;
	uint32_t id = 0;

	for (uint32_t pid = 100; pid < 150; pid++) {
		ev_fork(f, pid, 9);
		ev_exec(f, pid, "true");
		ev_mmap(f, pid, 0x400000, 11, "/bin/true");
		const struct mapping *m =
			mappings_find(process_table_find(f->table, pid)->mappings, 0x400000);
		assert_true(id == 0 || m->file->id == id);
		id = m->file->id;
		ev_exit(f, pid);
	}
	assert_int_equal(process_table_n(f->table), 0);
}

static void test_fork_shares_mappings(void **state)
{
	struct fixture *f = *state;

	add_app(f, 9, 1);
	struct process *parent = process_table_get(f->table, 9, NULL);
	ev_fork(f, 10, 9);
	struct process *child = process_table_find(f->table, 10);
	assert_ptr_equal(child->mappings, parent->mappings);
	assert_int_equal(child->parent_pid, 9);
	assert_int_equal(child->start_ns, f->now);
	assert_int_equal(child->generation, 1);
	/* What the child maps is its own. */
	ev_mmap(f, 10, 0x7f1000000000, 13, "/usr/lib/libm.so.6");
	assert_int_equal(child->mappings->n, 4);
	assert_int_equal(parent->mappings->n, 3);
	assert_int_equal(child->generation, 2);
	/* No exec: the identity is the parent's when the child is gone. */
	const struct process_identity *id = process_identity_whole(f->table, child);
	assert_string_equal(id->exe, "/usr/bin/app");
	assert_string_equal(id->comm, "app");
	assert_string_equal(id->cgroup.container_id, ID_A);
	assert_int_equal(id->uid, 1000);
	assert_false(id->complete);
}

static void test_exec_starts_anew(void **state)
{
	struct fixture *f = *state;

	add_app(f, 9, 1);
	(void)process_table_get(f->table, 9, NULL);
	ev_fork(f, 10, 9);
	struct process *p = process_table_find(f->table, 10);
	assert_string_equal(process_identity(f->table, p)->exe, "/usr/bin/app");
	ev_exec(f, 10, "ls");
	assert_int_equal(p->mappings->n, 0);
	assert_false(p->identity_loaded);
	ev_mmap(f, 10, 0x400000, 21, "/bin/ls");
	ev_mmap(f, 10, 0x500000, 22, "/lib/ld.so");
	/* Executable and name by events, the place by the parent. */
	const struct process_identity *id = process_identity_whole(f->table, p);
	assert_string_equal(id->exe, "/bin/ls");
	assert_string_equal(id->comm, "ls");
	assert_string_equal(id->cmdline, "");
	assert_string_equal(id->cgroup.container_id, ID_A);
	assert_string_equal(id->cwd, "/srv");
}

/* Only what was there before and is something else now counts, and an exec leaves nothing that could be replaced. */
static void test_replaced(void **state)
{
	struct fixture *f = *state;

	add_app(f, 9, 1);
	(void)process_table_get(f->table, 9, NULL);
	ev_fork(f, 10, 9);
	struct process *p = process_table_find(f->table, 10);
	ev_exec(f, 10, "ls");
	ev_mmap(f, 10, 0x400000, 21, "/bin/ls");
	ev_mmap(f, 10, 0x500000, 22, "/lib/a.so");
	ev_mmap(f, 10, 0x500000, 22, "/lib/a.so");
	assert_int_equal(p->replaced_ns, 0);
	ev_mmap(f, 10, 0x501000, 23, "/lib/b.so");
	assert_true(p->replaced_ns > 0);
	uint64_t first_ns = p->replaced_ns;
	ev_mmap(f, 10, 0x600000, 24, "/lib/c.so");
	assert_int_equal(p->replaced_ns, first_ns);
	ev_mmap(f, 10, 0x500000, 22, "/lib/a.so");
	assert_true(p->replaced_ns > first_ns);
	ev_exec(f, 10, "ls");
	assert_int_equal(p->replaced_ns, 0);
}

static void test_exec_of_an_unknown_process(void **state)
{
	struct fixture *f = *state;

	ev_exec(f, 10, "ls");
	ev_mmap(f, 10, 0x400000, 21, "/bin/ls");
	struct process *p = process_table_get(f->table, 10, NULL);
	assert_int_equal(p->mappings->n, 1);
	assert_string_equal(process_identity(f->table, p)->exe, "/bin/ls");
}

static void test_fork_reuses_a_pid(void **state)
{
	struct fixture *f = *state;

	ev_fork(f, 10, 9);
	ev_exec(f, 10, "old");
	struct process *old = process_ref(process_table_find(f->table, 10));
	ev_fork(f, 10, 8);
	assert_true(old->exited);
	assert_int_equal(f->n_exit, 1);
	assert_int_equal(f->last_exit_pid, 10);
	struct process *p = process_table_find(f->table, 10);
	assert_ptr_not_equal(p, old);
	assert_null(p->mappings);
	assert_int_equal(p->parent_pid, 8);
	process_unref(old);
	/* A child that takes its own dead parent's pid. */
	ev_fork(f, 10, 10);
	assert_non_null(process_table_find(f->table, 10));
}

static void test_fork_of_an_unsampled_parent(void **state)
{
	struct fixture *f = *state;

	ev_fork(f, 10, 9);
	assert_null(process_table_find(f->table, 10)->mappings);
	/* The child is gone at its sample, its parent is not. */
	add_app(f, 9, 1);
	struct process *p = process_table_get(f->table, 10, "app");
	assert_int_equal(p->mappings->n, 3);
	assert_string_equal(process_identity(f->table, p)->cgroup.container_id, ID_A);
	assert_non_null(process_table_find(f->table, 9));
}

/* The parent was seen being forked itself, and waits ever since: nobody has read its mappings. */
static void test_fork_of_a_parent_known_by_its_fork(void **state)
{
	struct fixture *f = *state;

	ev_fork(f, 9, 8);
	ev_fork(f, 10, 9);
	ev_fork(f, 11, 10);
	add_app(f, 9, 8);
	/* Two generations are gone. */
	struct process *p = process_table_get(f->table, 11, "app");
	assert_non_null(p->mappings);
	assert_int_equal(p->mappings->n, 3);
	assert_ptr_equal(p->mappings, process_table_find(f->table, 9)->mappings);
	/* Asked once each. */
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_process_read_errors), 2);
	(void)process_table_get(f->table, 11, "app");
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_process_read_errors), 2);
}

static void test_parent_with_another_image(void **state)
{
	struct fixture *f = *state;

	ev_fork(f, 10, 9);
	ev_exec(f, 9, "other");
	ev_mmap(f, 9, 0x400000, 77, "/bin/other");
	struct process *p = process_table_get(f->table, 10, "app");
	assert_null(p->mappings);
	assert_string_equal(process_identity(f->table, p)->exe, "");
	assert_string_equal(p->identity.comm, "app");
}

/* The parent was sampled for the first time after it had forked and gone on to another program, all within one round. */
static void test_parent_read_after_the_fork(void **state)
{
	struct fixture *f = *state;
	uint64_t fork_ns = clock_mono_ns();

	add_app(f, 9, 1);
	assert_int_equal(process_table_get(f->table, 9, NULL)->mappings->n, 3);
	apply(f,
	      (struct process_event){
		      .kind = PROCESS_EVENT_FORK, .pid = 10, .parent_pid = 9, .time_ns = fork_ns });
	assert_null(process_table_find(f->table, 10)->mappings);
	apply(f, (struct process_event){ .kind = PROCESS_EVENT_EXEC,
					 .pid = 9,
					 .comm = "app",
					 .time_ns = fork_ns + NS_PER_US });
	/* Gone by now: nothing is better than the mappings of what the parent became. */
	assert_null(process_table_get(f->table, 10, NULL)->mappings);
}

static void test_adopted_processes_do_not_inherit(void **state)
{
	struct fixture *f = *state;

	/* Process 1 adopted it; nobody saw who forked it. */
	proc_tree_add(&f->tree, &(struct fake_proc){ .pid = 1,
						     .start_ticks = 1,
						     .maps = MAPS_A,
						     .exe = "/sbin/init",
						     .cmdline = "init",
						     .cgroup = "0::/init.scope\n" });
	add_app(f, 10, 1);
	struct process *p = process_table_get(f->table, 10, NULL);
	proc_tree_remove(&f->tree, 10);
	assert_string_equal(process_identity(f->table, p)->cgroup.unit, "");
}

static void test_grandparent(void **state)
{
	struct fixture *f = *state;

	add_app(f, 8, 1);
	(void)process_table_get(f->table, 8, NULL);
	ev_fork(f, 9, 8);
	ev_fork(f, 10, 9);
	ev_exit(f, 9);
	ev_exec(f, 10, "job");
	assert_string_equal(
		process_identity(f->table, process_table_find(f->table, 10))->cgroup.container_id,
		ID_A);
}

/* Each one forks the next and exits: an endless chain must not be held. */
static void test_chain_of_forks(void **state)
{
	struct fixture *f = *state;
	unsigned int depth = 0;

	add_app(f, 1000, 1);
	(void)process_table_get(f->table, 1000, NULL);
	for (uint32_t pid = 1000; pid < 6000; pid++) {
		ev_fork(f, pid + 1, pid);
		ev_exit(f, pid);
	}
	for (struct process *p = process_table_find(f->table, 6000); p; p = p->parent)
		depth++;
	assert_true(depth <= 4);
	assert_int_equal(process_table_n(f->table), 1);
}

/* A deep tree of living processes is freed without recursion. */
static void test_deep_tree(void **state)
{
	struct fixture *f = *state;
	struct process_table *t = NULL;
	struct process_table_options o = { .proc_root = f->tree.root,
					   .telemetry = f->telemetry,
					   .max_processes = 200000 };

	assert_int_equal(process_table_new(&o, &t), 0);
	for (uint32_t pid = 2; pid < 100000; pid++)
		process_table_apply(t, &(struct process_event){ .kind = PROCESS_EVENT_FORK,
								.pid = pid,
								.parent_pid = pid - 1,
								.time_ns = f->now + pid });
	assert_int_equal(process_table_n(t), 99998);
	process_table_free(t);
}

static void test_events_older_than_the_read(void **state)
{
	struct fixture *f = *state;
	struct process_event ev = mmap_event(10, 0x400000, 99, "/gone/already");

	add_app(f, 10, 9);
	uint64_t before = clock_mono_ns();
	struct process *p = process_table_get(f->table, 10, NULL);
	(void)process_identity(f->table, p);
	ev.time_ns = before;
	process_table_apply(f->table, &ev);
	process_table_apply(f->table, &(struct process_event){ .kind = PROCESS_EVENT_FORK,
							       .pid = 10,
							       .parent_pid = 9,
							       .time_ns = before });
	process_table_apply(f->table, &(struct process_event){ .kind = PROCESS_EVENT_EXIT,
							       .pid = 10,
							       .time_ns = before });
	assert_ptr_equal(process_table_find(f->table, 10), p);
	assert_int_equal(p->generation, 1);
	assert_string_equal(mappings_find(p->mappings, 0x400000)->file->path, "/usr/bin/app");
	assert_true(p->identity_loaded);
	assert_int_equal(f->n_exit, 0);
	/* Behind an exec there is a history of every mapping: samples of then are not shown what is there now. */
	process_table_apply(f->table, &(struct process_event){ .kind = PROCESS_EVENT_EXEC,
							       .pid = 10,
							       .time_ns = before,
							       .comm = "app" });
	assert_int_equal(p->mappings->n, 0);
	process_table_apply(f->table, &ev);
	assert_int_equal(p->mappings->n, 1);
	assert_string_equal(mappings_find(p->mappings, 0x400000)->file->path, "/gone/already");
	/* Nor who it is now: /proc shows what it has become since. Where it runs, and as whom, stays over an exec. */
	assert_int_equal(p->exec_count, 1);
	assert_string_equal(process_identity_whole(f->table, p)->exe, "/gone/already");
	assert_string_equal(p->identity.comm, "app");
	assert_string_equal(p->identity.cmdline, "");
	assert_string_equal(p->identity.cgroup.container_id, ID_A);
	assert_int_equal(p->identity.uid, 1000);
	assert_false(p->identity.complete);
}

/* Its exec is still to come when it is sampled, and done when it is looked at: then it is the program of its parent. */
static void test_sampled_before_an_exec_that_proc_shows(void **state)
{
	struct fixture *f = *state;

	add_app(f, 9, 1);
	(void)process_table_get(f->table, 9, NULL);
	ev_fork(f, 10, 9);
	proc_tree_add(&f->tree, &(struct fake_proc){ .pid = 10,
						     .parent_pid = 9,
						     .comm = "tool",
						     .start_ticks = ticks_now() - 1,
						     .uid = 1000,
						     .maps = MAPS_A,
						     .exe = "/usr/bin/tool",
						     .cwd = "/",
						     .cmdline = "tool",
						     .cgroup = "0::/docker/" ID_A "\n" });
	struct process *p = process_table_get(f->table, 10, "app");
	assert_string_equal(process_identity(f->table, p)->exe, "/usr/bin/app");
	assert_string_equal(p->identity.comm, "app");
	ev_exec(f, 10, "tool");
	assert_string_equal(process_identity(f->table, p)->comm, "tool");
	assert_string_equal(p->identity.exe, "/usr/bin/tool");
}

/* In the middle of an exec only the name is known; the executable comes with its mapping, and is asked for again. */
static void test_sampled_before_the_executable_is_mapped(void **state)
{
	struct fixture *f = *state;

	ev_fork(f, 10, 9);
	ev_exec(f, 10, "tool");
	struct process *p = process_table_find(f->table, 10);
	assert_string_equal(process_identity(f->table, p)->exe, "");
	assert_string_equal(p->identity.comm, "tool");
	unsigned int n = p->exec_count;
	ev_mmap(f, 10, 0x400000, 11, "/usr/bin/tool");
	assert_int_equal(p->exec_count, n + 1);
	assert_string_equal(process_identity(f->table, p)->exe, "/usr/bin/tool");
	/* What is mapped next is no executable. */
	ev_mmap(f, 10, 0x7f2000000000, 14, "/usr/lib/libc.so");
	assert_int_equal(p->exec_count, n + 1);
	assert_string_equal(process_identity(f->table, p)->exe, "/usr/bin/tool");
}

/* Sampled between its exec and its first mapping: that is no reason to read what is mapped by now. */
static void test_nothing_is_read_behind_an_exec(void **state)
{
	struct fixture *f = *state;

	add_app(f, 10, 9);
	f->now = clock_mono_ns();
	ev_exec(f, 10, "app");
	struct process *p = process_table_get(f->table, 10, NULL);
	assert_true(!p->mappings || p->mappings->n == 0);
	ev_mmap(f, 10, 0x400000, 11, "/usr/bin/app");
	assert_int_equal(p->mappings->n, 1);
}

static void test_events_newer_than_the_read(void **state)
{
	struct fixture *f = *state;

	add_app(f, 10, 9);
	struct process *p = process_table_get(f->table, 10, NULL);
	f->now = clock_mono_ns() + NS_PER_MS;
	/* What the read had already seen changes nothing. */
	ev_mmap(f, 10, 0x400000, 11, "/usr/bin/app");
	assert_int_equal(p->generation, 1);
	ev_mmap(f, 10, 0x7f2000000000, 14, "/usr/lib/plugin.so");
	assert_int_equal(p->generation, 2);
	/* Another file where one was. */
	ev_mmap(f, 10, 0x7f2000000000, 15, "/usr/lib/other.so");
	assert_int_equal(p->generation, 3);
	assert_string_equal(mappings_find(p->mappings, 0x7f2000000000)->file->path,
			    "/usr/lib/other.so");
	ev_exit(f, 10);
	assert_int_equal(f->n_exit, 1);
}

/* The exec is older than the read, its last mapping is not: the executable is still the first one.
 */
static void test_read_in_the_middle_of_an_exec(void **state)
{
	struct fixture *f = *state;
	struct process_event binary = mmap_event(10, 0x400000, 11, "/usr/bin/app");

	add_app(f, 10, 9);
	uint64_t before = clock_mono_ns();
	struct process *p = process_table_get(f->table, 10, NULL);
	binary.time_ns = before + 1;
	process_table_apply(f->table, &(struct process_event){ .kind = PROCESS_EVENT_EXEC,
							       .pid = 10,
							       .time_ns = before,
							       .comm = "app" });
	process_table_apply(f->table, &binary);
	f->now = clock_mono_ns();
	ev_mmap(f, 10, 0x7f2000000000, 14, "/usr/lib/plugin.so");
	proc_tree_remove(&f->tree, 10);
	assert_int_equal(p->mappings->n, 2);
	assert_string_equal(process_identity(f->table, p)->exe, "/usr/bin/app");
}

static void test_lost_events(void **state)
{
	struct fixture *f = *state;

	add_app(f, 10, 9);
	struct process *p = process_table_get(f->table, 10, NULL);
	(void)process_identity(f->table, p);
	apply(f, (struct process_event){ .kind = PROCESS_EVENT_LOST, .lost = 3 });
	/* Nothing changed. */
	assert_ptr_equal(process_table_get(f->table, 10, NULL), p);
	assert_int_equal(p->generation, 1);
	assert_true(p->identity_loaded);
	/* An exec was lost. */
	proc_tree_write(&f->tree, 10, "maps", "1000-2000 r-xp 0 8:1 31 /bin/new\n", 33);
	proc_tree_link(&f->tree, 10, "exe", "/bin/new");
	assert_ptr_equal(process_table_get(f->table, 10, NULL), p);
	assert_int_equal(p->generation, 1);
	process_table_distrust(f->table);
	assert_ptr_equal(process_table_get(f->table, 10, NULL), p);
	assert_int_equal(p->generation, 2);
	assert_int_equal(p->mappings->n, 1);
	assert_int_equal(p->exec_count, 1);
	assert_int_equal(f->n_exec, 1);
	assert_string_equal(process_identity(f->table, p)->exe, "/bin/new");
}

static void write_maps(struct fixture *f, const char *maps)
{
	proc_tree_write(&f->tree, 10, "maps", maps, strlen(maps));
}

/* As long as events are lost, each process is read anew from time to time, and not at each sample. */
static void test_losses_that_do_not_end(void **state)
{
	struct fixture *f = *state;

	add_app(f, 10, 9);
	struct process *p = process_table_get(f->table, 10, NULL);
	write_maps(f, "1000-2000 r-xp 0 8:1 31 /bin/a\n");
	apply(f, (struct process_event){ .kind = PROCESS_EVENT_LOST, .lost = 1 });
	/* The first time at once. */
	assert_ptr_equal(process_table_get(f->table, 10, NULL), p);
	assert_int_equal(p->generation, 2);
	assert_true(p->reread_after_ns >= p->proc_read_ns + PROCESS_REREAD_NS);
	for (uint32_t i = 0; i < 4; i++) {
		write_maps(f, i % 2 ? "1000-2000 r-xp 0 8:1 31 /bin/a\n"
				    : "1000-2000 r-xp 0 8:1 32 /bin/b\n");
		apply(f, (struct process_event){ .kind = PROCESS_EVENT_LOST, .lost = 1 });
		p->reread_after_ns = UINT64_MAX;
		assert_ptr_equal(process_table_get(f->table, 10, NULL), p);
		assert_int_equal(p->generation, i + 2);
		/* The time has come. */
		p->reread_after_ns = 0;
		assert_ptr_equal(process_table_get(f->table, 10, NULL), p);
		assert_int_equal(p->generation, i + 3);
	}
	/* Who asks for it gets it. */
	write_maps(f, "1000-2000 r-xp 0 8:1 33 /bin/c\n");
	p->reread_after_ns = UINT64_MAX;
	process_table_distrust(f->table);
	assert_ptr_equal(process_table_get(f->table, 10, NULL), p);
	assert_int_equal(p->generation, 7);
}

/* Events of one process were left out: it is read anew, nobody else. */
static void test_flood_of_one(void **state)
{
	struct fixture *f = *state;

	add_app(f, 10, 9);
	add_app(f, 11, 9);
	struct process *p = process_table_get(f->table, 10, NULL);
	struct process *other = process_table_get(f->table, 11, NULL);
	write_maps(f, "1000-2000 r-xp 0 8:1 31 /bin/new\n");
	proc_tree_write(&f->tree, 11, "maps", "1000-2000 r-xp 0 8:1 31 /bin/new\n", 33);
	apply(f, (struct process_event){ .kind = PROCESS_EVENT_FLOOD, .pid = 10 });
	apply(f, (struct process_event){ .kind = PROCESS_EVENT_FLOOD, .pid = 12 });
	(void)process_table_get(f->table, 10, NULL);
	(void)process_table_get(f->table, 11, NULL);
	assert_int_equal(p->generation, 2);
	assert_int_equal(other->generation, 1);
	/* Not again before its time, which comes even if nobody tells of more. */
	write_maps(f, MAPS_A);
	p->reread_after_ns = UINT64_MAX;
	apply(f, (struct process_event){ .kind = PROCESS_EVENT_FLOOD, .pid = 10 });
	(void)process_table_get(f->table, 10, NULL);
	assert_int_equal(p->generation, 2);
	p->reread_after_ns = 0;
	(void)process_table_get(f->table, 10, NULL);
	assert_int_equal(p->generation, 3);
}

static void map_at(struct fixture *f, uint64_t time_ns, uint64_t begin, uint64_t inode)
{
	struct process_event ev = mmap_event(10, begin, inode, "/bin/job");

	ev.time_ns = time_ns;
	process_table_apply(f->table, &ev);
}

/* Thousands of mappings, changed in a loop: so many copies are made in a second, then they are old until they are read. */
static void test_copies_of_many_mappings(void **state)
{
	struct fixture *f = *state;
	uint64_t limit = PROCESS_COPY_BYTES / (MAPPINGS_MAX * sizeof(struct mapping));

	uint64_t time_ns = clock_mono_ns() + NS_PER_S;

	ev_fork(f, 10, 9);
	ev_exec(f, 10, "job");
	/* With gaps, or anonymous neighbours would be one. */
	for (uint64_t i = 0; i < MAPPINGS_MAX; i++) {
		time_ns += NS_PER_S;
		map_at(f, time_ns, 0x400000 + i * 0x2000, 21 + i % 2);
	}
	struct process *p = process_table_find(f->table, 10);
	assert_int_equal(p->mappings->n, MAPPINGS_MAX);
	assert_false(p->is_in_doubt);
	time_ns += NS_PER_S;
	uint32_t before = p->generation;
	for (uint64_t i = 0; i < 2 * limit; i++)
		map_at(f, time_ns, 0x400000 + i % 10 * 0x2000, 31 + i);
	assert_in_range(p->generation - before, 1, limit);
	assert_true(p->is_in_doubt);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_mapping_floods), 1);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_sideband_left_out),
			 2 * limit - (p->generation - before));
	/* In the next second it may again. */
	time_ns += NS_PER_S;
	before = p->generation;
	map_at(f, time_ns, 0x400000, 500);
	assert_int_equal(p->generation, before + 1);
}

static void test_lost_exit_and_reused_pid(void **state)
{
	struct fixture *f = *state;

	add_app(f, 10, 9);
	struct process *old = process_ref(process_table_get(f->table, 10, NULL));
	proc_tree_add(&f->tree, &(struct fake_proc){ .pid = 10,
						     .comm = "new",
						     .start_ticks = ticks_now(),
						     .maps = MAPS_A });
	process_table_distrust(f->table);
	struct process *p = process_table_get(f->table, 10, NULL);
	assert_ptr_not_equal(p, old);
	assert_true(old->exited);
	assert_int_equal(f->n_exit, 1);
	/* The reference of the old one must not read the new one's identity. */
	assert_string_equal(process_identity(f->table, old)->comm, "");
	assert_string_equal(process_identity(f->table, p)->comm, "new");
	process_unref(old);
}

static void test_lost_events_of_a_process_that_is_gone(void **state)
{
	struct fixture *f = *state;

	ev_fork(f, 10, 9);
	ev_exec(f, 10, "job");
	ev_mmap(f, 10, 0x400000, 21, "/bin/job");
	process_table_distrust(f->table);
	struct process *p = process_table_get(f->table, 10, NULL);
	assert_int_equal(p->mappings->n, 1); /* better than nothing */
}

/* What events told of the image does not count against /proc when there may have been another exec, whether it was asked before or not. */
static void test_lost_exec_of_a_process_born_in_sight(void **state)
{
	struct fixture *f = *state;
	struct fake_proc before = { .comm = "taskset",
				    .start_ticks = ticks_now(),
				    .maps = MAPS_A,
				    .exe = "/bin/taskset",
				    .cmdline = "",
				    .cgroup = "0::/\n" };
	struct fake_proc after = before;

	after.comm = "chain";
	after.exe = "/bin/chain";
	for (uint32_t pid = 10; pid < 12; pid++) {
		before.pid = after.pid = pid;
		ev_fork(f, pid, 9);
		ev_exec(f, pid, "taskset");
		ev_mmap(f, pid, 0x400000, 21, "/bin/taskset");
		proc_tree_add(&f->tree, &before);
		if (pid == 10)
			(void)process_identity(f->table, process_table_get(f->table, pid, NULL));
		proc_tree_remove(&f->tree, pid);
		proc_tree_add(&f->tree, &after);
		process_table_distrust(f->table);
		struct process *p = process_table_get(f->table, pid, NULL);
		assert_string_equal(process_identity(f->table, p)->exe, "/bin/chain");
		assert_string_equal(process_identity(f->table, p)->comm, "chain");
	}
}

/* A process born in sight is recognised in /proc, one that got its pid later is not taken for it.
 */
static void test_identity_of_a_later_process(void **state)
{
	struct fixture *f = *state;

	ev_fork(f, 10, 9);
	ev_exec(f, 10, "job");
	ev_mmap(f, 10, 0x400000, 21, "/bin/job");
	proc_tree_add(&f->tree, &(struct fake_proc){ .pid = 10,
						     .comm = "later",
						     .start_ticks = ticks_now() + 1000,
						     .maps = MAPS_A,
						     .exe = "/bin/later",
						     .cmdline = "",
						     .cgroup = "0::/\n" });
	const struct process_identity *id =
		process_identity(f->table, process_table_find(f->table, 10));
	assert_string_equal(id->comm, "job");
	assert_string_equal(id->exe, "/bin/job");
}

static void test_eviction(void **state)
{
	struct fixture *f = *state;

	add_app(f, 5, 1);
	struct process *sampled = process_ref(process_table_get(f->table, 5, NULL));
	for (uint32_t pid = 100; pid < 100 + 63; pid++)
		ev_fork(f, pid, 5);
	assert_int_equal(process_table_n(f->table), 64);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_process_evictions), 0);
	(void)process_table_get(f->table, 5, NULL);
	for (uint32_t pid = 200; pid < 200 + 10; pid++)
		ev_fork(f, pid, 7);
	assert_int_equal(process_table_n(f->table), 64);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_process_evictions), 10);
	assert_int_equal(f->n_exit, 10);
	assert_false(f->last_exit_exited);
	assert_ptr_equal(process_table_find(f->table, 5), sampled);
	assert_null(process_table_find(f->table, 109));
	assert_non_null(process_table_find(f->table, 110));
	process_unref(sampled);
}

static void test_ancestors_in_a_full_table(void **state)
{
	struct fixture *f = *state;
	struct process_table_options o = { .proc_root = f->tree.root,
					   .telemetry = f->telemetry,
					   .max_processes = 1 };
	struct process_table *t = NULL;

	assert_int_equal(process_table_new(&o, &t), 0);
	for (uint32_t pid = 100; pid < 140; pid++)
		process_table_apply(t, &(struct process_event){ .kind = PROCESS_EVENT_FORK,
								.pid = pid,
								.parent_pid = pid - 1,
								.time_ns = f->now + pid });
	assert_int_equal(process_table_n(t), 16);
	struct process *p = process_table_get(t, 139, "x");
	assert_string_equal(process_identity(t, p)->comm, "x");
	/* The next to be forgotten: asking for its ancestors must not forget it. */
	p = process_table_find(t, 130);
	assert_non_null(p);
	assert_string_equal(process_identity(t, p)->exe, "");
	assert_ptr_equal(process_table_find(t, 130), p);
	process_table_free(t);
}

static void test_references_outlive_the_table(void **state)
{
	struct fixture *f = *state;

	add_app(f, 9, 1);
	struct process *p = process_ref(process_table_get(f->table, 9, NULL));
	process_table_free(f->table);
	f->table = NULL;
	assert_int_equal(f->n_exit, 1);
	assert_string_equal(mappings_find(p->mappings, 0x401000)->file->path, "/usr/bin/app");
	process_unref(p);
}

static void test_list_pids(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ uint32_t *pids = NULL;
	size_t n = 0;

	add_app(f, 9, 1);
	add_app(f, 3, 1);
	assert_int_equal(process_list_pids(f->table, &pids, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(pids[0], 3);
	assert_int_equal(pids[1], 9);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_get_reads_proc),
	FIXTURE_TEST(test_identity_from_proc),
	FIXTURE_TEST(test_owner_is_read_when_wanted),
	FIXTURE_TEST(test_owner_of_who_is_gone),
	FIXTURE_TEST(test_script_and_environment),
	FIXTURE_TEST(test_long_environment),
	FIXTURE_TEST(test_script_and_environment_are_the_image_s),
	FIXTURE_TEST(test_script_behind_long_arguments),
	FIXTURE_TEST(test_script_of_a_helper),
	FIXTURE_TEST(test_identity_is_utf8),
	FIXTURE_TEST(test_kernel_thread),
	FIXTURE_TEST(test_leader_left),
	FIXTURE_TEST(test_gone_at_first_sample),
	FIXTURE_TEST(test_zombie_counts_as_gone),
	FIXTURE_TEST(test_unknown_processes_cost_nothing),
	FIXTURE_TEST(test_short_lived),
	FIXTURE_TEST(test_same_program_again_keeps_its_files),
	FIXTURE_TEST(test_fork_shares_mappings),
	FIXTURE_TEST(test_exec_starts_anew),
	FIXTURE_TEST(test_replaced),
	FIXTURE_TEST(test_exec_of_an_unknown_process),
	FIXTURE_TEST(test_fork_reuses_a_pid),
	FIXTURE_TEST(test_fork_of_an_unsampled_parent),
	FIXTURE_TEST(test_fork_of_a_parent_known_by_its_fork),
	FIXTURE_TEST(test_parent_with_another_image),
	FIXTURE_TEST(test_parent_read_after_the_fork),
	FIXTURE_TEST(test_adopted_processes_do_not_inherit),
	FIXTURE_TEST(test_grandparent),
	FIXTURE_TEST(test_chain_of_forks),
	FIXTURE_TEST(test_deep_tree),
	FIXTURE_TEST(test_events_older_than_the_read),
	FIXTURE_TEST(test_sampled_before_an_exec_that_proc_shows),
	FIXTURE_TEST(test_sampled_before_the_executable_is_mapped),
	FIXTURE_TEST(test_nothing_is_read_behind_an_exec),
	FIXTURE_TEST(test_events_newer_than_the_read),
	FIXTURE_TEST(test_read_in_the_middle_of_an_exec),
	FIXTURE_TEST(test_lost_events),
	FIXTURE_TEST(test_losses_that_do_not_end),
	FIXTURE_TEST(test_flood_of_one),
	FIXTURE_TEST(test_copies_of_many_mappings),
	FIXTURE_TEST(test_lost_exit_and_reused_pid),
	FIXTURE_TEST(test_lost_events_of_a_process_that_is_gone),
	FIXTURE_TEST(test_lost_exec_of_a_process_born_in_sight),
	FIXTURE_TEST(test_identity_of_a_later_process),
	FIXTURE_TEST(test_eviction),
	FIXTURE_TEST(test_ancestors_in_a_full_table),
	FIXTURE_TEST(test_references_outlive_the_table),
	FIXTURE_TEST(test_list_pids),
};

TEST_MAIN(tests)
