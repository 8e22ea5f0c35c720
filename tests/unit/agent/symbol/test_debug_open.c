/* SPDX-License-Identifier: Apache-2.0 */
/* Debug files opened beside the files that processes map: kept with them, closed with them, looked for again after a while. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/process/file_table.h"
#include "agent/symbol/debug_open.h"
#include "agent/util/clock.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/fixture.h"

/* Any but "never". */
#define NOW_NS NS_PER_S

struct fixture {
	struct fixture_dir dir;
	struct file_table *table;
	char path[FIXTURE_PATH_BYTES];
};

static void set_up(struct fixture *f)
{
	const struct file_table_options options = { .max_idle_fds = 2 };

	assert_true(fixture_dir_init(&f->dir));
	assert_int_equal(file_table_new(&options, &f->table), 0);
	(void)fixture_path(&f->dir, "p", f->path);
}

static void tear_down(struct fixture *f)
{
	file_table_free(f->table);
	fixture_dir_fini(&f->dir);
}

FIXTURE(struct fixture, set_up, tear_down)

static void build(struct fixture *f)
{
	assert_true(fixture_write(&f->dir, "p.c", "int f(int x) { return x + 1; }\n"));
	if (!fixture_run(&f->dir,
			 "gcc -g -nostdlib -shared -fPIC -Wl,--build-id=0xabcdef02 -o full p.c && "
			 "objcopy --only-keep-debug full p.debug && "
			 "objcopy --strip-all --add-gnu-debuglink=p.debug full p")) {
		print_message("no gcc, or no binutils\n");
		skip();
	}
}

static struct mapped_file *get(struct fixture *f, const char *path, uint64_t inode)
{
	const struct file_facts facts = { .key = { 8, inode }, .path = str_from(path) };
	struct mapped_file *file = NULL;

	assert_int_equal(file_table_get(f->table, &facts, &file), 0);
	if (file->fd < 0)
		mapped_file_take_fd(file, open(path, O_RDONLY | O_CLOEXEC));
	assert_true(file->fd >= 0);
	return file;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void is_kept_with_the_file(void **state)
{
	struct fixture *f = *state;

	build(f);
	struct mapped_file *file = get(f, f->path, 1);
	debug_open(file, (uint32_t)getpid(), NOW_NS, NULL);
	assert_true(file->has_debug);
	assert_true(fcntl(file->debug_fd, F_GETFD) & FD_CLOEXEC);
	int debug_fd = file->debug_fd;
	debug_open(file, (uint32_t)getpid(), NOW_NS, NULL);
	assert_int_equal(file->debug_fd, debug_fd);
	/* Idle it keeps both, and they count as two: a second file's two displace them. */
	mapped_file_unref(file);
	assert_true(is_open(debug_fd));
	struct mapped_file *other = get(f, f->path, 2);
	debug_open(other, (uint32_t)getpid(), NOW_NS, NULL);
	int other_fd = other->debug_fd;
	mapped_file_unref(other);
	assert_false(is_open(debug_fd));
	assert_true(is_open(other_fd));
	assert_false(file->has_debug);
	assert_int_equal(file->fd, -1);
}

static void is_looked_for_again(void **state)
{
	struct fixture *f = *state;

	build(f);
	assert_true(fixture_run(&f->dir, "mv p.debug away"));
	struct mapped_file *file = get(f, f->path, 1);
	debug_open(file, (uint32_t)getpid(), NOW_NS, NULL);
	assert_false(file->has_debug);
	assert_true(fixture_run(&f->dir, "mv away p.debug"));
	debug_open(file, (uint32_t)getpid(), NOW_NS + DEBUG_OPEN_RETRY_NS - 1, NULL);
	assert_false(file->has_debug);
	debug_open(file, (uint32_t)getpid(), NOW_NS + DEBUG_OPEN_RETRY_NS, NULL);
	assert_true(file->has_debug);
	mapped_file_unref(file);
}

static void another_process_looks_again(void **state)
{
	struct fixture *f = *state;

	build(f);
	assert_true(fixture_run(&f->dir, "mv p.debug away"));
	struct mapped_file *file = get(f, f->path, 1);
	debug_open(file, (uint32_t)getpid(), NOW_NS, NULL);
	assert_false(file->has_debug);
	assert_true(fixture_run(&f->dir, "mv away p.debug"));
	mapped_file_unref(get(f, f->path, 1));
	debug_open(file, (uint32_t)getpid(), NOW_NS, NULL);
	assert_true(file->has_debug);
	mapped_file_unref(file);
}

/* A process that is gone has no root; ours is looked into all the same. */
static void dead_process(void **state)
{
	struct fixture *f = *state;

	build(f);
	struct mapped_file *file = get(f, f->path, 1);
	debug_open(file, 0x7fffffff, NOW_NS, NULL);
	assert_true(file->has_debug);
	mapped_file_unref(file);
}

static void what_has_none(void **state)
{
	struct fixture *f = *state;

	build(f);
	assert_true(fixture_run(&f->dir, "rm p.debug && mkfifo p.debug && echo text > text"));
	char path[FIXTURE_PATH_BYTES];
	struct mapped_file *trap = get(f, f->path, 1);
	struct mapped_file *text = get(f, fixture_path(&f->dir, "text", path), 2);
	struct mapped_file closed = { .fd = -1, .n_refs = 1, .path = f->path };
	struct mapped_file vdso = { .fd = -1, .n_refs = 1, .vdso = true };

	debug_open(trap, (uint32_t)getpid(), NOW_NS, NULL);
	debug_open(text, (uint32_t)getpid(), NOW_NS, NULL);
	debug_open(&closed, (uint32_t)getpid(), NOW_NS, NULL);
	debug_open(&vdso, (uint32_t)getpid(), NOW_NS, NULL);
	assert_false(trap->has_debug || text->has_debug || closed.has_debug || vdso.has_debug);
	/* That it is not open itself says nothing of its debug file. */
	assert_int_equal(closed.debug_missed_ns, 0);
	mapped_file_unref(trap);
	mapped_file_unref(text);
}

/* Without a build id it goes by a sum over the whole file: that is the worker's. */
static void sum_is_taken_by_the_worker(void **state)
{
	struct fixture *f = *state;
	struct loop *loop = NULL;
	struct worker *worker = NULL;

	build(f);
	assert_true(fixture_run(&f->dir, "objcopy --remove-section=.note.gnu.build-id p && "
					 "objcopy --remove-section=.note.gnu.build-id p.debug && "
					 "objcopy --remove-section=.gnu_debuglink p && "
					 "objcopy --add-gnu-debuglink=p.debug p && "
					 "mkdir .debug && cp p.debug .debug && echo x >> p.debug"));
	assert_int_equal(loop_new(&loop), 0);
	assert_int_equal(worker_new(loop, 1, &worker), 0);
	struct mapped_file *file = get(f, f->path, 1);
	debug_open(file, (uint32_t)getpid(), NOW_NS, worker);
	assert_false(file->has_debug);
	assert_int_equal(worker_n_jobs(worker), 1);
	/* Once, while that is under way. */
	debug_open(file, (uint32_t)getpid(), NOW_NS, worker);
	assert_int_equal(worker_n_jobs(worker), 1);
	worker_drain(worker);
	/* The first candidate has another sum, the second is it. */
	assert_true(file->has_debug);
	assert_true(fcntl(file->debug_fd, F_GETFD) & FD_CLOEXEC);
	mapped_file_unref(file);
	worker_free(worker);
	loop_free(loop);
}

/* What was read in vain is not read again for each process that maps the file. */
static void refused_sum_is_remembered(void **state)
{
	struct fixture *f = *state;
	struct loop *loop = NULL;
	struct worker *worker = NULL;

	build(f);
	assert_true(fixture_run(&f->dir,
				"objcopy --remove-section=.note.gnu.build-id p && "
				"objcopy --remove-section=.note.gnu.build-id p.debug && "
				"cp p.debug good && objcopy --remove-section=.gnu_debuglink p && "
				"objcopy --add-gnu-debuglink=p.debug p && echo x >> p.debug"));
	assert_int_equal(loop_new(&loop), 0);
	assert_int_equal(worker_new(loop, 1, &worker), 0);
	struct mapped_file *file = get(f, f->path, 1);
	debug_open(file, (uint32_t)getpid(), NOW_NS, worker);
	worker_drain(worker);
	assert_false(file->has_debug);
	mapped_file_unref(get(f, f->path, 1));
	debug_open(file, (uint32_t)getpid(), NOW_NS, worker);
	assert_int_equal(worker_n_jobs(worker), 0);
	/* Another file in its place is another question. */
	assert_true(fixture_run(&f->dir, "cp good p.debug"));
	mapped_file_unref(get(f, f->path, 1));
	debug_open(file, (uint32_t)getpid(), NOW_NS, worker);
	assert_int_equal(worker_n_jobs(worker), 1);
	worker_drain(worker);
	assert_true(file->has_debug);
	mapped_file_unref(file);
	worker_free(worker);
	loop_free(loop);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(is_kept_with_the_file),
	FIXTURE_TEST(is_looked_for_again),
	FIXTURE_TEST(another_process_looks_again),
	FIXTURE_TEST(dead_process),
	FIXTURE_TEST(what_has_none),
	FIXTURE_TEST(sum_is_taken_by_the_worker),
	FIXTURE_TEST(refused_sum_is_remembered),
};

TEST_MAIN(tests)
