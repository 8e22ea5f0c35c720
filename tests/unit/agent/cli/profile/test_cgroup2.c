/* SPDX-License-Identifier: Apache-2.0 */
/* Where the unified hierarchy is mounted, and what is no directory of it. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/cli/profile/cgroup2.h"
#include "agent/util/file.h"
#include "tests/support/unit.h"

struct row {
	const char *name;
	const char *mounts;
	const char *expected; /* NULL: none */
};

static const struct row rows[] = {
	{ "unified", "proc /proc proc rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n",
	  "/sys/fs/cgroup" },
	{ "hybrid",
	  "tmpfs /sys/fs/cgroup tmpfs rw 0 0\ncgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n"
	  "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n",
	  "/sys/fs/cgroup/unified" },
	{ "first of two", "c /a cgroup2 rw 0 0\nc /b cgroup2 rw 0 0\n", "/a" },
	{ "blanks in the path", "c /a\\040b cgroup2 rw 0 0\n", "/a b" },
	{ "named cgroup2 but of another type", "cgroup2 /a tmpfs rw 0 0\n", NULL },
	{ "v1 only", "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n", NULL },
	{ "nothing", "\n", NULL },
	{ "garbage", "cgroup2\n\xff\n   \n", NULL },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_fclose_ FILE *mounts = fmemopen((void *)row->mounts, strlen(row->mounts), "r");
	_cleanup_buf_ struct buf path = BUF_INIT(4096);

	assert_non_null(mounts);
	assert_int_equal(cgroup2_find_mount(mounts, &path), row->expected ? 0 : -ENODEV);
	assert_string_equal(buf_str(&path), row->expected ? row->expected : "");
}

static void test_path_ceiling(void **state)
{
	static const char text[] = "c /abc cgroup2 rw 0 0\n";
	_cleanup_fclose_ FILE *mounts = fmemopen((void *)text, sizeof(text) - 1, "r");
	_cleanup_buf_ struct buf path = BUF_INIT(3);

	(void)state;
	assert_int_equal(cgroup2_find_mount(mounts, &path), -ENOBUFS);
}

static void test_no_cgroup(void **state)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	_cleanup_buf_ struct buf absent = BUF_INIT(4096);
	int fd = 42;

	(void)state;
	assert_int_equal(cgroup2_open("/tmp", &why, &fd), -EINVAL);
	assert_string_equal(buf_str(&why),
			    "/tmp is no cgroup directory: the kernel filters by directories of the "
			    "unified hierarchy (cgroup2)");
	assert_int_equal(cgroup2_open("/no/such/cgroup", &absent, &fd), -ENOENT);
	assert_string_equal(buf_str(&absent),
			    "cannot open cgroup /no/such/cgroup: No such file or directory");
	assert_int_equal(fd, 42);
}

/* The cgroup of this process, when the host lets us make some. */
static void test_transient_cgroup(void **state)
{
	_cleanup_(transient_cgroup_freep) struct transient_cgroup *cgroup = NULL;
	_cleanup_buf_ struct buf procs = BUF_INIT(4096);
	_cleanup_buf_ struct buf now = BUF_INIT(65536);
	char expected[32];
	struct stat before;
	int r = transient_cgroup_new((uint32_t)getpid(), &cgroup);

	(void)state;
	if (r < 0) {
		print_message("no cgroup: %s\n", strerror(-r));
		skip();
	}
	(void)snprintf(expected, sizeof(expected), "%d\n", (int)getpid());
	assert_int_equal(file_read(transient_cgroup_fd(cgroup), "cgroup.procs", &procs), 0);
	assert_string_equal(buf_str(&procs), expected);
	assert_int_equal(fstat(transient_cgroup_fd(cgroup), &before), 0);
	assert_true(before.st_nlink > 0);
	transient_cgroup_free(TAKE_PTR(cgroup));
	(void)snprintf(expected, sizeof(expected), "xagent-profile-%d", (int)getpid());
	assert_int_equal(file_read(-1, "/proc/self/cgroup", &now), 0);
	assert_null(strstr(buf_str(&now), expected));
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_path_ceiling),
	TEST(test_no_cgroup),
	TEST(test_transient_cgroup),
};

TEST_MAIN(tests)
