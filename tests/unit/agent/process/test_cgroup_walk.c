/* SPDX-License-Identifier: Apache-2.0 */
/* Directories by their inodes: found, remembered, not walked for ever. */
#include <errno.h>

#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <sys/stat.h>

#include "agent/process/cgroup_walk.h"
#include "agent/util/clock.h"
#include "proc_tree.h"
#include "tests/support/unit.h"

/* 32 bytes and their rounding beside what is counted. */
#define MOST_BYTES (CGROUP_WALK_MAX_BYTES + CGROUP_WALK_MAX_BYTES / 16)

struct walk_fixture {
	struct proc_tree tree;
	struct cgroup_walk walk;
	int root_fd;
	uint64_t now_ns;
};

static int setup(void **state)
{
	struct walk_fixture *f = calloc(1, sizeof(*f));

	proc_tree_init(&f->tree);
	f->root_fd = open(f->tree.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cgroup_walk_init(&f->walk, CGROUP_WALK_MAX);
	*state = f;
	return f->root_fd < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	struct walk_fixture *f = *state;

	cgroup_walk_fini(&f->walk);
	(void)close(f->root_fd);
	proc_tree_fini(&f->tree);
	free(f);
	return 0;
}

static uint64_t make(struct walk_fixture *f, const char *path)
{
	struct stat st;

	assert_int_equal(mkdirat(f->root_fd, path, 0755), 0);
	assert_int_equal(fstatat(f->root_fd, path, &st, 0), 0);
	return st.st_ino;
}

static void assert_path(struct walk_fixture *f, uint64_t inode, const char *expected)
{
	_cleanup_buf_ struct buf b = BUF_INIT(4096);

	assert_int_equal(cgroup_walk_path(&f->walk, f->root_fd, inode, f->now_ns, &b), 0);
	assert_string_equal(buf_str(&b), expected);
}

static void assert_none(struct walk_fixture *f, uint64_t inode)
{
	_cleanup_buf_ struct buf b = BUF_INIT(4096);

	assert_int_equal(cgroup_walk_path(&f->walk, f->root_fd, inode, f->now_ns, &b), -ENOENT);
	assert_int_equal(b.len, 0);
}

static void test_paths(void **state)
{
	struct walk_fixture *f = *state;
	uint64_t a = make(f, "a"), ab = make(f, "a/b"), abc = make(f, "a/b/c"), d = make(f, "d");
	struct stat st;

	assert_int_equal(fstat(f->root_fd, &st), 0);
	assert_path(f, abc, "/a/b/c");
	assert_path(f, ab, "/a/b");
	assert_path(f, a, "/a");
	assert_path(f, d, "/d");
	assert_path(f, st.st_ino, "/");
}

static void test_files_and_links_are_none(void **state)
{
	struct walk_fixture *f = *state;
	struct stat st;

	(void)make(f, "a");
	assert_int_equal(symlinkat("a", f->root_fd, "link"), 0);
	int fd = openat(f->root_fd, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	assert_int_equal(fstat(fd, &st), 0);
	(void)close(fd);
	assert_none(f, st.st_ino);
}

static void test_what_came_later_is_found_but_not_at_once(void **state)
{
	struct walk_fixture *f = *state;
	uint64_t a = make(f, "a");

	assert_path(f, a, "/a");
	uint64_t b = make(f, "b");
	f->now_ns += 100 * NS_PER_MS;
	assert_none(f, b);
	f->now_ns += 3600 * NS_PER_S;
	assert_path(f, b, "/b");
}

static void test_what_is_gone_is_known(void **state)
{
	struct walk_fixture *f = *state;
	uint64_t a = make(f, "a");

	assert_path(f, a, "/a");
	assert_int_equal(unlinkat(f->root_fd, "a", AT_REMOVEDIR), 0);
	assert_path(f, a, "/a");
}

static void test_ceiling(void **state)
{
	struct walk_fixture *f = *state;
	char name[16];

	f->walk.max = 8;
	for (int i = 0; i < 20; i++) {
		(void)snprintf(name, sizeof(name), "d%d", i);
		(void)make(f, name);
	}
	assert_none(f, UINT64_MAX);
	assert_int_equal(f->walk.by_id.n, 8);
	f->now_ns += 3600 * NS_PER_S;
	assert_none(f, UINT64_MAX);
	assert_int_equal(f->walk.by_id.n, 8);
}

/* What is gone does not keep out what is there. */
static void test_full_starts_anew(void **state)
{
	struct walk_fixture *f = *state;

	f->walk.max = 3;
	uint64_t a = make(f, "a"), b = make(f, "b");
	assert_path(f, a, "/a");
	assert_path(f, b, "/b");
	uint64_t c = make(f, "c"); /* before: file systems give an inode again */
	assert_int_equal(unlinkat(f->root_fd, "a", AT_REMOVEDIR), 0);
	f->now_ns += 3600 * NS_PER_S;
	assert_path(f, c, "/c");
	assert_path(f, b, "/b");
}

/* What was found otherwise takes no more room than what was walked to. */
static void test_remembered_starts_anew(void **state)
{
	struct walk_fixture *f = *state;
	_cleanup_buf_ struct buf b = BUF_INIT(64);

	f->walk.max = 3;
	for (uint64_t inode = 1001; inode <= 1004; inode++) {
		cgroup_walk_remember(&f->walk, inode, "/found");
		cgroup_walk_remember(&f->walk, inode, "/another");
		assert_in_range(f->walk.by_id.n, 1, 3);
	}
	assert_int_equal(cgroup_walk_known(&f->walk, 1001, &b), -ENOENT);
	assert_int_equal(cgroup_walk_known(&f->walk, 1004, &b), 0);
	assert_string_equal(buf_str(&b), "/found");
}

static size_t bytes_remembered(const struct cgroup_walk *w)
{
	size_t n = 0;

	HASH_FOREACH (&w->by_id, node)
		n += malloc_usable_size(node);
	return n;
}

/* Long names take no more memory than short ones. */
static void test_remembered_bytes(void **state)
{
	struct walk_fixture *f = *state;
	_cleanup_buf_ struct buf b = BUF_INIT(PATH_MAX);
	char path[PATH_MAX] = "";

	memset(path, '/', sizeof(path) - 1);
	for (uint64_t inode = 1; inode <= 2000; inode++) {
		cgroup_walk_remember(&f->walk, inode, path);
		assert_true(f->walk.by_id.n > 0);
		assert_in_range(bytes_remembered(&f->walk), 1, MOST_BYTES);
	}
	assert_int_equal(cgroup_walk_known(&f->walk, 1, &b), -ENOENT);
	assert_int_equal(cgroup_walk_known(&f->walk, 2000, &b), 0);
	assert_string_equal(buf_str(&b), path);
}

static void test_walked_bytes(void **state)
{
	struct walk_fixture *f = *state;
	char path[PATH_MAX] = "";
	size_t n = 0;

	for (int i = 0; i < 14; i++) {
		n += (size_t)snprintf(path + n, sizeof(path) - n, "%s%0250d", i > 0 ? "/" : "", i);
		(void)make(f, path);
	}
	for (int i = 0; i < 800; i++) {
		(void)snprintf(path + n, sizeof(path) - n, "/%d", i);
		(void)make(f, path);
	}
	for (int i = 0; i < 2; i++) {
		assert_none(f, UINT64_MAX);
		assert_in_range(f->walk.by_id.n, 100, 799);
		assert_in_range(bytes_remembered(&f->walk), 1, MOST_BYTES);
		f->now_ns += 3600 * NS_PER_S;
	}
}

static void test_depth(void **state)
{
	struct walk_fixture *f = *state;
	char path[4096] = "x";
	uint64_t last = 0, inode = make(f, path);

	for (int i = 1; i < CGROUP_WALK_DEPTH + 2; i++) {
		(void)strncat(path, "/x", sizeof(path) - strlen(path) - 1);
		last = inode;
		inode = make(f, path);
	}
	assert_none(f, inode);
	assert_int_equal(f->walk.by_id.n, CGROUP_WALK_DEPTH + 1);
	assert_none(f, last);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_paths),
	FIXTURE_TEST(test_files_and_links_are_none),
	FIXTURE_TEST(test_what_came_later_is_found_but_not_at_once),
	FIXTURE_TEST(test_what_is_gone_is_known),
	FIXTURE_TEST(test_ceiling),
	FIXTURE_TEST(test_full_starts_anew),
	FIXTURE_TEST(test_remembered_starts_anew),
	FIXTURE_TEST(test_remembered_bytes),
	FIXTURE_TEST(test_walked_bytes),
	FIXTURE_TEST(test_depth),
};

TEST_MAIN(tests)
