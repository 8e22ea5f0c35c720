/* SPDX-License-Identifier: Apache-2.0 */
/* Paths that another user may have written: what is opened, what is not, and that looking at it touches nothing. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/util/cleanup.h"
#include "agent/util/file.h"
#include "agent/util/foreign_file.h"
#include "agent/util/macro.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

#define TEXT "what it holds"

struct root {
	char path[64];
	int fd;
};

static const char *at(const struct root *root, const char *name)
{
	static char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", root->path, name);
	return path;
}

static void write_file(const struct root *root, const char *name)
{
	_cleanup_close_ int fd = openat(root->fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(file_write_fd(fd, TEXT, strlen(TEXT)), 0);
}

static void make_socket(const struct root *root)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", root->path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
}

static void set_up(struct root *root)
{
	temp_dir_make(root->path);
	root->fd = open(root->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	write_file(root, "file");
	assert_int_equal(mkdirat(root->fd, "directory", 0755), 0);
	write_file(root, "directory/file");
	assert_int_equal(mkfifoat(root->fd, "fifo", 0666), 0);
	make_socket(root);
	assert_int_equal(symlinkat("directory/file", root->fd, "link"), 0);
	assert_int_equal(symlinkat("/file", root->fd, "directory/absolute"), 0);
	assert_int_equal(symlinkat("/etc/passwd", root->fd, "out"), 0);
	assert_int_equal(symlinkat("../../../../etc/passwd", root->fd, "up"), 0);
	assert_int_equal(symlinkat("/dev/null", root->fd, "to-device"), 0);
	assert_int_equal(symlinkat("fifo", root->fd, "to-fifo"), 0);
	assert_int_equal(symlinkat("loop", root->fd, "loop"), 0);
}

static void tear_down(struct root *root)
{
	assert_int_equal(temp_dir_remove(root->path), 0);
	(void)close(root->fd);
}

FIXTURE(struct root, set_up, tear_down)

struct row {
	const char *path;
	unsigned int flags;
	int expected; /* 0: it is opened */
	uint64_t max_bytes;
};

static const struct row rows[] = {
	{ "file", 0, 0, 0 },
	{ "/file", 0, 0, 0 },
	{ "../../file", 0, 0, 0 },
	{ "link", 0, 0, 0 },
	{ "link", FOREIGN_NO_SYMLINKS, -ELOOP, 0 },
	{ "file", FOREIGN_NO_SYMLINKS | FOREIGN_NO_MOUNTS, 0, 0 },
	{ "directory/absolute", 0, 0, 0 },
	{ "loop", 0, -ELOOP, 0 },
	{ "none", 0, -ENOENT, 0 },
	{ "file/none", 0, -ENOTDIR, 0 },
	{ "out", 0, -ENOENT, 0 },
	{ "up", 0, -ENOENT, 0 },
	{ "to-device", 0, -ENOENT, 0 },
	{ "directory", 0, -EINVAL, 0 },
	{ "fifo", 0, -EINVAL, 0 },
	{ "to-fifo", 0, -EINVAL, 0 },
	{ "socket", 0, -EINVAL, 0 },
	{ "file", 0, 0, sizeof(TEXT) - 1 },
	{ "file", 0, -EFBIG, sizeof(TEXT) - 2 },
};

static void test_below_a_root(void **state)
{
	const struct root *root = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct stat st = { 0 };
		_cleanup_close_ int fd = foreign_open(root->fd, rows[i].path, rows[i].flags,
						      rows[i].max_bytes, &st);

		if ((fd < 0 ? fd : 0) != rows[i].expected)
			fail_msg("%s: %d, not %d", rows[i].path, fd, rows[i].expected);
		if (fd >= 0)
			assert_int_equal(st.st_size, strlen(TEXT));
	}
}

/* Links and files that only a whole host has. */
static void test_below_our_own_root(void **state)
{
	static const struct row below[] = {
		{ "/proc/self/exe", 0, -ELOOP, 0 },
		{ "/proc/self/root/etc/passwd", 0, -ELOOP, 0 },
		{ "/proc/self/status", 0, -EMEDIUMTYPE, 0 },
		{ "/sys/kernel/mm/transparent_hugepage/enabled", 0, -EMEDIUMTYPE, 0 },
		{ "/dev/null", 0, -EINVAL, 0 },
		{ "/proc/self/status", FOREIGN_NO_MOUNTS, -EXDEV, 0 },
		{ "/etc/passwd", 0, 0, 0 },
	};
	_cleanup_close_ int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(below); i++) {
		_cleanup_close_ int got =
			foreign_open(fd, below[i].path, below[i].flags, 0, NULL);

		if (got == -ENOENT && below[i].expected == -EMEDIUMTYPE)
			continue; /* not on every kernel */
		if ((got < 0 ? got : 0) != below[i].expected)
			fail_msg("%s: %d, not %d", below[i].path, got, below[i].expected);
	}
}

static void test_device(void **state)
{
	const struct root *root = *state;

	if (mknodat(root->fd, "device", S_IFCHR | 0666, makedev(1, 3)) < 0) {
		print_message("mknod: %s\n", strerror(errno));
		skip();
	}
	assert_int_equal(symlinkat("device", root->fd, "to-a-device"), 0);
	assert_int_equal(foreign_open(root->fd, "device", 0, 0, NULL), -EINVAL);
	assert_int_equal(foreign_open(root->fd, "to-a-device", 0, 0, NULL), -EINVAL);
}

/* inotify tells of each open(2), but of none with O_PATH. */
static void test_nothing_is_touched(void **state)
{
	const struct root *root = *state;
	_cleanup_close_ int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char event[sizeof(struct inotify_event) + 256];

	assert_true(inotify_add_watch(watch, at(root, "fifo"), IN_OPEN) >= 0);
	assert_int_equal(foreign_open(root->fd, "fifo", 0, 0, NULL), -EINVAL);
	assert_int_equal(foreign_open(root->fd, "to-fifo", 0, 0, NULL), -EINVAL);
	assert_int_equal(read(watch, event, sizeof(event)), -1);
	assert_int_equal(errno, EAGAIN);
	_cleanup_close_ int fd = openat(root->fd, "fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_true(read(watch, event, sizeof(event)) > 0);
}

/* What was looked at is what is opened, whatever has its path by then. */
static void test_replaced_while_looking(void **state)
{
	const struct root *root = *state;
	_cleanup_close_ int path_fd = foreign_path(root->fd, "file", 0);
	char text[64] = "";

	assert_true(path_fd >= 0);
	assert_int_equal(renameat(root->fd, "fifo", root->fd, "file"), 0);
	_cleanup_close_ int fd = foreign_reopen(path_fd, 0);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, text, sizeof(text) - 1), strlen(TEXT));
	assert_string_equal(text, TEXT);
	assert_int_equal(foreign_open(root->fd, "file", 0, 0, NULL), -EINVAL);
}

static void test_read(void **state)
{
	_cleanup_buf_ struct buf exact = BUF_INIT(sizeof(TEXT) - 1);
	_cleanup_buf_ struct buf small = BUF_INIT(sizeof(TEXT) - 2);
	const struct root *root = *state;
	struct stat st;

	assert_int_equal(foreign_read(root->fd, "link", &exact, &st), 0);
	assert_string_equal(buf_str(&exact), TEXT);
	assert_int_equal(foreign_read(root->fd, "file", &small, &st), -EFBIG);
	assert_int_equal(foreign_read(root->fd, "fifo", &small, &st), -EINVAL);
}

static void test_stat(void **state)
{
	const struct root *root = *state;
	_cleanup_close_ int fd = foreign_path(root->fd, "file", 0);
	struct stat ours, theirs;

	assert_int_equal(foreign_stat(fd, &ours), 0);
	assert_int_equal(fstat(fd, &theirs), 0);
	assert_int_equal(ours.st_dev, theirs.st_dev);
	assert_int_equal(ours.st_ino, theirs.st_ino);
	assert_int_equal(ours.st_mode, theirs.st_mode);
	assert_int_equal(ours.st_nlink, theirs.st_nlink);
	assert_int_equal(ours.st_uid, theirs.st_uid);
	assert_int_equal(ours.st_size, theirs.st_size);
	assert_memory_equal(&ours.st_mtim, &theirs.st_mtim, sizeof(ours.st_mtim));
	assert_memory_equal(&ours.st_ctim, &theirs.st_ctim, sizeof(ours.st_ctim));
	assert_int_equal(foreign_stat(-1, &ours), -EBADF);
}

/* A file that was mounted over another one, and a file system of the kernel below somebody's directory. */
static int look_at_mounts(const struct root *root)
{
	char from[256];
	int root_fd;

	(void)snprintf(from, sizeof(from), "%s", at(root, "directory/file"));
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(from, at(root, "file"), NULL, MS_BIND, NULL) < 0 ||
	    mount("proc", at(root, "directory"), "proc", 0, NULL) < 0)
		return 77;
	root_fd = open(root->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (foreign_open(root_fd, "file", 0, 0, NULL) < 0)
		return 1;
	if (foreign_open(root_fd, "file", FOREIGN_NO_MOUNTS, 0, NULL) != -EXDEV)
		return 2;
	if (foreign_open(root_fd, "directory/uptime", 0, 0, NULL) != -EMEDIUMTYPE)
		return 3;
	return 0;
}

static void test_mounts(void **state)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(look_at_mounts(*state));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message("no mount namespace: %s\n", strerror(errno));
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_kernel_file_systems(void **state)
{
	(void)state;
	assert_true(foreign_is_of_kernel(0x74726163));	/* tracefs */
	assert_true(foreign_is_of_kernel(0x64626720));	/* debugfs */
	assert_true(foreign_is_of_kernel(0x63677270));	/* cgroup2 */
	assert_true(foreign_is_of_kernel(0xde5e81e4));	/* efivarfs: the highest bit is set */
	assert_false(foreign_is_of_kernel(0xEF53));	/* ext4 */
	assert_false(foreign_is_of_kernel(0x01021994)); /* tmpfs */
	assert_false(foreign_is_of_kernel(0x65735546)); /* FUSE */
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_below_a_root),
	FIXTURE_TEST(test_below_our_own_root),
	FIXTURE_TEST(test_device),
	FIXTURE_TEST(test_nothing_is_touched),
	FIXTURE_TEST(test_replaced_while_looking),
	FIXTURE_TEST(test_read),
	FIXTURE_TEST(test_stat),
	FIXTURE_TEST(test_mounts),
	FIXTURE_TEST(test_kernel_file_systems),
};

TEST_MAIN(tests)
