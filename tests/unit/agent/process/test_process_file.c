/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the very file that is mapped, and nothing else. */
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "agent/process/process.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/process/proc_tree.h"

#define PID 10

struct fixture {
	struct proc_tree tree;
	struct telemetry *telemetry;
	struct process_table *table;
	char file[512]; /* below the tree, known to the process as /lib/x.so */
	struct stat st;
};

static void make_file(struct fixture *f, const char *text)
{
	proc_tree_write(&f->tree, PID, "root/lib/x.so", text, strlen(text));
	(void)snprintf(f->file, sizeof(f->file), "%s",
		       proc_tree_path(&f->tree, PID, "root/lib/x.so"));
	assert_int_equal(stat(f->file, &f->st), 0);
}

static void new_table(struct fixture *f)
{
	struct process_table_options o = { .proc_root = f->tree.root, .telemetry = f->telemetry };

	process_table_free(f->table);
	assert_int_equal(process_table_new(&o, &f->table), 0);
}

static void set_up(struct fixture *f)
{
	proc_tree_init(&f->tree);
	proc_tree_add(&f->tree, &(struct fake_proc){ .pid = PID, .start_ticks = 5, .maps = "" });
	proc_tree_dir(&f->tree, PID, "root");
	proc_tree_dir(&f->tree, PID, "root/lib");
	proc_tree_dir(&f->tree, PID, "map_files");
	make_file(f, "the library");
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	new_table(f);
}

static void tear_down(struct fixture *f)
{
	process_table_free(f->table);
	telemetry_free(f->telemetry);
	proc_tree_fini(&f->tree);
}

FIXTURE(struct fixture, set_up, tear_down)

/* A process whose only mapping is that file, under the name given. */
static struct process *get_process(struct fixture *f, uint32_t pid, const char *name)
{
	char maps[256];

	(void)snprintf(maps, sizeof(maps), "1000-2000 r-xp 0 %x:%x %llu %s\n", major(f->st.st_dev),
		       minor(f->st.st_dev), (unsigned long long)f->st.st_ino, name);
	proc_tree_write(&f->tree, pid, "maps", maps, strlen(maps));
	struct process *p = process_table_get(f->table, pid, NULL);
	assert_int_equal(p->mappings->n, 1);
	assert_non_null(p->mappings->items[0].file);
	return p;
}

static void assert_opens(struct fixture *f, struct process *p)
{
	struct mapped_file *file = p->mappings->items[0].file;
	char text[64] = "";

	assert_int_equal(process_open_file(f->table, p, file), 0);
	assert_int_equal(file->open_error, 0);
	assert_int_equal(pread(file->fd, text, sizeof(text) - 1, 0), 11);
	assert_string_equal(text, "the library");
	assert_int_equal(process_open_file(f->table, p, file), 0);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_files_opened), 1);
}

static void assert_fails(struct fixture *f, struct process *p, int error)
{
	struct mapped_file *file = p->mappings->items[0].file;

	assert_int_equal(process_open_file(f->table, p, file), error);
	assert_int_equal(file->open_error, error);
	assert_int_equal(file->fd, -1);
	/* Remembered, not tried again. */
	assert_int_equal(process_open_file(f->table, p, file), error);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_files_open_errors), 1);
}

static void test_by_root(void **state)
{
	struct fixture *f = *state;

	assert_opens(f, get_process(f, PID, "/lib/x.so"));
}

static void test_by_map_files(void **state)
{
	struct fixture *f = *state;

	/* Its path is of no use: deleted, or in a file system that is unmounted. */
	proc_tree_link(&f->tree, PID, "map_files/1000-2000", f->file);
	assert_opens(f, get_process(f, PID, "/lib/elsewhere.so (deleted)"));
}

static void test_symlinks_stay_in_the_root(void **state)
{
	struct fixture *f = *state;

	proc_tree_dir(&f->tree, PID, "root/usr");
	proc_tree_link(&f->tree, PID, "root/usr/lib", "/lib");
	assert_opens(f, get_process(f, PID, "/usr/lib/x.so"));
}

static void test_escape_from_the_root(void **state)
{
	struct fixture *f = *state;
	char out[1024];

	(void)snprintf(out, sizeof(out), "../../../../../../..%s", f->file);
	proc_tree_link(&f->tree, PID, "root/lib/out.so", out);
	assert_fails(f, get_process(f, PID, "/lib/out.so"), -ENOENT);
}

static void test_replaced(void **state)
{
	struct fixture *f = *state;
	struct process *p = get_process(f, PID, "/lib/x.so");

	/* The inode number stays in use. */
	assert_int_equal(link(f->file, proc_tree_path(&f->tree, PID, "kept")), 0);
	assert_int_equal(unlink(f->file), 0);
	make_file(f, "another one");
	assert_fails(f, p, -ESTALE);
}

static void test_trap(void **state)
{
	struct fixture *f = *state;
	struct process *p = get_process(f, PID, "/lib/x.so");

	/* Opening a FIFO for reading would wait for a writer. */
	assert_int_equal(unlink(f->file), 0);
	assert_int_equal(mkfifo(f->file, 0600), 0);
	assert_fails(f, p, -EINVAL);
}

static void test_range_of_another_file(void **state)
{
	struct fixture *f = *state;

	/* The range was mapped again; the path still has the file. */
	proc_tree_link(&f->tree, PID, "map_files/1000-2000", "/proc/self/exe");
	assert_opens(f, get_process(f, PID, "/lib/x.so"));
}

static void test_by_parent(void **state)
{
	struct fixture *f = *state;
	struct process *parent = get_process(f, PID, "/lib/x.so");

	process_table_apply(f->table, &(struct process_event){ .kind = PROCESS_EVENT_FORK,
							       .pid = 11,
							       .parent_pid = PID,
							       .time_ns = clock_mono_ns() });
	struct process *child = process_table_find(f->table, 11);
	assert_ptr_equal(child->mappings, parent->mappings);
	assert_opens(f, child);
}

static void test_by_host(void **state)
{
	struct fixture *f = *state;
	struct process *p = get_process(f, PID, "/lib/x.so");
	char root[512];

	/* The process is gone, but process 1 sees the same file. */
	(void)snprintf(root, sizeof(root), "%s", proc_tree_path(&f->tree, PID, "root"));
	proc_tree_add(&f->tree, &(struct fake_proc){ .pid = 1 });
	proc_tree_link(&f->tree, 1, "root", root);
	assert_int_equal(unlink(proc_tree_path(&f->tree, PID, "stat")), 0);
	assert_opens(f, p);
}

static void test_tried_again_for_a_new_process(void **state)
{
	struct fixture *f = *state;
	struct process *p = get_process(f, PID, "/lib/y.so");
	struct mapped_file *file = p->mappings->items[0].file;

	assert_int_equal(process_open_file(f->table, p, file), -ENOENT);
	proc_tree_add(&f->tree, &(struct fake_proc){ .pid = 12, .start_ticks = 6, .maps = "" });
	proc_tree_dir(&f->tree, 12, "map_files");
	proc_tree_link(&f->tree, 12, "map_files/1000-2000", f->file);
	struct process *other = get_process(f, 12, "/lib/y.so");
	assert_ptr_equal(other->mappings->items[0].file, file);
	assert_int_equal(process_open_file(f->table, other, file), 0);
}

static void test_tried_again_after_a_while(void **state)
{
	struct fixture *f = *state;
	struct process *p = get_process(f, PID, "/lib/y.so");
	struct mapped_file *file = p->mappings->items[0].file;

	assert_fails(f, p, -ENOENT);
	proc_tree_link(&f->tree, PID, "map_files/1000-2000", f->file);
	assert_fails(f, p, -ENOENT);
	file->open_error_ns = clock_mono_ns() - MIN_OF(clock_mono_ns() - 1, PROCESS_OPEN_RETRY_NS);
	if (file->open_error_ns == 1) {
		print_message("this host has only just started\n");
		skip();
	}
	assert_opens(f, p);
}

static void test_vdso(void **state)
{
	struct fixture *f = *state;

	proc_tree_write(&f->tree, PID, "maps", "1000-2000 r-xp 0 0:0 0 [vdso]\n", 30);
	struct process *p = process_table_get(f->table, PID, NULL);
	assert_int_equal(process_open_file(f->table, p, p->mappings->items[0].file), -ENOENT);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_files_open_errors), 0);
}

/* This process itself, by the real /proc: its binary, a file that was deleted, and a memfd. */
static void test_real(void **state)
{
	struct fixture *f = *state;
	struct process_table *t = NULL;
	struct process_table_options o = { .telemetry = f->telemetry };

	_cleanup_close_ int deleted_fd = open(f->file, O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int memfd = memfd_create("jit", MFD_CLOEXEC);
	assert_true(deleted_fd >= 0 && memfd >= 0);
	assert_int_equal(ftruncate(memfd, 4096), 0);
	void *deleted = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, deleted_fd, 0);
	void *jit = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, memfd, 0);
	assert_true(deleted != MAP_FAILED && jit != MAP_FAILED);
	assert_int_equal(unlink(f->file), 0);
	assert_int_equal(process_table_new(&o, &t), 0);
	struct process *p = process_table_get(t, (uint32_t)getpid(), NULL);
	const uint64_t pcs[] = { (uint64_t)(uintptr_t)&test_real, (uint64_t)(uintptr_t)deleted,
				 (uint64_t)(uintptr_t)jit };
	for (size_t i = 0; i < 3; i++) {
		const struct mapping *m = mappings_find(p->mappings, pcs[i]);

		assert_non_null(m);
		assert_int_equal(m->kind, MAPPING_FILE);
		assert_int_equal(m->file->deleted, i > 0);
		int r = process_open_file(t, p, m->file);
		/* map_files asks for CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN. */
		if (i > 0 && (r == -EPERM || r == -EACCES || r == -ENOENT) && geteuid() != 0)
			continue;
		assert_int_equal(r, 0);
	}
	assert_string_equal(p->identity.comm, "");
	assert_true(process_identity(t, p)->complete);
	assert_non_null(strstr(p->identity.exe, "test_process_file"));
	process_table_free(t);
	(void)munmap(deleted, 4096);
	(void)munmap(jit, 4096);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_by_root),
	FIXTURE_TEST(test_by_map_files),
	FIXTURE_TEST(test_symlinks_stay_in_the_root),
	FIXTURE_TEST(test_escape_from_the_root),
	FIXTURE_TEST(test_replaced),
	FIXTURE_TEST(test_trap),
	FIXTURE_TEST(test_range_of_another_file),
	FIXTURE_TEST(test_by_parent),
	FIXTURE_TEST(test_by_host),
	FIXTURE_TEST(test_tried_again_for_a_new_process),
	FIXTURE_TEST(test_tried_again_after_a_while),
	FIXTURE_TEST(test_vdso),
	FIXTURE_TEST(test_real),
};

TEST_MAIN(tests)
