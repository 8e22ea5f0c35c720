/* SPDX-License-Identifier: Apache-2.0 */
/* What could not be read just now, because of calls that were lost, is read later. */
#include <sys/resource.h>
#include <sys/sysmacros.h>

#include "agent/process/process_private.h"
#include "agent/util/clock.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/process/lost_call.h"
#include "tests/unit/agent/process/proc_tree.h"

#define PID 10
#define CHILD 11
#define START 5
#define AT 0x1000ULL

struct fixture {
	struct proc_tree tree;
	struct telemetry *telemetry;
	struct process_table *table;
	int release_fd; /* of the call that is lost; −1: none */
	char library_path[512]; /* a file of PID's root */
	struct stat library;
};

static void write_maps(struct fixture *f, uint32_t pid, int inode)
{
	char maps[128];
	int n = snprintf(maps, sizeof(maps), "1000-2000 r-xp 0 08:01 %d /lib/%d\n", inode, inode);

	proc_tree_write(&f->tree, pid, "maps", maps, (size_t)n);
}

static void set_up(struct fixture *f)
{
	f->release_fd = -1;
	proc_tree_init(&f->tree);
	proc_tree_add(&f->tree, &(struct fake_proc){ .pid = PID,
						     .comm = "host",
						     .start_ticks = START,
						     .maps = "",
						     .cgroup = "0::/\n",
						     .cmdline = "host",
						     .exe = "/bin/host" });
	write_maps(f, PID, 21);
	proc_tree_dir(&f->tree, PID, "root");
	proc_tree_write(&f->tree, PID, "root/x.so", "the library", 11);
	(void)snprintf(f->library_path, sizeof(f->library_path), "%s",
		       proc_tree_path(&f->tree, PID, "root/x.so"));
	assert_int_equal(stat(f->library_path, &f->library), 0);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	const struct process_table_options o = { .proc_root = f->tree.root,
						 .telemetry = f->telemetry };
	assert_int_equal(process_table_new(&o, &f->table), 0);
}

static void lose(struct fixture *f)
{
	f->release_fd = lost_call_make(&(struct reader_subject){
		.reason = READER_maps, .pid = PID, .start = START });
}

static void release(struct fixture *f)
{
	lost_call_release(f->release_fd);
	f->release_fd = -1;
}

static void tear_down(struct fixture *f)
{
	if (f->release_fd >= 0)
		release(f);
	process_table_free(f->table);
	telemetry_free(f->telemetry);
	proc_tree_fini(&f->tree);
}

FIXTURE(struct fixture, set_up, tear_down)

static struct process *sample(struct fixture *f, uint32_t pid)
{
	struct process *p = process_table_get(f->table, pid, NULL);

	assert_non_null(p);
	return p;
}

static uint64_t inode_of(const struct process *p)
{
	const struct mapping *at = mappings_find(p->mappings, AT);

	return at ? at->file->key.inode : 0;
}

static void lose_events(struct fixture *f)
{
	process_table_apply(f->table, &(struct process_event){ .kind = PROCESS_EVENT_LOST,
							       .time_ns = clock_mono_ns(),
							       .lost = 1 });
}

static void test_maps_of_a_new_process(void **state)
{
	struct fixture *f = *state;

	lose(f);
	struct process *p = sample(f, PID);
	assert_null(p->mappings);
	assert_in_range(p->reread_after_ns, p->proc_read_ns + PROCESS_PASSING_NS, UINT64_MAX);
	release(f);
	/* Not at each sample. */
	p->reread_after_ns = UINT64_MAX;
	assert_null(sample(f, PID)->mappings);
	p->reread_after_ns = 0;
	assert_ptr_equal(sample(f, PID), p);
	assert_int_equal(inode_of(p), 21);
	assert_false(p->is_in_doubt);
}

/* What was known before a loss of events stays in doubt. */
static void test_maps_after_a_loss(void **state)
{
	struct fixture *f = *state;
	struct process *p = sample(f, PID);

	assert_int_equal(inode_of(p), 21);
	write_maps(f, PID, 22);
	lose_events(f);
	lose(f);
	assert_ptr_equal(sample(f, PID), p);
	assert_int_equal(inode_of(p), 21);
	assert_true(p->is_in_doubt);
	assert_in_range(p->reread_after_ns, p->proc_read_ns + PROCESS_PASSING_NS, UINT64_MAX);
	release(f);
	p->reread_after_ns = 0;
	assert_ptr_equal(sample(f, PID), p);
	assert_int_equal(inode_of(p), 22);
	assert_false(p->is_in_doubt);
}

/* Who has its parent's mappings meanwhile is read itself all the same. */
static void test_maps_of_a_child(void **state)
{
	struct fixture *f = *state;
	uint64_t start_ticks = ticks_now();

	proc_tree_add(&f->tree, &(struct fake_proc){ .pid = CHILD,
						     .parent_pid = PID,
						     .start_ticks = start_ticks,
						     .maps = "" });
	write_maps(f, CHILD, 23);
	process_table_apply(f->table, &(struct process_event){ .kind = PROCESS_EVENT_FORK,
							       .pid = CHILD,
							       .parent_pid = PID,
							       .time_ns = clock_mono_ns() });
	f->release_fd = lost_call_make(&(struct reader_subject){
		.reason = READER_maps, .pid = CHILD, .start = start_ticks });
	struct process *p = sample(f, CHILD);
	assert_int_equal(inode_of(p), 21);
	assert_true(p->is_in_doubt);
	release(f);
	p->reread_after_ns = 0;
	assert_ptr_equal(sample(f, CHILD), p);
	assert_int_equal(inode_of(p), 23);
}

/* A file that two processes map. */
static struct mapped_file *shared_file(struct fixture *f, struct process **ret_p,
				       struct process **ret_other)
{
	const struct stat *st = &f->library;
	char maps[256];

	int n = snprintf(maps, sizeof(maps), "1000-2000 r-xp 0 %x:%x %llu /x.so\n", major(st->st_dev),
			 minor(st->st_dev), (unsigned long long)st->st_ino);
	proc_tree_add(&f->tree,
		      &(struct fake_proc){ .pid = CHILD, .start_ticks = START, .maps = "" });
	proc_tree_dir(&f->tree, CHILD, "root");
	assert_int_equal(link(f->library_path, proc_tree_path(&f->tree, CHILD, "root/x.so")), 0);
	proc_tree_write(&f->tree, PID, "maps", maps, (size_t)n);
	proc_tree_write(&f->tree, CHILD, "maps", maps, (size_t)n);
	*ret_p = sample(f, PID);
	*ret_other = sample(f, CHILD);
	struct mapped_file *file = (*ret_p)->mappings->items[0].file;
	assert_ptr_equal((*ret_other)->mappings->items[0].file, file);
	return file;
}

/* One process may not be asked at the moment; the file is no worse for it. */
static void test_file_of_two_processes(void **state)
{
	struct fixture *f = *state;
	struct process *p, *other;
	struct mapped_file *file = shared_file(f, &p, &other);

	lose(f);
	/* Tried once, not at each sample. */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(process_open_file(f->table, p, file), -EHOSTDOWN);
		assert_int_equal(file->open_error, 0);
		assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_files_open_errors), 1);
		p->opens_after_ns = UINT64_MAX;
	}
	assert_int_equal(process_open_file(f->table, other, file), 0);
	/* Nor is it for good. */
	reader_close(file->fd);
	file->fd = -1;
	release(f);
	p->opens_after_ns = 0;
	assert_int_equal(process_open_file(f->table, p, file), 0);
}

static rlim_t limit_descriptors(rlim_t n)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	rlim_t before = limit.rlim_cur;
	limit.rlim_cur = n;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	return before;
}

/* That we have too many open is a fact about us. */
static void test_no_descriptor_left(void **state)
{
	struct fixture *f = *state;
	struct process *p, *other;
	struct mapped_file *file = shared_file(f, &p, &other);

	process_end(f->table, other, clock_mono_ns());
	rlim_t before = limit_descriptors(0);
	int r = process_open_file(f->table, p, file);
	other = process_table_get(f->table, CHILD, NULL);
	(void)limit_descriptors(before);
	assert_int_equal(r, -EMFILE);
	assert_int_equal(file->open_error, 0);
	assert_null(other->mappings);
	other->reread_after_ns = 0;
	assert_ptr_equal(sample(f, CHILD), other);
	assert_int_equal(process_open_file(f->table, other, file), 0);
}

/* Who has lost a call for it tries again soon: the reader sees to it that no second one is lost meanwhile. Others wait. */
static void test_file_whose_opening_was_given_up(void **state)
{
	struct fixture *f = *state;
	struct process *p, *other;
	struct mapped_file *file = shared_file(f, &p, &other);

	file->open_error = -ETIMEDOUT;
	file->lost_by = PID;
	file->open_error_ns = clock_mono_ns();
	assert_int_equal(process_open_file(f->table, p, file), -ETIMEDOUT);
	file->open_error_ns -= PROCESS_OPEN_AGAIN_NS;
	assert_int_equal(process_open_file(f->table, other, file), -ETIMEDOUT);
	assert_int_equal(process_open_file(f->table, p, file), 0);
}

static void test_identity(void **state)
{
	struct fixture *f = *state;
	struct process *p = sample(f, PID);

	lose(f);
	assert_string_equal(process_identity(f->table, p)->comm, "host");
	assert_string_equal(p->identity.cmdline, "");
	assert_false(p->identity.complete);
	release(f);
	/* Not at each sample. */
	p->identity_again_ns = UINT64_MAX;
	assert_ptr_equal(sample(f, PID), p);
	assert_true(p->identity_loaded);
	uint32_t before = p->exec_count;
	p->identity_again_ns = 1;
	assert_ptr_equal(sample(f, PID), p);
	assert_int_equal(p->exec_count, before + 1);
	assert_string_equal(process_identity(f->table, p)->cmdline, "host");
	assert_true(p->identity.complete);
	assert_int_equal(p->identity_again_ns, 0);
}

/* It was in an execve() that does not return. */
static void test_state(void **state)
{
	struct fixture *f = *state;

	f->release_fd =
		lost_call_make(&(struct reader_subject){ .reason = READER_stat, .pid = PID });
	struct process *p = sample(f, PID);
	assert_null(p->mappings);
	assert_string_equal(process_identity(f->table, p)->comm, "");
	assert_false(p->identity.complete);
	assert_in_range(p->identity_again_ns, 1, UINT64_MAX);
	release(f);
	p->reread_after_ns = 0;
	p->identity_again_ns = 1;
	p = sample(f, PID);
	assert_int_equal(inode_of(p), 21);
	assert_string_equal(process_identity(f->table, p)->exe, "/bin/host");
	assert_true(p->identity.complete);
}

/* What was read of who is gone by then stays. */
static void test_identity_of_who_is_gone(void **state)
{
	struct fixture *f = *state;
	struct process *p = sample(f, PID);

	lose(f);
	assert_string_equal(process_identity(f->table, p)->exe, "/bin/host");
	release(f);
	proc_tree_remove(&f->tree, PID);
	p->identity_again_ns = 1;
	assert_ptr_equal(sample(f, PID), p);
	assert_string_equal(process_identity(f->table, p)->exe, "/bin/host");
	assert_int_equal(p->identity_again_ns, 0);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_maps_of_a_new_process),
	FIXTURE_TEST(test_maps_after_a_loss),
	FIXTURE_TEST(test_maps_of_a_child),
	FIXTURE_TEST(test_file_of_two_processes),
	FIXTURE_TEST(test_no_descriptor_left),
	FIXTURE_TEST(test_file_whose_opening_was_given_up),
	FIXTURE_TEST(test_identity),
	FIXTURE_TEST(test_state),
	FIXTURE_TEST(test_identity_of_who_is_gone),
};

TEST_MAIN(tests)
