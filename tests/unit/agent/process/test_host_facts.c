/* SPDX-License-Identifier: Apache-2.0 */
/* What is read of the place: the mounts, a tree of files as containers have them, and this very system. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/process/host_facts.h"
#include "agent/util/file.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

struct mount_row {
	const char *name;
	const char *text;
	bool hidepid;
};

#define PROC(options) "22 28 0:21 / /proc rw,nosuid shared:13 - proc proc " options "\n"

static const struct mount_row mount_rows[] = {
	{ "nothing", "", false },
	{ "host", PROC("rw"), false },
	{ "hidepid=2", PROC("rw,hidepid=2"), true },
	{ "hidepid=invisible", PROC("rw,gid=5,hidepid=invisible"), true },
	{ "hidepid=ptraceable", PROC("rw,hidepid=ptraceable"), true },
	{ "hidepid=0", PROC("rw,hidepid=0"), false },
	{ "hidepid=off", PROC("rw,hidepid=off"), false },
	{ "several tags",
	  "22 28 0:21 / /proc rw shared:1 master:2 propagate_from:3 - proc p rw,hidepid=2\n",
	  true },
	{ "no tag", "22 28 0:21 / /proc rw - proc p rw,hidepid=2\n", true },
	{ "mounted over", PROC("rw,hidepid=2") PROC("rw"), false },
	{ "mounted over, hidden now", PROC("rw") PROC("rw,hidepid=2"), true },
	{ "hidepid elsewhere", "9 2 0:5 / /jail/proc rw - proc proc rw,hidepid=2\n", false },
	{ "another kind of mount", "9 2 0:5 / /proc rw - tmpfs proc rw,hidepid=2\n", false },
	{ "cut", "30 23 0:26 / /proc rw - pro", false },
	{ "no separator", "30 23 0:26 / /proc rw proc proc hidepid=2\n", false },
	{ "blanks", "\n   \n - \n", false },
};

static void test_mounts(void **state)
{
	const struct mount_row *row = *state;
	struct host_facts f = { 0 };

	host_facts_mounts(str_from(row->text), &f);
	assert_int_equal(f.hidepid, row->hidepid);
}

struct tree {
	char root[64];
};

static int make_tree(void **state)
{
	struct tree *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	temp_dir_make(t->root);
	*state = t;
	return 0;
}

static int remove_tree(void **state)
{
	struct tree *t = *state;

	(void)temp_dir_remove(t->root);
	free(t);
	return 0;
}

static void put(const struct tree *t, const char *path, const char *text)
{
	char full[PATH_MAX];
	char *slash = full + strlen(t->root);

	(void)snprintf(full, sizeof(full), "%s%s", t->root, path);
	while ((slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		(void)mkdir(full, 0700);
		*slash = '/';
	}
	int fd = open(full, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(file_write_fd(fd, text, strlen(text)), 0);
	assert_int_equal(close(fd), 0);
}

static void test_empty_tree_is_a_plain_host(void **state)
{
	const struct tree *t = *state;
	struct host_facts f;

	host_facts_read(t->root, &f);
	assert_int_equal(f.own_pid, getpid());
	assert_int_equal(f.pid_levels, 1);
	assert_int_equal(f.cgroup2, HOST_CGROUP2_HOST);
	assert_false(f.part_of_uids || f.hidepid || f.dockerenv || f.containerenv || f.kubernetes ||
		     f.own_container || f.init_elsewhere || f.kind || f.wsl_interop || f.gvisor);
	assert_string_equal(f.kernel_release, "");
}

static void test_pod_in_kind(void **state)
{
	const struct tree *t = *state;
	struct host_facts f;

	put(t, "/proc/self/ns/mnt", "");
	put(t, "/proc/self/uid_map", "         0          0 4294967295\n");
	put(t, "/proc/self/status", "Name:\txagent\nNSpid:\t4711\nUid:\t0\n");
	put(t, "/proc/self/mountinfo", PROC("rw"));
	put(t, "/proc/self/cgroup",
	    "0::/kubelet.slice/kubelet-kubepods.slice/cri-containerd-"
	    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope\n");
	put(t, "/proc/1/ns/mnt", "");
	put(t, "/proc/1/stat", "1 (systemd) S 0\n");
	put(t, "/proc/1/comm", "systemd\n");
	put(t, "/proc/1/root/kind/version", "v1.30\n");
	put(t, "/proc/sys/kernel/osrelease", "6.10.14-linuxkit\n");
	put(t, "/proc/version", "Linux version 6.10.14-linuxkit (root@buildkitsandbox)\n");
	put(t, "/var/run/secrets/kubernetes.io/serviceaccount/token", "x");
	host_facts_read(t->root, &f);
	assert_true(f.init_elsewhere && f.kind && f.kubernetes && f.own_container);
	assert_false(f.part_of_uids || f.init_hidden || f.hidepid || f.gvisor);
	assert_int_equal(f.cgroup2, HOST_CGROUP2_HOST);
	assert_string_equal(f.init_comm, "systemd");
	assert_string_equal(f.kernel_release, "6.10.14-linuxkit");
}

static void test_other_places(void **state)
{
	const struct tree *t = *state;
	struct host_facts f;

	put(t, "/.dockerenv", "");
	put(t, "/run/.containerenv", "");
	put(t, "/proc/self/uid_map", "         0     100000      65536\n");
	put(t, "/proc/self/status", "NSpid:\t4711\t12\t1\n");
	put(t, "/proc/self/mountinfo", PROC("rw,hidepid=invisible"));
	put(t, "/proc/sys/fs/binfmt_misc/WSLInterop", "enabled\n");
	put(t, "/proc/version", "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016\n");
	host_facts_read(t->root, &f);
	assert_true(f.dockerenv && f.containerenv && f.part_of_uids && f.hidepid && f.init_hidden);
	assert_true(f.wsl_interop && f.gvisor);
	assert_int_equal(f.pid_levels, 3);
	/* All uids, but in two pieces; and one that begins elsewhere. */
	put(t, "/proc/self/uid_map", "0 0 4294967295\n1 1 1\n");
	host_facts_read(t->root, &f);
	assert_true(f.part_of_uids);
	put(t, "/proc/self/uid_map", "0 1 4294967295\n");
	host_facts_read(t->root, &f);
	assert_true(f.part_of_uids);
}

static void test_this_system(void **state)
{
	struct host_facts f;

	(void)state;
	host_facts_read("", &f);
	assert_int_equal(f.own_pid, getpid());
	assert_int_equal(f.proc_pid, getpid());
	assert_int_equal(f.pid_levels, 1);
	assert_true(f.pid_namespace && f.cgroup_namespace);
	assert_true(f.kernel_release[0] && f.init_comm[0]);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_mounts, mount_rows, name),
	TEST_WITH(test_empty_tree_is_a_plain_host, make_tree, remove_tree),
	TEST_WITH(test_pod_in_kind, make_tree, remove_tree),
	TEST_WITH(test_other_places, make_tree, remove_tree),
	TEST(test_this_system),
};

TEST_MAIN(tests)
