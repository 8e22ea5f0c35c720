/* SPDX-License-Identifier: Apache-2.0 */
/* Which perf map and which jitdump are the process's own, and what only looks like them. */
#include <libgen.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "agent/process/jit_files.h"
#include "agent/util/clock.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/process/proc_tree.h"

#define PID 10
#define CHILD 11
#define OUTSIDE_PROCESS 54321

struct fixture {
	struct proc_tree tree;
	struct telemetry *telemetry;
	struct process_table *table;
	struct jit_files *files;
};

static void add_process(struct fixture *f, uint32_t pid, const char *maps)
{
	proc_tree_add(&f->tree, &(struct fake_proc){ .pid = pid,
						     .start_ticks = ticks_now(),
						     .uid = (uint32_t)getuid(),
						     .maps = maps });
	proc_tree_dir(&f->tree, pid, "root");
	proc_tree_dir(&f->tree, pid, "root/tmp");
	proc_tree_dir(&f->tree, pid, "map_files");
}

static void set_up(struct fixture *f)
{
	proc_tree_init(&f->tree);
	add_process(f, PID, "");
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	struct process_table_options o = { .proc_root = f->tree.root, .telemetry = f->telemetry };
	assert_int_equal(process_table_new(&o, &f->table), 0);
}

static void tear_down(struct fixture *f)
{
	jit_files_unref(f->files);
	process_table_free(f->table);
	telemetry_free(f->telemetry);
	proc_tree_fini(&f->tree);
}

FIXTURE(struct fixture, set_up, tear_down)

static struct process *process(struct fixture *f)
{
	struct process *p = process_table_get(f->table, PID, NULL);

	assert_non_null(p);
	return p;
}

static void write_map(struct fixture *f, const char *name, const char *text)
{
	proc_tree_write(&f->tree, PID, name, text, strlen(text));
}

static int open_files(struct fixture *f)
{
	jit_files_unref(f->files);
	f->files = NULL;
	return jit_files_open(f->table, process(f), &f->files);
}

static void assert_reads(int fd, const char *expected)
{
	char text[64] = "";

	assert_true(fd >= 0);
	assert_true(pread(fd, text, sizeof(text) - 1, 0) >= 0);
	assert_string_equal(text, expected);
}

#define MAP "root/tmp/perf-10.map"

static void test_none(void **state)
{
	assert_int_equal(open_files(*state), JIT_FILES_NONE);
}

static void test_map(void **state)
{
	struct fixture *f = *state;

	write_map(f, MAP, "1000 10 f\n");
	assert_int_equal(open_files(f), 0);
	assert_reads(f->files->map_fd, "1000 10 f\n");
	assert_int_equal(f->files->dump_fd, -1);
}

/* The map is named by the pid that the process has for itself. */
static void test_pid_namespace(void **state)
{
	char status[128];
	struct fixture *f = *state;
	int n = snprintf(status, sizeof(status),
			 "Name:\tx\nUid:\t%u\t%u\t%u\t%u\nNSpid:\t10\t200\t3\n", getuid(), getuid(),
			 getuid(), getuid());

	proc_tree_write(&f->tree, PID, "status", status, (size_t)n);
	write_map(f, MAP, "1000 10 wrong\n");
	assert_int_equal(open_files(f), JIT_FILES_NONE);
	write_map(f, "root/tmp/perf-3.map", "1000 10 f\n");
	assert_int_equal(open_files(f), 0);
	assert_reads(f->files->map_fd, "1000 10 f\n");
}

static void test_fifo(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(mkfifo(proc_tree_path(&f->tree, PID, MAP), 0666), 0);
	assert_int_equal(open_files(f), JIT_FILES_NONE);
}

static void test_directory(void **state)
{
	struct fixture *f = *state;

	proc_tree_dir(&f->tree, PID, MAP);
	assert_int_equal(open_files(f), JIT_FILES_NONE);
}

static void test_device(void **state)
{
	struct fixture *f = *state;

	if (mknod(proc_tree_path(&f->tree, PID, MAP), S_IFCHR | 0666, makedev(1, 5)) < 0) {
		print_message("mknod: %s\n", strerror(errno));
		skip();
	}
	assert_int_equal(open_files(f), JIT_FILES_NONE);
}

/* Even to a file of its own. */
static void test_symlink(void **state)
{
	struct fixture *f = *state;

	write_map(f, "root/tmp/other", "1000 10 f\n");
	proc_tree_link(&f->tree, PID, MAP, "other");
	assert_int_equal(open_files(f), JIT_FILES_NONE);
	proc_tree_link(&f->tree, PID, MAP, "/etc/shadow");
	assert_int_equal(open_files(f), JIT_FILES_NONE);
}

/* /tmp is often a link; out of the root it does not lead. */
static void test_linked_tmp(void **state)
{
	struct fixture *f = *state;

	proc_tree_dir(&f->tree, PID, "root/var");
	write_map(f, "root/var/perf-10.map", "1000 10 f\n");
	assert_int_equal(rmdir(proc_tree_path(&f->tree, PID, "root/tmp")), 0);
	proc_tree_link(&f->tree, PID, "root/tmp", "/var");
	assert_int_equal(open_files(f), 0);
	proc_tree_dir(&f->tree, PID, "outside");
	write_map(f, "outside/perf-10.map", "1000 10 f\n");
	proc_tree_link(&f->tree, PID, "root/tmp", "../outside");
	assert_int_equal(open_files(f), JIT_FILES_NONE);
}

static void test_owner(void **state)
{
	struct fixture *f = *state;

	write_map(f, MAP, "1000 10 f\n");
	if (chown(proc_tree_path(&f->tree, PID, MAP), OUTSIDE_PROCESS, 0) < 0) {
		print_message("chown: %s\n", strerror(errno));
		skip();
	}
	assert_int_equal(open_files(f), JIT_FILES_NONE);
	assert_int_equal(chown(proc_tree_path(&f->tree, PID, MAP), getuid(), 0), 0);
	assert_int_equal(open_files(f), 0);
}

static void set_uids(struct fixture *f, const char *uids)
{
	char status[128];
	int n = snprintf(status, sizeof(status), "Name:\tx\nUid:\t%s\n", uids);

	proc_tree_write(&f->tree, PID, "status", status, (size_t)n);
}

/* Somebody else's file is not made one's own by running a program with his rights, nor root's by having had them. */
static void test_only_the_user_that_makes_files(void **state)
{
	struct fixture *f = *state;

	write_map(f, MAP, "1000 10 f\n");
	if (chown(proc_tree_path(&f->tree, PID, MAP), OUTSIDE_PROCESS, 0) < 0) {
		print_message("chown: %s\n", strerror(errno));
		skip();
	}
	set_uids(f, "54321\t0\t0\t0");
	assert_int_equal(open_files(f), JIT_FILES_NONE);
	set_uids(f, "0\t54321\t0\t54321");
	assert_int_equal(open_files(f), 0);
	assert_int_equal(chown(proc_tree_path(&f->tree, PID, MAP), 0, 0), 0);
	assert_int_equal(open_files(f), JIT_FILES_NONE);
	set_uids(f, "0\t0\t0\t0");
	assert_int_equal(open_files(f), 0);
}

static void test_another_name_of_a_file(void **state)
{
	struct fixture *f = *state;
	char other[512];

	write_map(f, "root/tmp/other", "1000 10 f\n");
	(void)snprintf(other, sizeof(other), "%s", proc_tree_path(&f->tree, PID, "root/tmp/other"));
	assert_int_equal(link(other, proc_tree_path(&f->tree, PID, MAP)), 0);
	assert_int_equal(open_files(f), JIT_FILES_NONE);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(open_files(f), 0);
}

static void test_writable_by_all(void **state)
{
	struct fixture *f = *state;

	write_map(f, MAP, "1000 10 f\n");
	assert_int_equal(chmod(proc_tree_path(&f->tree, PID, MAP), 0666), 0);
	assert_int_equal(open_files(f), JIT_FILES_NONE);
	assert_int_equal(chmod(proc_tree_path(&f->tree, PID, MAP), 0664), 0);
	assert_int_equal(open_files(f), 0);
}

/* In a mount namespace of its own: a file over the map, then a directory over /tmp, which is as much the process's own as any. */
static int look_at_mounts(struct fixture *f)
{
	char map[512], other[512], tmp[512];

	(void)snprintf(map, sizeof(map), "%s", proc_tree_path(&f->tree, PID, MAP));
	(void)snprintf(other, sizeof(other), "%s",
		       proc_tree_path(&f->tree, PID, "root/other/perf-10.map"));
	(void)snprintf(tmp, sizeof(tmp), "%s", proc_tree_path(&f->tree, PID, "root/tmp"));
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(other, map, NULL, MS_BIND, NULL) < 0)
		return 77;
	if (open_files(f) != JIT_FILES_NONE)
		return 1;
	if (umount(map) < 0 || mount(dirname(other), tmp, NULL, MS_BIND, NULL) < 0)
		return 77;
	return open_files(f) == 0 ? 0 : 2;
}

static void test_mounted_file(void **state)
{
	struct fixture *f = *state;
	int status;

	write_map(f, MAP, "1000 10 f\n");
	proc_tree_dir(&f->tree, PID, "root/other");
	write_map(f, "root/other/perf-10.map", "1000 10 g\n");
	pid_t pid = fork();
	if (pid == 0)
		_exit(look_at_mounts(f));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		print_message("no mount namespace\n");
		skip();
	}
	assert_int_equal(status, 0);
	assert_int_equal(open_files(f), 0);
}

/* The one that another process of this pid has left. */
static void test_older_than_the_process(void **state)
{
	struct fixture *f = *state;
	struct timespec times[2];

	write_map(f, MAP, "1000 10 f\n");
	(void)clock_gettime(CLOCK_REALTIME, &times[0]);
	times[0].tv_sec -= 60;
	times[1] = times[0];
	assert_int_equal(utimensat(AT_FDCWD, proc_tree_path(&f->tree, PID, MAP), times, 0), 0);
	assert_int_equal(open_files(f), JIT_FILES_NONE);
}

static void test_refresh(void **state)
{
	struct fixture *f = *state;

	jit_files_refresh(f->table, process(f), &f->files);
	assert_null(f->files);
	write_map(f, MAP, "1000 10 f\n");
	jit_files_refresh(f->table, process(f), &f->files);
	struct jit_files *first = f->files;
	assert_non_null(first);
	write_map(f, MAP, "1000 10 f\n2000 10 g\n");
	jit_files_refresh(f->table, process(f), &f->files);
	assert_ptr_equal(f->files, first);
}

static void rename_in(struct fixture *f, const char *from, const char *to)
{
	char path[512];

	(void)snprintf(path, sizeof(path), "%s", proc_tree_path(&f->tree, PID, from));
	assert_int_equal(rename(path, proc_tree_path(&f->tree, PID, to)), 0);
}

static void test_replaced(void **state)
{
	struct fixture *f = *state;

	write_map(f, MAP, "1000 10 f\n");
	jit_files_refresh(f->table, process(f), &f->files);
	struct jit_files *first = jit_files_ref(f->files);
	write_map(f, "root/tmp/new", "3000 10 h\n");
	rename_in(f, "root/tmp/new", MAP);
	jit_files_refresh(f->table, process(f), &f->files);
	assert_ptr_not_equal(f->files, first);
	assert_reads(f->files->map_fd, "3000 10 h\n");
	assert_reads(first->map_fd, "1000 10 f\n");
	jit_files_unref(first);
}

/* Neither the file nor the process is there any more. */
static void test_kept(void **state)
{
	struct fixture *f = *state;

	write_map(f, MAP, "1000 10 f\n");
	struct process *p = process(f);
	jit_files_refresh(f->table, p, &f->files);
	assert_int_equal(unlink(proc_tree_path(&f->tree, PID, MAP)), 0);
	jit_files_refresh(f->table, p, &f->files);
	proc_tree_remove(&f->tree, PID);
	jit_files_refresh(f->table, p, &f->files);
	assert_non_null(f->files);
	assert_reads(f->files->map_fd, "1000 10 f\n");
}

/* Descriptors are not for one kind of process alone. */
static void test_ceiling(void **state)
{
	struct jit_files *held[JIT_FILES_MAX];
	struct fixture *f = *state;

	write_map(f, MAP, "1000 10 f\n");
	for (size_t i = 0; i < JIT_FILES_MAX; i++) {
		int r = jit_files_open(f->table, process(f), &held[i]);

		/* Few descriptors are enough to see that they are counted: they are given back here. */
		assert_int_equal(r, 0);
		(void)close(held[i]->map_fd);
		held[i]->map_fd = -1;
	}
	assert_int_equal(open_files(f), -EMFILE);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_files_open_errors), 1);
	jit_files_unref(held[0]);
	assert_int_equal(open_files(f), 0);
	/* What is held outlives the table. */
	process_table_free(f->table);
	f->table = NULL;
	for (size_t i = 1; i < JIT_FILES_MAX; i++)
		jit_files_unref(held[i]);
	assert_reads(f->files->map_fd, "1000 10 f\n");
}

/* Files that come after the first sample that would want them. */
static void test_waits(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(jit_files_wait(f->table, &f->files), 0);
	assert_int_equal(f->files->map_fd, -1);
	assert_int_equal(f->files->dump_fd, -1);
	assert_false(jit_files_arrive(f->table, process(f), f->files));
	assert_int_equal(jit_files_moment(f->files, 5).map_bytes, 0);
	write_map(f, MAP, "1000 10 f\n");
	assert_true(jit_files_arrive(f->table, process(f), f->files));
	assert_reads(f->files->map_fd, "1000 10 f\n");
	assert_int_equal(jit_files_moment(f->files, 5).map_bytes, 10);
	assert_int_equal(jit_files_moment(f->files, 5).time_ns, 0);
	write_map(f, MAP, "1000 10 f\n2000 10 g\n");
	assert_int_equal(jit_files_moment(f->files, 5).map_bytes, 20);
}

/* Those that tell something come first. */
static void test_waiting_has_a_ceiling(void **state)
{
	struct jit_files *held[JIT_FILES_MAX / 2];
	struct fixture *f = *state;

	for (size_t i = 0; i < JIT_FILES_MAX / 2; i++)
		assert_int_equal(jit_files_wait(f->table, &held[i]), 0);
	assert_int_equal(jit_files_wait(f->table, &f->files), JIT_FILES_NONE);
	write_map(f, MAP, "1000 10 f\n");
	assert_int_equal(open_files(f), 0);
	for (size_t i = 0; i < JIT_FILES_MAX / 2; i++)
		jit_files_unref(held[i]);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_files_open_errors), 0);
}

/* A child that is gone when its first sample is looked at; its parent has the same root. */
static void test_dead_child(void **state)
{
	struct fixture *f = *state;

	(void)process(f);
	process_table_apply(f->table, &(struct process_event){ .kind = PROCESS_EVENT_FORK,
							       .pid = CHILD,
							       .parent_pid = PID,
							       .time_ns = clock_mono_ns() });
	write_map(f, "root/tmp/perf-11.map", "1000 10 f\n");
	struct process *child = process_table_find(f->table, CHILD);
	assert_non_null(child);
	assert_int_equal(jit_files_open(f->table, child, &f->files), 0);
	assert_reads(f->files->map_fd, "1000 10 f\n");
}

static void check_dump(struct fixture *f, const char *name, bool is_expected)
{
	char maps[256];
	char path[512];
	struct stat st;

	write_map(f, "root/tmp/dump", "JiTD");
	(void)snprintf(path, sizeof(path), "%s", proc_tree_path(&f->tree, PID, "root/tmp/dump"));
	assert_int_equal(stat(path, &st), 0);
	(void)snprintf(maps, sizeof(maps), "1000-2000 r-xp 0 %x:%x %llu %s\n", major(st.st_dev),
		       minor(st.st_dev), (unsigned long long)st.st_ino, name);
	write_map(f, "maps", maps);
	proc_tree_link(&f->tree, PID, "map_files/1000-2000", path);
	assert_int_equal(open_files(f), is_expected ? 0 : JIT_FILES_NONE);
	if (is_expected)
		assert_reads(f->files->dump_fd, "JiTD");
}

static void test_dump(void **state)
{
	check_dump(*state, "/home/x/jit-10.dump", true);
}

static void test_deleted_dump(void **state)
{
	check_dump(*state, "/home/x/jit-10.dump (deleted)", true);
}

static void test_dump_of_another(void **state)
{
	check_dump(*state, "/home/x/jit-12.dump", false);
}

/* What the kernel calls memory without a file comes with the mappings. */
static void test_memory_name(void **state)
{
	struct fixture *f = *state;

	add_process(f, PID,
		    "1000-2000 rwxp 0 0:0 0\n3000-4000 rwxp 0 0:0 0 [heap]\n"
		    "5000-6000 r-xp 0 0:0 0 [anon:v8]\n6000-7000 r-xp 0 0:0 0 [anon:v8]\n");
	const struct mappings *m = process(f)->mappings;
	assert_int_equal(m->n, 3);
	assert_null(m->items[0].name);
	assert_string_equal(m->items[1].name, "[heap]");
	assert_string_equal(m->items[2].name, "[anon:v8]");
	assert_int_equal(m->items[2].end, 0x7000);
}

static void test_owner_parse(void **state)
{
	struct jit_owner o;

	(void)state;
	assert_int_equal(jit_owner_parse(STR_LIT("Uid:\t1\t2\t3\t4\nNSpid:\t9\t1\n"), 9, &o), 0);
	assert_int_equal(o.n_pids, 2);
	assert_int_equal(o.pids[1], 1);
	assert_int_equal(o.uids[3], 4);
	assert_int_equal(jit_owner_parse(STR_LIT("Uid:\t1\t2\t3\t4\n"), 9, &o), 0);
	assert_int_equal(o.n_pids, 1);
	assert_int_equal(o.pids[0], 9);
	assert_int_equal(jit_owner_parse(STR_LIT("Uid:\t1\t2\n"), 9, &o), -EINVAL);
	assert_int_equal(jit_owner_parse(STR_LIT(""), 9, &o), -EINVAL);
}

static void test_dump_names(void **state)
{
	const struct jit_owner o = { .pids = { 77, 5 }, .n_pids = 2 };

	(void)state;
	assert_true(jit_owner_is_dump(&o, STR_LIT("/a/jit-77.dump")));
	assert_true(jit_owner_is_dump(&o, STR_LIT("jit-5.dump")));
	assert_false(jit_owner_is_dump(&o, STR_LIT("/a/jit-7.dump")));
	assert_false(jit_owner_is_dump(&o, STR_LIT("/a/jit-.dump")));
	assert_false(jit_owner_is_dump(&o, STR_LIT("/a/jit-5x.dump")));
	assert_false(jit_owner_is_dump(&o, STR_LIT("/jit-5.dump/x")));
	assert_false(jit_owner_is_dump(&o, STR_LIT("jit-dump")));
	assert_false(jit_owner_is_dump(&o, STR_LIT("")));
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_none),
	FIXTURE_TEST(test_map),
	FIXTURE_TEST(test_pid_namespace),
	FIXTURE_TEST(test_fifo),
	FIXTURE_TEST(test_directory),
	FIXTURE_TEST(test_device),
	FIXTURE_TEST(test_symlink),
	FIXTURE_TEST(test_linked_tmp),
	FIXTURE_TEST(test_owner),
	FIXTURE_TEST(test_only_the_user_that_makes_files),
	FIXTURE_TEST(test_another_name_of_a_file),
	FIXTURE_TEST(test_writable_by_all),
	FIXTURE_TEST(test_mounted_file),
	FIXTURE_TEST(test_older_than_the_process),
	FIXTURE_TEST(test_refresh),
	FIXTURE_TEST(test_replaced),
	FIXTURE_TEST(test_kept),
	FIXTURE_TEST(test_ceiling),
	FIXTURE_TEST(test_waits),
	FIXTURE_TEST(test_waiting_has_a_ceiling),
	FIXTURE_TEST(test_dead_child),
	FIXTURE_TEST(test_dump),
	FIXTURE_TEST(test_deleted_dump),
	FIXTURE_TEST(test_dump_of_another),
	FIXTURE_TEST(test_memory_name),
	TEST(test_owner_parse),
	TEST(test_dump_names),
};

TEST_MAIN(tests)
