/* SPDX-License-Identifier: Apache-2.0 */
/* Control groups of this kernel by their numbers, and a directory that stands for them where numbers cannot be opened. */
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "agent/process/cgroup_tree.h"
#include "agent/util/file.h"
#include "proc_tree.h"
#include "tests/support/unit.h"

struct tree_fixture {
	const char *mount; /* NULL: none that we may write to */
	char group[128];   /* ours, below it */
	char path[64];	   /* the same in the tree */
};

static bool is_cgroup2(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
}

static void set_up(struct tree_fixture *f)
{
	static const char *const mounts[] = { "/sys/fs/cgroup/unified", "/sys/fs/cgroup" };

	for (size_t i = 0; i < 2 && !f->mount; i++)
		if (is_cgroup2(mounts[i]))
			f->mount = mounts[i];
	(void)snprintf(f->path, sizeof(f->path), "/xagent-unit-%d", (int)getpid());
	if (f->mount)
		(void)snprintf(f->group, sizeof(f->group), "%s%s", f->mount, f->path);
	if (f->mount && mkdir(f->group, 0755) < 0)
		f->mount = NULL;
}

static void tear_down(struct tree_fixture *f)
{
	if (f->mount)
		(void)rmdir(f->group);
}

FIXTURE(struct tree_fixture, set_up, tear_down)

static void need_mount(const struct tree_fixture *f)
{
	if (f->mount)
		return;
	print_message("no cgroup2 mount where a directory may be made: skipped\n");
	skip();
}

static uint64_t inode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

static void assert_path(struct cgroup_tree *t, uint64_t id, const char *expected)
{
	_cleanup_buf_ struct buf b = BUF_INIT(4096);

	assert_int_equal(cgroup_tree_path(t, id, &b), 0);
	assert_string_equal(buf_str(&b), expected);
}

static void test_finds_the_mount(void **state)
{
	const struct tree_fixture *f = *state;
	_cleanup_(cgroup_tree_freep) struct cgroup_tree *t = NULL;

	need_mount(f);
	assert_int_equal(cgroup_tree_new(NULL, &t), 0);
	assert_path(t, inode_of(f->group), f->path);
	assert_path(t, inode_of(f->mount), "/");
}

static void test_below(void **state)
{
	const struct tree_fixture *f = *state;
	_cleanup_(cgroup_tree_freep) struct cgroup_tree *t = NULL;
	_cleanup_buf_ struct buf b = BUF_INIT(4096);
	char below[160];

	need_mount(f);
	assert_int_equal(cgroup_tree_new(f->mount, &t), 0);
	(void)snprintf(below, sizeof(below), "%s/inner", f->group);
	assert_int_equal(mkdir(below, 0755), 0);
	uint64_t id = inode_of(below);
	assert_path(t, id, below + strlen(f->mount));
	assert_int_equal(rmdir(below), 0);
	/* Gone, but not forgotten. */
	assert_path(t, id, below + strlen(f->mount));
	assert_int_equal(mkdir(below, 0755), 0);
	uint64_t unseen = inode_of(below);
	assert_int_equal(rmdir(below), 0);
	assert_true(unseen != id);
	assert_int_equal(cgroup_tree_path(t, unseen, &b), -ENOENT);
	assert_int_equal(cgroup_tree_path(t, UINT64_MAX, &b), -ENOENT);
	assert_int_equal(cgroup_tree_path(t, 0, &b), -ENOENT);
	assert_int_equal(b.len, 0);
}

/* A mount of a part of the tree, as a container has: what is outside of it has no path. */
static int see_part(const struct tree_fixture *f)
{
	_cleanup_(cgroup_tree_freep) struct cgroup_tree *t = NULL;
	_cleanup_buf_ struct buf b = BUF_INIT(4096);
	uint64_t outside = inode_of(f->mount), inside = inode_of(f->group);

	if (mount(f->group, "/mnt", NULL, MS_BIND, NULL) < 0 || cgroup_tree_new("/mnt", &t) < 0)
		return 77;
	if (cgroup_tree_path(t, outside, &b) != -ENOENT || b.len != 0)
		return 1;
	return cgroup_tree_path(t, inside, &b) == 0 && strcmp(buf_str(&b), "/") == 0 ? 0 : 2;
}

/* The host's mount is found behind that of a part (mounts are listed as they were made). */
static int prefer_whole(const struct tree_fixture *f)
{
	_cleanup_(cgroup_tree_freep) struct cgroup_tree *t = NULL;
	_cleanup_buf_ struct buf b = BUF_INIT(4096);

	uint64_t id = inode_of(f->group);
	if (umount2(f->mount, MNT_DETACH) < 0 || mount("none", "/media", "cgroup2", 0, NULL) < 0)
		return 77;
	if (cgroup_tree_new(NULL, &t) < 0)
		return 3;
	if (cgroup_tree_path(t, id, &b) < 0)
		return 4;
	return strcmp(buf_str(&b), f->path) == 0 ? 0 : 5;
}

static void test_part_of_the_tree(void **state)
{
	const struct tree_fixture *f = *state;
	int status;

	need_mount(f);
	pid_t pid = fork();
	if (pid == 0) {
		bool apart = unshare(CLONE_NEWNS) == 0 &&
			     mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
		int r = apart ? see_part(f) : 77;

		_exit(r ? r : prefer_whole(f));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message("no mount namespace of our own: skipped\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_walks_where_numbers_are_not_opened(void **state)
{
	_cleanup_(cgroup_tree_freep) struct cgroup_tree *t = NULL;
	struct proc_tree dir;
	char path[128];

	(void)state;
	proc_tree_init(&dir);
	(void)snprintf(path, sizeof(path), "%s/a", dir.root);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(cgroup_tree_new(dir.root, &t), 0);
	assert_path(t, inode_of(path), "/a");
	proc_tree_fini(&dir);
}

static void test_no_such_mount(void **state)
{
	struct cgroup_tree *t = NULL;

	(void)state;
	assert_int_equal(cgroup_tree_new("/nowhere/at/all", &t), -ENOENT);
	assert_null(t);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_finds_the_mount),
	FIXTURE_TEST(test_below),
	FIXTURE_TEST(test_part_of_the_tree),
	TEST(test_walks_where_numbers_are_not_opened),
	TEST(test_no_such_mount),
};

TEST_MAIN(tests)
